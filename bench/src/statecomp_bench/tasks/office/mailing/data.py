"""Customers, their calls and a campaign; all invented."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta
from importlib.resources import files
from random import Random

from statecomp_bench.tasks.filler.words import sentence
from statecomp_bench.tasks.invented import FIRST, LAST, joined, person
from statecomp_bench.tasks.office.papers import database, prose, retired

TIERS = ("gold", "silver", "plain")
TEAM = ("Agnes", "Boris", "Celia", "Doran")
BASE = "crm/crm.db"


@dataclass(frozen=True)
class Customer:
    first: str
    last: str
    title: str
    number: str
    tier: str
    manager: str
    old_address: str
    address: str
    letters: bool  # wanted
    complaint: bool

    @property
    def action(self) -> str:
        return "none" if not self.letters else "later" if self.complaint else "sent"

    @property
    def greeting(self) -> str:
        return f"Dear {self.first}," if self.tier == "gold" else f"Dear {self.title} {self.last},"


@dataclass(frozen=True)
class Campaign:
    customers: tuple[Customer, ...]
    discounts: dict[str, int]
    phones: dict[str, str]
    until: date
    code: str
    signer: str


def address(rng: Random) -> str:
    street = rng.choice(("Mill Lane", "Quay Street", "Garden Row", "Station Road", "Chapel Hill"))
    return (
        f"{street} {rng.randrange(1, 120)}, {rng.randrange(10_000, 99_999)} {rng.choice(LAST)}stad"
    )


def customer(rng: Random, first: str, last: str, place: int) -> Customer:
    old = address(rng)
    return Customer(
        first=first,
        last=last,
        title=rng.choice(("Ms", "Mr", "Dr")),
        number=f"K{rng.randrange(100_000, 999_999)}",
        tier=TIERS[place % 3],
        manager=rng.choice(TEAM),
        old_address=old,
        address=address(rng) if place % 3 == 1 else old,
        letters=place not in (2, 7),
        complaint=place in (3, 7),
    )


def story(rng: Random, level: int) -> Campaign:
    count = 8 + 2 * level
    names = zip(rng.sample(FIRST, count), rng.sample(LAST, count), strict=True)
    customers = tuple(customer(rng, *name, place) for place, name in enumerate(names))
    return Campaign(
        customers=customers,
        discounts=dict(zip(TIERS, rng.sample(range(4, 30), 3), strict=True)),
        phones={name: f"0{rng.randrange(200, 999)}/{rng.randrange(10**5, 10**6)}" for name in TEAM},
        until=date(2026, 1, 10) + timedelta(days=rng.randrange(300)),
        code=f"SP{rng.randrange(100, 999)}-{rng.choice('ABCD')}",
        signer=person(rng),
    )


def log(rng: Random, c: Customer) -> str:
    """A year of calls; where the customer moved, complained or wanted no letters, it says so."""
    calls = [f"{sentence(rng)} {sentence(rng)}" for _ in range(24)]
    calls[rng.randrange(0, 4)] = (
        f"Status of complaints of {c.last}: {'open' if c.complaint else 'settled'}."
    )
    calls[rng.randrange(4, 9)] = (
        f"Are letters welcome to {c.last}? {'Yes' if c.letters else 'No'}, we asked."
    )
    if c.address != c.old_address:
        calls[rng.randrange(9, 22)] = f"Has moved. Address of {c.last} is {c.address};"
    days = sorted(date(2025, 1, 2) + timedelta(days=rng.randrange(360)) for _ in calls)
    return joined([f"{day} {person(rng)}: {call}" for day, call in zip(days, calls, strict=True)])


def surroundings(rng: Random, campaign: Campaign) -> dict[str, str | bytes]:
    contacts: list[tuple[object, ...]] = [
        (c.number, c.first, c.last, c.title, c.tier, c.manager, c.old_address)
        for c in campaign.customers
    ]
    orders = [
        (c.number, f"O{rng.randrange(10**6):06d}", sentence(rng)[:40], rng.randrange(20, 900))
        for c in campaign.customers
        for _ in range(16)
    ]
    discounts = joined(
        [f"- tier {t}: discount of {n} percent" for t, n in campaign.discounts.items()]
    )
    team = [f"{n} | telephone {p} | {sentence(rng)}" for n, p in campaign.phones.items()]
    made: dict[str, str | bytes] = {
        "campaign/style.md": files(__package__).joinpath("rules.md").read_text("utf-8"),
        "campaign/brief.md": f"# Spring campaign\n\n{prose(rng, 16)}\n\n{discounts}\nOffers hold "
        f"until {campaign.until}.\n\n{prose(rng, 16)}\n",
        "campaign/brief_last_year.md": f"# Autumn campaign\n\n{prose(rng, 50)}\n",
        "crm/merge.py": retired("merge.py: no template for this campaign; no letter written"),
        "crm/team.txt": f"{prose(rng, 10)}\n\n{joined(team)}\nLetters are signed by "
        f"{campaign.signer}.\n\n{prose(rng, 10)}\n",
        BASE: database(
            {
                "contacts": (
                    "number text, first text, last text, title text, tier text, manager text, "
                    "address text",
                    contacts,
                ),
                "orders": ("number text, ordered text, goods text, euros int", orders),
            }
        ),
    }
    made |= {f"crm/calls/{c.last.lower()}.txt": log(rng, c) for c in campaign.customers}
    return made
