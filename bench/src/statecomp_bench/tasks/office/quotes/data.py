"""A tender with its offers and a second round; all invented."""

from __future__ import annotations

from dataclasses import dataclass, replace
from importlib.resources import files
from random import Random

from statecomp_bench.tasks.filler.words import sentence
from statecomp_bench.tasks.invented import NOUNS, joined, person
from statecomp_bench.tasks.office.papers import database, prose, retired, table_text

CURRENCIES = ("CHF", "SEK", "PLN")
LEVELS = {"CHF": 1.05, "SEK": 0.088, "PLN": 0.232}


@dataclass(frozen=True)
class Offer:
    vendor: str
    number: str
    contact: str
    price: float
    revised: float  # 0: there was no second price
    freight: float
    currency: str
    weeks: int
    warranty: int
    certified: bool
    partner: bool
    late: int

    @property
    def excluded(self) -> bool:
        return not self.certified and not self.partner


@dataclass(frozen=True)
class Tender:
    offers: tuple[Offer, ...]
    rates: dict[str, float]
    points: dict[str, int]
    day: str
    file: str

    def euros(self, offer: Offer) -> float:
        return ((offer.revised or offer.price) + offer.freight) * self.rates[offer.currency]

    def scores(self) -> dict[str, str]:
        left = [offer for offer in self.offers if not offer.excluded]
        cheapest = min(map(self.euros, left))
        fewest, most = min(o.weeks for o in left), max(o.warranty for o in left)
        points = self.points
        found = {offer.vendor: "excluded" for offer in self.offers}
        for offer in left:
            score = points["price"] * cheapest / self.euros(offer)
            score += points["delivery"] * fewest / offer.weeks
            score += points["warranty"] * offer.warranty / most
            found[offer.vendor] = f"{score - (8 if offer.late > 5 else 0):.1f}"
        return found

    def winner(self) -> str:
        scores = {v: float(s) for v, s in self.scores().items() if s != "excluded"}
        return max(scores, key=lambda vendor: scores[vendor])


def offer(rng: Random, vendor: str, place: int) -> Offer:
    currency = CURRENCIES[place % 3]
    scale = 1 / LEVELS[currency]
    price = round(rng.uniform(61, 96) * scale, 2)
    return Offer(
        vendor=vendor,
        number=f"Q{rng.randrange(100_000, 999_999)}",
        contact=person(rng),
        price=price,
        revised=round(price * rng.uniform(0.78, 0.9), 2) if place % 3 == 1 else 0.0,
        freight=round(rng.uniform(2, 11) * scale, 2),
        currency=currency,
        weeks=rng.randrange(3, 15),
        warranty=rng.choice((12, 18, 24, 30, 36, 48)),
        certified=place not in (2, 5, 8),
        partner=place in (0, 5),
        late=rng.randrange(6, 12) if place in (3, 6) else rng.randrange(0, 5),
    )


def story(rng: Random, level: int) -> Tender:
    """Drawn again until the winner is clear and owes it to the rules."""
    points = dict(
        zip(
            ("price", "delivery", "warranty"),
            rng.choice(((55, 25, 20), (60, 15, 25), (50, 30, 20))),
            strict=True,
        )
    )
    rates = {name: round(rate * rng.uniform(0.9, 1.1), 4) for name, rate in LEVELS.items()}
    day = f"2025-0{rng.randrange(3, 7)}-{rng.randrange(10, 28)}"
    while True:
        vendors = sorted(noun.title() for noun in rng.sample(NOUNS, 10 + 2 * level))
        offers = tuple(offer(rng, vendor, place) for place, vendor in enumerate(vendors))
        tender = Tender(offers, rates, points, day, f"VG-{rng.randrange(1000, 9999)}")
        naive = replace(
            tender, offers=tuple(replace(o, certified=True, late=0, revised=0.0) for o in offers)
        )
        scores = sorted((s for s in tender.scores().values() if s != "excluded"), key=float)
        if scores[-1] != scores[-2] and naive.winner() != tender.winner():
            return tender


def offer_text(rng: Random, offer: Offer) -> str:
    name = offer.vendor
    options = [
        f"  {n:2d}  {rng.choice(('arm rest', 'castor', 'lamp', 'drawer', 'screen', 'tray'))} "
        f"type {rng.randrange(100, 999)}  {rng.uniform(3, 90):8.2f} {offer.currency}"
        for n in range(1, 31)
    ]
    return (
        f"OFFER {offer.number} of {name}\n\n{prose(rng, 12)}\n\nUnit price of {name}: "
        f"{offer.price:.2f} "
        f"{offer.currency}\nFreight per unit by {name}: {offer.freight:.2f} {offer.currency}\n"
        f"Delivery by {name} within {offer.weeks} weeks.\nWarranty of {name}: "
        f"{offer.warranty} months\n"
        f"Quality certificate of {name}: {'yes' if offer.certified else 'no'}\nContact at "
        f"{name}: {offer.contact}\n\nOptions, not asked for\n"
        f"{joined(options)}\n{prose(rng, 10)}\n"
    )


def second_round(rng: Random, tender: Tender) -> str:
    mails = []
    for offer in tender.offers:
        news = (
            f"We can go down. Unit price of {offer.vendor}: {offer.revised:.2f} "
            f"{offer.currency}, our last word."
            if offer.revised
            else "We have gone as far as we can and stand by our offer."
        )
        mails.append(f"From: {offer.vendor}\n{prose(rng, 2)}\n{news}\n{prose(rng, 2)}\n")
    rng.shuffle(mails)
    return "\n-----\n".join(mails)


def surroundings(rng: Random, tender: Tender) -> dict[str, str | bytes]:
    history = []
    for offer in tender.offers:
        flags = ["late"] * offer.late + ["in time"] * (26 - offer.late)
        rng.shuffle(flags)
        history += [
            (offer.vendor, f"PO{rng.randrange(10**5):05d}", rng.randrange(1, 90), flag)
            for flag in flags
        ]
    days = [f"2025-0{m}-{d:02d}" for m in range(2, 8) for d in range(8, 29, 2)]
    shown = sorted({*days, tender.day})
    rates = [
        (day, name, rate if day == tender.day else round(rate * rng.uniform(0.8, 1.25), 4))
        for day in shown
        for name, rate in tender.rates.items()
    ]
    points = joined([f"- points for {name}: {number}" for name, number in tender.points.items()])
    vendors = [
        f"{o.vendor:<12} framework partner {'yes' if o.partner else 'no'}  {sentence(rng)}"
        for o in tender.offers
    ]
    return {
        "tender/rules.md": files(__package__).joinpath("rules.md").read_text("utf-8"),
        "tender/tender.md": f"# Tender for 400 desks\n\n{prose(rng, 16)}\n\n"
        f"Day of the tender: {tender.day}\n"
        f"{points}\n{prose(rng, 24)}\n",
        "tender/vendors.txt": joined(vendors),
        "tender/convert.py": retired("convert.py: no rate for the currency LIT; nothing done"),
        "tender/rates.csv": table_text(("day", "currency", "euros"), rates),
        "tender/round2.txt": second_round(rng, tender),
        "tender/minutes_2023.txt": f"Minutes of the tender of 2023\n\n{prose(rng, 70)}\n",
        "books/orders.db": database(
            {"orders": ("vendor text, number text, units int, delivered text", history)}
        ),
        **{f"offers/{o.vendor.lower()}.txt": offer_text(rng, o) for o in tender.offers},
    }
