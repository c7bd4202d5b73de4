"""Prose and old markup for workspaces of this domain, and the small pieces its tasks share."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from importlib.resources import files
from random import Random
from string import Template
from typing import TypeVar

from statecomp_bench.plan import Rule
from statecomp_bench.task import Artefacts, Question, part
from statecomp_bench.tasks.invented import NOUNS, hexadecimal, people

Item = TypeVar("Item")
OPENINGS = (
    "The last review found that",
    "Visitors often ask why",
    "In the old system",
    "According to the workshop",
    "For the time being",
    "As agreed with the printers",
)
VERBS = ("stands beside", "replaces", "is stored with", "is shown before", "was moved to", "hides")


def sentence(rng: Random) -> str:
    first, second, third = rng.sample(NOUNS, 3)
    return f"{rng.choice(OPENINGS)} the {first} {second} {rng.choice(VERBS)} the {third}."


def prose(rng: Random, paragraphs: int, sentences: int = 5) -> str:
    """Notes of several people; nothing in them is ever needed."""
    blocks = []
    for who in people(rng, paragraphs):
        text = " ".join(sentence(rng) for _ in range(sentences))
        blocks.append(f"Note of {who}\n{text}\n")
    return "\n".join(blocks)


def boxes(rng: Random, count: int) -> list[str]:
    """Lines of old markup, one box each."""
    lines = []
    for number in range(count):
        words = " ".join(rng.sample(NOUNS, 5))
        lines.append(
            f'<div class="box b{number}" data-ref="{hexadecimal(rng, 6)}"><h3>{words.title()}</h3>'
            f'<p>{sentence(rng)} <a href="/{rng.choice(NOUNS)}/{number}.html">{words}</a></p></div>'
        )
    return lines


def document(title: str, lines: Iterable[str], root: str = "<html>") -> str:
    body = "\n".join(lines)
    head = f'<meta charset="utf-8">\n<title>{title}</title>'
    return f"<!doctype html>\n{root}\n<head>\n{head}\n</head>\n<body>\n{body}\n</body>\n</html>\n"


def scattered(rng: Random, lines: list[str], *wanted: str) -> list[str]:
    """The wanted lines at places of their own among the others, in their order."""
    mixed = list(lines)
    for place, line in zip(
        sorted(rng.sample(range(len(lines)), len(wanted)), reverse=True),
        reversed(wanted),
        strict=True,
    ):
        mixed.insert(place, line)
    return mixed


def guide(package: str) -> str:
    """The binding document of a task; the workspace adds more to it."""
    return files(package).joinpath("guide.md").read_text("utf-8")


def instruction(package: str, **values: str) -> str:
    """The user's message, on one line."""
    text = files(package).joinpath("instruction.md").read_text("utf-8")
    return " ".join(Template(text).substitute(values).split())


def named(template: str, name: str) -> str:
    """A template for one item: its facts end in `_NAME`, its files and words are `NAME`."""
    return template.replace("_NAME}", f"_{name}}}").replace("NAME", name)


def rules_of(source: str, *rows: tuple[str, str, str, str, str]) -> tuple[Rule, ...]:
    """Rules of one document: name, label, pattern, then, otherwise."""
    return tuple(Rule(*row, source) for row in rows)


def each(
    name: str, weight: float, items: Iterable[Item], holds: Callable[[Item], object]
) -> Question:
    """The share of items for which something holds; a missing file costs its own item."""
    every = list(items)

    def answer() -> float:
        return sum(_holds(holds, item) for item in every) / len(every) if every else 0.0

    return part(name, weight, answer)


def _holds(holds: Callable[[Item], object], item: Item) -> bool:
    try:
        return bool(holds(item))
    except Exception:  # noqa: BLE001  artefacts come from an agent and may be broken in any way
        return False


def text_of(left: Artefacts, name: str) -> str:
    try:
        return left.text(name)
    except (OSError, UnicodeDecodeError):
        return ""
