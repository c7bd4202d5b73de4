"""Invoices compared with a ledger and a mailbox, decided and reported by a policy."""

from __future__ import annotations

from decimal import Decimal
from importlib.resources import files
from random import Random

from statecomp_bench.plan import Fact, Norm, Plan, Step
from statecomp_bench.steps import python, read, shell, sql
from statecomp_bench.task import Artefacts, Case, Score, Task, TaskQuestion, grade, part, share
from statecomp_bench.tasks.invented import joined, people
from statecomp_bench.tasks.office.invoices.data import (
    Closing,
    Invoice,
    document,
    ledger,
    mailbox,
    story,
)

MAILS = """
    # mails about NAME
    mails = open('mail/inbox.txt').read().split('\\n-----\\n')
    for mail in mails:
        if 'NAME' in mail:
            print(mail)
            print('=====')
"""
ENTRY = """
    # closing of NAME
    import csv, os
    from datetime import date
    from decimal import Decimal
    os.makedirs('out', exist_ok=True)
    difference = Decimal('{total_NAME}') - Decimal('{booked_NAME}')
    code = '{code_NAME}'
    decision = 'accept' if abs(difference) <= {limit} else 'query'
    if {held}:
        decision = 'hold'
    day = date.fromisoformat('{due_NAME}')
    row = [
        CREDITOR,
        '{number_NAME}',
        f'{difference:.2f}'{comma},
        day.strftime('{days}'),
        code if code.startswith('AP-') else '',
        decision,
    ]
    with open('out/closing.csv', 'a') as f:
        csv.writer(f, delimiter=';', lineterminator='\\n').writerow(row)
    print(row)
"""
LETTER = """
    # letter to NAME
    import os
    from datetime import date
    from decimal import Decimal
    os.makedirs('out/letters', exist_ok=True)
    difference = f"{Decimal('{total_NAME}') - Decimal('{booked_NAME}'):.2f}"{comma}
    day = date.fromisoformat('{due_NAME}').strftime('{days}')
    text = f'''To NAME, creditor {creditor_NAME}
    Invoice {number_NAME} differs from our books by {difference} EUR.
    Please answer by {day}.
    Reference {reference}
    {clerk}
    '''
    open('out/letters/NAME.txt', 'w').write('\\n'.join(l.strip() for l in text.splitlines()))
    print(text)
"""
SUMMARY = """
    # summary of the month
    import csv, json
    from collections import Counter
    rows = list(csv.reader(open('out/closing.csv'), delimiter=';'))
    counts = Counter(row[5] for row in rows)
    summary = {'reference': '{reference}', 'clerk': '{clerk}', **counts}
    json.dump(summary, open('out/summary.json', 'w'))
    print(summary)
"""


def facts_of(invoice: Invoice) -> list[Fact]:
    name = invoice.supplier
    low, seen = name.lower(), f"invoice_{name.lower()}"
    code = rf"(?:code for {name}: |{name} has not delivered everything\. )(AP-\w+|No approval)"
    return [
        Fact(
            f"number_{low}",
            f"invoice number of {name}",
            # Not across the head of the next invoice, where a record shows several.
            rf"{name} Trading\s(?:(?! Trading\s)[\s\S])*?INVOICE (\S+)",
            seen,
        ),
        Fact(
            f"total_{low}", f"invoice total of {name}", rf"Invoice total of {name}: ([\d.]+)", seen
        ),
        Fact(f"due_{low}", f"due date of {name}", rf"Payable by {name} terms until (\S+)", seen),
        Fact(
            f"booked_{low}", f"amount booked for {name}", rf"\| {name} \| ([\d.]+)", f"booked_{low}"
        ),
        Fact(f"code_{low}", f"approval of {name}", code, f"mails_{low}"),
        Fact(
            f"creditor_{low}", f"creditor number of {name}", rf"(\d{{5}}) \| {name} \|", "creditors"
        ),
    ]


