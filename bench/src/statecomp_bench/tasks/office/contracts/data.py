"""Contracts, addenda and what a register makes of them; all invented."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta
from random import Random

from statecomp_bench.tasks.filler.words import sentence
from statecomp_bench.tasks.invented import NOUNS, joined, person
from statecomp_bench.tasks.office.papers import prose

KINDS = ("cleaning", "leasing", "licence", "maintenance", "security", "supply")
DEPARTMENTS = ("Buildings", "Catering", "Finance", "Fleet", "Network", "Workshop")
FIELDS = ("number", "class", "begin", "end", "notice", "fee", "owner")


@dataclass(frozen=True)
class Contract:
    name: str
    number: str
    kind: str
    begin: date
    end: date
    notice: int  # as it stands now; 0: it ends by itself
    first_notice: int  # as it stood before any addendum
    signed: bool
    cents: int
    department: str

    @property
    def fee(self) -> str:
        return str((self.cents + 50) // 100)

    @property
    def addendum(self) -> bool:
        return self.notice != self.first_notice or not self.signed

    @property
    def deadline(self) -> str:
        day = self.end - timedelta(days=self.notice)
        return (day - timedelta(days=max(0, day.weekday() - 4))).isoformat()


@dataclass(frozen=True)
class Register:
    contracts: tuple[Contract, ...]
    classes: dict[str, str]
    codes: dict[str, str]


def contract(rng: Random, name: str, place: int) -> Contract:
    begin = date(2022, 1, 1) + timedelta(days=rng.randrange(700))
    notice = rng.randrange(40, 200)
    if place % 5 == 3:
        notice = 0
    changed = place % 4 == 1
    return Contract(
        name=name,
        number=f"{rng.choice('BKLR')}{rng.randrange(1000, 9999)}/{begin:%y}",
        kind=rng.choice(KINDS),
        begin=begin,
        end=begin + timedelta(days=rng.randrange(1100, 2000)),
        notice=notice,
        first_notice=rng.randrange(40, 200) if changed and notice else notice,
        signed=place % 4 != 2,
        cents=rng.randrange(300_000, 9_000_000),
        department=rng.choice(DEPARTMENTS),
    )


def story(rng: Random, level: int) -> Register:
    names = sorted(noun.title() for noun in rng.sample(NOUNS, 9 + 3 * level))
    contracts = tuple(contract(rng, name, place) for place, name in enumerate(names))
    letters = rng.sample("ABCDEFGHK", len(KINDS))
    codes = {d: f"{rng.randrange(1000, 9999)}-{d[:1]}{rng.randrange(10)}" for d in DEPARTMENTS}
    return Register(contracts, dict(zip(KINDS, letters, strict=True)), codes)


def contract_text(rng: Random, c: Contract) -> str:
    """Clauses in which the terms stand; most clauses are of no interest to the register."""
    name = c.name
    clauses = [
        f"This contract on {c.kind} is made between us and {name}, for the good of both.",
        f"The contract with {name} begins on {c.begin} and its first term ends on {c.end}.",
        f"Notice to {name} is given {c.first_notice} days before the end of a term."
        if c.notice
        else f"Notice to {name} is given 0 days before the end of a term, which is all.",
        f"The yearly fee of {name} is {c.cents / 100:.2f} euros, before taxes.",
        f"On our side the department of {c.department} answers for {name}.",
    ]
    places = sorted(rng.sample(range(2, 32), len(clauses)))
    text = [f"{n}. {sentence(rng)} {sentence(rng)}" for n in range(1, 35)]
    for place, clause in zip(places, clauses, strict=True):
        text[place] = f"{place + 1}. {clause} {sentence(rng)}"
    return f"CONTRACT WITH {name.upper()}\n\n{joined(text)}\nSigned: {person(rng)}, {person(rng)}\n"


def addenda(rng: Random, register: Register) -> str:
    """All addenda in one binder; those that nobody signed look much the same."""
    sheets = []
    for c in register.contracts:
        if not c.addendum:
            continue
        days = c.notice if c.signed else c.notice + rng.randrange(15, 90)
        binding = f"Notice to {c.name} is given {days} days before the end of a term."
        draft = f"It is proposed that {c.name} should get {days} days of notice. Draft, not signed."
        sheets.append(f"{prose(rng, 6)}\n{binding if c.signed else draft}\n{prose(rng, 4)}\n")
    return "\n-- next sheet --\n".join(sheets)
