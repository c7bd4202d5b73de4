"""When the prefix shows that an interaction has served: signs, each with its verbatim quote.

A sign is found in the interactions that follow, never in the checkpoint's own future.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from statecomp.annotation.flow import Flow
from statecomp.annotation.labels import Evidence
from statecomp.history.interaction import Interaction
from statecomp.history.text import argument_text

RESTATED = 3
"""So many new atoms in the agent's own words show that it has read the observation."""
COMMENT_CHARS = 300
"""Who writes this much next has taken in what it saw, in whatever words."""
FEW_ATOMS, MANY_ATOMS = 3, 50
"""Few: an acknowledgement, done when the agent goes on.  Many: a text one reads more than once."""
PATIENCE, FAILURE_PATIENCE, LONG_PATIENCE = 2, 4, 6
"""Interactions that pass before it counts that the work has moved on."""
QUOTE_CHARS = 120

_FAILURE = re.compile(
    # `"isError": false` says the opposite.
    r"\b\w*errors?\b(?!\\?[\"']?\s*[:=]\s*(?:null|none|false|0|\[\]|\{\}|\"\"))|"
    r"\b(?:exception|traceback|not found|no such|fail(?:ed|ure)?|invalid|denied|cannot|"
    r"can't|could not|unable|no matches|no results|timed? ?out|not exist|refused|unknown|"
    r"undefined|missing|bad request|forbidden|unrecognized|usage:)\b",
    re.IGNORECASE,
)
_EMPTY = re.compile(r"\s*(?:\[\]|\{\}|null|none|0)?\s*\Z", re.IGNORECASE)
_ENDS, _SHORT = 300, 3000
"""A failure says so at either end of a short observation; a long text merely mentions errors."""


@dataclass(frozen=True, slots=True)
class Sign:
    """What shows it (`why`), and where."""

    why: str
    evidence: Evidence

    @property
    def at(self) -> int:
        return self.evidence.at


def signs(flow: Flow, number: int) -> tuple[Sign | None, ...]:
    """All the signs an interaction waits for; None where the run ends before one is given."""
    if not came_to_nothing(flow.reading.interactions[number - 1]):
        return (_read(flow, number),)
    return (_read(flow, number), _recovered(flow, number))


def came_to_nothing(interaction: Interaction) -> bool:
    """An error, a refusal, or an answer with nothing in it."""
    if not interaction.observations:
        return False
    text = interaction.observed
    if any(seen.is_error for seen in interaction.observations) or _EMPTY.match(text):
        return True
    return len(text) < _SHORT and bool(_FAILURE.search(f"{text[:_ENDS]}\n{text[-_ENDS:]}"))


def _read(flow: Flow, number: int) -> Sign | None:
    """Acknowledged, restated in the agent's own words, shown again, or left behind."""
    fresh = flow.fresh[number - 1]
    if len(fresh) <= FEW_ATOMS:
        return _first_said(flow, number + 1, "acknowledged")
    patience = LONG_PATIENCE if len(fresh) > MANY_ATOMS else PATIENCE
    restated: set[str] = set()
    for later in _following(flow, number, patience):
        part = flow.part(later)
        here = (fresh.words & part.own_words) | (fresh.identifiers & part.own_identifiers)
        restated |= here
        if here and len(restated) >= RESTATED:
            return _sign(flow, later, "restated", min(here, key=lambda atom: (-len(atom), atom)))
        if _comment(flow, later) >= COMMENT_CHARS:
            return _sign(flow, later, "commented on")
        if flow.shows_again(number, later):
            return _sign(flow, later, "shown again", seen=True)
    return _first_said(flow, number + patience, "the work moved on")


def _recovered(flow: Flow, number: int) -> Sign | None:
    """After a failure: the same tool works, the agent names what went wrong, or it moves on."""
    interactions, fresh = flow.reading.interactions, flow.fresh[number - 1]
    for later in _following(flow, number, FAILURE_PATIENCE):
        part, retry = flow.part(later), interactions[later - 1]
        named = (fresh.words & part.own_words) | (fresh.identifiers & part.own_identifiers)
        if named:
            return _sign(flow, later, "failure named", min(named))
        if _comment(flow, later) >= COMMENT_CHARS:
            return _sign(flow, later, "failure commented on")
        if _tools(retry) == _tools(interactions[number - 1]) and not came_to_nothing(retry):
            return _sign(flow, later, "working retry", seen=True)
    return _first_said(flow, number + FAILURE_PATIENCE, "failure left behind")


def _following(flow: Flow, number: int, patience: int) -> range:
    return range(number + 1, min(number + patience, flow.reading.last) + 1)


def _comment(flow: Flow, number: int) -> int:
    interaction = flow.reading.interactions[number - 1]
    return len(interaction.reasoning.strip()) + len(interaction.said.strip())


def _tools(interaction: Interaction) -> frozenset[str]:
    return frozenset(call.name for call in interaction.calls)


def _first_said(flow: Flow, start: int, why: str) -> Sign | None:
    """A sign at `start`, or at the next interaction that has any words to quote."""
    for later in range(start, flow.reading.last + 1):
        if sign := _sign(flow, later, why):
            return sign
    return None


def _sign(flow: Flow, number: int, why: str, atom: str = "", *, seen: bool = False) -> Sign | None:
    interaction = flow.reading.interactions[number - 1]
    quote = _first_line(interaction.observed) if seen else quoted(interaction, atom)
    quote = quote or _first_line(interaction.text)
    return Sign(why, Evidence(number, quote)) if quote else None


def quoted(interaction: Interaction, atom: str = "") -> str:
    """A short verbatim piece of what the agent wrote: around the atom, else its first words."""
    texts = [interaction.reasoning, interaction.said]
    texts += [argument_text(call.arguments) for call in interaction.calls]
    for text in texts:
        place = text.find(atom) if atom else -1
        if place >= 0:
            return _around(text, place, len(atom))
    return next((line for text in texts if (line := _first_line(text))), "")


def _first_line(text: str) -> str:
    """The first line that says something; a heading is one only where nothing follows it."""
    lines = [line.strip()[:QUOTE_CHARS].strip() for line in text.split("\n")]
    return next((line for line in lines if line.count(" ") >= 2), max(lines, key=len, default=""))


def _around(text: str, place: int, length: int) -> str:
    """The line of the atom, cut so that the atom is in it."""
    start = max(text.rfind("\n", 0, place) + 1, place + length - QUOTE_CHARS)
    stop = text.find("\n", place + length)
    line = text[start : stop if stop >= 0 else len(text)]
    return line[:QUOTE_CHARS].strip()
