"""A month of accounts payable: invoices, a ledger, a mailbox of approvals; all invented."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from random import Random

from statecomp_bench.tasks.invented import hexadecimal, joined, nouns, people, person

MONTH = date(2025, 9, 1)
GOODS = ("paper", "toner", "shelves", "lamps", "cables", "desks", "screens", "filters", "gloves")


@dataclass(frozen=True)
class Invoice:
    """One supplier's invoice of the month, and what our side made of it."""

    supplier: str
    creditor: int
    number: str
    total: Decimal
    booked: Decimal
    due: date
    approval: str  # empty where nobody approved it

    @property
    def difference(self) -> Decimal:
        return self.total - self.booked

    @property
    def decision(self) -> str:
        if not self.approval:
            return "hold"
        return "accept" if abs(self.difference) <= 40 else "query"


@dataclass(frozen=True)
class Closing:
    invoices: tuple[Invoice, ...]
    clerk: str
    reference: str


def story(rng: Random, level: int) -> Closing:
    invoices = []
    for place, noun in enumerate(sorted(nouns(rng, 6 + level))):
        total = Decimal(rng.randrange(90_000, 900_000)) / 100
        off = rng.choice(
            (Decimal("18.40"), Decimal("-22.15"), Decimal("214.60"), Decimal("-96.35"))
        )
        # At least one of each kind, whatever the seed.
        approval = "" if place == 2 else f"AP-{hexadecimal(rng, 6).upper()}"
        off = Decimal("131.20") if place in (1, 4) else off
        invoices.append(
            Invoice(
                supplier=noun.title(),
                creditor=rng.randrange(70_000, 79_999),
                number=f"{noun[:2].upper()}{rng.randrange(1000, 9999)}-{rng.randrange(10, 99)}",
                total=total,
                booked=total - off,
                due=MONTH + timedelta(days=rng.randrange(35, 80)),
                approval=approval,
            )
        )
    return Closing(tuple(invoices), person(rng), f"CL-{rng.randrange(100, 999)}")


def document(rng: Random, invoice: Invoice) -> str:
    """The invoice as the supplier wrote it; its items add up to the total."""
    rest, rows = invoice.total, []
    for number in range(1, 34):
        amount = Decimal(rng.randrange(500, 1900)) / 100
        rest -= amount
        item = f"{rng.choice(GOODS)} {rng.choice(('A', 'B', 'C'))}{rng.randrange(10, 99)}"
        rows.append(f"{number:3d}  {item:<16} {rng.randrange(1, 40):4d} pcs  {amount:>10}")
    rows.append(f" 34  {'service, flat':<16}    1 pcs  {rest:>10}")
    street = f"{rng.choice(('Mill', 'Quay', 'Station', 'Garden'))} Street {rng.randrange(1, 90)}"
    return (
        f"{invoice.supplier} Trading\n{street}\n\nINVOICE {invoice.number}\n"
        f"Issued {MONTH + timedelta(days=rng.randrange(28))}\n"
        f"Contact: {person(rng)}\n\n pos  item              quantity      amount\n{joined(rows)}\n"
        f"Invoice total of {invoice.supplier}: {invoice.total} EUR\n"
        f"Payable by {invoice.supplier} terms until {invoice.due.isoformat()}\n"
    )


def ledger(rng: Random, month: Closing) -> bytes:
    """A SQLite database with a month of bookings, several for each supplier."""
    with closing(sqlite3.connect(":memory:")) as base:
        base.execute(
            "create table bookings (id integer primary key, day text, creditor integer, "
            "account text, text text, amount text)"
        )
        base.execute("create table creditors (creditor integer, name text, city text, terms text)")
        rows = []
        for invoice in month.invoices:
            parts = [(invoice.booked / 3).quantize(Decimal("0.01"))] * 2
            parts.append(invoice.booked - sum(parts))
            rows += [(invoice.creditor, f"invoice {invoice.number}", part) for part in parts]
            for _ in range(24):
                amount = Decimal(rng.randrange(1000, 90_000)) / 100
                old = f"invoice {hexadecimal(rng, 4).upper()}-{rng.randrange(10, 99)}"
                rows.append((invoice.creditor, old, amount))
            city = rng.choice(nouns(rng, 4)).title()
            base.execute(
                "insert into creditors values (?, ?, ?, ?)",
                (invoice.creditor, invoice.supplier, city, f"{rng.randrange(10, 60)} days"),
            )
        rng.shuffle(rows)
        for creditor, text, amount in rows:
            day = (MONTH + timedelta(days=rng.randrange(30))).isoformat()
            account = str(rng.randrange(4000, 4900))
            base.execute(
                "insert into bookings (day, creditor, account, text, amount) values (?,?,?,?,?)",
                (day, creditor, account, text, str(amount)),
            )
        base.commit()
        return base.serialize()


def mailbox(rng: Random, month: Closing) -> str:
    """Approvals among everything else people write to each other."""
    mails = []
    for invoice in month.invoices:
        if invoice.approval:
            text = (
                f"I checked the goods of {invoice.supplier} and approve invoice {invoice.number}.\n"
                f"Approval code for {invoice.supplier}: {invoice.approval}\n"
            )
        else:
            text = (
                f"{invoice.supplier} has not delivered everything. No approval yet, please wait.\n"
            )
        mails.append((f"invoice {invoice.number}", text))
        for _ in range(6):
            words = " ".join(nouns(rng, 12))
            mails.append((f"{invoice.supplier}: {rng.choice(GOODS)}", f"{words}.\n{words[::2]}\n"))
    rng.shuffle(mails)
    names = people(rng, 2 * len(mails))
    texts = []
    for place, (subject, text) in enumerate(mails):
        sender, receiver = names[2 * place], names[2 * place + 1]
        texts.append(f"From: {sender}\nTo: {receiver}\nSubject: {subject}\n\n{text}\n")
    return "\n-----\n".join(texts)
