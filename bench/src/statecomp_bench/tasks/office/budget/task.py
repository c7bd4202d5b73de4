"""Budgets of departments put together: late memos correct sheets, charges are matched in pairs."""

from __future__ import annotations

from importlib.resources import files
from random import Random

from statecomp_bench.plan import Fact, Plan, Step
from statecomp_bench.steps import edit, python, read, shell
from statecomp_bench.task import Artefacts, Case, Score, Task, grade, part, share
from statecomp_bench.tasks.filler.words import sentence
from statecomp_bench.tasks.invented import joined
from statecomp_bench.tasks.office.budget.data import (
    KINDS,
    MEMOS,
    Budget,
    Department,
    memo,
    sheet,
    story,
)
from statecomp_bench.tasks.office.each import (
    ROW_START,
    facts_about,
    lines_of,
    programs,
    reads,
    rules_about,
    rules_of,
)
from statecomp_bench.tasks.office.papers import prose, put, retired

SUM = """
    # sum of NAME
    import os
    os.makedirs('out', exist_ok=True)
    unit, exempt = {'kEUR': 1000, 'EUR': 1}['{unit_NAME}'], '{exempt_NAME}' == 'yes'
    staff, travel, goods = float('{staff_NAME}'), float('{travel_NAME}'), float('{goods_NAME}')
    if {over}{spared}:
        travel = staff * 5 / 100
    net = round((staff + travel + goods{reserve}) * {euros})
    print('staff', staff, 'travel', travel, 'goods', goods)
    with open('out/sums.txt', 'a') as f:
        print('net sum of NAME is', net, file=f)
"""
ITEMS = """
    # open items and elimination
    import csv, os
    os.makedirs('out', exist_ok=True)
    units = {'kEUR': 1000, 'EUR': 1}
    pairs = [
        PAIRS
    ]
    gone, rows = 0, [['giver', 'taker', 'open']]
    for giver, taker, charged, paid, unit, other in pairs:
        charge, payment = round(float(charged) * units[unit]), round(float(paid) * units[other])
        gone += {smaller}
        rows.append([giver, taker, charge - payment])
    with open('out/open_items.csv', 'w') as f:
        csv.writer(f, lineterminator='\\n').writerows(rows)
    print('eliminated from the total are', gone)
"""
TOTAL = """
    # total of all departments
    nets = [
        NETS
    ]
    print('consolidated total is', sum(nets) - {gone})
"""
RULES = rules_of(
    "rules",
    (
        "over",
        "travel is limited to 5 percent of staff",
        "Travel is limited to 5 percent",
        "travel > staff * 5 / 100",
        "False",
    ),
    (
        "spared",
        "exempt departments are not cut",
        "Exempt departments, as the chart has them",
        " and not exempt",
        "",
    ),
    (
        "reserve",
        "goods get 2 percent on top",
        "Goods get a reserve of 2 percent",
        " * 102 / 100",
        "",
    ),
    ("euros", "all that leaves is in euros", "leaves this office is in euros", "unit", "1"),
    (
        "smaller",
        "the smaller amount is eliminated",
        "the smaller of the two amounts",
        "min(charge, payment)",
        "charge",
    ),
)


def facts_of(d: Department) -> list[Fact]:
    name, low = d.name, d.name.lower()
    sources = {d.memos[memo][0]: memo for memo in MEMOS if memo in d.memos}
    row = r"department NAME \| "
    return [
        *facts_about(
            name,
            "chart",
            ("number", "number of NAME", row + r"(D\d+)"),
            ("unit", "unit of NAME", row + r"D\d+ \| plans in (\w+)"),
            ("exempt", "exemption of NAME", row + r"D\d+ \| plans in \w+ \| exempt (\w+)"),
        ),
        *(
            Fact(
                f"{kind}_{low}",
                f"{kind} of {name}",
                rf"planned {kind} of {name}: ([\d.]+)",
                sources.get(kind, f"sheet_{low}"),
            )
            for kind in KINDS
        ),
        *facts_about(
            name,
            f"sheet_{low}",
            ("charged", "charge by NAME", r"NAME charges \w+: ([\d.]+)"),
            ("paid", "payment by NAME", r"NAME pays \w+: ([\d.]+)"),
        ),
        *facts_about(name, "sums", ("net", "net sum of NAME", r"net sum of NAME is (\d+)")),
    ]


