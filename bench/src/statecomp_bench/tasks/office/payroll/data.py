"""Time sheets, pay slips and a posting program; all invented."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from importlib.resources import files
from random import Random

from statecomp_bench.tasks.filler.words import sentence
from statecomp_bench.tasks.invented import FIRST, LAST, joined, person
from statecomp_bench.tasks.office.papers import CENT, prose, table_text

GROUPS = ("E3", "E5", "E8", "E9")
CENTRES = ("Dock", "Foundry", "Garage", "Kitchen", "Stores")
POST = '''"""Posts corrections of pay into out/postings.csv."""
import os, zlib
CLOSED = {CLOSED}


def token():
    return f"B{zlib.crc32(open('payroll/journal.txt', 'rb').read()):08x}"


def post(batch, staff, centre, code, amount, dry=False):
    if batch != token():
        raise ValueError('this batch is not open; see python3 payroll/open_batch.py')
    if centre in CLOSED:
        raise ValueError(f'cost centre {centre} is closed for postings since the merger. '
                         'A closed centre is posted under its heir, see payroll/heirs.txt')
    os.makedirs('out', exist_ok=True)
    if not dry:
        with open('out/postings.csv', 'a') as f:
            f.write(f'{staff};{centre};{code};{amount}\\n')
    print('posted' if not dry else 'would post', staff)
'''
OPEN = """import sys
sys.path.insert(0, '.')
from payroll.post import token
for line in open('payroll/journal.txt'):
    print(line, end='')
