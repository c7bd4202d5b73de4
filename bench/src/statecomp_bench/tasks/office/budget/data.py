"""Budget sheets, memos and internal charges; all invented."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from statecomp_bench.tasks.filler.words import sentence
from statecomp_bench.tasks.invented import NOUNS, joined, person
from statecomp_bench.tasks.office.papers import prose

KINDS = ("staff", "travel", "goods")
MEMOS = ("first", "second", "third")


@dataclass(frozen=True)
class Department:
    name: str
    number: str
    thousands: bool
    exempt: bool
    sheet: dict[str, float]  # as handed in, in its own unit
    memos: dict[str, tuple[str, float]]  # by memo: which kind, and what it should be

    @property
    def unit(self) -> int:
        return 1000 if self.thousands else 1

    @property
    def valid(self) -> dict[str, float]:
        return {**self.sheet, **dict(self.memos[memo] for memo in MEMOS if memo in self.memos)}

    @property
    def net(self) -> int:
        plan = self.valid
        travel = plan["travel"] if self.exempt else min(plan["travel"], plan["staff"] * 5 / 100)
        return round((plan["staff"] + travel + plan["goods"] * 102 / 100) * self.unit)


@dataclass(frozen=True)
class Charge:
    giver: Department
    taker: Department
    charged: float  # in the unit of the giver
    paid: float  # in the unit of the taker

    @property
    def euros(self) -> tuple[int, int]:
        return round(self.charged * self.giver.unit), round(self.paid * self.taker.unit)


@dataclass(frozen=True)
class Budget:
    departments: tuple[Department, ...]
    charges: tuple[Charge, ...]
    year: int

    @property
    def total(self) -> int:
        return sum(d.net for d in self.departments) - sum(min(c.euros) for c in self.charges)


def amount(euros: float, thousands: bool) -> float:
    return round(euros / 1000, 1) if thousands else round(euros, -2)


def department(rng: Random, name: str, place: int) -> Department:
    thousands, exempt = place % 3 == 1, place in (2, 4)
    staff = rng.randrange(400_000, 2_000_000)
    wish = rng.randrange(2, 4) if place % 2 else rng.randrange(6, 10)
    euros = {"staff": staff, "travel": staff * wish / 100, "goods": rng.randrange(90_000, 700_000)}
    sheet = {kind: amount(value, thousands) for kind, value in euros.items()}
    memos: dict[str, tuple[str, float]] = {}
    if place % 4 in (0, 3):
        kind = rng.choice(KINDS)
        memos[rng.choice(MEMOS[:2])] = kind, amount(euros[kind] * rng.uniform(0.7, 0.9), thousands)
        if place % 4 == 3:  # corrected, and then taken back
            memos["third"] = kind, sheet[kind]
    return Department(name, f"D{rng.randrange(1000, 9999)}", thousands, exempt, sheet, memos)


def story(rng: Random, level: int) -> Budget:
    names = sorted(noun.title() for noun in rng.sample(NOUNS, 7 + 2 * level))
    departments = tuple(department(rng, name, place) for place, name in enumerate(names))
    charges = []
    for place, giver in enumerate(departments[:-1:2]):
        taker = departments[2 * place + 1]
        euros = rng.randrange(12, 90) * 1000
        paid = euros if place % 2 else euros + rng.choice((-2500, -1200, 1800, 3100))
        charges.append(
            Charge(giver, taker, amount(euros, giver.thousands), amount(paid, taker.thousands))
        )
    return Budget(departments, tuple(charges), rng.randrange(2026, 2030))


def sheet(rng: Random, budget: Budget, d: Department) -> str:
    lines = [
        f"{rng.randrange(4000, 6999)}  {sentence(rng)[:46]:<46} {rng.randrange(1, 900):>6}"
        for _ in range(44)
    ]
    given = [
        f"{d.name} charges {c.taker.name}: {c.charged}" for c in budget.charges if c.giver is d
    ]
    taken = [f"{d.name} pays {c.giver.name}: {c.paid}" for c in budget.charges if c.taker is d]
    kinds = [f"planned {kind} of {d.name}: {value}" for kind, value in d.sheet.items()]
    return (
        f"BUDGET SHEET {budget.year}\nHanded in by {person(rng)}\n\n{prose(rng, 6)}\n\n"
        f"Details, not "
        f"binding\n{joined(lines)}\nBinding\n{joined([*kinds, *given, *taken])}\n{prose(rng, 6)}\n"
    )


def memo(rng: Random, budget: Budget, which: str) -> str:
    parts = []
    for d in budget.departments:
        if which in d.memos:
            kind, value = d.memos[which]
            why = (
                "The earlier memo is withdrawn." if which == "third" else "The sheet is corrected."
            )
            parts.append(f"{why} It reads: planned {kind} of {d.name}: {value}\n{prose(rng, 4)}\n")
    rng.shuffle(parts)
    return (
        f"MEMO, the {which} of this round\n\n{prose(rng, 8)}\n\n"
        + "\n".join(parts)
        + prose(rng, 10)
    )
