"""Builds, their logs and commits, and the commits that broke something; all invented."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from random import Random

from statecomp_bench.tasks.code.sources import functions, listed
from statecomp_bench.tasks.invented import hexadecimal, joined, nouns, people

PROBES, BUILDS = 6, 64
START = datetime(2031, 3, 3, 6, 0)


@dataclass(frozen=True)
class Break:
    """One test, the build that broke it and what its commit did."""

    name: str
    build: int
    commit: str
    author: str
    desk: tuple[str, str, str]
    was: int
    now: int
    timeouts: frozenset[int]

    @property
    def line(self) -> str:
        return f"{self.name.upper()}_LIMIT = "

    @property
    def tell(self) -> str:
        handle, presence, deputy = self.desk
        return deputy if presence == "away" else handle


@dataclass(frozen=True)
class Story:
    breaks: tuple[Break, ...]
    first: int
    rows: tuple[tuple[int, str, str], ...]
    names: tuple[str, ...]  # of all tests, also of those that never broke

    @property
    def last(self) -> int:
        return self.first + BUILDS


def green_probe(first: int, broken: int) -> int:
    """The first build a correct search finds to be good: the place where a timeout misleads."""
    good, bad = first, first + BUILDS
    while (middle := (good + bad) // 2) >= broken:
        bad = middle
    return middle


def story(rng: Random, level: int) -> Story:
    names = nouns(rng, 24)
    first = rng.randrange(3100, 8800)
    staff = people(rng, 9)
    rows = [(first + n, hexadecimal(rng, 40), rng.choice(staff)) for n in range(BUILDS + 1)]
    places = rng.sample(range(9, BUILDS), 3 + level)
    authors = rng.sample(staff, 3 + level)
    breaks = []
    for number, (name, place, author) in enumerate(zip(names, places, authors, strict=False)):
        build, commit, _ = rows[place]
        rows[place] = (build, commit, author)
        handle, deputy = (
            f"@{w.split()[0].lower()}-{rng.randrange(10, 99)}" for w in (author, rng.choice(staff))
        )
        desk = (handle, "away" if number % 2 else "here", deputy)
        was = rng.randrange(200, 900)
        late = {build for build in range(first + 1, build) if rng.random() < 0.2}
        late |= {green_probe(first, build)} if number % 2 == 0 else set()
        breaks.append(
            Break(
                name, build, commit, author, desk, was, was + rng.randrange(11, 99), frozenset(late)
            )
        )
    return Story(tuple(breaks), first, tuple(rows), tuple(sorted(names)))


def log(rng: Random, told: Story, build: int) -> str:
    at = START + timedelta(hours=3 * (build - told.first))
    broken = {b.name for b in told.breaks if build >= b.build}
    late = {b.name for b in told.breaks if build in b.timeouts}
    lines = [f"build {build} on runner-{rng.randrange(10, 40)}, {at:%Y-%m-%d %H:%M}", "collecting"]
    ends = []
    for n, name in enumerate(told.names):
        bad = name in broken or name in late
        lines += [
            f"engine/tests/test_{name}.py::test_{name}_{kind} PASSED [{n * 4:3d}%]"
            for kind in rng.sample(("empty", "single", "many", "order"), 2)
        ]
        how = "FAILED" if bad else "PASSED"
        lines.append(f"engine/tests/test_{name}.py::test_{name} {how} [{n * 4 + 2:3d}%]")
        if name in broken:
            got = rng.randrange(100, 999)
            ends.append(f"FAILED test_{name}.py::test_{name} - AssertionError: got {got} rows")
        elif bad:
            ends.append(f"FAILED test_{name}.py::test_{name} - TimeoutExpired: no answer in time")
    lines += ["", "summary", *ends, f"{len(ends)} failed of {3 * len(told.names)}"]
    return joined(lines)


def diff(rng: Random, told: Story, commit: str) -> str:
    found = next((b for b in told.breaks if b.commit == commit), None)
    name = found.name if found else rng.choice(told.names)
    around = [f" {line}" for line in functions(rng, 2).splitlines()]
    middle = (
        [f"-{found.line}{found.was}", f"+{found.line}{found.now}"]
        if found
        else [f"-    # {listed(nouns(rng, 3))}", f"+    # {listed(nouns(rng, 4))}"]
    )
    head = [
        f"commit {commit}",
        f"--- a/engine/{name}.py",
        f"+++ b/engine/{name}.py",
        "@@ -9,20 +9,20 @@",
    ]
    return joined([*head, *around, *middle, *around[:8]])
