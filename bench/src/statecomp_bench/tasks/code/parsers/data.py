"""Line formats, records in them, and the pages that describe them; all invented."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta
from random import Random

from statecomp_bench.tasks.code.sources import listed
from statecomp_bench.tasks.invented import hexadecimal, nouns, people

SIGNS = ("|", "~", "^", "#", "!", "%")
MISSING = ("--", "n/a", "???", "void", "nil")
DAYS = ("%d.%m.%Y", "%Y/%m/%d", "%d-%m-%y", "%Y%m%d", "%m/%d/%Y")
KINDS = ("str", "Decimal", "date")


@dataclass(frozen=True)
class Format:
    name: str
    mark: str
    sign: str
    missing: str
    days: str
    fields: tuple[tuple[str, str], ...]

    @property
    def listed(self) -> str:
        return listed(f"{name} {kind}" for name, kind in self.fields)


def formats(rng: Random, level: int) -> list[Format]:
    names = sorted(nouns(rng, 7 + level))
    marks = rng.sample(
        [f"{a}{b}{n}" for a in "BCDFGH" for b in "KLMNPR" for n in range(10)], len(names)
    )
    made = []
    for name, mark in zip(names, marks, strict=True):
        kinds = [*KINDS, *(rng.choice(KINDS) for _ in range(2))]
        rng.shuffle(kinds)
        fields = tuple(zip(nouns(rng, 5), kinds, strict=True))
        made.append(
            Format(name, mark, rng.choice(SIGNS), rng.choice(MISSING), rng.choice(DAYS), fields)
        )
    return made


def record(rng: Random, form: Format, gaps: float = 0.15) -> tuple[str, list[str | None]]:
    """A line, and what each of its fields is once parsed."""
    texts, values = [], []
    for _, kind in form.fields:
        day = date(2031, 1, 1) + timedelta(days=rng.randrange(300))
        number = f"{rng.randrange(1, 9000)}.{rng.randrange(10, 99)}"
        word = f"{rng.choice('ABC')}{hexadecimal(rng, 6)}"
        written, shown = {
            "str": (f" {word}", f"str {word}"),
            "Decimal": (number, f"Decimal {number}"),
            "date": (day.strftime(form.days), f"date {day}"),
        }[kind]
        gone = rng.random() < gaps
        texts.append(form.missing if gone else written)
        values.append(None if gone else shown)
    return form.sign.join((form.mark, *texts)), values


def page(rng: Random, form: Format) -> str:
    senders = "".join(
        f"- {who} sends about {rng.randrange(20, 4000)} lines a night, in {rng.randrange(2, 30)} "
        f"files, and answers letters about them within {rng.randrange(2, 20)} days.\n"
        for who in people(rng, 14)
    )
    return (
        f"# The format {form.name}\n\nOne record a line. What stands here was taken from letters "
        "of the senders and from the old reader, and checked against a month of files.\n\n"
        f"- Record mark of {form.name}: {form.mark}\n"
        f"- Fields of {form.name} are parted by {form.sign}\n"
        f"- Missing in {form.name} is written {form.missing}\n"
        f"- Days of {form.name} are written {form.days}\n"
        f"- Fields of {form.name}, in order: {form.listed}\n\n## Senders\n\n{senders}"
    )
