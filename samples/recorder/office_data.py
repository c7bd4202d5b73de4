"""The office workspace: a quarter of invoices, a bank export, mails and a ledger, generated."""

from __future__ import annotations

import csv
import json
import random
import sqlite3
from contextlib import closing
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path

RATES = {7: Decimal("1.0844"), 8: Decimal("1.1012"), 9: Decimal("1.1106")}
NAMES = (
    "Ahorn Medizintechnik",
    "Birkner Logistik",
    "Cedar Point Foods",
    "Dornfeld Optik",
    "Elmhurst Tools",
    "Falkenau Druck",
    "Gabler Energie",
    "Harbour Textiles",
    "Isar Robotics",
    "Juno Verlag",
    "Kestrel Aviation",
    "Lindgren Papier",
    "Morava Glas",
    "Nordlys Seafood",
)
SPELLINGS = (
    "Invoice INV-24-{n}",
    "inv-24-{n} thank you",
    "INV24{n}",
    "Payment for inv 24/{n}",
    "Our ref 7731 / INV_24_{n}",
)
COUNT = 120
KINDS = {
    5: "short",
    12: "tolerated",
    17: "duplicate",
    23: "unpaid",
    29: "nameless",
    34: "disputed",
    38: "instalments",
    43: "misdirected",
    47: "written-off",
    52: "unpaid",
    58: "short",
    61: "tolerated",
    66: "nameless",
    70: "written-off",
    74: "instalments",
    79: "disputed",
    83: "duplicate",
}


@dataclass(frozen=True)
class Invoice:
    number: str
    customer: str
    name: str
    issued: str
    currency: str
    amount_cents: int
    kind: str

    @property
    def due(self) -> int:
        """Euro cents."""
        if self.currency == "EUR":
            return self.amount_cents
        rate = RATES[int(self.issued[5:7])]
        return int((self.amount_cents / rate).quantize(Decimal(1), ROUND_HALF_UP))


def invoices(rng: random.Random) -> list[Invoice]:
    rows = []
    for position in range(COUNT):
        which = rng.randrange(len(NAMES))
        month = 7 + position * 3 // COUNT
        rows.append(
            Invoice(
                f"INV-24-{811 + 3 * position:04d}",
                f"C{4100 + 37 * which}",
                NAMES[which],
                f"2024-{month:02d}-{rng.randrange(1, 29):02d}",
                "USD" if which in (2, 4, 10) else "EUR",
                rng.randrange(18_000, 960_000),
                KINDS.get(position, "paid"),
            )
        )
    return rows


