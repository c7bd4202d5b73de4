"""What the agents beside this file share: one tool, three turns, and a shortener that is watched.

They run in environments of their own, with nothing of this project installed but its source on the
path.  A driver offers `VARIANTS`: name -> a function that holds the whole conversation and tells
how it ended.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import sys
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from statecomp.adapters.claims import is_record
from statecomp.adapters.shortener import Shortener
from statecomp.checkpoint import Checkpoint
from statecomp.controller.spans import Gates
from statecomp.errors import ScoringFailed
from statecomp.history.history import History
from statecomp.method import Method

SYSTEM = "You look at things and report. Never delete anything."
TURNS = (
    "Look at every part and report when all thirty are done.",
    "Now look at four more parts.",
    "And at another four, please.",
)
MODEL = "gpt-5"
CLAUDE = "claude-sonnet-5"
BINDING = "claude-fable-5-1"
"""Refuses its own thinking behind any change."""
BETA = "thinking-binding-controls-2026-08-01"
FORBIDDEN = {"type": "adaptive", "block_binding": {"prefix_mismatch_behavior": "error"}}
"""The user wants thinking refused behind any change."""
DROPS = {"type": "adaptive", "block_binding": {"prefix_mismatch_behavior": "drop_block"}}
EAGER: Mapping[str, object] = {
    "scorer": "age:after=3",
    "longer_than": 2,
    "min_source_tokens": 400,
}


def look(step: int, part: int) -> str:
    """Look at one part.

    Args:
        step: Which step it is.
        part: Which part of it.
    """
    name = f"src/part_{step:03d}_{part}.py"
    lines = [f"line {n}: value {step * 1000 + n} was checked and is fine" for n in range(24)]
    return "\n".join([f"{name}: {len(lines)} lines", *lines])


def unsigned(value: Any) -> Any:
    """A signature is made over what stands before it, so it is another one behind a record."""
    if isinstance(value, dict):
        return {k: unsigned(v) for k, v in value.items() if k != "signature"}
    return [unsigned(item) for item in value] if isinstance(value, list) else value


class Broken:
    """A scorer that never works."""

    def score(self, history: History) -> Mapping[str, float]:
        raise ScoringFailed("this scorer is broken")


class Watched(Shortener):
    """Sees to it that what is kept is the very object that came."""

    def __init__(self, framework: str, errand: Errand, **options: Any) -> None:
        if errand.broken == "scorer":
            gates = Gates(longer_than=2, min_source_tokens=400)
            options = {"method": Method(scorer=Broken, rule=gates)}
        super().__init__(framework, store=errand.store, **options)
        self.errand = errand

    def rewrite(self, items: Any, to_wire: Any, record: Any, **more: Any) -> list[Any]:
        made = super().rewrite(items, self._convert(to_wire), self._record(record), **more)
        return self._compared(items, made)

    async def arewrite(self, items: Any, to_wire: Any, record: Any, **more: Any) -> list[Any]:
        convert, noted = self._convert(to_wire), self._record(record)
        return self._compared(items, await super().arewrite(items, convert, noted, **more))

    def _decided(self, body: Mapping[str, Any], protocol: str, keep: Any) -> Checkpoint | None:
        if self.errand.broken == "converter":
            raise RuntimeError("this engine is broken")
        made = super()._decided(body, protocol, keep)
        if made is not None:
            given = {id(message) for message in body[self.errand.key(protocol)]}
            strange = [m for m in made.messages if id(m) not in given and not is_record(m)]
            self.errand.seen.strange += len(strange)
        return made

    def _convert(self, to_wire: Any) -> Any:
        def broken(item: Any) -> Any:
            raise RuntimeError("this converter is broken")

        return broken if self.errand.broken == "converter" else to_wire

    def _record(self, record: Any) -> Any:
        def noted(message: Any) -> Any:
            made = record(message)
            self.errand.seen.records.append(made)
            return made

        return noted

    def _compared(self, items: Sequence[Any], made: list[Any]) -> list[Any]:
        """A part of a message that was kept is neither; those are told apart by `parts`."""
        given = {id(item) for item in (*items, *self.errand.seen.records)}
        self.errand.seen.strange += sum(id(one) not in given for one in made)
        return made


@dataclass
class Seen:
    """What a run showed beside its answers."""

    calls: list[list[int]] = field(default_factory=list)
    strange: int = 0
    records: list[Any] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


@dataclass
class Errand:
    """One conversation to hold: where, with whose key, with or without an adapter."""

    url: str
    key_: str
    folder: Path
    adapted: bool
    broken: str = ""
    seen: Seen = field(default_factory=Seen)
    shorteners: list[Shortener] = field(default_factory=list)

    @property
    def store(self) -> str:
        return str(self.folder / "ledger.sqlite")

    @staticmethod
    def key(protocol: str) -> str:
        return "input" if protocol == "openai-responses" else "messages"

    def look(self, step: int, part: int) -> str:
        self.seen.calls.append([step, part])
        return look(step, part)

    def shortener(self, framework: str, **options: Any) -> Watched:
        """A new one each time it is asked for; all of a run keep one ledger."""
        made = Watched(framework, self, **{**EAGER, **options})
        self.shorteners.append(made)
        return made


@dataclass(frozen=True)
class Ended:
    """The answer to each turn, and the history as the framework keeps it."""

    finals: Sequence[str]
    stored: Any


Variant = Callable[[Errand], Ended]
_LOOP = asyncio.Runner()
"""One for all runs: clients keep connections, and those belong to a loop."""


def awaited(run: Callable[[Errand], Coroutine[Any, Any, Ended]]) -> Variant:
    return lambda errand: _LOOP.run(run(errand))


class _Heard(logging.Handler):
    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(record.getMessage())


def tool(errand: Errand) -> Callable[[int, int], str]:
    """`look` as a function of its own name and documentation, as frameworks want one."""

    def looking(step: int, part: int) -> str:
        return errand.look(step, part)

    looking.__name__ = looking.__qualname__ = "look"
    looking.__doc__ = look.__doc__
    return looking


def told(errand: Errand, ended: Ended) -> dict[str, Any]:
    totals = [shortener.savings for shortener in errand.shorteners]
    for shortener in errand.shorteners:
        shortener.close()
    return {
        "finals": list(ended.finals),
        "stored": ended.stored,
        "calls": errand.seen.calls,
        "strange": errand.seen.strange,
        "records": len(errand.seen.records),
        "saved_tokens": sum(total.tokens for total in totals),
        "raw_tokens": sum(total.raw_tokens for total in totals),
        "saved_dollars": sum(total.dollars for total in totals),
        "requests": sum(total.requests for total in totals),
        "commits": sum(total.commits for total in totals),
        "said": [str(total) for total in totals],
    }


def main(variants: Mapping[str, Variant]) -> None:
    """`python DRIVER URL FOLDER` with a list of runs on stdin; one JSON object a line comes out."""
    url, folder = sys.argv[1:3]
    os.environ.setdefault("OPENAI_API_KEY", "unused")
    out = os.fdopen(os.dup(1), "w")  # frameworks print
    os.dup2(2, 1)
    for wish in json.load(sys.stdin):
        heard = _Heard()
        logging.getLogger("statecomp").addHandler(heard)
        place = Path(folder) / wish["key"]
        place.mkdir()
        errand = Errand(url, wish["key"], place, wish["adapted"], wish["broken"])
        result = told(errand, variants[wish["variant"]](errand))
        logging.getLogger("statecomp").removeHandler(heard)
        out.write(json.dumps({**result, "key": wish["key"], "warnings": heard.lines}) + "\n")
        out.flush()
    # Whoever works behind their backs is ended before Python is.
    _LOOP.close()