RULES = (
    Norm("limit", "differences up to 40 euros are accepted", "up to 40 euros", "40", "1", "policy"),
    Norm(
        "held",
        "invoices without approval code are held",
        "without an approval code is decided as",
        "not code.startswith('AP-')",
        "False",
        "policy",
    ),
    Norm(
        "comma",
        "amounts are written with a decimal comma",
        "with a decimal comma",
        ".replace('.', ',')",
        "",
        "policy",
    ),
    Norm(
        "days",
        "dates are written day first",
        "written day first",
        "%d.%m.%Y",
        "%Y-%m-%d",
        "policy",
    ),
)


def numbered(names: list[str]) -> tuple[Norm, ...]:
    """Reports name a supplier by number; out of habit one would write its name."""
    return tuple(
        Norm(
            f"who_{name.lower()}",
            f"reports name {name} by creditor number",
            "named by its creditor number in reports",
            f"'{{creditor_{name.lower()}}}'",
            f"'{name}'",
            "policy",
        )
        for name in names
    )


def booked(name: str, low: str) -> Step:
    query = (
        f"-- bookings of {name}\n"
        f"select c.creditor, c.name, b.day, b.account, b.text, b.amount from bookings b join "
        f"creditors c using (creditor) where c.name = '{name}' union all select c.creditor, "
        f"'sum of {{number_{low}}}', '', '', c.name, sum(cast(b.amount as real)) from bookings b "
        f"join creditors c using (creditor) where c.name = '{name}' and b.text = "
        f"'invoice {{number_{low}}}'"
    )
    return sql(f"booked_{low}", "books/ledger.db", query, f"look up what was booked for {name}")


def for_name(template: str, name: str) -> str:
    code = template.replace("CREDITOR", f"{{who_{name.lower()}}}")
    return code.replace("_NAME}", f"_{name.lower()}}}").replace("NAME", name)


def plan_of(month: Closing) -> Plan:
    names = [invoice.supplier for invoice in month.invoices]
    facts = [fact for invoice in month.invoices for fact in facts_of(invoice)]
    facts += [
        Fact("clerk", "clerk on duty", r"Clerk on duty: (.+)", "duty"),
        Fact("reference", "reference of the closing", r"reference (CL-\d+)"),
    ]
    low = {name: name.lower() for name in names}
    queries = [i.supplier for i in month.invoices if abs(i.difference) > 40 and i.approval]
    creditors = "select creditor, name, city, terms from creditors order by name"
    steps = [
        Step("list", "list_files", {}, "see what there is"),
        read("policy", "office/policy.md", "read the policy", group="first"),
        read("duty", "office/duty.txt", "look up who is on duty", group="first"),
        sql("creditors", "books/ledger.db", creditors, "list the creditors", group="first"),
        *(
            read(
                f"invoice_{low[n]}", f"invoices/{low[n]}.txt", f"read the invoice of {n}", group="i"
            )
            for n in names
        ),
        shell("wrong", "python3 books/sum.py 2>&1 | tail -n {lines}", "try the old closing script"),
        *(booked(n, low[n]) for n in names),
        *(
            python(f"mails_{low[n]}", for_name(MAILS, n), f"search the mails about {n}")
            for n in names
        ),
        *(
            python(f"entry_{low[n]}", for_name(ENTRY, n), f"enter the decision on {n}", leaves=True)
            for n in names
        ),
        *(
            python(f"letter_{low[n]}", for_name(LETTER, n), f"write to {n}", leaves=True)
            for n in queries
        ),
        python("summary", SUMMARY, "sum up the month", leaves=True),
        shell(
            "proof", "cat out/closing.csv out/summary.json out/letters/*", "read all of it again"
        ),
    ]
    rules = (*RULES, *numbered(names))
    return Plan(tuple(facts), rules, tuple(steps), "The closing is in out/.")


def comma(amount: Decimal) -> str:
    return f"{amount:.2f}".replace(".", ",")


