"""Calls side by side: what they share is said once, what tells them apart each time."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from statecomp.history.interaction import Call, Interaction
from statecomp.history.text import argument_text
from statecomp.records.extracting.arguments import pairs_of
from statecomp.records.extracting.pieces import FENCED, shortened
from statecomp.records.extracting.units import of_step

NEARLY, ALIKE = 0.8, 0.5
"""The share of words that two calls of one kind have in common: nearly the same, a version."""
VALUE = 120
"""Characters of a value beside others; the two ends of a longer one are shown."""
LONG = 150
"""Characters of an argument that is a program or a text."""
CHANGED, SHOWN = 60, 2
"""Characters of a changed line of a program, and how many such lines are shown."""


def as_text(pairs: Mapping[str, str]) -> str:
    """Arguments on one line, short ones first: a long one must not hide the others."""
    ordered = sorted(pairs.items(), key=lambda pair: len(pair[1]) > VALUE)
    return "; ".join(f"{key}: {shortened(value, VALUE)}" for key, value in ordered)


def common_of(calls: Sequence[Call]) -> dict[str, str]:
    """The arguments that all of some calls have."""
    first, *others = map(pairs_of, calls)
    return {
        key: value
        for key, value in first.items()
        if all(other.get(key) == value for other in others)
    }


def apart(call: Call, common: Mapping[str, str]) -> str:
    """What tells a call from others that have something in common with it."""
    return as_text({k: v for k, v in pairs_of(call).items() if k not in common})


def changed(before: Call, call: Call) -> str:
    """The lines of a call that the one before it had not, shortly; of a long line its words."""
    old, lines = _lines(before), _lines(call)
    new = [line for line in lines if line not in old]
    gone = [line for line in old if line not in lines]
    if len(new) == len(gone) == 1 and len(new[0]) > CHANGED:
        new = [_middle(new[0].split(), gone[0].split())]
    told = [shortened(line, CHANGED) for line in (new or gone)[:SHOWN]]
    more = f" (and {len(new or gone) - SHOWN} more lines)" if len(new or gone) > SHOWN else ""
    return f"{'' if new or not gone else 'without '}{'; '.join(told)}{more}"


def _lines(call: Call) -> dict[str, None]:
    lines = map(str.strip, argument_text(call.arguments).split("\n"))
    return dict.fromkeys(filter(None, lines))


def _middle(words: Sequence[str], before: Sequence[str]) -> str:
    """The words between those at both ends that another line has too, and one on each side."""
    pairs = list(zip(words, before, strict=False))
    head = next((n for n, (a, b) in enumerate(pairs) if a != b), len(pairs))
    ends = list(zip(reversed(words[head:]), reversed(before[head:]), strict=False))
    tail = next((n for n, (a, b) in enumerate(ends) if a != b), len(ends))
    return " ".join(("...", *words[max(0, head - 1) : len(words) - tail + 1], "..."))


def same(one: Interaction, other: Interaction) -> bool:
    """Whether two steps sent the very same: one argument more or less may be what made it work."""
    if not one.calls or not other.calls:
        return not one.calls and not other.calls and one.said == other.said
    return [(call.name, pairs_of(call)) for call in one.calls] == [
        (call.name, pairs_of(call)) for call in other.calls
    ]


def likeness(one: Interaction, other: Interaction) -> float:
    """How many of their words two actions share; nothing where they are of two kinds."""
    if [call.name for call in one.calls] != [call.name for call in other.calls]:
        return 0.0
    first, second = _words(one), _words(other)
    return len(first & second) / max(1, len(first | second))


def _words(member: Interaction) -> set[str]:
    sent = " ".join(call.arguments for call in member.calls) if member.calls else member.said
    return {"", *sent.replace('"', " ").replace(",", " ").split()}


def alike(one: Interaction, other: Interaction) -> bool:
    """Whether two single calls of one tool differ in some arguments only."""
    if len(one.calls) != 1 or len(other.calls) != 1 or one.calls[0].name != other.calls[0].name:
        return False
    first, second = pairs_of(one.calls[0]), pairs_of(other.calls[0])
    return len(as_text(common_of((one.calls[0], other.calls[0])))) >= 30 and (
        len(first.keys() ^ second.keys()) <= 1
    )


class CallWords(NamedTuple):
    """What kind of call a step is, and the words that tell it from others of the kind."""

    kind: str
    words: frozenset[str]


_WORD = re.compile(r"[^\W_]+")


@of_step
def words_of_call(member: Interaction) -> CallWords | None:
    """What a step asked for, where it is one call with one answer."""
    if len(member.observations) != 1 or len(member.calls) > 1:
        return None
    if member.calls:
        kind, text = member.calls[0].name, argument_text(member.calls[0].arguments)
    else:
        text = (FENCED.findall(member.said) or [""])[-1]
        kind = text.partition(" ")[0]
    if not kind or len(text) > LONG:
        return None
    return CallWords(kind, frozenset(word.lower() for word in _WORD.findall(text)))
