"""Desks with texts in two languages, and the sheets of their translators; all invented."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from statecomp_bench.tasks.code.sources import functions, listed
from statecomp_bench.tasks.invented import joined, nouns, people

AREAS = ("counter", "depot", "fleet", "office")
NOTES = (1, 2, 3)
PHRASES = (
    ("Parcel %s went to the {} shelf with %s", "Paket %s steht nun im Regal {} bei %s"),
    ("Row %s of the {} list is kept for %s", "Zeile %s der Liste {} bleibt frei für %s"),
    ("Order %s waits in the {} queue behind %s", "Auftrag %s wartet in der Reihe {} hinter %s"),
    ("Key %s opens the {} door for %s", "Schlüssel %s öffnet die Tür {} für %s"),
    ("Note %s in the {} book was signed by %s", "Notiz %s im Buch {} ist gezeichnet von %s"),
    ("Bag %s left the {} gate together with %s", "Sack %s verließ das Tor {} zusammen mit %s"),
)


@dataclass(frozen=True)
class Desk:
    name: str
    area: str
    code: str
    english: tuple[str, ...]
    german: tuple[str, ...]

    def key(self, number: int) -> str:
        return f"{self.code}.{self.name}.{number}"


@dataclass(frozen=True)
class House:
    desks: tuple[Desk, ...]
    codes: dict[str, str]
    products: tuple[str, ...]

    def catalog(self, area: str, language: str) -> dict[str, str]:
        texts = {}
        for desk in self.desks:
            for number, en, de in zip(NOTES, desk.english, desk.german, strict=True):
                plain = language == "en" or any(product in en for product in self.products)
                if desk.area == area:
                    text = en if plain else de
                    texts[desk.key(number)] = text.replace("%s", "{0}", 1).replace("%s", "{1}", 1)
        return texts


def house(rng: Random, level: int) -> House:
    names = sorted(nouns(rng, 8 + level))
    products = tuple(word.title() for word in nouns(rng, 4))
    letters = rng.sample(
        [f"{a}{b}{c}" for a in "bcd" for b in "aeiou" for c in "klmnp"], len(AREAS)
    )
    codes = dict(zip(AREAS, letters, strict=True))
    desks = []
    for place, name in enumerate(names):
        area = AREAS[place % len(AREAS)]
        pairs = []
        for number, (en, de) in zip(NOTES, rng.sample(PHRASES, len(NOTES)), strict=True):
            marked = (place + number) % 4 == 0
            word = (
                rng.choice(products)
                if marked
                else f"{rng.choice(nouns(rng, 9))}-{rng.randrange(10, 99)}"
            )
            pairs.append((en.format(word), de.format(word)))
        desks.append(Desk(name, area, codes[area], *zip(*pairs, strict=True)))
    return House(tuple(desks), codes, products)


def module(rng: Random, desk: Desk) -> str:
    notes = joined(
        [
            f'    {desk.name}_note_{number} = say("{text}", code, desk)'
            for number, text in zip(NOTES, desk.english, strict=True)
        ]
    )
    names = listed(f"{desk.name}_note_{number}" for number in NOTES)
    return (
        f'"""Notes of the {desk.name} desk."""\n\nfrom app.show import say\n\n\n'
        f"{functions(rng, 9)}\n\ndef notes(code, desk):\n{notes}    return [{names}]\n"
    )


def sheet(rng: Random, desk: Desk) -> str:
    blocks = []
    for number, english, text in zip(NOTES, desk.english, desk.german, strict=True):
        rejected = joined(
            [
                f"  rejected, {who}: {rng.choice(PHRASES)[1].format(noun)}"
                for who, noun in zip(people(rng, 9), nouns(rng, 9), strict=True)
            ]
        )
        blocks.append(
            f"  {desk.name} note {number} English: {english}\n{rejected}"
            f"  {desk.name} note {number} agreed: {text}\n"
        )
    return f"Sheet of the translators for {desk.name}\n\n" + "\n".join(blocks)
