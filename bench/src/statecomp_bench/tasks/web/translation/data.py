"""English pages, a translation memory, a glossary and the notice that amends it."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from statecomp_bench.tasks.invented import NOUNS, hexadecimal, nouns, person
from statecomp_bench.tasks.shared import scattered
from statecomp_bench.tasks.web.pages import boxes, document

COMPARE = """import pathlib, sys
missing = 0
for page in sorted(pathlib.Path('en').glob('*.html')):
    other = pathlib.Path('de') / page.name
    print(page, 'and', other if other.exists() else 'no translation')
    missing += not other.exists()
    for line in (other if other.exists() else page).read_text().splitlines():
        if 'data-key' in line:
            print('   ', line[:160])
sys.exit(missing > 0)
"""
TAGS = ("h1", "p", "li")
GERMAN = (  # noqa: SIM905
    "Fracht Grundbuch Anleger Zedernholz Gestein Leuchte Nadel Wiese Knabenkraut Greifvogel Granit "
    "Weide Glut Sattel Bauholz Kupfer Marmor Strom Anker Feuerzeichen Kobalt Trift Feuerstein Hain "
    "Haselnuss Schwertlilie Wacholder"
).split()


@dataclass(frozen=True)
class Segment:
    page: str
    tag: str
    term: str
    state: str
    target: str  # with the term in brackets, as the memory has it

    @property
    def key(self) -> str:
        return f"{self.page}_{self.tag}"

    def final(self, words: dict[str, str]) -> str:
        """As it shall stand on the page."""
        text = self.target.replace(f"[[{self.term}]]", f"<dfn>{words[self.term]}</dfn>")
        return text.replace("ß", "ss")


@dataclass(frozen=True)
class Order:
    segments: tuple[Segment, ...]
    glossary: dict[str, str]
    amended: dict[str, str]
    number: str

    @property
    def pages(self) -> list[str]:
        return list(dict.fromkeys(segment.page for segment in self.segments))

    @property
    def words(self) -> dict[str, str]:
        return {**self.glossary, **self.amended}


def order_of(rng: Random, level: int) -> Order:
    names = nouns(rng, 12 + level)
    terms, pages = names[:6], names[6:]
    coined = rng.sample([f"{a}{b.lower()}" for a in GERMAN for b in GERMAN if a != b], 9)
    segments = []
    for page in pages:
        for tag, term in zip(TAGS, rng.sample(terms, 3), strict=True):
            text = (
                f"Der [[{term}]] an der {rng.choice(GERMAN)}straße {rng.randrange(2, 200)} schließt"
            )
            end = f"um {rng.randrange(14, 22)}.{rng.randrange(10, 60)} Uhr"
            state = rng.choice(("approved", "fuzzy", "approved"))
            segments.append(Segment(page, tag, term, state, f"{text} {end}"))
    glossary = dict(zip(terms, coined[:6], strict=True))
    amended = dict(zip(rng.sample(terms, 3), coined[6:], strict=True))
    return Order(tuple(segments), glossary, amended, f"TR-{rng.randrange(10_000, 99_999)}")


def memory(rng: Random, order: Order, marks: dict[str, str]) -> bytes:
    rows = [(f"{s.page}.{s.tag}", s.state, s.target, person(rng), "in use") for s in order.segments]
    for page in order.pages:
        for number in range(16):
            word = f"{rng.choice(GERMAN)} und {rng.choice(GERMAN)} {hexadecimal(rng, 3)}"
            note = f"left over from {marks[page]}, {' '.join(rng.sample(NOUNS, 4))}"
            rows.append((f"old{number}.{hexadecimal(rng, 5)}", "retired", word, person(rng), note))
    rng.shuffle(rows)
    with TemporaryDirectory() as folder:
        file = Path(folder, "memory.db")
        with closing(sqlite3.connect(file)) as connection, connection:
            connection.execute("create table memory (segment, state, target, reviewer, note)")
            connection.executemany("insert into memory values (?, ?, ?, ?, ?)", rows)
        return file.read_bytes()


def english(rng: Random, order: Order, page: str, mark: str) -> str:
    wanted = [
        f'<{s.tag} data-key="{s.tag}">The {s.term} closes in the evening</{s.tag}>'
        for s in order.segments
        if s.page == page
    ]
    lines = scattered(rng, boxes(rng, 15), *wanted)
    return document(page, [f"<!-- page {page}, job mark {mark} -->", *lines])
