"""The repairs of the code run: each starts from what the tools printed about one ticket."""

from __future__ import annotations

import re
from dataclasses import dataclass

from samples.recorder.agent import Steps, do, edit, python, read, shell

COMPARE = "python3 -m parcelrate.cli compare data/shipments.csv data/expected_invoice.csv"


@dataclass(frozen=True)
class Known:
    """What the agent learned while exploring and needs much later."""

    version: str
    tickets: tuple[str, ...]
    failing: tuple[str, ...]
    limit: str
    heading: str


def failing(output: str) -> tuple[str, ...]:
    return tuple(re.findall(r"^(?:FAIL|ERROR): (\w+)", output, re.MULTILINE))


def fix_weight_breaks(known: Known) -> Steps[None]:
    yield do(
        f"Almost every line differs. I take {known.tickets[0]} first: a parcel at a break.",
        read("tests/test_tables.py"),
        shell("python3 run_tests.py tables"),
    )
    (output,) = yield do(
        "I reproduce it outside the tests.",
        python("from parcelrate.tables import load_table\nprint(load_table('data/rates.csv'))\n"),
    )
    assert "ImportError" in output
    yield do(
        "There is no such function; the class reads the file itself.",
        python(
            "from decimal import Decimal\nfrom pathlib import Path\n"
            "from parcelrate.tables import RateTable\n"
            "table = RateTable.read(Path('data/rates.csv'))\n"
            "for weight in ('1.99', '2', '2.01', '4.99', '5', '5.01', '31.5'):\n"
            "    try:\n        price = table.price('standard', 'Z1', Decimal(weight))\n"
            "    except Exception as error:\n        price = error\n"
            "    print(f'{weight:>5} kg', price)\n"
        ),
    )
    lookup = "bisect_right(self.breaks[key], weight)"
    _, output = yield do(
        "The index is one too high at a break. I lower it by one.",
        edit("parcelrate/tables.py", lookup, f"{lookup} - 1"),
        shell("python3 run_tests.py tables"),
    )
    _, output = yield do(
        f"That is wrong: now {', '.join(failing(output))} fail, because weights between two breaks "
        "moved too. Only equality may change, which is what bisect_left does.",
        edit("parcelrate/tables.py", f"{lookup} - 1", lookup.replace("right", "left")),
        shell("python3 run_tests.py tables"),
    )
    names = re.findall(r"NameError: name '(\w+)'", output)
    yield do(
        f"I changed the call and not the import: {names[0]} is unknown.",
        edit("parcelrate/tables.py", "import bisect_right", f"import {names[0]}"),
        shell("python3 run_tests.py tables"),
    )


def fix_zones() -> Steps[None]:
    yield do(
        "Weight breaks are right. Next the zones.",
        read("tests/test_zones.py"),
        shell("python3 run_tests.py zones"),
    )
    (output,) = yield do(
        "Rule R1 asks for padding before any comparison. I pad the postcode that is looked up.",
        edit(
            "parcelrate/zones.py",
            "if candidate.holds(postcode)",
            "if candidate.holds(pad(postcode))",
        ),
    )
    assert output.startswith("edited")
    (output,) = yield do(
        "The helper goes beside the constant, which is already there and unused.",
        edit(
            "parcelrate/zones.py",
            "DIGITS = 5\n\n@dataclass",
            'DIGITS = 5\n\n\ndef pad(postcode: str) -> str:\n    """R1."""\n\n\n@dataclass',
        ),
    )
    assert output.startswith("error")
    yield do(
        "The text did not match; I look at the lines again before I edit.",
        read("parcelrate/zones.py", 1, 28),
    )
    helper = (
        "DIGITS = 5\n\n\ndef pad(postcode: str) -> str:\n"
        '    """Exports drop leading zeros (R1)."""\n'
        "    return postcode.strip().zfill(DIGITS)\n"
    )
    _, output = yield do(
        "There are two empty lines. I anchor on the constant alone.",
        edit("parcelrate/zones.py", "DIGITS = 5\n", helper),
        shell("python3 run_tests.py zones"),
    )
    old = 'ZoneRange(row["low"], row["high"], row["zone"], row["region"])'
    new = 'ZoneRange(pad(row["low"]), pad(row["high"]), row["zone"], row["region"])'
    yield do(
        f"Still failing: {', '.join(failing(output))}. The ranges of zones.csv lack their zeros "
        "too, so both sides need padding.",
        edit("parcelrate/zones.py", old, new),
        shell("python3 run_tests.py zones"),
    )


