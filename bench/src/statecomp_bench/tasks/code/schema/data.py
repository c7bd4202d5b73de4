"""Old tables full of corrected rows, and the pages that describe them; all invented."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import dataclass
from datetime import date, timedelta
from random import Random

from statecomp_bench.tasks.invented import hexadecimal, nouns, people

WORDS = ("fee", "toll", "charge", "due", "price", "levy", "rate", "sum", "cost", "value")
ENDS = ("a", "b", "net", "gross")


@dataclass(frozen=True)
class Table:
    """One old table with its rows (code, amount, day) and what its page says."""

    name: str
    column: str
    worth: int
    start: date
    ticket: str
    number: int
    rows: tuple[tuple[str, int, date], ...]

    @property
    def new(self) -> list[list[object]]:
        best: dict[str, tuple[date, int]] = {}
        for code, amount, day in self.rows:
            key = code.strip().upper()
            if day >= self.start and (key not in best or day > best[key][0]):
                best[key] = day, amount
        return [
            [code, amount * self.worth, str(day)] for code, (day, amount) in sorted(best.items())
        ]

    @property
    def script(self) -> str:
        return f"migrations/{self.number:04d}_{self.name}.sql"


def typed(rng: Random, code: str) -> str:
    return rng.choice((code, code.lower(), f" {code}", f"{code.lower()} "))


def rows(rng: Random, start: date, count: int) -> list[tuple[str, int, date]]:
    made = []
    for _ in range(count):
        code = f"{rng.choice('KLMNPQ')}{hexadecimal(rng, 5).upper()}"
        day = start + timedelta(days=rng.randrange(-150, 500))
        made.append((typed(rng, code), rng.randrange(3, 900), day))
        if rng.random() < 0.2:  # corrected later
            later = day + timedelta(days=rng.randrange(1, 60))
            made.append((typed(rng, code), rng.randrange(3, 900), later))
    return made


def tables(rng: Random, level: int) -> list[Table]:
    names = sorted(nouns(rng, 7 + level))
    free = rng.randrange(120, 900)
    made = []
    for place, name in enumerate(names):
        start = date(2019, 1, 1) + timedelta(days=rng.randrange(2000))
        made.append(
            Table(
                name,
                f"{rng.choice(WORDS)}_{rng.choice(ENDS)}_{rng.randrange(10, 99)}",
                rng.choice((2, 5, 10, 25, 50)),
                start,
                f"ARC-{rng.randrange(1000, 9999)}",
                free + place,
                tuple(rows(rng, start, 70 + 10 * level)),
            )
        )
    return made


def database(made: list[Table]) -> bytes:
    with closing(sqlite3.connect(":memory:")) as archive:
        archive.execute("CREATE TABLE schema_log (number INTEGER, name TEXT, ticket TEXT)")
        for table in made:
            archive.execute(f"CREATE TABLE {table.name} (code TEXT, amount TEXT, day TEXT)")
            archive.executemany(
                f"INSERT INTO {table.name} VALUES (?, ?, ?)",
                [(code, str(amount), f"{day:%d.%m.%Y}") for code, amount, day in table.rows],
            )
        archive.commit()
        return archive.serialize()


def page(rng: Random, table: Table) -> str:
    clerks = "".join(
        f"- {name} kept this table from {year} to {year + 1}, room {rng.randrange(10, 400)}, "
        f"and filed {rng.randrange(200, 9000)} slips under the letter {rng.choice('ABCDEFG')}.\n"
        for year, name in enumerate(people(rng, 16), 2004)
    )
    return (
        f"# The table {table.name}\n\nOne row for each parcel, typed from paper slips.\n\n"
        f"- One unit of the amount of {table.name} is worth {table.worth} cents.\n"
        f"- New name of the amount of {table.name}: {table.column}\n"
        f"- Rows of {table.name} are carried over from {table.start} on.\n\n## Clerks\n\n{clerks}"
    )
