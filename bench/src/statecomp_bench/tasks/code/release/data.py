"""Packages in a chain, with changes since their last release; all invented."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from statecomp_bench.tasks.code.sources import VERBS, listed
from statecomp_bench.tasks.invented import FIRST, joined, nouns, people

DAY = "2031-10-06"
CHANGES = 6
SECTIONS = ("Removed", "Added", "Fixed")
ENDS = ("before the night run", "only once", "by name", "without asking", "in one pass", "in parts")


@dataclass(frozen=True)
class Change:
    number: int
    kind: str
    text: str
    handle: str
    taken: bool

    @property
    def head(self) -> str:
        return f"#{self.number} [{self.kind}] {self.text} {self.handle}"


@dataclass(frozen=True)
class Package:
    name: str
    version: tuple[int, int, int]
    changes: tuple[Change, ...]
    needs: Package | None = None

    @property
    def counted(self) -> list[Change]:
        return [change for change in self.changes if not change.taken]

    @property
    def removal(self) -> bool:
        return any(change.kind == "removed" for change in self.counted)

    @property
    def new(self) -> str:
        first, second, third = self.version
        added = any(change.kind == "added" for change in self.counted)
        if self.removal and first > 0:
            return f"{first + 1}.0.0"
        if self.removal or added or (self.needs is not None and self.needs.removal):
            return f"{first}.{second + 1}.0"
        return f"{first}.{second}.{third + 1}"

    @property
    def entries(self) -> dict[str, list[str]]:
        """Lines of the news by section."""
        return {
            section: [
                f"- {change.text} (#{change.number}, thanks to {change.handle})"
                for change in sorted(self.counted, key=lambda change: change.number)
                if change.kind == section.lower()
            ]
            for section in SECTIONS
        }

    @property
    def news(self) -> str:
        lines = [f"# {self.name} {self.new} ({DAY})"]
        for section, entries in self.entries.items():
            lines += ["", f"## {section}", "", *entries] if entries else []
        return joined(lines)

    def manifest(self, version: str, minimum: str) -> str:
        needs = f'requires = "{self.needs.name} >= {minimum}"\n' if self.needs else ""
        return f'name = "{self.name}"\nversion = "{version}"\n{needs}license = "ours"\n'


def dotted(version: tuple[int, int, int]) -> str:
    return ".".join(map(str, version))


def changes(
    rng: Random, numbers: list[int], first: str, others: tuple[str, ...], taken: int
) -> tuple[Change, ...]:
    """The first is of the given kind, the next of the others; the one at `taken` was taken back."""
    kinds = [first, *(rng.choice(others) for _ in range(CHANGES - 2)), "fixed"]
    made = [
        Change(
            number,
            kind,
            f"{rng.choice(VERBS).title()} the {' '.join(nouns(rng, 2))} {rng.choice(ENDS)}",
            f"@{rng.choice(FIRST).lower()}-{rng.randrange(10, 99)}",
            taken=place == taken,
        )
        for place, (number, kind) in enumerate(zip(numbers, kinds, strict=True))
    ]
    return tuple(sorted(made, key=lambda change: change.number))


def packages(rng: Random, level: int) -> list[Package]:
    names = nouns(rng, 8 + level)
    # Three digits each, so that the order of the texts is that of the numbers.
    numbers = rng.sample(range(100, 999), CHANGES * len(names))
    made: list[Package] = []
    for place, name in enumerate(names):
        own = numbers[place * CHANGES : (place + 1) * CHANGES]
        # Every third package has a removal; some of those are below version 1 or were taken back.
        # Those behind them would raise their third number only, were it not for the removal.
        others = ("fixed", "internal") if place % 3 == 1 else ("added", "fixed", "internal")
        first = "removed" if place % 3 == 0 else rng.choice(others)
        taken = (1, -1, 2, 0, 3, -1)[place % 6]
        major = 0 if place % 12 == 6 or place % 4 == 1 else rng.randrange(1, 7)
        version = (major, rng.randrange(1, 30), rng.randrange(1, 20))
        before = made[-1] if made else None
        made.append(Package(name, version, changes(rng, own, first, others, taken), before))
    return made


def change_file(rng: Random, name: str, place: int, change: Change) -> str:
    review = joined(
        [
            f"{who} ({rng.randrange(2, 40)} files seen): the {noun} path is "
            f"{rng.choice(('fine', 'still slow', 'better than before', 'not tested on old data'))}."
            for who, noun in zip(people(rng, 11), nouns(rng, 11), strict=True)
        ]
    )
    return (
        f"{name} change {place} of {CHANGES}: {change.head}\n\nAsked for in the "
        f"{listed(nouns(rng, 3))} meeting. It touches {rng.randrange(2, 40)} files and "
        f"{rng.randrange(20, 900)} lines; the tests take {rng.randrange(2, 90)} seconds longer.\n\n"
        f"Review:\n{review}\n"
    )


def history(rng: Random, package: Package) -> str:
    lines = [
        f"- {package.name} 0.{n}: {rng.choice(VERBS)} the {' '.join(nouns(rng, 3))}, by {who}"
        for n, who in enumerate(people(rng, 45))
    ]
    return f"# What was, long ago\n\n{joined(lines)}"
