"""Flags of a registry, the modules that ask for them, and letters about them; all invented."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta
from random import Random

from statecomp_bench.tasks.code.sources import VERBS, functions, listed
from statecomp_bench.tasks.invented import NOUNS, joined, nouns, person

TODAY = date(2031, 9, 30)
TEAMS = ("counter", "depot", "fleet", "office")
AGES = {"on": 90, "off": 180}


@dataclass(frozen=True)
class Flag:
    """What the registry says of a flag, and what is true."""

    name: str
    module: str
    team: str
    state: str
    since: date
    fixed: date | None
    held: bool
    released: bool
    ticket: str
    numbers: tuple[int, int]

    @property
    def outcome(self) -> str:
        days = (TODAY - (self.fixed or self.since)).days
        kept = (self.held and not self.released) or days < AGES.get(self.state, 10**6)
        return "kept" if kept else f"removed-{self.state}"


# State, days in the registry, days in a letter (0: no letter), held, released.
KINDS = (
    ("on", (120, 400), 0, False, False),
    ("on", (20, 85), 0, False, False),
    ("off", (190, 400), 0, False, False),
    ("off", (95, 175), 0, False, False),
    ("partial", (200, 500), 0, False, False),
    ("on", (150, 400), 31, False, False),
    ("off", (40, 160), 311, False, False),
    ("on", (130, 500), 0, True, False),
    ("on", (130, 500), 0, True, True),
    ("off", (200, 500), 0, True, True),
)


def flags(rng: Random, level: int) -> list[Flag]:
    kinds = [*KINDS, *(rng.choice(KINDS[:5]) for _ in range(2 * level))]
    rng.shuffle(kinds)
    modules = nouns(rng, len(kinds))
    made = []
    for module, (state, (low, high), told, held, released) in zip(modules, kinds, strict=True):
        made.append(
            Flag(
                f"{rng.choice(VERBS)}_{module}",
                module,
                rng.choice(TEAMS),
                state,
                TODAY - timedelta(days=rng.randrange(low, high)),
                TODAY - timedelta(days=told + rng.randrange(20)) if told else None,
                held,
                released,
                f"FL-{rng.randrange(1000, 9999)}",
                (rng.randrange(10, 500), rng.randrange(500, 990)),
            )
        )
    return sorted(made, key=lambda flag: flag.module)


def module(rng: Random, flag: Flag) -> tuple[str, str]:
    """A module as it is, and as it should be."""
    head, body = f'"""Orders of the {flag.module} desk."""\n\n', f"{functions(rng, 11)}\n\n"
    first, other = (
        f'fee = {number}\nlabel = "{word}"\n'
        for number, word in zip(flag.numbers, ("swift", "plain"), strict=True)
    )
    start, end = "def price(order):\n", "    return fee * order + len(label)\n"

    def at(level: int, text: str) -> str:
        return "".join(f"{' ' * level}{line}\n" for line in text.splitlines())

    asking = f'    if enabled("{flag.name}"):\n{at(8, first)}    else:\n{at(8, other)}'
    old = f"{head}from app.flagging import enabled\n\n\n{body}{start}{asking}{end}"
    stays = at(4, f"# was {flag.name}, {flag.ticket}\n{other if flag.state == 'off' else first}")
    new = old if flag.outcome == "kept" else f"{head}{body}{start}{stays}{end}"
    return old, new


def registry(rng: Random, made: list[Flag], team: str) -> str:
    lines = [
        f"flag {flag.name}: state {flag.state}, since {flag.since}, ticket {flag.ticket}, "
        f"asked for by app/{flag.module}.py, owner {person(rng)}"
        for flag in made
        if flag.team == team
    ]
    for _ in range(28):
        name = f"{rng.choice(VERBS)}_{rng.choice(NOUNS)}_{rng.randrange(10, 99)}"
        at = TODAY - timedelta(days=rng.randrange(700))
        lines.append(
            f"flag {name}: state {rng.choice(('on', 'off', 'partial'))}, since {at}, ticket "
            f"FL-{rng.randrange(1000, 9999)}, asked for elsewhere, owner {person(rng)}"
        )
    rng.shuffle(lines)
    return f"# Flags of the {team} team\n\n{joined(lines)}"


def letters(rng: Random, made: list[Flag]) -> str:
    fixes = listed(f"{flag.name} since {flag.fixed}" for flag in made if flag.fixed)
    released = listed(flag.name for flag in made if flag.released)
    told = [f"Corrected dates: {fixes}", f"Released from the hold: {released}"]
    told += [
        f"Nothing about flags this week. The {noun} room is painted, please use the {other} room "
        f"until {person(rng)} says otherwise; keys are with {person(rng)}."
        for noun, other in zip(nouns(rng, 16), nouns(rng, 16), strict=True)
    ]
    rng.shuffle(told)
    return "\n".join(
        f"From: {person(rng)}, flag office\nTo: everybody\nWeek: {week}\n\n{text}\n"
        for week, text in enumerate(told, 20)
    )
