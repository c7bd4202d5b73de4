"""Sources with front matter, and the minutes that override some of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from random import Random

from statecomp_bench.tasks.invented import NOUNS, hexadecimal, nouns
from statecomp_bench.tasks.web.pages import prose

MINUTES = "minutes/2024-03.md"
OLD = """import sys
for name in sys.argv[1:]:
    for line in open(f'content/{name}.md'):
        print(line.rstrip()[:70])
sys.exit('menu.py: no weight for the section of ' + name + ', stopped')
"""


@dataclass(frozen=True)
class Page:
    name: str
    section: str
    title: str
    label: str
    weight: int
    changed: str
    draft: bool
    moved: int = 0  # the weight it gets by the minutes


@dataclass(frozen=True)
class Tree:
    """Pages as they shall stand, and the names of sections."""

    pages: tuple[Page, ...]
    sections: dict[str, str]
    host: str

    def within(self, section: str) -> list[Page]:
        found = [page for page in self.pages if page.section == section]
        return sorted(found, key=lambda page: page.moved or page.weight)


def tree_of(rng: Random, level: int) -> Tree:
    size = 4
    names = nouns(rng, (2 + level) * (size + 1))
    sections = names[:: size + 1]
    drafts = rng.sample([name for name in names if name not in sections], 2)
    pages = []
    for section, start in zip(sections, range(0, len(names), size + 1), strict=True):
        weights = rng.sample(range(11, 50), size)
        for name, weight in zip(names[start + 1 : start + size + 1], weights, strict=True):
            one, two = nouns(rng, 2)
            title = f"The {one} guide to {name}, part {rng.randrange(2, 90)}"
            day = f"2024-{rng.randrange(1, 10):02d}-{rng.randrange(10, 29)}"
            moment = f"{day}T{rng.randrange(10, 24)}:{rng.randrange(10, 60)}:00Z"
            label, draft = f"{two.title()} {name}", name in drafts
            pages.append(Page(name, section, title, label, weight, moment, draft))
        # The lightest goes to the end, so that the order without the minutes is another one.
        first = min(range(len(pages) - size, len(pages)), key=lambda n: pages[n].weight)
        pages[first] = replace(pages[first], moved=rng.randrange(61, 99))
    called = {
        s: f"{s.title()} and {rng.choice(NOUNS)} matters {hexadecimal(rng, 3)}" for s in sections
    }
    return Tree(tuple(pages), called, f"www.{'-'.join(nouns(rng, 2))}.example")


def source_text(rng: Random, page: Page) -> str:
    head = (
        f"title: {page.title}\nlabel: {page.label}\nweight: {page.weight}\n"
        f"status: {'draft' if page.draft else 'published'}\nchanged: {page.changed}\n"
    )
    return f"{prose(rng, 1, 9)}\n{head}\n{prose(rng, 10, 9)}"
