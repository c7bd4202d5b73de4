"""What office tasks share: money, filler text, databases of the workspace, tables of a checker."""

from __future__ import annotations

import csv
import io
import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from decimal import Decimal
from random import Random

from statecomp_bench.task import Artefacts, TaskQuestion, part, share
from statecomp_bench.tasks.filler.output import mixed

CENT = Decimal("0.01")
SENTENCE_CHARS = 75


def prose(rng: Random, sentences: int) -> str:
    """Notes and mails that say nothing a task asks for."""
    return mixed(rng, sentences * SENTENCE_CHARS).rstrip("\n")


def retired(reason: str) -> str:
    """A program that does nothing any more but say why; an agent tries it in vain."""
    return f"raise SystemExit({reason!r})\n"


def money(rng: Random, low: int, high: int) -> Decimal:
    """An amount between two whole numbers, with cents."""
    return Decimal(rng.randrange(low * 100, high * 100)) / 100


def comma(amount: Decimal) -> str:
    return f"{amount:.2f}".replace(".", ",")


def put(template: str, **names: str) -> str:
    """A template with its words in capitals replaced; `{x_NAME}` becomes the place `{x_name}`."""
    for word, value in names.items():
        template = template.replace(f"_{word}}}", f"_{value.lower()}}}").replace(word, value)
    return template


def table_text(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(rows)
    return out.getvalue()


def database(tables: Mapping[str, tuple[str, Sequence[Sequence[object]]]]) -> bytes:
    """A SQLite file; each table is its columns, as in `create table`, and its rows."""
    with closing(sqlite3.connect(":memory:")) as base:
        for name, (columns, rows) in tables.items():
            base.execute(f"create table {name} ({columns})")
            for row in rows:
                places = ", ".join("?" * len(row))
                base.execute(f"insert into {name} values ({places})", tuple(map(_stored, row)))
        base.commit()
        return base.serialize()


def _stored(value: object) -> object:
    return str(value) if isinstance(value, Decimal) else value


def column(
    name: str,
    weight: float,
    rows: Callable[[], Sequence[Mapping[str, str]]],
    key: str,
    wanted: Mapping[str, str],
) -> TaskQuestion:
    """A part: how many values of a column are right.  `name` is the column, `key` tells rows apart.

    A key that stands twice is a mistake: its first row counts, and every row too many costs.
    """

    def answer() -> float:
        table = rows()
        found = {row[key]: row.get(name, "") for row in reversed(table)}
        return share(found, wanted) * (len(wanted) / max(len(table), len(wanted)))

    return part(name, weight, answer)


def holds(left: Artefacts, path: str, words: Iterable[str]) -> float:
    """How many of these words a text has."""
    text, wanted = left.text(path), list(words)
    return sum(word in text for word in wanted) / len(wanted)


def stored_rows(left: Artefacts, path: str, table: str) -> list[dict[str, str]]:
    """The rows of a table in a database that a run left, all values as text."""
    with closing(sqlite3.connect(f"{(left.root / path).as_uri()}?mode=ro", uri=True)) as base:
        cursor = base.execute(f"select * from {table}")
        names = [entry[0] for entry in cursor.description]
        return [dict(zip(names, map(str, row), strict=True)) for row in cursor]
