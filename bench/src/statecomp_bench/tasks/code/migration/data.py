"""Modules that call an old client, and the chapters of a guide to the new one; all invented."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from statecomp_bench.tasks.code.sources import functions, listed
from statecomp_bench.tasks.invented import NOUNS, nouns, people

OLD_VERBS = ("fetch", "push", "list", "drop", "stream")
NEW_VERBS = ("load", "obtain", "query", "submit", "deliver", "scan", "walk", "purge", "follow")
KEYWORDS = ("timeout", "patience", "deadline", "grace", "within", "limit", "budget", "window")
CHAPTERS = ("01-harbour", "02-counter", "03-night", "04-archive")
KINDS = ("reply", "trail")


@dataclass(frozen=True)
class Use:
    """One call of a module, old and new."""

    old: str
    new: str
    keyword: str
    wait: int
    chapter: str

    @property
    def moved(self) -> list[object]:
        wait = self.wait if self.old.startswith("stream_") else self.wait * 1000
        return ["v3", self.new, ["c1"], {self.keyword: wait}]


@dataclass(frozen=True)
class Module:
    name: str
    uses: tuple[Use, ...]
    ticket: str
    frozen: bool

    @property
    def line(self) -> str:
        return f"- {self.name}: {listed(use.new for use in self.uses)} ({self.ticket})"


def calls(rng: Random, count: int) -> list[Use]:
    pairs = rng.sample([(verb, noun) for verb in OLD_VERBS for noun in NOUNS], count)
    return [
        Use(
            f"{verb}_{noun}",
            f"{noun}_{rng.choice(NEW_VERBS)}",
            rng.choice(KEYWORDS),
            rng.randrange(2, 90),
            rng.choice(CHAPTERS),
        )
        for verb, noun in pairs
    ]


def modules(rng: Random, level: int, known: list[Use]) -> list[Module]:
    names = sorted(nouns(rng, 8 + 2 * level))
    frozen = set(rng.sample(names, 2))
    streams = [use for use in known if use.old.startswith("stream_")]
    others = [use for use in known if not use.old.startswith("stream_")]
    used = rng.sample(streams, 3) + rng.sample(others, 2 * len(names) - 3)
    rng.shuffle(used)
    tickets = rng.sample(range(1000, 9000), len(names))
    return [
        Module(name, (used[2 * n], used[2 * n + 1]), f"MIG-{tickets[n]}", name in frozen)
        for n, name in enumerate(names)
    ]


def source(rng: Random, module: Module) -> str:
    made = "".join(
        f"    {module.name}_{kind} = client.{use.old}(code, wait={use.wait})\n"
        for kind, use in zip(KINDS, module.uses, strict=True)
    )
    return (
        f'"""What the {module.name} counter shows of a parcel."""\n\n'
        f"from client import v2 as client\n\n\n{functions(rng, 15)}\n\n"
        f"def status(code):\n{made}    return [{module.name}_reply, {module.name}_trail]\n"
    )


def chapter(rng: Random, known: list[Use], name: str) -> str:
    entries = "".join(
        f"- `{use.old}` is now `{use.new}`; its keyword `wait` is now `{use.keyword}`. Agreed with "
        f"{people(rng, 1)[0]}; seen in {rng.randrange(2, 40)} places of other trees.\n"
        for use in known
        if use.chapter == name
    )
    return f"# Calls, chapter {name}\n\nOld names are those of version 2.\n\n{entries}"
