"""The report of the office run, written from what the last queries printed."""

from __future__ import annotations

import re

from samples.recorder.agent import Steps, do, first, python, read, sql, write

LOAD = (
    "import csv, sqlite3\n"
    "db = sqlite3.connect('work/recon.db')\n"
    "db.execute('DROP TABLE IF EXISTS result')\n"
    "db.execute('CREATE TABLE result (invoice TEXT, customer TEXT, due INTEGER, '\n"
    "           'received INTEGER, open INTEGER, status TEXT)')\n"
    "rows = list(csv.reader(open('out/reconciliation.csv')))[1:]\n"
    "db.executemany('INSERT INTO result VALUES (?, ?, ?, ?, ?, ?)', rows)\n"
    "db.commit()\nprint(len(rows), 'lines loaded')\n"
)
VERIFY = (
    "import csv, re\n"
    "rows = list(csv.DictReader(open('out/reconciliation.csv')))\n"
    "text = open('out/report.md').read()\n"
    "for name in ('due', 'received', 'open'):\n"
    "    total = sum(int(row[f'{name}_cents']) for row in rows)\n"
    "    shown = f'{total // 100}.{total % 100:02d}'\n"
    "    print(f'{name:9} {shown:>12} in report: {shown in text}')\n"
    "missing = [r['invoice'] for r in rows if r['status'] != 'paid' and r['invoice'] not in text]\n"
    "print('exceptions not in the report:', missing)\n"
)


def euro(cents: str) -> str:
    value = int(cents)
    return f"{'-' if value < 0 else ''}{abs(value) // 100}.{abs(value) % 100:02d}"


def report(control: int) -> Steps[str]:
    """Ends the run; `control` is the receivables account as it was found."""
    totals, by_status, customers, exceptions = yield from figures()
    (adjustments,) = yield do(
        "And the adjustments, as they stand in the ledger.",
        sql("ledger.db", "SELECT * FROM adjustments ORDER BY kind, invoice"),
    )
    due, received, rest = re.findall(r"-?\d+", totals.splitlines()[1])
    head = (
        "# Receivables, third quarter 2024\n\n"
        f"- Invoiced: {euro(due)} EUR\n- Received: {euro(received)} EUR\n"
        f"- Open: {euro(rest)} EUR\n- Receivables account as found: {euro(str(control))} EUR\n"
    )
    body = "".join(
        f"\n## {title}\n\n{table(text)}\n"
        for title, text in (
            ("States", by_status),
            ("Open balance by customer", customers),
            ("Adjustments", adjustments),
        )
    )
    yield do("The report.", write("out/report.md", head + body))
    (verdict,) = yield do("I check it against the table.", python(VERIFY))
    missing = re.findall(r"INV-\d+-\d+", verdict)
    yield do(
        f"The totals are right, but {len(missing)} exceptions are not listed and P8 asks for them.",
        write("out/report.md", f"{head}{body}\n## Exceptions\n\n{table(exceptions)}\n"),
    )
    verdict, _ = yield do("Again, and a last read.", python(VERIFY), read("out/report.md"))
    assert "not in the report: []" in verdict
    count = first(r"(\d+) rows", adjustments)
    states = ", ".join(f"{n} {s}" for s, n in re.findall(r"^(\S+) \| (\d+) \|", by_status, re.M))
    return (
        f"Reconciled: {euro(due)} EUR invoiced, {euro(received)} EUR received, {euro(rest)} EUR "
        f"open ({states}). The receivables account stood at {euro(str(control))} EUR and agrees "
        f"with the invoices after {count} adjustments, write-offs "
        "counted apart. out/report.md lists all exceptions."
    )


def figures() -> Steps[tuple[str, str, str, str]]:
    yield do("For the figures I load the result beside the invoices.", python(LOAD))
    database = "work/recon.db"
    totals, by_status = yield do(
        "Totals and states.",
        sql(database, "SELECT sum(due), sum(received), sum(open) FROM result"),
        sql(
            database,
            "SELECT status, count(*) AS invoices, sum(open) AS open_cents FROM result "
            "GROUP BY status ORDER BY status",
        ),
    )
    (customers,) = yield do(
        "Open balance of each customer that has one.",
        sql(
            database,
            "SELECT c.id, c.name, sum(r.open) AS open_cents FROM result r JOIN customers c "
            "ON c.id = r.customer GROUP BY c.id HAVING sum(r.open) != 0 ORDER BY 3 DESC",
        ),
    )
    (exceptions,) = yield do(
        "The exceptions with names.",
        sql(
            database,
            "SELECT r.invoice, c.name, r.status, r.due, r.received, r.open FROM result r "
            "JOIN customers c ON c.id = r.customer WHERE r.status != 'paid' ORDER BY r.invoice",
        ),
    )
    return totals, by_status, customers, exceptions


def table(text: str) -> str:
    """A table of the sqlite tool as Markdown."""
    header, *rows = text.splitlines()[:-1]
    rule = "|" + " --- |" * len(header.split(" | "))
    return "\n".join([f"| {header} |", rule, *(f"| {row} |" for row in rows)])
