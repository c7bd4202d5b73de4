"""Old style sheets, the list of tokens, owners, and a strict build."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from statecomp_bench.tasks.filler.words import sentence
from statecomp_bench.tasks.invented import NOUNS, hexadecimal, joined, nouns
from statecomp_bench.tasks.shared import scattered

TEAMS = ("Print", "Kiosk", "Checkout", "Search")
BUILD = """import pathlib, re, sys
bad = 0
for name in sys.argv[1:]:
    path = pathlib.Path(name)
    text = path.read_text()
    for number, line in enumerate(text.splitlines(), 1):
        print(f'{path}:{number}: parsed {line.strip()!r}')
    for old in sorted(pathlib.Path('css').glob('*.css')):
        same = set(old.read_text().split()) & set(text.split())
        print(f'  compared with {old}: {len(same)} words')
    found = []
    if not text.startswith('@charset "utf-8";'):
        found.append('B31 the first line of a file must be its charset declaration, utf-8')
    if '@layer components {' not in text:
        found.append('B47 rules outside of the components layer are dropped by the bundler')
    if re.search(r'^\\s*\\.(?!ds-)', text, re.M):
        found.append('B52 class selectors must begin with ds- or they collide with the old sheet')
    print('\\n'.join(f'{path}: {reason}' for reason in found) or f'{path}: fine')
    bad += len(found)
sys.exit(bad > 0)
"""


@dataclass(frozen=True)
class Component:
    name: str
    owner: str
    rank: int
    gap: int
    ground: tuple[str, str, str]  # old variable, token, colour
    edge: tuple[str, str, str]

    @property
    def margin(self) -> str:
        return f"{self.gap}px" if self.owner == "Kiosk" else f"{self.gap / 16:g}rem"


def colours(rng: Random, count: int) -> list[tuple[str, str, str]]:
    numbers = rng.sample(range(1000, 9999), count)
    return [
        (f"lg-{n}", f"--ds-{rng.choice(NOUNS)}-{hexadecimal(rng, 3)}", f"#{hexadecimal(rng, 6)}")
        for n in numbers
    ]


def components_of(rng: Random, level: int) -> list[Component]:
    names = nouns(rng, 6 + 2 * level)
    owners = [TEAMS[n % len(TEAMS)] for n in range(len(names))]
    rng.shuffle(owners)
    used, ranks = colours(rng, 2 * len(names)), rng.sample(range(100, 999), len(names))
    return [
        Component(name, owners[n], ranks[n], 4 * rng.randrange(2, 16), used[2 * n], used[2 * n + 1])
        for n, name in enumerate(names)
    ]


def old_sheet(rng: Random, made: Component) -> str:
    rules = [
        f".{rng.choice(NOUNS)}-{hexadecimal(rng, 4)} {{ "
        f"color: var(--lg-{rng.randrange(1000, 9999)}); "
        f"padding: {rng.randrange(40)}px; /* {sentence(rng)[:60]} */ }}"
        for _ in range(50)
    ]
    own = (
        f".{made.name}-panel {{ background: var(--{made.ground[0]}); }}",
        f".{made.name}-panel {{ border: 1px solid var(--{made.edge[0]}); }}",
        f".{made.name}-panel {{ margin-left: {made.gap}px; }}",
    )
    return joined(scattered(rng, rules, *own))
