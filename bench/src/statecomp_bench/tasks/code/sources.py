"""Invented sources and documents of code tasks, and how their checkers run what was left."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from importlib.resources import files
from random import Random
from typing import TypeVar

from statecomp_bench.task import Artefacts, TaskQuestion, part
from statecomp_bench.tasks.invented import NOUNS

VERBS = ("settle", "gather", "route", "weigh", "stamp", "sort", "trace", "merge", "split", "count")
RESULT = "RESULT "
T = TypeVar("T")


def document(package: str | None, name: str) -> str:
    """A text that lies beside a task."""
    return files(package or "").joinpath(name).read_text("utf-8")


def functions(rng: Random, count: int) -> str:
    """Working code that no plan ever looks at: what a module is full of."""
    pairs = rng.sample([(verb, noun) for verb in VERBS for noun in NOUNS], count)
    return "\n\n".join(_function(rng, verb, noun) for verb, noun in pairs)


def _function(rng: Random, verb: str, noun: str) -> str:
    column, least = rng.choice(NOUNS), rng.randrange(2, 60)
    return (
        f"def {verb}_{noun}(rows, most={rng.randrange(20, 900)}):\n"
        f'    """{verb.title()} the {noun} of each row; what is beyond `most` waits."""\n'
        "    kept = []\n"
        "    for row in rows[:most]:\n"
        f'        value = row.get("{column}")\n'
        f"        if value is None or value < {least}:\n"
        "            continue\n"
        f'        kept.append((row["id"], value * {rng.randrange(2, 30)}))\n'
        "    return sorted(kept, key=lambda pair: pair[1], reverse=True)\n"
    )


def listed(names: Iterable[str]) -> str:
    return ", ".join(names)


def verdict(left: Artefacts, program: str, data: object) -> dict[str, object]:
    """What a program makes of the artefacts; it runs in the sandbox.

    `DATA` in the program stands for the data, and it fills a dictionary named `found`.
    """
    code = (
        f"import json\nfound = {{}}\n{program.replace('DATA', f'json.loads({json.dumps(data)!r})')}"
        f"\nprint('\\n{RESULT}' + json.dumps(found))\n"
    )
    printed = left.python(code)
    found = json.loads(printed.rpartition(RESULT)[2]) if RESULT in printed else {}
    return dict(found) if isinstance(found, dict) else {}


def each(
    name: str, weight: float, items: Iterable[T], holds: Callable[[T], float | bool]
) -> TaskQuestion:
    """A part that is the share of items for which something holds; a missing file costs its own."""
    every = list(items)

    def held(item: T) -> float:
        try:
            return float(holds(item))
        except Exception:  # noqa: BLE001  artefacts come from an agent and may be broken in any way
            return 0.0

    return part(name, weight, lambda: sum(map(held, every)) / len(every))
