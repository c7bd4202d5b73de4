"""Machines, tables and chatter that several tasks of this domain share; all invented."""

from __future__ import annotations

import csv
import io
import sqlite3
from collections.abc import Iterable, Sequence
from contextlib import closing
from datetime import datetime, timedelta
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from statecomp_bench.tasks.filler.output import event
from statecomp_bench.tasks.invented import joined, moments, nouns, people

DAEMONS = ("systemd[1]", "cron[811]", "chronyd[402]", "dbus[377]", "agent[1290]", "rsyslogd[590]")


def hosts(rng: Random, count: int) -> list[str]:
    """Host names, none a part of another."""
    return [f"{noun}-{rng.randrange(10, 99)}" for noun in nouns(rng, count)]


def table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return out.getvalue()


def database(schema: str, insert: str = "", rows: Iterable[Sequence[object]] = ()) -> bytes:
    """The bytes of a fresh SQLite file with one table."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "made.db"
        with closing(sqlite3.connect(path)) as connection, connection:
            connection.execute(schema)
            for row in rows:
                connection.execute(insert, row)
        return path.read_bytes()


def chatter(rng: Random, start: datetime, hours: float, count: int) -> list[tuple[datetime, str]]:
    """What daemons write all day; none of it matters."""
    times = moments(rng, start, hours, count)
    return [(at, f"{rng.choice(DAEMONS)}: {event(rng)}") for at in times]


def revisions(rng: Random, count: int) -> str:
    """The history that every governed document carries at its end."""
    at = datetime(2022, 1, 10)
    rows = []
    for number, name in enumerate(people(rng, count)):
        at += timedelta(days=rng.randrange(9, 50))
        what = rng.choice(("wording", "contact list", "new annex", "yearly review", "typing error"))
        section = rng.randrange(1, 9)
        rows.append(f"| 1.{number} | {at:%Y-%m-%d} | {name} | section {section}: {what} |")
    head = [
        "",
        "## Document history",
        "",
        "| version | date | author | change |",
        "|---|---|---|---|",
    ]
    return joined([*head, *rows])


def defanged(text: str) -> str:
    return text.replace(".", "[.]")


def swap(template: str, **words: object) -> str:
    """A template with its words in capitals replaced; places in braces stay."""
    for word, value in words.items():
        template = template.replace(word, str(value))
    return template
