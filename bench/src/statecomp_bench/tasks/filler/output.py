"""Outputs of each kind, line by line: notes, mail, logs, listings, tests, HTML, JSON."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime, timedelta
from itertools import accumulate
from random import Random

from statecomp_bench.tasks.filler.shape import Shape, shapes
from statecomp_bench.tasks.filler.words import filled, sentence, tail
from statecomp_bench.tasks.invented import FIRST, LAST, NOUNS, hexadecimal, inside, person

LEVELS = ("DEBUG", "INFO", "INFO", "INFO", "INFO", "WARN")
UNITS = ("worker", "scheduler", "gateway", "mailer", "indexer", "cache", "auth", "importer")
EVENTS = (
    "handled {method} /{noun}/{n} with 200 in {n} ms",
    "flushed {n} entries of {noun}, next flush in 30 s",
    "connection pool at {n} of 400, {who} waiting",
    "retrying {noun} after {n} ms, attempt 1",
    "loaded {n} rows from {noun}.{noun2} (checksum {hex})",
    "session {hex} of {who} renewed from {ip}",
    "skipped {noun} because nothing changed since revision {hex}",
    "gc took {n} us, heap {n} MB",
    "job {noun}-{noun2} finished, {n} written, none rejected",
    "lease on {noun} extended by {ip}",
)
METHODS = ("GET", "GET", "GET", "POST", "PUT")
SUFFIXES = (".py", ".md", ".txt", ".json", ".csv", ".toml", ".log", ".html", ".bak")
START = datetime(2024, 2, 5, 6, 0, 0)


def notes(rng: Random, lines: int) -> str:
    """What people leave in shared documents: headings, remarks, half sentences, blank lines."""
    return _text(rng, "notes", lines, _note)


def mail(rng: Random, lines: int) -> str:
    """A thread, newest first, with the older mails quoted."""
    made: list[str] = []
    while len(made) < lines:
        quote = "> " * min(2, len(made) // 14)
        made += (f"{quote}{line}".rstrip() for line in _mail(rng))
    return "".join(f"{line}\n" for line in made[:lines])


def log(rng: Random, lines: int, start: datetime = START) -> str:
    """A service's own log; times go up."""
    at, made = start, []
    for _ in range(lines):
        at += timedelta(milliseconds=rng.randrange(20, 90_000))
        said = event(rng)
        while len(said) < shapes()["log"].length(rng) - 40 and len(said) < 120:
            said += f" {rng.choice(NOUNS)}={hexadecimal(rng, 6)}"
        stamp = f"{at:%Y-%m-%d %H:%M:%S},{at.microsecond // 1000:03d}"
        made.append(f"{stamp} {rng.choice(LEVELS):5} {rng.choice(UNITS)}: {said}")
    return "".join(f"{line}\n" for line in made)


def event(rng: Random) -> str:
    first, second = rng.sample(NOUNS, 2)
    return rng.choice(EVENTS).format(
        method=rng.choice(METHODS),
        noun=first,
        noun2=second,
        n=rng.randrange(2, 9000),
        who=f"{rng.choice(FIRST)[0]}{rng.choice(LAST)}".lower(),
        hex=hexadecimal(rng, 8),
        ip=inside(rng),
    )


def listing(rng: Random, lines: int) -> str:
    """Sizes and names, as `ls` or `find` print them."""
    made = []
    for _ in range(lines):
        path = "/".join(rng.sample(NOUNS, rng.choice((1, 1, 2, 2, 3))))
        made.append(f"{rng.randrange(40, 90_000):>8} {path}{rng.choice(SUFFIXES)}")
    return "".join(f"{line}\n" for line in made)


