"""Office: a quarter of invoices reconciled with a bank export, mails and a ledger."""

from __future__ import annotations

import csv
import json
import re
import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from samples.recorder.agent import Scenario, Steps, do, first, python, read, shell, sql, write
from samples.recorder.office_data import expected, generate, generated
from samples.recorder.office_match import Decisions, reconcile
from samples.recorder.office_report import report
from samples.recorder.workspace import Workspace

TASK = (
    "Reconcile the receivables of the third quarter in /workspace by the rules of notes/policy.md. "
    "The inputs are inbox/, mail/ and ledger.db; never change inbox/, mail/ or a posting. Deliver "
    "out/reconciliation.csv, the rows of `adjustments` in ledger.db, and out/report.md."
)


@dataclass(frozen=True)
class Gap:
    """One invoice the ledger has wrong, and by how much."""

    invoice: str
    kind: str
    cents: int


def build(workspace: Workspace) -> None:
    workspace.install(Path(__file__).parent / "workspaces" / "office")
    generate(workspace.root)


def check(workspace: Workspace) -> bool:
    """Every line equals what was generated, and the ledger with its adjustments agrees."""
    rows, _ = generated()
    lines = expected(rows)
    with (workspace.root / "out" / "reconciliation.csv").open(encoding="utf-8") as stream:
        table = [tuple(line) for line in csv.reader(stream)][1:]
    with closing(sqlite3.connect(workspace.root / "ledger.db")) as database:
        postings = "SELECT sum(amount_cents) FROM postings WHERE account = 1400"
        corrections = "SELECT sum(amount_cents) FROM adjustments WHERE kind != 'write-off'"
        (ledger,), (added,) = (database.execute(q).fetchone() for q in (postings, corrections))
        kinds = [k for (k,) in database.execute("SELECT kind FROM adjustments ORDER BY kind")]
    text = (workspace.root / "out" / "report.md").read_text(encoding="utf-8")
    totals = [sum(int(line[column]) for line in lines) for column in (2, 3, 4)]
    return (
        table == lines
        and ledger + added == totals[0]
        and kinds == ["missing-posting", "write-off", "write-off", "wrong-amount"]
        and all(f"{total // 100}.{total % 100:02d}" in text for total in totals)
    )


def policy() -> Steps[str]:
    decisions = yield from explore()
    yield from look_at_inputs()
    account, control = yield from look_at_ledger()
    gaps = yield from find_gaps(decisions, account)
    yield from reconcile(decisions)
    yield from adjust(decisions, gaps, account)
    return (yield from report(control))


def explore() -> Steps[Decisions]:
    listing, rules = yield do(
        "I look at what is there and read the policy first.",
        shell("find . -type f | sort | xargs wc -c"),
        read("notes/policy.md"),
    )
    mails = re.findall(r"\./(mail/\S+)", listing)
    texts = yield do(
        f"P6 and P4 depend on mails; there are {len(mails)}, so I read them all.",
        *(read(mail) for mail in mails),
    )
    joined = "\n".join(texts)
    unwrapped = re.sub(r"\n +\d+  ", " ", joined)
    write_offs = re.findall(r"Rest of (INV-\d+-\d+).*?Approval (APR-\d+)", unwrapped)
    disputed = re.findall(r"half of (INV-\d+-\d+) and disputes", unwrapped)
    allocated = re.findall(r"payment (BK\d+) is for (INV-\d+-\d+)", unwrapped)
    return Decisions(
        rates=dict(re.findall(r"(2024-\d\d) (1\.\d+)", rules)),
        tolerance=int(first(r"up to (\d+) cents", rules)),
        write_offs=dict(write_offs),
        disputed=tuple(disputed),
        allocated=dict(allocated),
    )


def look_at_inputs() -> Steps[None]:
    yield do("The invoices.", read("inbox/invoices.csv"))
    (size,) = yield do("How long is the bank export?", shell("wc -l inbox/*"))
    lines = int(first(r"(\d+) inbox/bank_export", size))
    half = lines // 2
    yield do(
        f"{lines} lines; I read it in two parts.",
        read("inbox/bank_export.json", 1, half),
    )
    yield do("The second half.", read("inbox/bank_export.json", half + 1, lines))
    yield do(
        "Currencies and months of the invoices, for the conversion of P2.",
        shell("cut -d, -f3,4 inbox/invoices.csv | sed 's/-[0-9]*,/ /' | sort | uniq -c"),
    )


