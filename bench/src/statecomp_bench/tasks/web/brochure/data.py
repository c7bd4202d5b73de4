"""Briefs, old pages, images and design tokens of an invented shop."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import dataclass
from random import Random

from statecomp_bench.tasks.invented import NOUNS, hexadecimal, joined, nouns, people


@dataclass(frozen=True)
class Page:
    name: str
    headline: str
    price: str
    image: str
    alt: str
    width: int
    height: int

    @property
    def title(self) -> str:
        return self.name.title()


@dataclass(frozen=True)
class Site:
    pages: tuple[Page, ...]
    colour: str
    accent: str
    radius: str
    phone: str
    host: str


def site(rng: Random, level: int) -> Site:
    pages = []
    for name in sorted(nouns(rng, 6 + level)):
        first, second, third = nouns(rng, 3)
        pages.append(
            Page(
                name=name,
                headline=f"{name.title()}, made with {first} and {second}",
                price=f"{rng.randrange(8, 240)}.{rng.choice(('20', '50', '90'))}",
                image=f"{name}-{hexadecimal(rng, 4)}.jpg",
                alt=f"A {third} beside {first} on a {rng.choice(('table', 'shelf', 'bench'))}",
                width=rng.randrange(600, 1600),
                height=rng.randrange(400, 900),
            )
        )
    return Site(
        tuple(pages),
        f"#{hexadecimal(rng, 6)}",
        f"#{hexadecimal(rng, 6)}",
        f"{rng.randrange(3, 17)}px",
        f"+49{rng.randrange(200, 900)}{rng.randrange(10_000, 99_999)}",
        f"www.{'-'.join(nouns(rng, 2))}.example",
    )


def brief(rng: Random, page: Page) -> str:
    paragraphs = []
    for number in range(9):
        words = " ".join(rng.choices(NOUNS, k=45))
        paragraphs.append(f"## Note {number + 1} of {rng.choice(people(rng, 3))}\n\n{words}.\n")
    notes = "\n".join(paragraphs)
    return (
        f"# Brief for the {page.name} page\n\nHeadline of {page.name}: {page.headline}\n"
        f"Price of {page.name}: {page.price}\n\n{notes}"
    )


def old_page(rng: Random, page: Page) -> str:
    """A page of the old site: much markup, and somewhere in it the image to be kept."""
    blocks = []
    for number in range(26):
        words = " ".join(rng.choices(NOUNS, k=9))
        style = f"color:#{hexadecimal(rng, 6)};padding:{rng.randrange(20)}px"
        blocks.append(
            f'<div class="box b{number}" style="{style}"><h3>{words.title()}</h3>'
            f'<p><a href="/{rng.choice(NOUNS)}.php?id={number}">{words}</a></p>'
            f'<img src="spacer{number}.gif"></div>'
        )
    hero = f'<img class="hero" src="assets/{page.image}">'
    blocks.insert(rng.randrange(4, 20), f'<div class="main"><h1>{page.title}</h1>{hero}</div>')
    body = joined(blocks)
    return f"<html>\n<head><title>{page.title}</title></head>\n<body>\n{body}</body>\n</html>\n"


def manifest(rng: Random, made: Site) -> str:
    rows = [(p.image, p.alt, p.width, p.height) for p in made.pages]
    for noun in nouns(rng, 26):
        alt = f"{noun.title()} and {rng.choice(NOUNS)} in the light"
        rows.append((f"{noun}-{hexadecimal(rng, 4)}.png", alt, rng.randrange(1600), 400))
    rng.shuffle(rows)
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(("file", "alt", "width", "height", "photographer"))
    for row, who in zip(rows, people(rng, len(rows)), strict=True):
        writer.writerow((*row, who))
    return out.getvalue()


def tokens(rng: Random, made: Site) -> str:
    shades = {f"shade-{n}-{rng.choice(NOUNS)}": f"#{hexadecimal(rng, 6)}" for n in range(50)}
    chosen = {"primary": made.colour, "accent": made.accent, "radius": made.radius}
    return json.dumps({"shades": shades, "chosen": chosen, "phone": made.phone}, indent=1)


LINT = """import pathlib, re, sys
problems = []
for old in sorted(pathlib.Path('legacy').glob('*.html')):
    page = pathlib.Path('site') / old.name
    if not page.exists():
        problems.append(f'{page}: missing')
        continue
    text = page.read_text()
    for number, line in enumerate(text.splitlines(), 1):
        for tag in re.findall(r'<[a-z][^>]*>', line):
            print(f'{page}:{number}: {tag}')
    if text.count('<h1') != 1:
        problems.append(f'{page}: needs one h1')
for name in ('style.css', 'sitemap.xml'):
    if not (pathlib.Path('site') / name).exists():
        problems.append(f'site/{name}: missing')
print('\\n'.join(problems) or 'no problems')
sys.exit(bool(problems))
"""
