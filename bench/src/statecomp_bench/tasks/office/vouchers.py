"""A long table worked through row by row: every row needs its own paper, and the table."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from random import Random

from statecomp_bench.plan import Fact, Plan, Step
from statecomp_bench.steps import python, read, shell
from statecomp_bench.task import Artefacts, Case, Score, Task, grade, part
from statecomp_bench.tasks.invented import hexadecimal, joined, person
from statecomp_bench.tasks.office.papers import CENT, column, money
from statecomp_bench.tasks.shared import facts_for, named, paper, rules_of

GUIDE = """# Journal

- Amounts are posted net: gross divided by 1.19 for tax code A, by 1.07 for B, as it is for C.
- A credit note is posted with a minus sign.
- The journal text is the account, a slash and the voucher, in capitals.
- Vouchers with the flag hold are not posted but listed in held.txt, one a line.
- Amounts are rounded to cents, half up.

"""
POST = """
    # row NAME of the table
    import os
    from decimal import ROUND_HALF_UP, Decimal
    os.makedirs('out', exist_ok=True)
    text, kind, tax = '{gross_NAME}', '{kind_NAME}', '{tax_NAME}'
    gross = Decimal(text) if text.replace('.', '', 1).isdigit() else Decimal(0)
    amount = gross / {net}
    amount = amount.quantize(Decimal('0.01'), ROUND_HALF_UP)
    amount = amount * {sign}
    if {held}:
        open('out/held.txt', 'a').write('NAME\\n')
    else:
        row = ['NAME', '{account_NAME}', str(amount), {text}]
        open('out/journal.csv', 'a').write(','.join(row) + '\\n')
        print('posted', row)
"""
TOTAL = """
    # total of the journal
    from decimal import Decimal
    rows = [line.strip().split(',') for line in open('out/journal.csv')]
    total = sum((Decimal(row[2]) for row in rows), Decimal(0))
    open('out/total.txt', 'w').write(f'{len(rows)} {total}\\n')
    print(len(rows), total)
