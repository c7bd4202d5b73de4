"""A register made from many long contracts: everything is read first, and written much later."""

from __future__ import annotations

from importlib.resources import files
from random import Random

from statecomp_bench.plan import Fact, Plan, Step
from statecomp_bench.steps import edit, python, read, shell
from statecomp_bench.task import Artefacts, Case, Score, Task, grade, part, share
from statecomp_bench.tasks.filler.words import sentence
from statecomp_bench.tasks.invented import joined, person
from statecomp_bench.tasks.office.contracts.data import (
    DEPARTMENTS,
    FIELDS,
    KINDS,
    Contract,
    Register,
    addenda,
    contract_text,
    story,
)
from statecomp_bench.tasks.office.each import facts_about, lines_of, reads, rules_of
from statecomp_bench.tasks.office.papers import column, prose, put

REGISTER = "register/register.csv"
LINE = (
    "{number_NAME};{kind_NAME};{begin_NAME};{end_NAME};{notice_NAME}{unit};{cents_NAME};"
    "{owner_NAME}"
)
FORM = """
    # form of the register
    from decimal import ROUND_HALF_UP, Decimal
    classes = {
        CLASSES
    }
    codes = {
        CODES
    }
    lines = open('register/register.csv').read().splitlines()
    done = [lines[0]]
    for line in lines[1:]:
        fields = line.split(';')
        if len(fields) == 7:
            fields[1] = {classed}
            fields[5] = {euros}
            fields[6] = {coded}
        done.append(';'.join(fields))
    open('register/register.csv', 'w').write('\\n'.join(done) + '\\n')
    print(done[-1])
"""
DEADLINES = """
    # deadlines, part PART
    import os
    from datetime import date, timedelta
    os.makedirs('out', exist_ok=True)
    terms = {
        TERMS
    }
    found = []
    for number, (end, notice) in terms.items():
        day = date.fromisoformat(end) - timedelta(days=int(notice))
        day -= timedelta(days={weekend})
        if {itself}:
            continue
        found.append(f'{day} {number}')
    path = 'out/deadlines.txt'
    old = open(path).read().splitlines() if os.path.exists(path) else []
    found = {sorted}
    open(path, 'w').write('\\n'.join(found) + '\\n')
    print(len(found), 'deadlines')
"""
RULES = rules_of(
    "rules",
    ("unit", "the notice carries its unit", "notice carries its unit", " d", ""),
    (
        "euros",
        "fees are whole euros",
        "rounded to whole euros",
        "str(Decimal(fields[5]).quantize(Decimal(1), ROUND_HALF_UP))",
        "fields[5]",
    ),
    (
        "classed",
        "classes are letters",
        "class is the letter of the table",
        "classes.get(fields[1], fields[1])",
        "fields[1]",
    ),
    (
        "coded",
        "owners are codes",
        "owner is the code of the department",
        "codes.get(fields[6], fields[6])",
        "fields[6]",
    ),
    (
        "weekend",
        "a deadline on a weekend moves to Friday",
        "the Friday before it is taken",
        "max(0, day.weekday() - 4)",
        "0",
    ),
    (
        "itself",
        "contracts that end by themselves have no deadline",
        "end without notice have no deadline",
        "int(notice) == 0",
        "False",
    ),
    (
        "sorted",
        "deadlines go by date",
        "Deadlines are listed by date",
        "sorted({*old, *found})",
        "[*old, *found]",
    ),
)


def facts_of(c: Contract) -> list[Fact]:
    name, low = c.name, c.name.lower()
    seen = f"contract_{low}"
    begin = r"contract with NAME begins on "
    return [
        *facts_about(name, "files", ("number", "file of NAME", r"\| NAME is kept as (\S+)")),
        *facts_about(
            name,
            seen,
            ("kind", "kind of NAME", r"contract on (\w+) is made between us and NAME,"),
            ("owner", "department for NAME", r"department of (\w+) answers for NAME\b"),
            ("cents", "fee of NAME", r"yearly fee of NAME is ([\d.]+) euros"),
            ("begin", "begin of NAME", begin + r"(\S+) and"),
            ("end", "end of NAME", begin + r"\S+ and its first term ends on ([\d-]+)"),
        ),
        *facts_about(
            name,
            "addenda" if c.notice != c.first_notice else seen,
            ("notice", "notice of NAME", r"Notice to NAME is given (\d+) days"),
        ),
    ]


def lookups() -> list[Fact]:
    """Tables that are read at the beginning: letters of kinds, codes of departments."""
    facts = [
        Fact(f"class_{kind}", f"letter for {kind}", rf"kind {kind} \.+ class (\w)\b", "classes")
        for kind in KINDS
    ]
    facts += (
        Fact(f"code_{d.lower()}", f"code of {d}", rf"{d} \| code (\S+)", "chart")
        for d in DEPARTMENTS
    )
    return facts


