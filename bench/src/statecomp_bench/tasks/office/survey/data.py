"""Branches and their answers; all invented."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from importlib.resources import files
from random import Random

from statecomp_bench.tasks.filler.words import sentence
from statecomp_bench.tasks.invented import LAST, joined, person
from statecomp_bench.tasks.office.papers import prose, retired

WORDS = {
    "parking": ("garage", "kerb"),
    "waiting": ("queue", "delay"),
    "price": ("cost", "fee"),
    "staff": ("clerk", "adviser"),
    "website": ("login", "form"),
}
EARLY = 3  # branches that are counted before the limit changes


@dataclass(frozen=True)
class Answer:
    number: str
    seconds: int
    grade: int
    comment: str


@dataclass(frozen=True)
class Branch:
    name: str
    code: str
    customers: int
    manager: str
    interviewer: str
    answers: tuple[Answer, ...]


@dataclass(frozen=True)
class Count:
    valid: int
    promoters: int
    detractors: int
    top: str
    mentions: int

    @property
    def exact(self) -> float:
        return 100 * (self.promoters - self.detractors) / self.valid


@dataclass(frozen=True)
class Wave:
    branches: tuple[Branch, ...]
    training: str
    numbers: dict[str, int]  # of the themes
    limits: tuple[int, int]  # at first, and now
    base: int
    number: str

    def count(self, branch: Branch) -> Count:
        kept = [a for a in branch.answers if a.number[0] != "T" and a.seconds >= self.limits[1]]
        found: Counter[str] = Counter(dict.fromkeys(WORDS, 0))
        for answer in kept:
            fitting = [t for t, words in WORDS.items() if any(w in answer.comment for w in words)]
            found.update(fitting[:1])
        top = max(WORDS, key=lambda theme: found[theme])
        promoters = sum(a.grade >= 9 for a in kept)
        return Count(len(kept), promoters, sum(a.grade <= 6 for a in kept), top, found[top])

    def score(self, branch: Branch) -> str:
        count = self.count(branch)
        return "-" if count.valid < self.base else str(round(count.exact))

    def total(self) -> str:
        counted = [b for b in self.branches if b.name != self.training]
        customers = sum(b.customers for b in counted)
        return f"{sum(self.count(b).exact * b.customers for b in counted) / customers:.1f}"


def branch(rng: Random, name: str, place: int, level: int) -> Branch:
    answers = []
    for number in range(1, (24 if place in (1, 5) else 46) + 8 * level):
        words = [
            rng.choice(rng.choice(list(WORDS.values()))) for _ in range(rng.choice((0, 1, 1, 2)))
        ]
        comment = f"{sentence(rng)[:-1]} {' and the '.join(words)}".strip()
        prefix = "T" if rng.random() < 0.08 else "R"
        seconds = rng.randrange(20, 130) if rng.random() < 0.4 else rng.randrange(130, 900)
        grade = rng.choice((0, 3, 5, 6, 7, 8, 8, 9, 9, 10, 10))
        answers.append(Answer(f"{prefix}{number:03d}", seconds, grade, comment))
    return Branch(
        name=name,
        code=f"{rng.randrange(100, 999)}-{rng.choice('KLMN')}",
        customers=rng.randrange(1200, 9800),
        manager=person(rng),
        interviewer=person(rng),
        answers=tuple(answers),
    )


def story(rng: Random, level: int) -> Wave:
    names = rng.sample(LAST, 8 + level)
    branches = tuple(branch(rng, name, place, level) for place, name in enumerate(names))
    numbers = dict(zip(WORDS, rng.sample(range(21, 99), len(WORDS)), strict=True))
    limits = rng.choice((45, 50, 55)), rng.choice((80, 90, 95))
    base = 18 + 6 * level
    return Wave(branches, names[2], numbers, limits, base, f"W{rng.randrange(20, 90)}/25")


def surroundings(rng: Random, wave: Wave) -> dict[str, str | bytes]:
    themes = joined(
        [f"theme {t}: number {n}, words: {' '.join(WORDS[t])}" for t, n in wave.numbers.items()]
    )
    codebook = (
        files(__package__)
        .joinpath("rules.md")
        .read_text("utf-8")
        .replace("LIMIT", str(wave.limits[0]))
        .replace("BASE", str(wave.base))
    )
    plan = [
        f"branch {b.name} | code {b.code} | {b.customers} customers | head {b.manager} | "
        f"{sentence(rng)}"
        for b in wave.branches
    ]
    made: dict[str, str | bytes] = {
        "survey/codebook.md": codebook,
        "survey/count.py": retired("count.py: answers must have 7 columns, found 4"),
        "survey/themes.txt": f"{prose(rng, 18)}\n\n{themes}\n{prose(rng, 18)}\n",
        "survey/sampling.txt": f"{prose(rng, 14)}\n\n{joined(plan)}\nThe training branch is "
        f"{wave.training}.\n\n{prose(rng, 10)}\n",
        "survey/wave_before.txt": f"Report of the wave before\n\n{prose(rng, 70)}\n",
        "survey/memo.txt": f"{prose(rng, 12)}\n\nFrom today on the limit is {wave.limits[1]} "
        "seconds, for all branches of this "
        f"wave, also for those that were counted before.\n\n{prose(rng, 12)}\n",
    }
    for b in wave.branches:
        rows = [f"{a.number}|{a.seconds}|{a.grade}|{a.comment}" for a in b.answers]
        head = f"# branch {b.name}, interviews there by {b.interviewer}"
        made[f"answers/{b.name.lower()}.txt"] = joined([head, *rows])
    return made
