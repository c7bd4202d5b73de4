"""Calls that an agent writes into its words, and answers that come back as words of the user.

In an ordinary chat the message after the assistant's is the user speaking, and must never be taken
for tool output.  These agents cannot be mistaken: both sides carry marks that only they write.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from statecomp.history.interaction import Call

OWN_WORDS = "the user's own words stand in its result message"
LONGEST = 200_000
"""A longer list of calls is not read: it is the agent's own text, and only a judgement needs it."""


@dataclass(frozen=True, slots=True)
class CallingHabit:
    """How one kind of agent writes; `further` is where the user speaks behind an answer."""

    called: re.Pattern[str]
    answered: re.Pattern[str]
    further: re.Pattern[str]
    calls: Callable[[str], Iterator[Call]]


@dataclass(frozen=True, slots=True)
class WrittenCalls:
    """What an assistant's words and the message behind them turned out to be."""

    said: str
    calls: tuple[Call, ...]
    locked: str


def written(said: str, answer: str) -> WrittenCalls | None:
    """The calls in an assistant's text where the next message answers them; None: it does not."""
    for habit in HABITS:
        answers = habit.answered.match(answer)
        found = habit.called.search(said) if answers else None
        if found is None:
            continue
        calls = tuple(habit.calls(found[1]))
        if calls:
            locked = OWN_WORDS if habit.further.search(answer) else ""
            return WrittenCalls(said[: found.start()].rstrip(), calls, locked)
    return None


def _listed(text: str) -> Iterator[Call]:
    """smolagents: the list of calls as Python writes it."""
    try:
        entries = ast.literal_eval(text) if len(text) <= LONGEST else ()
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return
    for entry in entries if isinstance(entries, list) else ():
        function = entry.get("function") if isinstance(entry, Mapping) else None
        if isinstance(function, Mapping):
            name, arguments = str(function.get("name", "")), _text(function.get("arguments"))
            yield Call(str(entry.get("id") or ""), name, arguments)


def _text(arguments: Any) -> str:
    return arguments if isinstance(arguments, str) else json.dumps(arguments, default=str)


def _command(text: str) -> Iterator[Call]:
    """mini-swe-agent without tools: one shell command in a fence of its own."""
    yield Call("", "bash", json.dumps({"command": text.strip()}))


HABITS = (
    CallingHabit(
        called=re.compile(r"^Calling tools:\n(\[\{.*\}\])\s*\Z", re.MULTILINE | re.DOTALL),
        answered=re.compile(r"Observation:\n|Call id: \S+\nError:\n"),
        further=re.compile(r"^New task:\n", re.MULTILINE),
        calls=_listed,
    ),
    CallingHabit(
        called=re.compile(r"^```mswea_bash_command\n(.*?)^```", re.MULTILINE | re.DOTALL),
        answered=re.compile(
            r"(?s)(?:<exception>.*?</exception>\s*)?<returncode>-?\d+</returncode>"
        ),
        # Its answers are whole messages: nothing follows them.
        further=re.compile(r"(?!)"),
        calls=_command,
    ),
)
