"""The carrier's files of the code workspace, and an invoice priced without the package."""

from __future__ import annotations

import csv
import random
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path
from typing import NamedTuple, TypeAlias

REGIONS = {
    "Z1": "north west harz rhine coast heath",
    "Z2": "lakes spree oder marsh fens moor",
    "Z3": "saxony ore-hills lusatia elbe saale mulde",
    "Z4": "main odenwald spessart jura danube alps",
}
BREAKS = ("1", "2", "5", "10", "15", "20", "31.5")
SERVICES = {
    "economy": (Decimal("11.50"), 120, Decimal("14.90"), Decimal("6.45"), Decimal("4.10")),
    "standard": (Decimal("13.75"), 120, Decimal("19.80"), Decimal("8.20"), Decimal("5.60")),
    "express": (Decimal("18.25"), 100, Decimal("27.35"), Decimal("12.60"), Decimal("13.40")),
}
REMOTE = (4626, 7768, 18565, 25938, 26548, 27498, 83256)
CENT = Decimal("0.01")

Area: TypeAlias = tuple[int, int, str, str]
Rate: TypeAlias = tuple[str, str, str, Decimal]


class Shipment(NamedTuple):
    reference: str
    postcode: int
    weight_kg: str
    length_cm: int
    width_cm: int
    height_cm: int
    service: str


def zones() -> list[Area]:
    """Ranges without leading zeros, as the carrier exports them."""
    order = ("Z3", "Z2", "Z1", "Z1", "Z2", "Z1", "Z4", "Z4", "Z4", "Z2")
    rows = []
    for decade, zone in enumerate(order):
        names = REGIONS[zone].split()
        for part in range(4):
            low = decade * 10_000 + part * 2_500 + (1_067 if decade == part == 0 else 0)
            high = decade * 10_000 + part * 2_500 + 2_499
            rows.append((low, high, zone, f"{names[(decade + part) % len(names)]}-{decade}{part}"))
    return rows


def rates(rng: random.Random) -> list[Rate]:
    """One price to a break, rising with weight and zone."""
    rows = []
    for service, terms in SERVICES.items():
        for step, zone in enumerate(REGIONS):
            price = terms[4] + Decimal(step) * Decimal("0.95")
            for up_to in BREAKS:
                price += Decimal(rng.randrange(90, 420)) / 100
                rows.append((service, zone, up_to, price.quantize(CENT)))
    return rows


def shipments(rng: random.Random) -> list[Shipment]:
    rows = []
    for number in range(64):
        postcode = rng.choice(REMOTE) if number % 8 == 3 else rng.randrange(1_067, 99_999)
        weight = rng.choice(BREAKS[:-1]) if number % 5 == 1 else f"{rng.uniform(0.3, 19):.2f}"
        sides = sorted((rng.randrange(12, 46) for _ in range(3)), reverse=True)
        length = rng.randrange(95, 141) if number % 6 == 2 else sides[0]
        width, height = (18, 14) if length > 90 else (sides[1], sides[2])
        service = rng.choice(tuple(SERVICES))
        rows.append(
            Shipment(f"P{70_113 + 17 * number}", postcode, weight, length, width, height, service)
        )
    return rows


def total(item: Shipment, prices: list[Rate], areas: list[Area]) -> Decimal:
    """The rules R1 to R7, on numbers where the package works on text."""
    fuel, limit, oversize, remote, _ = SERVICES[item.service]
    sides = (item.length_cm, item.width_cm, item.height_cm)
    weight = max(Decimal(item.weight_kg), Decimal(sides[0] * sides[1] * sides[2]) / 5000)
    zone = next(area[2] for area in areas if area[0] <= item.postcode <= area[1])
    base = min(
        price
        for service, where, up_to, price in prices
        if (service, where) == (item.service, zone) and weight <= Decimal(up_to)
    )
    share = (base * fuel / 100).quantize(CENT, ROUND_HALF_UP)
    return (
        base
        + share
        + (oversize if max(sides) > limit else 0)
        + (remote if item.postcode in REMOTE else 0)
    )


def store(path: Path, header: str, rows: list[tuple[object, ...]]) -> None:
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(header.split())
        writer.writerows(rows)


def generate(folder: Path) -> None:
    """Write the four generated files of the workspace's data folder."""
    rng = random.Random(2217)
    areas, prices, items = zones(), rates(rng), shipments(rng)
    invoice = [(item.reference, total(item, prices, areas)) for item in items]
    store(folder / "zones.csv", "low high zone region", list(areas))
    store(folder / "rates.csv", "service zone up_to_kg price", list(prices))
    store(
        folder / "shipments.csv",
        "reference postcode weight_kg length_cm width_cm height_cm service",
        list(items),
    )
    store(folder / "expected_invoice.csv", "reference total", list(invoice))
