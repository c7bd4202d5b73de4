"""Travel claims, rates and approvals; all invented."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from importlib.resources import files
from random import Random

from statecomp_bench.tasks.filler.words import sentence
from statecomp_bench.tasks.invented import FIRST, LAST, joined, person
from statecomp_bench.tasks.office.papers import (
    money,
    prose,
    retired,
    table_text,
)

TIERS = ("T1", "T2", "T3", "T4")


@dataclass(frozen=True)
class Claim:
    first: str
    last: str
    staff: str
    trip: str
    city: str
    tier: str
    hotel: Decimal
    nights: int
    breakfasts: int
    km: int
    returned: date
    filed: date
    waiver: str  # empty: none

    @property
    def late(self) -> bool:
        return (self.filed - self.returned).days > 45


@dataclass(frozen=True)
class Audit:
    claims: tuple[Claim, ...]
    caps: dict[str, Decimal]
    meals: dict[str, Decimal]
    batch: str

    def claimed(self, claim: Claim) -> Decimal:
        return (
            claim.hotel + self.meals[claim.tier] * (claim.nights + 1) + claim.km * Decimal("0.27")
        )

    def refund(self, claim: Claim) -> Decimal:
        if claim.late:
            return Decimal(0)
        hotel = claim.hotel if claim.waiver else min(claim.hotel, self.cap(claim))
        meals = self.meals[claim.tier] * (claim.nights + 1) - claim.breakfasts * Decimal("4.80")
        return hotel + meals + claim.km * Decimal("0.27")

    def cap(self, claim: Claim) -> Decimal:
        return self.caps[claim.tier] * claim.nights

    def outcome(self, claim: Claim) -> str:
        if claim.late:
            return "refused"
        return "paid" if self.refund(claim) >= self.claimed(claim) else "cut"


def story(rng: Random, level: int) -> Audit:
    caps = {tier: Decimal(rng.randrange(80, 110) + 35 * n) for n, tier in enumerate(TIERS)}
    meals = {tier: Decimal(rng.randrange(180, 240) + 60 * n) / 10 for n, tier in enumerate(TIERS)}
    claims = []
    for place, first in enumerate(rng.sample(FIRST, 6 + 2 * level)):
        tier, nights = rng.choice(TIERS), rng.randrange(2, 6)
        over = place % 3 != 1
        night = caps[tier] + Decimal(rng.randrange(9, 60)) * (1 if over else -1)
        returned = date(2025, 3, 1) + timedelta(days=rng.randrange(60))
        claims.append(
            Claim(
                first=first,
                last=rng.choice(LAST),
                staff=f"S{rng.randrange(10_000, 99_999)}",
                trip=f"TR-{rng.randrange(10_000, 99_999)}",
                city=f"{rng.choice(('New', 'Port', 'Old'))} {first[:2]}{rng.choice(LAST).lower()}",
                tier=tier,
                hotel=night * nights + money(rng, 0, 9),
                nights=nights,
                breakfasts=rng.choice((0, 0, nights - 1, nights)),
                km=rng.choice((0, rng.randrange(80, 640))),
                returned=returned,
                filed=returned + timedelta(days=rng.randrange(47, 70) if place == 4 else 21),
                waiver=f"W-{rng.randrange(1000, 9999)}" if place in (0, 5) else "",
            )
        )
    return Audit(tuple(claims), caps, meals, f"TA-{rng.randrange(1000, 9999)}")


def form(rng: Random, audit: Audit, claim: Claim) -> str:
    """The claim as the traveller filled it in, with receipts that nobody asks for."""
    receipts = [
        f"{n:3d}  {rng.choice(('taxi', 'bus', 'hotel bar', 'lunch', 'dinner', 'parking', 'toll'))}"
        f"  {money(rng, 3, 48):>7}  scanned {rng.randrange(10**7):07d}  {person(rng)}"
        for n in range(1, 34)
    ]
    who = claim.first
    return (
        f"CLAIM FORM, trip {claim.trip}\nTraveller: {who} {claim.last}\n\n{prose(rng, 6)}\n\n"
        f"Destination of {who}: {claim.city}\nHotel bill of {who}: {claim.hotel} EUR\n"
        f"Nights away by {who}: {claim.nights}\nBreakfasts included for {who}: {claim.breakfasts}\n"
        f"Private car of {who}, km: {claim.km}\nReturn of {who}: {claim.returned}\n"
        f"Filed by {who} on: {claim.filed}\nTotal claimed by {who}: "
        f"{audit.claimed(claim):.2f} EUR\n"
        f"\nReceipts, for the archive\n{joined(receipts)}"
    )


def surroundings(rng: Random, audit: Audit) -> dict[str, str | bytes]:
    rows = [(f"{c.first} {c.last}", c.staff, "field", rng.randrange(1, 9)) for c in audit.claims]
    rows += [
        (f"{person(rng)[:1]}. {rng.choice(LAST)}", f"S{rng.randrange(10_000, 99_999)}", "office", 2)
        for _ in range(60)
    ]
    cities = [(c.city, c.tier, f"{money(rng, 1, 9)}%") for c in audit.claims]
    for _ in range(160):
        name = f"{rng.choice(('Upper', 'Lower'))} {rng.choice(LAST)}{rng.choice(('ham', 'by'))}"
        cities.append((name, rng.choice(TIERS), f"{money(rng, 1, 9)}%"))
    register = []
    for claim in audit.claims:
        mine = [(claim.trip, claim.waiver or "no waiver")]
        for _ in range(9):
            old = f"TR-{rng.randrange(10_000, 99_999)}"
            mine.append((old, rng.choice((f"W-{rng.randrange(1000, 9999)}", "no waiver"))))
        rng.shuffle(mine)
        register += [
            f"{claim.first}: trip {t} | {said} | {w}"
            for t, w, said in ((t, w, sentence(rng)) for t, w in mine)
        ]
    rng.shuffle(rows)
    rng.shuffle(cities)
    rng.shuffle(register)
    caps = joined([f"| {t} | {audit.caps[t]} | {audit.meals[t]} |" for t in TIERS])
    return {
        "travel/policy.md": files(__package__)
        .joinpath("rules.md")
        .read_text("utf-8")
        .replace("CAPS\n", caps),
        "travel/audit.py": retired("audit.py: the tiers of 2023 are gone; audit by hand"),
        "travel/rates.csv": table_text(("city", "tier", "surcharge"), cities),
        "travel/staff.csv": table_text(("name", "staff", "desk", "floor"), rows),
        "travel/approvals.txt": joined(register),
        "travel/handbook_2019.md": f"# Handbook of 2019, withdrawn\n\n{prose(rng, 60)}\n",
        **{f"claims/{c.first.lower()}.txt": form(rng, audit, c) for c in audit.claims},
    }
