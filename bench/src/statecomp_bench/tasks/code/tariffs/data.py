"""A package of tariffs with wrong constants, its specification, issues and owners; all invented."""

from __future__ import annotations

import json
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from random import Random

from statecomp_bench.tasks.invented import FIRST, joined, nouns, people

CENT = Decimal("0.01")


@dataclass(frozen=True)
class Tariff:
    """One module: what the specification says, what the code says, and who complained."""

    name: str
    limit: Decimal
    percent: Decimal
    wrong_limit: Decimal
    wrong_percent: Decimal
    zones: tuple[tuple[str, Decimal], ...]
    issue: int
    owner: str
    weight: Decimal
    zone: str

    @property
    def const(self) -> str:
        return self.name.upper()

    def price(self, weight: Decimal, zone: str) -> Decimal:
        base = weight * dict(self.zones)[zone]
        if weight > self.limit:
            base += base * self.percent / 100
        return base.quantize(CENT, rounding=ROUND_HALF_UP)


@dataclass(frozen=True)
class Package:
    tariffs: tuple[Tariff, ...]
    version: tuple[int, int, int]


def package(rng: Random, level: int) -> Package:
    names = sorted(nouns(rng, 5 + level))
    owners = rng.sample(FIRST, len(names))
    issues = rng.sample(range(1200, 9800), len(names))
    tariffs = []
    for name, owner, issue in zip(names, owners, issues, strict=True):
        codes = rng.sample([f"{a}{b}" for a in "ABCDEFGH" for b in "KLMNPQRSTV"], 42)
        zones = tuple((code, Decimal(rng.randrange(80, 950)) / 100) for code in sorted(codes))
        limit = Decimal(rng.randrange(60, 390)) / 10
        percent = Decimal(rng.randrange(25, 180)) / 10
        tariffs.append(
            Tariff(
                name,
                limit,
                percent,
                limit + Decimal(rng.randrange(11, 60)) / 10,
                percent + Decimal(rng.randrange(3, 20)) / 10,
                zones,
                issue,
                f"@{owner.lower()}-{rng.randrange(10, 99)}",
                limit + 5,
                rng.choice(zones)[0],
            )
        )
    version = (rng.randrange(1, 5), rng.randrange(0, 20), rng.randrange(1, 30))
    return Package(tuple(tariffs), version)


def module(tariff: Tariff) -> str:
    zones = joined([f'    "{code}": Decimal("{rate}"),' for code, rate in tariff.zones])
    return (
        f'"""Rates of the {tariff.name} tariff; see docs/rates/{tariff.name}.md."""\n\n'
        "from decimal import ROUND_HALF_UP, Decimal\n\n"
        f"{tariff.const}_LIMIT = Decimal('{tariff.wrong_limit}')\n"
        f"{tariff.const}_PERCENT = Decimal('{tariff.wrong_percent}')\n\n"
        "# Generated from the zone table of the carrier; do not edit.\n"
        f"ZONES = {{\n{zones}}}\n\n\n"
        "def price(weight: Decimal, zone: str) -> Decimal:\n"
        '    """What a parcel costs, surcharge included, rounded to cents."""\n'
        "    base = weight * ZONES[zone]\n"
        f"    if weight > {tariff.const}_LIMIT:\n"
        f"        base += base * {tariff.const}_PERCENT / 100\n"
        '    return base.quantize(Decimal("0.01"), rounding=ROUND_HALF_UP)\n'
    )


def specification(rng: Random, tariff: Tariff) -> str:
    rows = joined(
        [f"| {code} | {rate} | {rng.randrange(1, 9)} days |" for code, rate in tariff.zones]
    )
    authors = ", ".join(people(rng, 5))
    return (
        f"# The {tariff.name} tariff\n\nAgreed with the branches by {authors}. This page replaces "
        "all earlier letters. A parcel is weighed once, at the counter, and priced by the zone of "
        "its destination; the surcharge is on the whole price, not on the weight above.\n\n"
        f"- Weight limit of {tariff.name}: {tariff.limit} kg\n"
        f"- Surcharge of {tariff.name}: {tariff.percent} percent above the limit\n"
        "- Prices are rounded to cents, halves up\n\n"
        f"| zone | rate per kg | transit |\n|---|---|---|\n{rows}"
    )


def old_test(tariff: Tariff) -> str:
    cases = []
    for number, (zone, _) in enumerate(tariff.zones[::6]):
        weight = Decimal(number * 3 + 1)
        cases.append(
            f"    def test_zone_{zone.lower()}(self):\n"
            f'        self.assertEqual(price(Decimal("{weight}"), "{zone}"), '
            f'Decimal("{tariff.price(weight, zone)}"))\n'
        )
    light = "\n".join(cases)
    return (
        "import unittest\nfrom decimal import Decimal\n\n"
        f"from freight.{tariff.name} import price\n\n\n"
        f"class Test{tariff.name.title()}(unittest.TestCase):\n{light}\n"
        "    def test_a_heavy_parcel(self):\n"
        f'        self.assertEqual(price(Decimal("{tariff.weight}"), "{tariff.zone}"), '
        f'Decimal("{tariff.price(tariff.weight, tariff.zone)}"))\n'
    )


def issues(rng: Random, made: Package) -> str:
    """The tracker's export: those to fix among many others."""
    records = []
    for tariff in made.tariffs:
        price = tariff.price(tariff.weight, tariff.zone)
        records.append(
            {
                "number": tariff.issue,
                "module": tariff.name,
                "state": "open",
                "text": f"{tariff.name} is wrong above the limit: weight {tariff.weight} in zone "
                f"{tariff.zone} must cost {price}, as docs/rates/{tariff.name}.md says.",
            }
        )
    for number in rng.sample(range(100, 1100), 40):
        words = " ".join(nouns(rng, 6))
        who = people(rng, 1)[0]
        records.append(
            {"number": number, "module": "-", "state": "closed", "text": f"{who}: {words}"}
        )
    rng.shuffle(records)
    return joined([json.dumps(record) for record in records])


def files_of(rng: Random, made: Package) -> dict[str, str]:
    version = ".".join(map(str, made.version))
    files = {
        "README.md": "# freight\n\nTariffs of the branches. Tests: python3 -m unittest\n",
        "freight/__init__.py": f'"""Tariffs of the branches."""\n\n__version__ = "{version}"\n',
        "CODEOWNERS": joined([f"freight/{t.name}.py {t.owner}" for t in made.tariffs]),
        "CHANGELOG.md": f"# Changelog\n\n## Unreleased\n\n## {version}\n\n- First of the year.\n",
        "issues.jsonl": issues(rng, made),
        "tests/__init__.py": "",
    }
    for tariff in made.tariffs:
        files[f"freight/{tariff.name}.py"] = module(tariff)
        files[f"docs/rates/{tariff.name}.md"] = specification(rng, tariff)
        files[f"tests/test_{tariff.name}.py"] = old_test(tariff)
    return files
