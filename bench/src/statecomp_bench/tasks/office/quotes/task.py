"""Ten offers, three currencies, a second round: one matrix that needs every value at once."""

from __future__ import annotations

from random import Random

from statecomp_bench.plan import Fact, Plan, Step
from statecomp_bench.steps import python, read, shell
from statecomp_bench.task import Artefacts, Case, Score, Task, grade, part, share
from statecomp_bench.tasks.office.each import facts_about, lines_of, queries, reads, rules_of
from statecomp_bench.tasks.office.papers import column, holds
from statecomp_bench.tasks.office.quotes.data import (
    CURRENCIES,
    Offer,
    Tender,
    story,
    surroundings,
)

MATRIX = """
    # matrix of all offers
    import csv, json, os
    offers = {
        OFFERS
    }
    rates = {'CHF': {rate_chf}, 'SEK': {rate_sek}, 'PLN': {rate_pln}}
    rows, left = [], []
    for vendor, offer in offers.items():
        number, price, freight, currency, weeks, warranty, quality, partner, late = offer
        euros = (float(price) + {freight}) * rates[currency]
        excluded = {uncertified}{partner}
        rows.append([vendor, number, euros, int(weeks), int(warranty), int(late), excluded])
    left = [r for r in rows if not r[6]]
    cheapest, fewest = min(r[2] for r in left), min(r[3] for r in left)
    most = max(r[4] for r in left)
    table = []
    for vendor, number, euros, weeks, warranty, late, excluded in rows:
        score = {points_price} * cheapest / euros + {points_delivery} * fewest / weeks
        score += {points_warranty} * warranty / most
        score -= {penalty}
        table.append([vendor, number, f'{euros:.2f}', 'excluded' if excluded else f'{score:.1f}'])
    os.makedirs('out', exist_ok=True)
    with open('out/matrix.csv', 'w') as f:
        out = csv.writer(f, lineterminator='\\n')
        out.writerows([['vendor', 'offer', 'euros', 'score'], *table])
    best = max((float(t[3]), t[0]) for t in table if t[3] != 'excluded')
    json.dump({'file': '{file}', 'winner': best[1], 'score': best[0]}, open('out/award.json', 'w'))
    print('written', len(table), 'offers')
"""
LETTERS = """
    # letters, part PART
    import csv, json, os
    os.makedirs('out/letters', exist_ok=True)
    award = json.load(open('out/award.json'))
    score = {row['vendor']: row['score'] for row in csv.DictReader(open('out/matrix.csv'))}
    to = {
        CONTACTS
    }
    for vendor, (contact, number) in to.items():
        text = f'To {contact}, {vendor}\\nYour offer {number} got the score {score[vendor]}.\\n'
        if vendor == award['winner']:
            text += 'You won the tender.\\n'
        else:
            text += 'Another offer won the tender{secret}.\\n'
        open(f'out/letters/{vendor}.txt', 'w').write(text + '{last}')
    print(len(to), 'letters')
"""
ORDERS = """-- orders at NAME
select vendor, number, units, delivered from orders where vendor = 'NAME'
union all select 'NAME late in all', count(*), '', ''
from orders where vendor = 'NAME' and delivered = 'late'"""
RULES = rules_of(
    "rules",
    (
        "freight",
        "freight counts as part of the price",
        "for one unit including freight",
        "float(freight)",
        "0",
    ),
    (
        "uncertified",
        "no certificate, no score",
        "without a quality certificate is excluded",
        "quality == 'no'",
        "False",
    ),
    (
        "partner",
        "framework partners keep their place",
        "framework partner keeps its place",
        " and partner == 'no'",
        "",
    ),
    (
        "penalty",
        "more than five late deliveries cost 8 points",
        "late deliveries in the books loses 8",
        "8 if late > 5 else 0",
        "0",
    ),
    (
        "secret",
        "losers do not learn who won",
        "never learn the name or the price of the winner",
        "",
        ": ' + award['winner'] + '",
    ),
    (
        "last",
        "our reference is the last line",
        "the tender stands in the last line",
        "{file}\\n",
        "{file}\\nKind regards\\n",
    ),
)


def facts_of(offer: Offer) -> list[Fact]:
    name, low = offer.vendor, offer.vendor.lower()
    seen = f"offer_{low}"
    price = r"Unit price of NAME: "
    return [
        *facts_about(
            name,
            "round2" if offer.revised else seen,
            ("price", "unit price of NAME", price + r"([\d.]+) [A-Z]{3}"),
        ),
        *facts_about(
            name,
            seen,
            ("number", "offer number of NAME", r"OFFER (Q\d+) of NAME"),
            ("currency", "currency of NAME", price + r"[\d.]+ ([A-Z]{3})"),
            ("freight", "freight of NAME", r"Freight per unit by NAME: ([\d.]+)"),
            ("weeks", "weeks of NAME", r"Delivery by NAME within (\d+) weeks"),
            ("warranty", "warranty of NAME", r"Warranty of NAME: (\d+)"),
            ("quality", "quality at NAME", r"Quality certificate of NAME: (yes|no)"),
            ("contact", "contact at NAME", r"Contact at NAME: (\w+ \w+)"),
        ),
        *facts_about(
            name, "vendors", ("partner", "partnership of NAME", r"NAME +framework partner (yes|no)")
        ),
        *facts_about(
            name, f"late_{low}", ("late", "late deliveries of NAME", r"NAME late in all \| (\d+)")
        ),
    ]