"""
NET = "{'A': Decimal('1.19'), 'B': Decimal('1.07')}.get(tax, Decimal(1))"
RULES = rules_of(
    "guide",
    ("net", "amounts are posted net", "Amounts are posted net", NET, "Decimal(1)"),
    ("sign", "credit notes have a minus sign", "posted with a minus sign",
     "(-1 if kind == 'credit' else 1)", "1"),
    ("held", "vouchers on hold are not posted", "with the flag hold are not posted",
     "'{flag_NAME}' == 'hold'", "False"),
    ("text", "texts are in capitals", "a slash and the voucher, in capitals",
     "'{account_NAME}/NAME'.upper()", "'{account_NAME}/NAME'"),
)  # fmt: skip


@dataclass(frozen=True)
class Voucher:
    name: str
    account: str
    kind: str
    flag: str
    gross: Decimal
    tax: str

    @property
    def amount(self) -> Decimal:
        rate = {"A": Decimal("1.19"), "B": Decimal("1.07"), "C": Decimal(1)}[self.tax]
        net = (self.gross / rate).quantize(CENT, ROUND_HALF_UP)
        return -net if self.kind == "credit" else net

    @property
    def row(self) -> str:
        return f"{self.name};{self.account};{self.kind};{self.flag}"


def vouchers_of(rng: Random, level: int) -> list[Voucher]:
    numbers = rng.sample(range(100, 999), 14 + 6 * level)
    return [
        Voucher(f"v{n}", f"k{rng.randrange(1000, 9999)}", rng.choice(("bill", "bill", "credit")),
                rng.choice(("open", "open", "open", "hold")), money(rng, 10, 900),
                rng.choice("ABC"))
        for n in numbers
    ]  # fmt: skip


def files_of(rng: Random, vouchers: list[Voucher]) -> dict[str, str]:
    lines = [f"{v.row};{hexadecimal(rng, 12)};{person(rng)};{paper(rng, 60).split()[0]}"
             for v in vouchers]  # fmt: skip
    made = {
        "docs/journal.md": GUIDE + paper(rng, 2500),
        "table.csv": joined(["voucher;account;kind;flag;import;clerk;note", *lines]),
    }
    for v in vouchers:
        made[f"vouchers/{v.name}.txt"] = paper(
            rng, 2600, f"Gross of {v.name}: {v.gross} EUR", f"Tax code of {v.name}: {v.tax}"
        )
    return made


def plan_of(names: list[str]) -> Plan:
    table = (
        ("account", "account of NAME", r"NAME;(k\d+)"),
        ("kind", "kind of NAME", r"NAME;k\d+;(\w+)"),
        ("flag", "flag of NAME", r"NAME;k\d+;\w+;(\w+)"),
    )
    facts = [
        *(Fact(f"{key}_{n}", named(label, n), named(pattern, n), "table")
          for n in names for key, label, pattern in table),
        *facts_for(names, "paper", ("gross", "gross of NAME", r"Gross of NAME: ([\d.]+)"),
                   ("tax", "tax code of NAME", r"Tax code of NAME: (\w)")),
    ]  # fmt: skip
    single = [r for r in RULES if "NAME" not in r.then]
    own = rules_of("guide", *(
        (f"{r.name}_{n}", f"for {n} {r.label}", r.pattern, named(r.then, n), named(r.otherwise, n))
        for r in RULES if "NAME" in r.then for n in names))  # fmt: skip
    post = POST.replace("{held}", "{held_NAME}").replace("{text}", "{text_NAME}")
    rows: list[Step] = []
    for n in names:
        rows += [
            read(f"paper_{n}", f"vouchers/{n}.txt", f"open the voucher {n}"),
            python(f"post_{n}", named(post, n), f"post the row {n}", leaves=True),
        ]
    steps = [
        Step("list", "list_files", {}, "list the folder"),
        read("guide", "docs/journal.md", "read how the journal is kept"),
        read("table", "table.csv", "open the table"),
        shell("wrong", "cat out/journal.csv", "look whether a journal is there"),
        *rows,
        python("total", TOTAL, "add the journal up", leaves=True),
        shell("proof", "cat out/total.txt out/held.txt", "check total and held ones"),
    ]
    return Plan(tuple(facts), (*single, *own), tuple(steps), "The table is posted.")


def check(vouchers: list[Voucher], left: Artefacts) -> Score:
    posted = [v for v in vouchers if v.flag == "open"]

    def rows() -> list[dict[str, str]]:
        lines = [line.split(",") for line in left.text("out/journal.csv").splitlines()]
        return [dict(zip(("voucher", "account", "amount", "text"), x, strict=True)) for x in lines]

    def held() -> float:
        found = left.text("out/held.txt").split()
        wanted = {v.name for v in vouchers if v.flag == "hold"}
        return len(wanted & {*found}) / max(len(found), len(wanted)) if wanted else not found

    total = sum((v.amount for v in posted), Decimal(0))
    texts = {v.name: f"{v.account}/{v.name}".upper() for v in posted}
    return grade(
        column("account", 3, rows, "voucher", {v.name: v.account for v in posted}),
        column("amount", 4, rows, "voucher", {v.name: str(v.amount) for v in posted}),
        column("text", 2, rows, "voucher", texts),
        part("held", 2, held),
        part(
            "total", 2, lambda: left.text("out/total.txt").split() == [f"{len(posted)}", f"{total}"]
        ),
    )


def build(rng: Random, level: int) -> Case:
    vouchers = vouchers_of(rng, level)
    told = (
        "Work through table.csv row by row, in its order. Each row names a voucher (vouchers/), an "
        "account, a kind (bill or credit) and a flag (open or hold). Append a line "
        "VOUCHER,ACCOUNT,AMOUNT,TEXT (no header) to out/journal.csv for each row that is posted, "
        "the others to out/held.txt, and post nothing twice. In the end write out/total.txt with "
        "the number of postings, a blank and their sum. docs/journal.md says how amounts and texts "
        "are written."
    )
    return Case(dict(files_of(rng, vouchers)), told, plan_of([v.name for v in vouchers]),
                lambda left: check(vouchers, left), max_steps=240)  # fmt: skip


TASK = Task("office-vouchers", "Office", "Post a long table row by row", build)
