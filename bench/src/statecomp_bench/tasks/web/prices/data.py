"""Costs of products, freight, markets and rates."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_HALF_UP, Decimal
from random import Random

from statecomp_bench.tasks.invented import hexadecimal, joined, nouns, person
from statecomp_bench.tasks.web.pages import guide, prose

MARKETS = {"alpine": "CHF", "fjord": "NOK", "island": "GBP", "sound": "DKK"}
OLD = """import csv, glob
for path in sorted(glob.glob('rates/*.csv')):
    for row in list(csv.reader(open(path)))[:12]:
        print(path, *row)
raise SystemExit('prices.py: the column margin is gone since the last release')
"""


@dataclass(frozen=True)
class Product:
    name: str
    cost: Decimal
    group: str
    surcharge: Decimal
    freight: Decimal

    @property
    def landed(self) -> Decimal:
        cost = self.cost * (1 + self.surcharge / 100) + self.freight
        return cost.quantize(Decimal("0.0001"), ROUND_HALF_UP)


@dataclass(frozen=True)
class Market:
    name: str
    code: str
    close: Decimal
    spot: Decimal
    tax: Decimal
    step: Decimal
    export: bool

    def price(self, product: Product) -> str:
        amount = product.landed * Decimal("1.35") * self.close
        if not self.export:
            amount *= 1 + self.tax / 100
        amount = (amount / self.step).quantize(Decimal(1), ROUND_CEILING) * self.step
        return f"{amount:.2f}".replace(".", ",")


def money(rng: Random, low: int, high: int) -> Decimal:
    return Decimal(rng.randrange(low * 100, high * 100)) / 100


def products_of(rng: Random, level: int) -> list[Product]:
    groups = {f"{letter}{rng.randrange(10, 99)}": money(rng, 2, 30) for letter in "ABCDEFGH"}
    made = []
    for name in nouns(rng, 5 + level):
        group = rng.choice(list(groups))
        made.append(Product(name, money(rng, 20, 400), group, groups[group], money(rng, 1, 19)))
    return made


def markets_of(rng: Random) -> list[Market]:
    abroad = set(rng.sample(list(MARKETS), 2))
    made = []
    for name, code in MARKETS.items():
        close = Decimal(rng.randrange(80_000, 1_200_000)) / 100_000
        spot = close * Decimal(rng.choice(("1.0213", "0.9712", "1.0391")))
        step = Decimal(rng.choice(("0.05", "0.50", "1.00", "0.10")))
        tax = Decimal(rng.randrange(14, 51)) / 2
        made.append(
            Market(name, code, close, spot.quantize(Decimal("0.00001")), tax, step, name in abroad)
        )
    return made


def files_of(
    rng: Random, products: list[Product], markets: list[Market], day: str
) -> dict[str, str]:
    known = {p.group: p.surcharge for p in products}
    groups = [f"{group},{percent},{person(rng)}" for group, percent in known.items()]
    groups += [f"X{n},{money(rng, 2, 30)},{person(rng)}" for n in range(100, 150)]
    rng.shuffle(groups)
    made = {
        "docs/pricing.md": guide(__package__) + prose(rng, 6),
        "docs/terms.md": f"{prose(rng, 5)}\nThe prices hold from {day} on.\n\n{prose(rng, 3)}",
        "data/surcharges.csv": joined(groups),
        "tools/prices.py": OLD,
    }
    for p in products:
        own = f"Works price of {p.name}: {p.cost} EUR\nSurcharge class of {p.name}: {p.group}\n"
        made[f"sheets/{p.name}.txt"] = f"{prose(rng, 5, 8)}\n{own}\n{prose(rng, 5, 8)}"
        made[f"freight/{p.name}.txt"] = (
            f"{prose(rng, 4)}\nFreight of {p.name}: {p.freight} EUR a piece\n\n{prose(rng, 3)}"
        )
    for m in markets:
        status = f"Status of {m.name}: {'export' if m.export else 'home'}\n"
        own = f"{status}Tax in {m.name}: {m.tax} per cent\nStep in {m.name}: {m.step} {m.code}\n"
        made[f"markets/{m.name}.md"] = f"# {m.name}\n\n{prose(rng, 4)}\n{own}\n{prose(rng, 3)}"
        days = [f"2024-05-{n:02d}" for n in range(1, 31)]
        rates = [
            f"{d},fixing,{m.close + money(rng, 0, 1) / 10:.5f},{hexadecimal(rng, 8)}" for d in days
        ]
        rates.insert(rng.randrange(20, 29), f"2024-04-30,close,{m.close},{hexadecimal(rng, 8)}")
        made[f"rates/{m.name}.csv"] = joined(
            [*rates, f"2024-05-31,spot,{m.spot},{hexadecimal(rng, 8)}"]
        )
    return made
