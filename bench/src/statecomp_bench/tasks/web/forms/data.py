"""Forms, their specifications, a schema, patterns and messages."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from statecomp_bench.tasks.invented import NOUNS, hexadecimal, nouns

FIELDS = ("code", "city", "phone")
LINT = """import pathlib, re, sys
bad = 0
for page in sorted(pathlib.Path('forms').glob('*.html')):
    for number, line in enumerate(page.read_text().splitlines(), 1):
        for tag in re.findall(r'<input[^>]*>', line):
            good = 'maxlength' in tag
            bad += not good
            print(f'{page}:{number}: {"fine" if good else "no limit"}: {tag}')
print('js/limits.js', 'is there' if pathlib.Path('js/limits.js').exists() else 'is missing')
sys.exit(bad > 0)
"""


@dataclass(frozen=True)
class Field:
    form: str
    name: str
    needed: bool
    length: int
    pattern: str
    code: str
    message: str

    @property
    def key(self) -> str:
        return f"{self.form}_{self.name}"

    @property
    def wanted(self) -> dict[str, str]:
        """What the guide asks for beside the name."""
        found = {"maxlength": str(self.length - 4), "data-message": self.message}
        if self.needed:
            found |= {"required": "", "aria-required": "true", "pattern": self.pattern}
        return found


def fields_of(rng: Random, level: int) -> list[Field]:
    fields = []
    for form in nouns(rng, 4 + level):
        optional = rng.choice(FIELDS)
        for name in FIELDS:
            pattern = (
                f"[{rng.choice('ABCDEF')}-Z]{{{rng.randrange(2, 5)}}}[0-9]{{{rng.randrange(3, 9)}}}"
            )
            message = f"Please give the {name} of your {rng.choice(NOUNS)} {rng.choice(NOUNS)}"
            fields.append(
                Field(
                    form,
                    name,
                    name != optional,
                    rng.randrange(24, 240),
                    pattern,
                    f"M{rng.randrange(10_000, 99_999)}",
                    message,
                )
            )
    return fields


def schema(rng: Random, fields: list[Field]) -> bytes:
    with TemporaryDirectory() as folder:
        file = Path(folder, "schema.db")
        with closing(sqlite3.connect(file)) as connection, connection:
            connection.execute("create table tables (place, form)")
            connection.execute("create table columns (place, name, length, note)")
            for form in dict.fromkeys(field.form for field in fields):
                place = f"t_{hexadecimal(rng, 6)}"
                rows = [(place, f.key, f.length) for f in fields if f.form == form]
                rows += [
                    (place, f"x_{hexadecimal(rng, 5)}", rng.randrange(10, 400)) for _ in range(22)
                ]
                connection.execute("insert into tables values (?, ?)", (place, form))
                noted = [(*row, " ".join(rng.sample(NOUNS, 5))) for row in rows]
                connection.executemany("insert into columns values (?, ?, ?, ?)", noted)
        return file.read_bytes()