def plan_of(tender: Tender) -> Plan:
    names = [offer.vendor for offer in tender.offers]
    facts = [fact for offer in tender.offers for fact in facts_of(offer)]
    facts += (
        Fact(f"points_{n}", f"points for {n}", rf"points for {n}: (\d+)", "tender")
        for n in tender.points
    )
    facts += (
        Fact(f"rate_{c.lower()}", f"rate of {c}", rf"{tender.day},{c},([\d.]+)", "rates")
        for c in CURRENCIES
    )
    facts.append(Fact("day", "tender day", r"Day of the tender: (\S+)", "tender"))
    facts.append(Fact("file", "number of our file", r"file number (VG-\d+)"))
    keys = ("number", "price", "freight", "currency", "weeks", "warranty", "quality", "partner")
    values = ", ".join(f"'{{{key}_NAME}}'" for key in keys)
    row = f"'NAME': ({values}, int('{{late_NAME}}')),"
    matrix = MATRIX.replace("OFFERS", lines_of(row, names))
    half = len(names) // 2

    def letters(part: str, mine: list[str]) -> Step:
        contacts = lines_of("'NAME': ('{contact_NAME}', '{number_NAME}'),", mine)
        code = LETTERS.replace("CONTACTS", contacts).replace("PART", part)
        return python(f"letters_{part}", code, f"write the {part} letters", leaves=True)

    steps = [
        Step("list", "list_files", {}, "look around"),
        read("rules", "tender/rules.md", "read the purchasing rules", group="a"),
        read("tender", "tender/tender.md", "read the tender", group="a"),
        read("vendors", "tender/vendors.txt", "open the list of vendors", group="a"),
        *reads("offer", "offers", names, "read the offer of", "o"),
        read("minutes", "tender/minutes_2023.txt", "see how it was done in 2023"),
        shell(
            "rates",
            "echo exchange rates; grep -B 12 -A 12 '^{day}' tender/rates.csv",
            "look up the rates of the day",
        ),
        shell(
            "wrong",
            "python3 tender/convert.py tender/rates.csv",
            "try the program that converts prices",
        ),
        *queries("late", "books/orders.db", ORDERS, names, "look up the orders at"),
        read("round2", "tender/round2.txt", "read the mails of the second round"),
        python("matrix", matrix, "fill in the matrix", leaves=True),
        shell("seen", "head -n 20 out/matrix.csv out/award.json", "look at the matrix"),
        letters("first", names[:half]),
        letters("other", names[half:]),
        shell("proof", "cat out/letters/*.txt", "read the letters again"),
    ]
    return Plan(tuple(facts), RULES, tuple(steps), "The tender is decided.")


def check(tender: Tender, left: Artefacts) -> Score:
    scores, winner = tender.scores(), tender.winner()

    def rows() -> list[dict[str, str]]:
        return left.rows("out/matrix.csv")

    def letter(offer: Offer) -> float:
        path = f"out/letters/{offer.vendor}.txt"
        text = left.text(path)
        words = (offer.contact, offer.number, f"score {scores[offer.vendor]}")
        kept = text.rstrip("\n").endswith(tender.file)
        silent = ("You won" in text) if offer.vendor == winner else winner not in text
        silent = silent and offer.number in text
        return (3 * holds(left, path, words) + kept + silent) / 5

    award: dict[str, object] = {
        "file": tender.file,
        "winner": winner,
        "score": float(scores[winner]),
    }
    offers = tender.offers
    return grade(
        column("offer", 1, rows, "vendor", {o.vendor: o.number for o in offers}),
        column("euros", 4, rows, "vendor", {o.vendor: f"{tender.euros(o):.2f}" for o in offers}),
        column("score", 4, rows, "vendor", scores),
        part("award", 3, lambda: share(left.json("out/award.json"), award)),
        part("letters", 4, lambda: sum(map(letter, offers)) / len(offers)),
    )


def instruction(tender: Tender) -> str:
    names = ", ".join(offer.vendor for offer in tender.offers)
    return (
        f"Decide the tender in tender/, file number {tender.file}. Offers came from {names} and "
        "are in offers/; tender/round2.txt has the mails of a second round; books/orders.db has "
        "what we ordered before; tender/rates.csv has exchange rates. Write out/matrix.csv "
        "(vendor, offer: its number, euros: price with two digits, score: or the word excluded), "
        "out/award.json (file, winner, score) and for every vendor out/letters/VENDOR.txt, with "
        "'score SCORE' and, for the winner, 'You won'. tender/rules.md says how offers are "
        "compared and what letters may say."
    )


def build(rng: Random, level: int) -> Case:
    tender = story(rng, level)
    made = surroundings(rng, tender)
    return Case(made, instruction(tender), plan_of(tender), lambda left: check(tender, left))


TASK = Task("office-quotes", "Office", "Compare offers of a tender and award it", build)
