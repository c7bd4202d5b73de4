"""Corrections of pay, posted with a program that refuses some: the cause must be remembered."""

from __future__ import annotations

from random import Random

from statecomp_bench.plan import Fact, Plan, Step
from statecomp_bench.steps import python, read, shell
from statecomp_bench.task import Artefacts, Case, Score, Task, grade, part, share
from statecomp_bench.tasks.office.each import (
    facts_about,
    lines_of,
    programs,
    reads,
    rules_about,
    rules_of,
)
from statecomp_bench.tasks.office.papers import column, put
from statecomp_bench.tasks.office.payroll.data import (
    CENTRES,
    GROUPS,
    Correction,
    Run,
    story,
    surroundings,
)

TRY = """
    # dry run for NAME
    from payroll.post import post
    post('{token}', '{staff_NAME}', '{number_NAME}', 'TEST', '0.00', dry=True)
"""
ENTRY = """
    # posting for NAME
    from decimal import ROUND_HALF_UP, Decimal as D
    from payroll.post import post
    rates = {'E3': '{rate_e3}', 'E5': '{rate_e5}', 'E8': '{rate_e8}', 'E9': '{rate_e9}'}
    hours = D('{hours_NAME}') - D('{paid_NAME}')
    nights = D('{nights_NAME}') - D('{paidnights_NAME}')
    amount = D(rates['{group_NAME}']) * (hours + nights * D('{premium}'))
    amount = amount.quantize(D('0.01'), ROUND_HALF_UP)
    amount = {limit}
    centre, number, left = '{centre_NAME}', '{number_NAME}', '{status_NAME}' == 'left'
    if {small}{leaver}:
        print('too small')
    else:
        post('{token}', '{staff_NAME}', {target}, {code_NAME}, amount)
"""
BANK = """
    # file for the bank
    import os
    amounts = {}
    for line in open('out/postings.csv'):
        staff, centre, code, amount = line.strip().split(';')
        amounts.setdefault(staff, float(amount))
    accounts = {
        ACCOUNTS
    }
    with open('out/bank.txt', 'w') as f:
        for staff, account in accounts.items():
            if staff in amounts and {paid}:
                f.write(account + ' ' + {cents} + '\\n')
    print(open('out/bank.txt').read())
"""
TARGET = ", ".join(f"'{c}': '{{heir_{c.lower()}}}'" for c in CENTRES)
RULES = (
    *rules_of(
        "rules",
        ("premium", "nights carry 35 percent on top", "premium of 35 percent", "0.35", "0.25"),
        (
            "limit",
            "at most 140 euros are taken back",
            "at most 140 euros are taken back",
            "max(amount, D(-140))",
            "amount",
        ),
        (
            "small",
            "less than 6 euros is not posted",
            "less than 6 euros in either direction",
            "abs(amount) < 6",
            "False",
        ),
        (
            "leaver",
            "leavers are corrected to the cent",
            "Leavers are corrected to the cent",
            " and not left",
            "",
        ),
        (
            "paid",
            "the bank gets positive amounts only",
            "gets positive amounts only",
            "amounts[staff] > 0",
            "True",
        ),
        (
            "cents",
            "the bank wants cents",
            "bank wants amounts in cents",
            "str(round(amounts[staff] * 100))",
            "str(amounts[staff])",
        ),
    ),
    *rules_of(
        "try",
        (
            "target",
            "closed centres are posted under their heirs",
            "closed centre is posted under its heir",
            f"{{{TARGET}}}[centre]",
            "number",
        ),
    ),
)


def facts_of(c: Correction) -> list[Fact]:
    name, low = c.name, c.name.lower()
    row = r"NAME,\w+,"
    return [
        *facts_about(
            name,
            f"sheet_{low}",
            ("hours", "hours worked by NAME", r"Hours worked by NAME: ([\d.]+)"),
            ("nights", "nights worked by NAME", r"Night hours among those of NAME: ([\d.]+)"),
        ),
        *facts_about(
            name,
            f"slip_{low}",
            ("paid", "hours paid to NAME", r"Hours paid to NAME: ([\d.]+)"),
            ("paidnights", "nights paid to NAME", r"Night hours paid to NAME: ([\d.]+)"),
            ("month", "month of NAME", r"Month of the slip of NAME: (\d\d)"),
            ("account", "account of NAME", r"Account of NAME: (\w+)"),
        ),
        *facts_about(
            name,
            "staff",
            ("staff", "staff number of NAME", row + r"(P\d+)"),
            ("group", "group of NAME", row + r"P\d+,(\w+)"),
            ("centre", "centre of NAME", row + r"P\d+,\w+,(\w+)"),
            ("number", "centre number of NAME", row + r"P\d+,\w+,\w+,(\d+)"),
            ("status", "status of NAME", row + r"P\d+,\w+,\w+,\d+,(\w+)"),
        ),
    ]


