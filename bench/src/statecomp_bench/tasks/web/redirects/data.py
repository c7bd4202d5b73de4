"""Old addresses, the lists and the database that say where they went."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from statecomp_bench.tasks.invented import NOUNS, hexadecimal, nouns

VERIFY = """import pathlib, re, sys
known = {}
for file in pathlib.Path('site').glob('_redirects'):
    known = dict(line.split()[:2] for line in file.read_text().splitlines())
broken = 0
for page in sorted(pathlib.Path('pages').glob('*.html')):
    for number, line in enumerate(page.read_text().splitlines(), 1):
        for link in re.findall(r'href="([^"]+)"', line):
            bad = link.startswith('/old/')
            broken += bad
            print(f'{page}:{number}: {"BROKEN" if bad else "fine"} {link}')
print(f'{broken} broken links, {len(known)} redirects')
sys.exit(broken > 0)
"""
FINAL = ("article", "campaign", "archive", "withdrawn")


@dataclass(frozen=True)
class Move:
    name: str
    node: int
    kind: str
    successor: int
    path: str
    hits: int

    def line(self, host: str, ticket: str) -> str:
        if self.kind == "withdrawn":
            return f"/old/{self.name}.php - 410  # {ticket}"
        place = f"https://archive.{host}" if self.kind == "archive" else ""
        status = 307 if self.kind == "campaign" else 308
        return f"/old/{self.name}.php {place}{self.path}/ {status}  # {ticket}"


def moves_of(rng: Random, level: int) -> list[Move]:
    names = nouns(rng, 6 + 2 * level)
    kinds = [FINAL[n] if n < len(FINAL) else rng.choice(FINAL[:3]) for n in range(len(names))]
    rng.shuffle(kinds)
    ids = rng.sample(range(400, 900), len(names)), rng.sample(range(1100, 1900), len(names))
    return [
        Move(
            n,
            a * 100,
            k,
            b * 100,
            f"/{rng.choice(NOUNS)}/{n}-{hexadecimal(rng, 4)}",
            rng.randrange(50, 900),
        )
        for n, k, a, b in zip(names, kinds, *ids, strict=True)
    ]


def database(rng: Random, moves: list[Move]) -> bytes:
    """Nodes and addresses; around each one that matters stand others of the same look."""
    nodes: list[tuple[object, ...]] = []
    addresses: list[tuple[object, ...]] = []
    for move in moves:
        for near in range(-16, 17):
            mark, note = f"n{hexadecimal(rng, 6)}", " ".join(rng.sample(NOUNS, 5))
            own = near == 0
            later = rng.randrange(110_000, 190_000)
            nodes.append(
                (
                    move.node + near,
                    move.name if own else mark,
                    move.kind if own else "article",
                    move.successor if own else later,
                    note,
                )
            )
            nodes.append(
                (move.successor + near, f"{move.name}-new" if own else mark, "page", 0, note)
            )
            path = move.path if own else f"/{rng.choice(NOUNS)}/{mark}"
            addresses.append((move.successor + near, path, hexadecimal(rng, 5), note))
    with TemporaryDirectory() as folder:
        file = Path(folder, "cms.db")
        with closing(sqlite3.connect(file)) as connection, connection:
            connection.execute("create table nodes (id, name, kind, successor, note)")
            connection.execute("create table addresses (node, path, editor, note)")
            connection.executemany("insert into nodes values (?, ?, ?, ?, ?)", nodes)
            connection.executemany("insert into addresses values (?, ?, ?, ?)", addresses)
        return file.read_bytes()