print('token of the open batch is', token())
"""


@dataclass(frozen=True)
class Correction:
    name: str
    staff: str
    group: str
    centre: str
    number: str
    leaver: bool
    month: int
    hours: Decimal
    nights: Decimal
    paid: Decimal
    paid_nights: Decimal
    account: str


@dataclass(frozen=True)
class Run:
    corrections: tuple[Correction, ...]
    rates: dict[str, Decimal]
    numbers: dict[str, str]
    heirs: dict[str, str]  # for every centre: the number that takes postings now
    journal: str

    @property
    def token(self) -> str:
        return f"B{zlib.crc32(self.journal.encode()):08x}"

    def amount(self, c: Correction) -> Decimal:
        hours, nights = c.hours - c.paid, c.nights - c.paid_nights
        amount = self.rates[c.group] * (hours + nights * Decimal("0.35"))
        return max(amount.quantize(CENT, ROUND_HALF_UP), Decimal(-140))

    def posted(self) -> dict[str, Correction]:
        every = self.corrections
        return {c.staff: c for c in every if c.leaver or abs(self.amount(c)) >= 6}


def correction(rng: Random, name: str, place: int, numbers: dict[str, str]) -> Correction:
    hours, nights = Decimal(rng.randrange(560, 680)) / 4, Decimal(rng.randrange(16, 80)) / 4
    off = Decimal(rng.choice((-14, -9, 7, 11, 18, 22, 30))) / 4
    off_nights = Decimal(rng.choice((4, 6, 9))) / 4
    if place in (1, 4):  # small ones; one of the two has left
        off, off_nights = Decimal(0), Decimal("0.25")
    if place == 3:
        off, off_nights = Decimal(-rng.randrange(36, 60)) / 4, Decimal(0)
    centre = CENTRES[place % len(CENTRES)]
    return Correction(
        name=name,
        staff=f"P{rng.randrange(10_000, 99_999)}",
        group=rng.choice(GROUPS),
        centre=centre,
        number=numbers[centre],
        leaver=place == 4,
        month=rng.randrange(1, 13),
        hours=hours,
        nights=nights,
        paid=hours - off,
        paid_nights=nights - off_nights,
        account=f"XX{rng.randrange(10**14):014d}",
    )


def story(rng: Random, level: int) -> Run:
    rates = {g: Decimal(rng.randrange(1500, 1990) + 370 * n) / 100 for n, g in enumerate(GROUPS)}
    codes = rng.sample(range(4000, 4999), 2 * len(CENTRES))
    numbers = {c: str(codes[n]) for n, c in enumerate(CENTRES)}
    heirs = {
        c: numbers[c] if n in (1, 4) else str(codes[n + len(CENTRES)])
        for n, c in enumerate(CENTRES)
    }
    names = rng.sample(FIRST, 7 + 2 * level)
    corrections = tuple(correction(rng, n, place, numbers) for place, n in enumerate(names))
    journal = joined([f"{n:04d} {person(rng):<18} {sentence(rng)}" for n in range(1, 26)])
    return Run(corrections, rates, numbers, heirs, journal)


def sheet(rng: Random, c: Correction) -> str:
    days = [
        f"{day:02d}.{c.month:02d}.  in {rng.randrange(5, 10):02d}:{rng.randrange(60):02d}  out "
        f"{rng.randrange(13, 20):02d}:{rng.randrange(60):02d}  gate {rng.choice('NESW')}  "
        f"{rng.choice(('regular', 'swapped', 'called in', 'training'))}"
        for day in range(1, 31)
    ]
    return (
        f"TIME SHEET, approved\n\n{joined(days)}\nHours worked by {c.name}: {c.hours}\n"
        f"Night hours among those of {c.name}: {c.nights}\n\n{prose(rng, 8)}\n"
    )


def slip(rng: Random, c: Correction) -> str:
    items = [
        f"{rng.randrange(100, 999)}  {sentence(rng)[:48]:<48}  {rng.randrange(10**4) / 100:8.2f}"
        for _ in range(26)
    ]
    return (
        f"PAY SLIP\n\n{joined(items)}\nHours paid to {c.name}: {c.paid}\nNight hours paid to "
        f"{c.name}: "
        f"{c.paid_nights}\nMonth of the slip of {c.name}: {c.month:02d}\nAccount of {c.name}: "
        f"{c.account}\n"
        f"\n{prose(rng, 6)}\n"
    )


def surroundings(rng: Random, run: Run) -> dict[str, str | bytes]:
    rows = [
        (
            c.name,
            rng.choice(LAST),
            c.staff,
            c.group,
            c.centre,
            c.number,
            "left" if c.leaver else "here",
        )
        for c in run.corrections
    ]
    for _ in range(40):
        centre = rng.choice(CENTRES)
        rows.append(
            (
                f"{rng.choice('BCDFGH')}.",
                rng.choice(LAST),
                f"P{rng.randrange(10_000, 99_999)}",
                rng.choice(GROUPS),
                centre,
                run.numbers[centre],
                "here",
            )
        )
    rng.shuffle(rows)
    tariff = [
        (
            g,
            run.rates[g] if g in run.rates else Decimal(rng.randrange(1300, 4400)) / 100,
            sentence(rng),
        )
        for g in (f"E{n}" for n in range(1, 16))
    ]
    heirs = [f"centre {c} is posted under {n}. {sentence(rng)}" for c, n in run.heirs.items()]
    closed = {run.numbers[c] for c in CENTRES if run.heirs[c] != run.numbers[c]}
    return {
        "payroll/rules.md": files(__package__).joinpath("rules.md").read_text("utf-8"),
        "payroll/tariff.csv": table_text(("group", "rate", "remark"), tariff),
        "payroll/staff.csv": table_text(
            ("first", "last", "staff", "group", "centre", "number", "status"), rows
        ),
        "payroll/heirs.txt": f"{prose(rng, 14)}\n\n{joined(heirs)}\n{prose(rng, 14)}\n",
        "payroll/journal.txt": run.journal,
        "payroll/post.py": POST.replace("{CLOSED}", repr(sorted(closed))),
        "payroll/open_batch.py": OPEN,
        **{f"sheets/{c.name.lower()}.txt": sheet(rng, c) for c in run.corrections},
        **{f"slips/{c.name.lower()}.txt": slip(rng, c) for c in run.corrections},
    }