def plan_of(register: Register) -> Plan:
    contracts = register.contracts
    facts = lookups()
    facts += (fact for c in contracts for fact in facts_of(c))

    def entry(c: Contract) -> Step:
        line, title = put(LINE, NAME=c.name), f"fill in the line of {c.name}"
        return edit(f"entry_{c.name.lower()}", REGISTER, f"{c.name};TODO", line, title)

    def deadlines(part: str, mine: tuple[Contract, ...]) -> Step:
        row = "'{number_NAME}': ('{end_NAME}', '{notice_NAME}'),"
        terms = lines_of(row, [c.name for c in mine])
        code = DEADLINES.replace("TERMS", terms).replace("PART", part)
        return python(f"deadlines_{part}", code, f"list the {part} deadlines", leaves=True)

    form = FORM.replace("CLASSES", lines_of("'NAME': '{class_NAME}',", KINDS))
    form = form.replace("CODES", lines_of("'NAME': '{code_NAME}',", DEPARTMENTS))
    half = len(contracts) // 2
    steps = [
        Step("list", "list_files", {}, "look around"),
        read("rules", "register/rules.md", "read how the register is kept", group="a"),
        read("files", "register/files.txt", "open the list of files", group="a"),
        read("classes", "register/classes.txt", "open the table of classes", group="a"),
        read("chart", "register/chart.txt", "open the organisation chart", group="a"),
        *reads("contract", "contracts", (c.name for c in contracts), "read the contract with"),
        read("addenda", "contracts/binder.txt", "leaf through the addenda"),
        read("skeleton", REGISTER, "open the register"),
        edit("wrong", REGISTER, "NAME;TODO", "", "try to clear the open places"),
        *map(entry, contracts),
        python("form", form, "bring the lines into form", leaves=True),
        deadlines("first", contracts[:half]),
        deadlines("other", contracts[half:]),
        shell("proof", "cat register/register.csv out/deadlines.txt", "read the register again"),
    ]
    return Plan(tuple(facts), RULES, tuple(steps), "The register is complete.")


def check(register: Register, left: Artefacts) -> Score:
    contracts = register.contracts

    def rows() -> list[dict[str, str]]:
        return left.rows("register/register.csv", ";")

    wanted = {c.number: c.deadline for c in contracts if c.notice}

    def deadlines() -> float:
        lines = [line.split() for line in left.text("out/deadlines.txt").splitlines()]
        found = {number: day for day, number in lines}
        return share(found, wanted) * len(wanted) / max(len(wanted), len(lines))

    def in_order() -> bool:
        lines = left.text("out/deadlines.txt").splitlines()
        return len(lines) > 1 and lines == sorted(lines)

    return grade(
        column("class", 2, rows, "number", {c.number: register.classes[c.kind] for c in contracts}),
        column("begin", 1, rows, "number", {c.number: str(c.begin) for c in contracts}),
        column("end", 2, rows, "number", {c.number: str(c.end) for c in contracts}),
        column("notice", 3, rows, "number", {c.number: f"{c.notice} d" for c in contracts}),
        column("fee", 2, rows, "number", {c.number: c.fee for c in contracts}),
        column(
            "owner", 2, rows, "number", {c.number: register.codes[c.department] for c in contracts}
        ),
        part("deadlines", 4, deadlines),
        part("order of deadlines", 1, in_order),
    )


def instruction(register: Register) -> str:
    names = ", ".join(c.name for c in register.contracts)
    return (
        f"Complete the contract register for these partners: {names}. Their contracts are in "
        "contracts/, all addenda in contracts/binder.txt, file numbers in register/files.txt. "
        "register/register.csv is prepared: it "
        f"has a header ({';'.join(FIELDS)}) and a place NAME;TODO for each partner, which its "
        "line replaces. Dates stay as the contracts have them. Then write out/deadlines.txt, the "
        "last days to give notice, each line a date (as 2026-03-31), a blank and the file "
        f"number. Contracts are on {', '.join(KINDS)}; departments are {', '.join(DEPARTMENTS)}. "
        "register/rules.md says what the fields mean and how deadlines are found."
    )


def build(rng: Random, level: int) -> Case:
    register = story(rng, level)
    classes = [
        f"kind {kind} ..... class {letter}  {sentence(rng)}"
        for kind, letter in register.classes.items()
    ]
    chart = [
        f"{d} | code {code} | head {person(rng)} | {sentence(rng)}"
        for d, code in register.codes.items()
    ]
    kept = [f"| {c.name} is kept as {c.number} | {sentence(rng)}" for c in register.contracts]
    made: dict[str, str | bytes] = {
        "register/rules.md": files(__package__).joinpath("rules.md").read_text("utf-8"),
        "register/files.txt": f"{prose(rng, 12)}\n\n{joined(kept)}\n{prose(rng, 8)}\n",
        "register/classes.txt": f"{prose(rng, 16)}\n\n{joined(classes)}\n{prose(rng, 10)}\n",
        "register/chart.txt": f"{prose(rng, 20)}\n\n{joined(chart)}\n{prose(rng, 20)}\n",
        "register/register.csv": joined(
            [";".join(FIELDS), *(f"{c.name};TODO" for c in register.contracts)]
        ),
        "contracts/binder.txt": addenda(rng, register),
    }
    made |= {f"contracts/{c.name.lower()}.txt": contract_text(rng, c) for c in register.contracts}
    return Case(made, instruction(register), plan_of(register), lambda left: check(register, left))


TASK = Task("office-contracts", "Office", "Keep a register of many contracts", build)