def fix_amounts() -> Steps[None]:
    yield do(
        "Zones are right. Fuel on oversize parcels: the test and the line that computes it.",
        read("tests/test_surcharge.py", 35, 62),
        shell("grep -n 'oversize' parcelrate/*.py"),
    )
    yield do(
        "R5 says the base price alone.",
        edit(
            "parcelrate/surcharge.py",
            "percentage(base + self.oversize(parcel), terms.fuel_percent)",
            "percentage(base, terms.fuel_percent)",
        ),
        shell("python3 run_tests.py surcharge quote"),
    )
    yield do(
        "R7 asks for halves away from zero, which decimal calls ROUND_HALF_UP.",
        shell("sed -i.bak s/ROUND_HALF_EVEN/ROUND_HALF_UP/g parcelrate/money.py"),
        shell("rm parcelrate/money.py.bak && cat parcelrate/money.py"),
        shell("python3 run_tests.py money"),
    )
    yield do("All modules have been through; the whole suite.", shell("python3 run_tests.py"))


def fix_remote(known: Known) -> Steps[str]:
    """Returns a remote postcode that lost its zero; the regression tests need one."""
    (output,) = yield do(
        f"Every test passes, all {len(known.failing)} I saw failing included. The invoice?",
        shell(COMPARE),
    )
    rows = re.findall(r"(P\d+) postcode (\d+) .*difference ([\d.]+)", output)
    codes: list[str] = sorted({code for _, code, _ in rows})
    yield do(
        f"{len(rows)} lines remain, all too low by {', '.join(sorted({r[2] for r in rows}))}: the "
        "remote amounts of service.ini. Are these postcodes on the carrier's list?",
        shell(f"grep -n -E '^({'|'.join(codes)})' data/remote.txt"),
        shell("cat data/remote.txt"),
        shell("grep -E '" + "|".join(row[0] for row in rows) + "' data/shipments.csv"),
    )
    _, output = yield do(
        "They are, with a remark behind each; the reader keeps the remark (R6).",
        edit(
            "parcelrate/surcharge.py",
            "return frozenset(line.strip() for line in lines if line.strip())",
            'codes = (line.partition("#")[0].strip() for line in lines)\n'
            "    return frozenset(code for code in codes if code)",
        ),
        shell(COMPARE),
    )
    assert "0 differences" in output
    (output,) = yield do(
        "Clean, but R1 holds here too: a sender who keeps the zero must pay the same.",
        python(remote_probe(min(codes, key=int))),
    )
    yield do(
        f"It does not: {' against '.join(output.split())}. I pad both sides here as well.",
        edit("parcelrate/surcharge.py", "if parcel.postcode in", "if pad(parcel.postcode) in"),
        edit("parcelrate/surcharge.py", "frozenset(code for", "frozenset(pad(code) for"),
        edit(
            "parcelrate/surcharge.py",
            "import cents, percentage\n",
            "import cents, percentage\nfrom parcelrate.zones import pad\n",
        ),
    )
    yield do(
        "Probe and tests again.",
        python(remote_probe(min(codes, key=int))),
        shell("python3 run_tests.py surcharge quote"),
    )
    return min(codes, key=int)


def remote_probe(code: str) -> str:
    return (
        "from decimal import Decimal\nfrom pathlib import Path\n"
        "from parcelrate.models import Parcel\nfrom parcelrate.quote import Quoter\n"
        "quoter = Quoter.read(Path('.'))\n"
        f"for code in ('{code}', '{code.zfill(5)}'):\n"
        "    print(quoter.quote(Parcel('probe', code, Decimal(3), 20, 20, 20)).total)\n"
    )


def regression(code: str, limit: int) -> str:
    return f'''import unittest
from decimal import Decimal
from pathlib import Path

from parcelrate.models import Parcel
from parcelrate.quote import Quoter

ROOT = Path(__file__).resolve().parent.parent


class Remote(unittest.TestCase):
    def quote(self, code, length=20):
        parcel = Parcel("R-1", code, Decimal(3), length, 10, 10, "express")
        return Quoter.read(ROOT).quote(parcel)

    def test_remark_is_not_part_of_the_postcode(self):
        self.assertGreater(self.quote("{code.zfill(5)}").remote, 0)

    def test_zero_makes_no_difference(self):
        self.assertEqual(self.quote("{code.zfill(5)}").total, self.quote("{code}").total)

    def test_limit_of_the_service_decides_oversize(self):
        self.assertEqual(self.quote("{code}", {limit}).oversize, 0)
        self.assertGreater(self.quote("{code}", {limit + 1}).oversize, 0)
'''
