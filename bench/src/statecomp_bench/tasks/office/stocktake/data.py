"""Count sheets, movements and a recount; all invented."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from statecomp_bench.tasks.invented import NOUNS, joined, person
from statecomp_bench.tasks.office.papers import prose

AISLES = ("North", "South", "East", "West", "Middle", "Cellar")
REASONS = ("loss", "surplus", "tolerated")
BASE = "stock/stock.db"


@dataclass(frozen=True)
class Item:
    name: str
    article: str
    carton: int
    cost: float
    kind: str
    first: dict[str, int]  # cartons by aisle, as counted at first
    counts: dict[str, int]  # as they stand after the recount
    book: int
    after: int

    @property
    def at_cutoff(self) -> int:
        return self.book - self.after

    @property
    def difference(self) -> int:
        return sum(self.counts.values()) * self.carton - self.at_cutoff

    @property
    def tolerated(self) -> bool:
        return abs(self.difference) * 100 <= 3 * self.at_cutoff and self.kind != "A"

    @property
    def booked(self) -> int:
        return 0 if self.tolerated else self.difference

    @property
    def value(self) -> str:
        return f"{self.booked * self.cost:.2f}"

    @property
    def reason(self) -> str:
        return "tolerated" if self.tolerated else "loss" if self.booked < 0 else "surplus"


@dataclass(frozen=True)
class Stock:
    items: tuple[Item, ...]
    reasons: dict[str, int]
    controller: str
    cutoff: str
    counters: dict[str, str]


def item(rng: Random, name: str, place: int) -> Item:
    aisles = rng.sample(AISLES, 2 + place % 2)
    counts = {aisle: rng.randrange(20, 90) for aisle in aisles}
    first = dict(counts)
    if place % 3 == 0:
        first[aisles[0]] += rng.choice((-9, -6, 7, 11))
    carton = rng.choice((4, 6, 8, 12))
    counted = sum(counts.values()) * carton
    # Small differences for some, and always for one of class A; the others are large.
    small = place in (1, 4, 5)
    off = counted * rng.randrange(1, 3) // 100 if small else counted * rng.randrange(6, 14) // 100
    off = max(off, 1) * rng.choice((-1, 1))
    after = rng.choice((-1, 1)) * rng.randrange(12, 60)
    return Item(
        name=name,
        article=f"{rng.randrange(100, 999)}.{rng.randrange(1000, 9999)}",
        carton=carton,
        cost=rng.randrange(160, 2900) / 100,
        kind="A" if place == 4 else rng.choice("BC"),
        first=first,
        counts=counts,
        book=counted - off + after,
        after=after,
    )


def story(rng: Random, level: int) -> Stock:
    names = sorted(noun.title() for noun in rng.sample(NOUNS, 7 + 2 * level))
    items = tuple(item(rng, name, place) for place, name in enumerate(names))
    reasons = dict(zip(REASONS, rng.sample(range(11, 99), 3), strict=True))
    cutoff = f"2025-06-{rng.randrange(12, 26)} {rng.randrange(10, 17)}:00"
    initials = "".join(rng.sample("BDFGHKLMNPRSTVW", 3))
    return Stock(items, reasons, initials, cutoff, {aisle: person(rng) for aisle in AISLES})


def sheet(rng: Random, stock: Stock, aisle: str) -> str:
    rows = [(i.name, i.first[aisle]) for i in stock.items if aisle in i.first]
    rows += [
        (
            f"{rng.choice(('Box', 'Tray', 'Rack', 'Clip'))} {rng.randrange(100, 999)}",
            rng.randrange(90),
        )
        for _ in range(34)
    ]
    rng.shuffle(rows)
    lines = [
        f"{aisle} | {name} | shelf {rng.randrange(10, 99)} | counted {n} ctn" for name, n in rows
    ]
    head = f"COUNT SHEET, counted in {aisle} by {stock.counters[aisle]}"
    return f"{head}\n\n{joined(lines)}\n{prose(rng, 6)}\n"


def recount(rng: Random, stock: Stock) -> str:
    lines = [
        f"{aisle} | {i.name} | shelf {rng.randrange(10, 99)} | counted {i.counts[aisle]} ctn"
        for i in stock.items
        for aisle in i.counts
        if i.counts[aisle] != i.first[aisle]
    ]
    head = f"RECOUNT, asked for by the controller\n\n{prose(rng, 16)}"
    return f"{head}\n\n{joined(lines)}\n{prose(rng, 14)}\n"


def movements(rng: Random, stock: Stock) -> list[tuple[object, ...]]:
    """Bookings of each item, up to the cut-off and after it; they add up to the book stock."""
    day = int(stock.cutoff[8:10])
    rows: list[tuple[object, ...]] = []
    for i in stock.items:
        for total, low, high, count in ((i.at_cutoff, 1, day, 22), (i.after, day + 1, 30, 5)):
            steps = [rng.randrange(-20, 40) for _ in range(count - 1)]
            for step in (*steps, total - sum(steps)):
                clock = f"{rng.randrange(7, 18):02d}:{rng.randrange(60):02d}"
                when = f"2025-06-{rng.randrange(low, high):02d} {clock}"
                rows.append(
                    (i.article, when, step, rng.choice(("issue", "receipt", "transfer", "return")))
                )
    rng.shuffle(rows)
    return rows