def look_at_ledger() -> Steps[tuple[str, int]]:
    """The receivables account and what stands on it."""
    yield do(
        "Now the ledger: what tables does it have?",
        sql("ledger.db", "SELECT name, sql FROM sqlite_master ORDER BY name"),
    )
    _, accounts = yield do(
        "Customers and accounts.",
        sql("ledger.db", "SELECT * FROM customers ORDER BY id"),
        sql("ledger.db", "SELECT * FROM accounts ORDER BY code"),
    )
    account = first(r"(\d+) \| Receivables", accounts)
    (output,) = yield do(
        f"Account {account} is the one P7 speaks of.",
        sql("ledger.db", f"SELECT sum(amount) FROM postings WHERE account = {account}"),
    )
    column = "amount_cents" if "no such column" in output else "amount"
    output, _ = yield do(
        f"The schema says {column}.",
        sql("ledger.db", f"SELECT sum({column}) AS s FROM postings WHERE account = {account}"),
        sql(
            "ledger.db",
            f"SELECT id, invoice, {column}, posted_on, memo FROM postings "
            f"WHERE account = {account} ORDER BY invoice",
        ),
    )
    return account, int(first(r"^(\d+)$", output))


def find_gaps(decisions: Decisions, account: str) -> Steps[tuple[Gap, ...]]:
    """Which invoices the ledger lacks or has with another amount."""
    code = (
        "import csv, sqlite3\nfrom decimal import ROUND_HALF_UP, Decimal\n"
        f"RATES = {decisions.rates!r}\n"
        "db = sqlite3.connect('work/recon.db')\n"
        "db.execute('CREATE TABLE invoices (invoice TEXT, customer TEXT, due INTEGER)')\n"
        "for row in csv.DictReader(open('inbox/invoices.csv')):\n"
        "    euro = Decimal(row['amount']) * 100\n    if row['currency'] == 'USD':\n"
        "        euro /= Decimal(RATES[row['issued'][:7]])\n"
        "    due = int(euro.quantize(Decimal(1), ROUND_HALF_UP))\n"
        "    db.execute('INSERT INTO invoices VALUES (?, ?, ?)',\n"
        "               (row['invoice'], row['customer'], due))\ndb.commit()\n"
        "print(db.execute('SELECT count(*), sum(due) FROM invoices').fetchone())\n"
    )
    _, _ = yield do(
        "I compare on a copy of the ledger, with the invoices beside it.",
        shell("mkdir work && cp ledger.db work/recon.db"),
        python(code),
    )
    (output,) = yield do(
        "Invoices the receivables account lacks, or has with another amount.",
        sql(
            "work/recon.db",
            "SELECT i.invoice, i.due, p.amount_cents FROM invoices i LEFT JOIN postings p "
            f"ON p.invoice = i.invoice AND p.account = {account} "
            "WHERE p.amount_cents IS NULL OR p.amount_cents != i.due ORDER BY i.invoice",
        ),
    )
    gaps = []
    for invoice, due, posted in re.findall(r"(INV\S+) \| (\d+) \| (\w+)", output):
        kind = "missing-posting" if posted == "None" else "wrong-amount"
        gaps.append(Gap(invoice, kind, int(due) - (0 if posted == "None" else int(posted))))
    yield do(
        f"{len(gaps)} invoices. I look at their source lines and postings before I believe it.",
        shell(f"grep -E '{'|'.join(gap.invoice for gap in gaps)}' inbox/invoices.csv"),
        *(sql("ledger.db", f"SELECT * FROM postings WHERE invoice = '{g.invoice}'") for g in gaps),
    )
    return tuple(gaps)


def adjust(decisions: Decisions, gaps: tuple[Gap, ...], account: str) -> Steps[None]:
    (output,) = yield do(
        "For the adjustments I need the rests that were written off.",
        shell("grep -E ',written-off$' out/reconciliation.csv"),
    )
    rests = {
        n: int(d) - int(r) for n, d, r in re.findall(r"^(\S+?),C\d+,(\d+),(\d+)", output, re.M)
    }
    rows = [(gap.invoice, gap.kind, gap.cents, "RECON") for gap in gaps]
    rows += [(n, "write-off", -cents, decisions.write_offs[n]) for n, cents in rests.items()]
    insert = "INSERT INTO adjustments VALUES "
    (output,) = yield do(
        "The corrections first.",
        sql("ledger.db", insert + ", ".join(f"({g.invoice!r}, {g.cents})" for g in gaps)),
    )
    assert output.startswith("error")
    yield do(
        "The table has four columns; kind and reference are not optional.",
        *(sql("ledger.db", f"{insert}{row!r}") for row in rows),
    )
    yield do(
        "Does the account agree with the invoices now? Write-offs are no part of that control.",
        sql("ledger.db", "SELECT * FROM adjustments ORDER BY invoice"),
        sql(
            "ledger.db",
            f"SELECT (SELECT sum(amount_cents) FROM postings WHERE account = {account}) + "
            "(SELECT sum(amount_cents) FROM adjustments WHERE kind != 'write-off') AS control",
        ),
        sql("work/recon.db", "SELECT sum(due) AS invoiced FROM invoices"),
    )
    yield do(
        "They agree. I note where I stand before the report.",
        write("work/progress.json", json.dumps({"adjustments": rows}, indent=1)),
    )


SCENARIO = Scenario("Office", "reconciliation", TASK, build, policy, check)