def plan_of(budget: Budget) -> Plan:
    names = [d.name for d in budget.departments]
    facts = [fact for d in budget.departments for fact in facts_of(d)]
    facts.append(Fact("gone", "sum eliminated", r"eliminated from the total are (\d+)", "items"))
    facts.append(Fact("total", "consolidated total", r"consolidated total is (\d+)", "total"))
    shown = rules_about(
        names,
        "shown",
        "the board sees NAME by number",
        "shown by its number, never by its name",
        "{number_NAME}",
        "NAME",
    )
    pair = "('GIVER', 'TAKER', '{charged_GIVER}', '{paid_TAKER}', '{unit_GIVER}', '{unit_TAKER}'),"
    pairs = ROW_START.join(
        put(pair, GIVER=c.giver.name, TAKER=c.taker.name) for c in budget.charges
    )
    nets = lines_of("{net_NAME},", names)
    board = "paper/board.md"
    steps = [
        Step("list", "list_files", {}, "look around"),
        read("rules", "budget/rules.md", "read how budgets are consolidated", group="a"),
        read("chart", "budget/chart.txt", "open the chart of departments", group="a"),
        read("old", "budget/speech.txt", "skim the speech of last year", group="a"),
        *reads("sheet", "sheets", names, "read the sheet of", "s"),
        shell("wrong", "python3 budget/merge.py sheets/*.txt", "try the merging program"),
        *(read(which, f"memos/{which}.txt", f"read the {which} memo") for which in MEMOS),
        *programs("sum", SUM, names, "sum up the plan of"),
        shell("sums", "cat out/sums.txt", "look at the sums so far"),
        python("items", ITEMS.replace("PAIRS", pairs), "match the charges", leaves=True),
        python("total", TOTAL.replace("NETS", nets), "add up all departments"),
        read("paper", board, "open the paper for the board"),
        *(
            edit(
                f"line_{n.lower()}",
                board,
                f"| {n} | to come |",
                put("| {shown_NAME} | {net_NAME} |", NAME=n),
                f"fill in {n} for the board",
            )
            for n in names
        ),
        edit(
            "line_total",
            board,
            "| Total | to come |",
            "| Total | {total} |",
            "fill in the last line",
        ),
        shell("proof", "cat paper/board.md out/open_items.csv", "read the paper again"),
    ]
    return Plan(tuple(facts), (*RULES, *shown), tuple(steps), "The budget is consolidated.")


def check(budget: Budget, left: Artefacts) -> Score:
    departments = budget.departments

    def lines() -> dict[str, str]:
        cells = (line.split("|") for line in left.text("paper/board.md").splitlines())
        return {row[1].strip(): row[2].strip() for row in cells if len(row) == 4}

    def sums() -> float:
        found = lines()
        both = ({found.get(d.number), found.get(d.name)} for d in departments)
        return sum(str(d.net) in ours for d, ours in zip(departments, both, strict=True)) / len(
            departments
        )

    def numbers() -> float:
        return sum(d.number in lines() for d in departments) / len(departments)

    def items() -> float:
        rows = left.rows("out/open_items.csv")
        wanted = {
            f"{c.giver.name} {c.taker.name}": str(c.euros[0] - c.euros[1]) for c in budget.charges
        }
        found = {f"{row['giver']} {row['taker']}": row["open"] for row in rows}
        return share(found, wanted) * len(wanted) / max(len(wanted), len(rows))

    return grade(
        part("sums", 6, sums),
        part("numbers", 2, numbers),
        part("total", 3, lambda: lines()["Total"] == str(budget.total)),
        part("open items", 3, items),
    )


def instruction(budget: Budget) -> str:
    names = ", ".join(d.name for d in budget.departments)
    pairs = ", ".join(f"{c.giver.name} and {c.taker.name}" for c in budget.charges)
    return (
        f"Consolidate the budget of {budget.year} for the departments {names}. Sheets are in "
        "sheets/, memos that correct them in memos/ (first, second, third), the chart is "
        "budget/chart.txt. paper/board.md is prepared with a line for each department, '| NAME | "
        "to come |', and one for the total; replace them with what budget/rules.md asks for, the "
        f"sum of the department in the second column. Charges run between {pairs}; write "
        "out/open_items.csv (giver, taker, open) with a row for each of these pairs, by name, "
        "also where nothing is open."
    )


def build(rng: Random, level: int) -> Case:
    budget = story(rng, level)
    chart = [
        f"department {d.name} | {d.number} | plans in {'kEUR' if d.thousands else 'EUR'} | exempt "
        f"{'yes' if d.exempt else 'no'} | {sentence(rng)}"
        for d in budget.departments
    ]
    table = joined([f"| {d.name} | to come |" for d in budget.departments])
    made: dict[str, str | bytes] = {
        "budget/rules.md": files(__package__).joinpath("rules.md").read_text("utf-8"),
        "budget/chart.txt": f"{prose(rng, 16)}\n\n{joined(chart)}\n{prose(rng, 10)}\n",
        "budget/merge.py": retired("merge.py: cannot mix EUR and kEUR; nothing was merged"),
        "budget/speech.txt": prose(rng, 70),
        "paper/board.md": (
            f"# Budget {budget.year}\n\n{prose(rng, 8)}\n\n{table}| Total | to come |\n"
        ),
    }
    made |= {f"sheets/{d.name.lower()}.txt": sheet(rng, budget, d) for d in budget.departments}
    made |= {f"memos/{which}.txt": memo(rng, budget, which) for which in MEMOS}
    return Case(made, instruction(budget), plan_of(budget), lambda left: check(budget, left))


TASK = Task("office-budget", "Office", "Consolidate budgets with late corrections", build)
