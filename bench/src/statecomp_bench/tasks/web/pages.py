"""Prose and old markup for workspaces of this domain, and the small pieces its tasks share."""

from __future__ import annotations

from collections.abc import Iterable
from importlib.resources import files
from random import Random
from string import Template

from statecomp_bench.task import Artefacts
from statecomp_bench.tasks.filler.output import mixed
from statecomp_bench.tasks.filler.words import sentence
from statecomp_bench.tasks.invented import NOUNS, hexadecimal

SENTENCE_CHARS = 75


def prose(rng: Random, paragraphs: int, sentences: int = 5) -> str:
    """Notes and mails of several people; nothing in them is ever needed."""
    return mixed(rng, paragraphs * sentences * SENTENCE_CHARS)


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


def document(title: str, lines: Iterable[str]) -> str:
    body = "\n".join(lines)
    head = f'<meta charset="utf-8">\n<title>{title}</title>'
    return f"<!doctype html>\n<html>\n<head>\n{head}\n</head>\n<body>\n{body}\n</body>\n</html>\n"


def guide(package: str) -> str:
    """The binding document of a task; the workspace adds more to it."""
    return files(package).joinpath("guide.md").read_text("utf-8")


def instruction(package: str, **values: str) -> str:
    """The user's message, on one line."""
    text = files(package).joinpath("instruction.md").read_text("utf-8")
    return " ".join(Template(text).substitute(values).split())


def text_of(left: Artefacts, name: str) -> str:
    try:
        return left.text(name)
    except (OSError, UnicodeDecodeError):
        return ""