def parts(invoice: Invoice) -> list[int]:
    """What the customer really sent, payment by payment."""
    due = invoice.due
    return {
        "short": [due - due // 5],
        "tolerated": [due - 150],
        "duplicate": [due, due],
        "unpaid": [],
        "disputed": [due // 2],
        "instalments": [due // 3, due - due // 3],
        "written-off": [due - 4_375],
    }.get(invoice.kind, [due])


def payments(rows: list[Invoice], rng: random.Random) -> list[dict[str, str]]:
    found = []
    for invoice in rows:
        for cents in parts(invoice):
            text = rng.choice(SPELLINGS).format(n=invoice.number[-4:])
            if invoice.kind == "nameless":
                text = "Thank you for your prompt service"
            if invoice.kind == "misdirected":
                text = "Invoice INV-24-9" + invoice.number[-3:]
            amount = f"{cents // 100}.{cents % 100:02d}"
            # Some branches export in the German form.
            if rng.random() < 0.12 and cents >= 100_000:
                amount = f"{cents // 100_000}.{cents // 100 % 1000:03d},{cents % 100:02d}"
            day = f"2024-{rng.randrange(8, 11):02d}-{rng.randrange(1, 29):02d}"
            found.append({"date": day, "payer": invoice.name, "text": text, "amount": amount})
    found.sort(key=lambda payment: (payment["date"], payment["text"], payment["amount"]))
    return [{"id": f"BK{55_020 + 13 * n}", **row} for n, row in enumerate(found)]


def mails(rows: list[Invoice], bank: list[dict[str, str]]) -> dict[str, str]:
    """Decisions that are in no table."""
    texts = {}
    approvals = iter(("APR-7719", "APR-7742"))
    tickets = iter(("CS-30418", "CS-30455"))
    for invoice in rows:
        if invoice.kind == "written-off":
            texts[f"finance-{invoice.number[-4:]}"] = (
                f"Subject: Rest of {invoice.number}\nFrom: finance\n\nThe customer deducted a "
                "rebate that sales had promised.\n"
                f"Please write the rest off. Approval {next(approvals)}.\n"
            )
        if invoice.kind == "disputed":
            texts[f"service-{invoice.number[-4:]}"] = (
                f"Subject: Complaint {next(tickets)}\nFrom: customer service\n\n{invoice.name} "
                f"paid half of {invoice.number} and disputes the rest (damaged goods).\n"
                "Confirmed.\n"
            )
        if invoice.kind == "misdirected":
            payment = next(p for p in bank if p["text"].endswith("9" + invoice.number[-3:]))
            texts["treasury-allocation"] = (
                f"Subject: Payment {payment['id']}\nFrom: treasury\n\n{invoice.name} quoted a "
                "number that does not exist.\n"
                f"The payment {payment['id']} is for {invoice.number}.\n"
            )
    texts["office-lunch"] = "Subject: Friday\nFrom: office\n\nThe canteen is closed on Friday.\n"
    return texts


SCHEMA = """
CREATE TABLE customers (id TEXT PRIMARY KEY, name TEXT, country TEXT, terms_days INTEGER);
CREATE TABLE accounts (code INTEGER PRIMARY KEY, name TEXT);
CREATE TABLE postings (id INTEGER PRIMARY KEY, account INTEGER, invoice TEXT,
    amount_cents INTEGER, posted_on TEXT, memo TEXT);
CREATE TABLE adjustments (invoice TEXT, kind TEXT, amount_cents INTEGER, reference TEXT);
INSERT INTO accounts VALUES (1200, 'Bank'), (1400, 'Receivables'), (4400, 'Revenue');
"""


def ledger(path: Path, rows: list[Invoice]) -> None:
    """Receivables and revenue of every invoice, but for one left out and one mistyped."""
    names = sorted({(row.customer, row.name, row.currency) for row in rows})
    with closing(sqlite3.connect(path)) as database, database:
        database.executescript(SCHEMA)
        for number, (ident, name, currency) in enumerate(names):
            country = "US" if currency == "USD" else ("DE", "AT", "DK")[number % 3]
            database.execute(
                "INSERT INTO customers VALUES (?, ?, ?, ?)", (ident, name, country, 14 + number)
            )
        for position, row in enumerate(rows):
            due = row.due + 2_700 if position == 31 else row.due
            if position == 55:
                continue
            for account, cents in ((1400, due), (4400, -due)):
                database.execute(
                    "INSERT INTO postings (account, invoice, amount_cents, posted_on, memo) "
                    "VALUES (?, ?, ?, ?, ?)",
                    (account, row.number, cents, row.issued, f"{row.currency} {row.customer}"),
                )


def expected(rows: list[Invoice]) -> list[tuple[str, str, str, str, str, str]]:
    """The lines P1 asks for, from what was generated and not from the files."""
    closed = {"tolerated", "written-off"}
    states = {"duplicate": "overpaid", "instalments": "paid", "nameless": "paid"}
    states["misdirected"] = "paid"
    lines = []
    for row in rows:
        got = sum(parts(row))
        rest = 0 if row.kind in closed else row.due - got
        status = states.get(row.kind, row.kind)
        lines.append((row.number, row.customer, str(row.due), str(got), str(rest), status))
    return lines


def generated() -> tuple[list[Invoice], list[dict[str, str]]]:
    rng = random.Random(1400)
    rows = invoices(rng)
    return rows, payments(rows, rng)


def generate(root: Path) -> None:
    rows, bank = generated()
    for folder in ("inbox", "mail"):
        (root / folder).mkdir()
    with (root / "inbox" / "invoices.csv").open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(("invoice", "customer", "issued", "currency", "amount"))
        for row in rows:
            amount = f"{row.amount_cents // 100}.{row.amount_cents % 100:02d}"
            writer.writerow((row.number, row.customer, row.issued, row.currency, amount))
    lines = ",\n".join(json.dumps(payment) for payment in bank)
    (root / "inbox" / "bank_export.json").write_text(f"[\n{lines}\n]\n", encoding="utf-8")
    for name, text in mails(rows, bank).items():
        (root / "mail" / f"{name}.txt").write_text(text, encoding="utf-8")
    ledger(root / "ledger.db", rows)
