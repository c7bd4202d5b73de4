"""What tasks about a handful of things share: a paper, some facts, an artefact for each of them."""

from __future__ import annotations

import base64
import zlib
from collections.abc import Callable, Iterable
from random import Random
from typing import TypeVar

from statecomp_bench.plan import Fact, Norm
from statecomp_bench.task import TaskQuestion, part
from statecomp_bench.tasks.filler.output import mixed

Item = TypeVar("Item")
# For programs of a workspace: what a spool held is printed once and gone.
SPOOL = """import base64, os, sys, zlib
def take(path):
    if not os.path.exists(path):
        return ''
    text = zlib.decompress(base64.b64decode(open(path).read())).decode()
    first, _, rest = text.partition('\\f')
    if rest:
        open(path, 'wb').write(base64.b64encode(zlib.compress(rest.encode())))
    else:
        os.remove(path)
    return first
"""


def sealed(*texts: str) -> str:
    """A spool as `SPOOL` reads it: the first text is taken first."""
    return base64.b64encode(zlib.compress("\f".join(texts).encode())).decode()


def paper(rng: Random, chars: int, *wanted: str, kinds: tuple[str, ...] = ("notes", "mail")) -> str:
    """Filler of about so many characters with the wanted lines at places of their own."""
    lines = mixed(rng, chars, kinds).splitlines()
    return "\n".join(scattered(rng, lines, *wanted)) + "\n"


def facts_for(names: Iterable[str], source: str, *rows: tuple[str, str, str]) -> list[Fact]:
    """Facts of each name, shown by the step `SOURCE_NAME`; a row is key, label and pattern."""
    return [
        Fact(f"{key}_{name}", named(label, name), named(pattern, name), f"{source}_{name}")
        for name in names
        for key, label, pattern in rows
    ]


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


def named(template: str, name: str) -> str:
    """A template for one item: its facts end in `_NAME`, its files and words are `NAME`."""
    return template.replace("_NAME}", f"_{name}}}").replace("NAME", name)


def rules_of(source: str, *rows: tuple[str, str, str, str, str]) -> tuple[Norm, ...]:
    """Rules of one document: name, label, pattern, then, otherwise."""
    return tuple(Norm(*row, source) for row in rows)


def each(
    name: str, weight: float, items: Iterable[Item], holds: Callable[[Item], object]
) -> TaskQuestion:
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