def plan_of(run: Run) -> Plan:
    names = [c.name for c in run.corrections]
    facts = [fact for c in run.corrections for fact in facts_of(c)]
    facts += (
        Fact(f"rate_{g.lower()}", f"rate of {g}", rf"\b{g},([\d.]+)", "tariff") for g in GROUPS
    )
    facts += (
        Fact(f"heir_{c.lower()}", f"heir of {c}", rf"centre {c} is posted under (\d+)", "heirs")
        for c in CENTRES
    )
    facts.append(Fact("token", "token of the batch", r"token of the open batch is (\w+)", "open"))
    codes = rules_about(
        names,
        "code",
        "the code of NAME is K and the month",
        "code of a posting is K and",
        "'K{month_NAME}'",
        "'CORR'",
    )
    accounts = lines_of("'{staff_NAME}': '{account_NAME}',", names)
    steps = [
        Step("list", "list_files", {}, "look around"),
        read("rules", "payroll/rules.md", "read the rules of the pay office", group="a"),
        read("tariff", "payroll/tariff.csv", "open the tariff table", group="a"),
        read("staff", "payroll/staff.csv", "open the list of staff", group="a"),
        *reads("sheet", "sheets", names, "read the time sheet of", "t"),
        *reads("slip", "slips", names, "read the pay slip of", "s"),
        shell("open", "python3 payroll/open_batch.py", "run the program that opens a batch"),
        python("try", put(TRY, NAME=names[0]), f"make a dry run for {names[0]}"),
        read("heirs", "payroll/heirs.txt", "read who inherits from closed centres"),
        *programs("post", ENTRY, names, "post the correction of"),
        python(
            "bank", BANK.replace("ACCOUNTS", accounts), "write the file for the bank", leaves=True
        ),
        shell("proof", "cat out/postings.csv out/bank.txt", "read the postings again"),
    ]
    return Plan(tuple(facts), (*RULES, *codes), tuple(steps), "The corrections are posted.")


def check(run: Run, left: Artefacts) -> Score:
    posted = run.posted()

    def rows() -> list[dict[str, str]]:
        lines = [line.split(";") for line in left.text("out/postings.csv").splitlines()]
        return [
            dict(zip(("staff", "centre", "code", "amount"), line, strict=True)) for line in lines
        ]

    def nothing_else() -> float:
        extra = sum(row["staff"] not in posted for row in rows())
        return (bool(rows())) / (1 + extra)

    wanted: dict[str, object] = {
        c.account: str(int(run.amount(c) * 100)) for c in posted.values() if run.amount(c) > 0
    }

    def bank() -> float:
        lines = [line.split() for line in left.text("out/bank.txt").splitlines()]
        found = dict(lines)
        return share(found, wanted) * len(wanted) / max(len(wanted), len(lines))

    return grade(
        column("centre", 3, rows, "staff", {s: run.heirs[c.centre] for s, c in posted.items()}),
        column("code", 2, rows, "staff", {s: f"K{c.month:02d}" for s, c in posted.items()}),
        column("amount", 4, rows, "staff", {s: str(run.amount(c)) for s, c in posted.items()}),
        part("nothing else is posted", 2, nothing_else),
        part("bank", 3, bank),
    )


def instruction(run: Run) -> str:
    names = ", ".join(c.name for c in run.corrections)
    return (
        f"Post the corrections of pay for {names}, in this order. Time sheets (sheets/) say what "
        "was worked, pay slips (slips/) what was paid; payroll/staff.csv has staff numbers, "
        "tariff groups and cost centres (first names are unique), payroll/tariff.csv the hourly "
        "rates. Open the batch with payroll/open_batch.py and post with the function post(batch, "
        "staff, centre, code, amount) of payroll/post.py, which writes out/postings.csv "
        "(staff;centre number;code;amount with a point); post nobody twice. Then write "
        "out/bank.txt with a line 'ACCOUNT AMOUNT' for each payment. payroll/rules.md says what "
        f"is posted and how. Centres are named {', '.join(CENTRES)}."
    )


def build(rng: Random, level: int) -> Case:
    run = story(rng, level)
    made = surroundings(rng, run)
    return Case(made, instruction(run), plan_of(run), lambda left: check(run, left))


TASK = Task(
    "office-payroll", "Office", "Post corrections of pay with a program that refuses", build
)