def check(month: Closing, left: Artefacts) -> Score:
    queries = [i for i in month.invoices if i.decision == "query"]

    def rows() -> list[list[str]]:
        return [line.split(";") for line in left.text("out/closing.csv").splitlines()]

    def column(name: str, weight: float, place: int, wanted: dict[str, str]) -> TaskQuestion:
        def answer() -> float:
            # A row entered twice is a mistake: the first one counts, and all must be different.
            found = {row[1]: row[place] for row in reversed(rows())}
            return share(found, wanted) * (len(wanted) / max(len(rows()), len(wanted)))

        return part(name, weight, answer)

    def letter(invoice: Invoice) -> TaskQuestion:
        return part(f"letter to {invoice.supplier}", 1, lambda: written(invoice))

    def written(invoice: Invoice) -> float:
        text = left.text(f"out/letters/{invoice.supplier}.txt")
        wanted = (
            f"creditor {invoice.creditor}",
            invoice.number,
            f"by {comma(invoice.difference)} EUR",
            f"by {invoice.due:%d.%m.%Y}",
            month.reference,
            month.clerk,
        )
        return sum(word in text for word in wanted) / len(wanted)

    every = month.invoices
    counts: dict[str, object] = {"reference": month.reference, "clerk": month.clerk}
    for invoice in every:
        counts[invoice.decision] = sum(i.decision == invoice.decision for i in every)
    return grade(
        column("creditors", 1, 0, {i.number: str(i.creditor) for i in every}),
        column("differences", 3, 2, {i.number: comma(i.difference) for i in every}),
        column("due dates", 2, 3, {i.number: f"{i.due:%d.%m.%Y}" for i in every}),
        column("approvals", 2, 4, {i.number: i.approval for i in every}),
        column("decisions", 4, 5, {i.number: i.decision for i in every}),
        *map(letter, queries),
        part("summary", 2, lambda: share(left.json("out/summary.json"), counts)),
    )


def instruction(month: Closing) -> str:
    names = ", ".join(invoice.supplier for invoice in month.invoices)
    return (
        f"Do the monthly closing, reference {month.reference}, for these suppliers, in this order: "
        f"{names}. Their invoices are in invoices/, the bookings in books/ledger.db, approvals in "
        "mail/inbox.txt. For each supplier append one line to out/closing.csv, without a header, "
        "fields separated by semicolons: supplier, invoice number, difference, due date, approval "
        "code (empty if there is none), decision. Each supplier has exactly one line. For every "
        "decision `query` write a letter out/letters/SUPPLIER.txt that names the creditor (as "
        "'creditor NUMBER'), the invoice, the difference (as 'by AMOUNT EUR'), the date (as 'by "
        "DATE'), the reference and the clerk. Write out/summary.json with reference, clerk and how "
        "often each decision was taken. office/policy.md says how to decide and how to write; the "
        "clerk stands in office/duty.txt."
    )


OLD_SCRIPT = """import sqlite3
rows = sqlite3.connect('books/ledger.db').execute('select day, text, amount from bookings')
for day, text, amount in rows:
    print(day, text, amount)
raise SystemExit('no such column: approved; this script is for the books of last year')
"""


def build(rng: Random, level: int) -> Case:
    month = story(rng, level)
    duty = joined([f"{hour:02d}:00 {name}" for hour, name in enumerate(people(rng, 20))])
    made: dict[str, str | bytes] = {
        "office/policy.md": files(__package__).joinpath("policy.md").read_text("utf-8"),
        "office/duty.txt": f"Clerk on duty: {month.clerk}\n\nCounter, by hour:\n{duty}",
        "books/ledger.db": ledger(rng, month),
        "books/sum.py": OLD_SCRIPT,
        "mail/inbox.txt": mailbox(rng, month),
    }
    for invoice in month.invoices:
        made[f"invoices/{invoice.supplier.lower()}.txt"] = document(rng, invoice)
    return Case(made, instruction(month), plan_of(month), lambda left: check(month, left))


TASK = Task("office-invoices", "Office", "Reconcile invoices with the ledger", build)
