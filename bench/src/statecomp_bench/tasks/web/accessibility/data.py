"""Pages, tables and an archive of captions for a site that failed its audit."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from statecomp_bench.tasks.invented import NOUNS, hexadecimal, joined, nouns
from statecomp_bench.tasks.shared import scattered
from statecomp_bench.tasks.web.pages import boxes, document

AUDIT = """import pathlib, re
for page in sorted(pathlib.Path('pages').glob('*.html')):
    text = page.read_text()
    for number, line in enumerate(text.splitlines(), 1):
        if '<img' in line and 'alt=' not in line or 'click here' in line or line == '<html>':
            print(f'{page}:{number}: error: {line[:110]}')
        elif number % 5 == 0:
            print(f'{page}:{number}: ok: {line[:90]}')
"""


@dataclass(frozen=True)
class Page:
    name: str
    image: str
    caption: str
    ornament: str
    field: str
    label: str
    paper: str
    target: str  # title of the page its picture leads to; empty: it leads nowhere


def pages_of(rng: Random, level: int) -> list[Page]:
    pages = []
    for number, name in enumerate(sorted(nouns(rng, 6 + level))):
        one, two, three = nouns(rng, 3)
        pages.append(
            Page(
                name,
                f"IMG_{rng.randrange(10_000, 99_999)}.jpg",
                f"A {one} and a {two} in front of the {three}",
                f"orn-{hexadecimal(rng, 5)}.svg",
                f"f-{hexadecimal(rng, 6)}",
                f"Your question about {two}",
                f"{three.title()} handbook {rng.randrange(1990, 2024)}",
                f"Offers for {one} and {three}" if number % 3 == 1 else "",
            )
        )
    return pages


def markup(rng: Random, page: Page) -> str:
    lead = f'<img class="lead" src="/media/{page.image}">'
    wanted = (
        f"<h1>{page.name.title()}</h1>",
        f'<a href="/offers/{page.name}.html">{lead}</a>' if page.target else f"<p>{lead}</p>",
        f'<h4 class="sub">More about {page.name}</h4><!-- sub -->',
        f'<img class="rule" src="/media/{page.ornament}">',
        f'<form action="/ask/{page.name}"><input name="ask" id="{page.field}"></form>',
        f'<p>For the {page.name} handbook <a href="/files/{page.name}.pdf">click here</a></p>',
    )
    return document(page.name.title(), scattered(rng, boxes(rng, 36), *wanted))


def table(rng: Random, header: str, rows: list[str], decoy: str) -> str:
    """The wanted rows among forty that nobody asks for."""
    others = [
        f"{decoy.format(n=n, noun=rng.choice(NOUNS))},{hexadecimal(rng, 8)}" for n in range(40)
    ]
    return joined([header, *scattered(rng, others, *rows)])