def tests(rng: Random, lines: int) -> str:
    """A verbose run in which everything passes, with its summary."""
    modules = rng.sample(NOUNS, 4)
    made = []
    for number in range(max(1, lines - 3)):
        module = modules[number * len(modules) // max(1, lines - 3)]
        name = "_".join(rng.sample(NOUNS, rng.choice((1, 2, 2, 3))))
        made.append(f"test_{name} (tests.test_{module}.{module.title()}Tests) ... ok")
    return "\n".join([*made, "", "-" * 70, f"Ran {len(made)} tests in 0.0s", "", "OK", ""])


def html(rng: Random, lines: int) -> str:
    """Nested markup with short and long lines."""
    return "".join(f"{line}\n" for _, line in zip(range(lines), _markup(rng), strict=False))


def record(rng: Random, fields: int) -> str:
    """A JSON answer of a service, printed."""
    names = rng.sample(NOUNS, min(fields, len(NOUNS)))
    made = {name: _value(rng) for name in names}
    return json.dumps({"id": hexadecimal(rng, 12), **made}, indent=2) + "\n"


OUTPUTS: Mapping[str, Callable[[Random, int], str]] = {
    "notes": notes,
    "mail": mail,
    "log": log,
    "listing": listing,
    "tests": tests,
    "html": html,
    "json": record,
}


def output(rng: Random, kind: str) -> str:
    """One output of a kind, as long as such outputs are."""
    return OUTPUTS[kind](rng, max(2, shapes()[kind].height(rng)))


def mixed(rng: Random, chars: int, kinds: tuple[str, ...] = ("notes", "mail")) -> str:
    """Pieces of these kinds with blank lines between them, so many characters to the next line."""
    made: list[str] = []
    while sum(len(line) + 1 for line in made) < chars:
        piece = OUTPUTS[rng.choice(kinds)](rng, rng.randrange(5, 15)).strip("\n")
        made += ["", *piece.splitlines()] if made else piece.splitlines()
    ends = accumulate(len(line) + 1 for line in made)
    whole = next(place for place, end in enumerate(ends, start=1) if end >= chars)
    return "\n".join(made[:whole]) + "\n"


def _text(rng: Random, kind: str, lines: int, line: Callable[[Random, Shape], str]) -> str:
    shape = shapes()[kind]
    made = ("" if rng.random() < shape.blank else line(rng, shape) for _ in range(lines))
    return "".join(f"{text}\n" for text in made)


def _note(rng: Random, shape: Shape) -> str:
    """A line near the drawn length: a heading, a remark or some sentences."""
    wanted = shape.length(rng)
    if wanted < 14:
        return f"## {rng.choice(NOUNS).title()}" if rng.random() < 0.3 else tail(rng)
    lead = rng.choice(("", "", "- ", "* ", f"{rng.choice(FIRST)}: "))
    if wanted < 40:
        return f"{lead}{rng.choice(NOUNS)}, {tail(rng)}"
    said = lead + sentence(rng)
    while len(said) < wanted:
        said += f" {sentence(rng)}"
    return said


def _mail(rng: Random) -> Iterator[str]:
    sender, reader = person(rng), person(rng)
    yield f"From: {sender} <{sender.split()[0].lower()}@{rng.choice(NOUNS)}.example>"
    yield f"To: {reader}"
    yield f"Date: {(START + timedelta(minutes=rng.randrange(90_000))):%a, %d %b %Y %H:%M}"
    yield f"Subject: Re: {rng.choice(NOUNS)} {rng.choice(NOUNS)}, {tail(rng)}"
    yield ""
    yield f"Hi {reader.split()[0]},"
    for _ in range(rng.randrange(3, 8)):
        yield sentence(rng)
    yield ""
    yield filled(rng, rng.choice(("Best, {who}", "Thanks, {who}", "Regards", "{who}")))
    yield "-- "
    yield f"{sender}, {rng.choice(NOUNS).title()} House, floor {rng.randrange(1, 9)}"


def _markup(rng: Random) -> Iterator[str]:
    shape, number = shapes()["html"], 0
    while True:
        number += 1
        yield f'<section class="s{number}" id="{rng.choice(NOUNS)}-{hexadecimal(rng, 4)}">'
        yield f"  <h3>{' '.join(rng.sample(NOUNS, 2)).title()}</h3>"
        for _ in range(rng.randrange(2, 6)):
            text = sentence(rng)
            while len(text) < shape.length(rng):
                text += f" {sentence(rng)}"
            yield f"  <p>{text}</p>"
        yield "  <ul>"
        for name in rng.sample(NOUNS, rng.randrange(2, 5)):
            yield f'    <li><a href="/{name}/{rng.randrange(99)}.html">{name}</a></li>'
        yield "  </ul>"
        yield "</section>"


def _value(rng: Random) -> object:
    kind = rng.randrange(5)
    if kind == 0:
        return rng.randrange(10_000)
    if kind == 1:
        return {"state": rng.choice(("active", "idle")), "since": f"{START:%Y-%m-%d}"}
    if kind == 2:
        return rng.sample(NOUNS, 3)
    return person(rng) if kind == 3 else hexadecimal(rng, 16)
