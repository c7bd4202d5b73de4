"""Calls side by side: what they share is said once, what tells them apart each time."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from statecomp.history.interaction import Call, Interaction
from statecomp.history.text import argument_text
from statecomp.records.extracting.arguments import RUN_KEYS, pairs_of
from statecomp.records.extracting.lengthy import briefly
from statecomp.records.extracting.pieces import FENCED, LONGEST, in_a_row, one_line, shortened
from statecomp.records.extracting.reading.programs import described
from statecomp.records.extracting.units import of_step

ALIKE = 0.5
"""The share of words that two calls of one kind have in common that are versions of one program."""
VALUE = 120
"""Characters of a value beside others; of a longer one its two ends are shown, or what it is."""
LONG = 150
"""Characters of an argument that is a program or a text."""
COMMON = 28
"""Characters of the arguments that two calls share which differ in the others only."""
APART = 240
"""Characters of the lines that tell two programs apart; of two with more each is told alone."""


def as_text(pairs: Mapping[str, str], longest: int = VALUE) -> str:
    """Arguments on one line, short ones first: a long one must not hide the others."""
    ordered = sorted(pairs.items(), key=lambda pair: len(pair[1]) > VALUE)
    return "; ".join(f"{key}: {_valued(key, value, longest)}" for key, value in ordered)


def flat(key: str, value: str) -> str:
    """An argument on one line, commands apart from each other."""
    return briefly(in_a_row(value) if key in RUN_KEYS else one_line(value), LONGEST)


def _valued(key: str, value: str, longest: int) -> str:
    plain = flat(key, value)
    if len(plain) <= longest or " " not in plain:
        return plain  # half a path leads elsewhere
    return described(value, runs=key in RUN_KEYS) or shortened(plain, longest)


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


@of_step
def _sent(member: Interaction) -> Mapping[str, str]:
    return pairs_of(member.calls[0])


def changes(before: Interaction, member: Interaction) -> str | None:
    """What was taken out of a call and put into it to make another; nothing where that is most."""
    old, new = _sent(before), _sent(member)
    lines = {
        key: lines_changed(old[key], value)
        for key, value in new.items()
        if key in old and old[key] != value and max(len(old[key]), len(value)) > VALUE
    }
    if not any(lines.values()) and _shared(old, new) < 2 * COMMON:
        return None
    told = [
        lines.get(key) or as_text({key: value})
        for key, value in new.items()
        if old.get(key) != value
    ]
    return "; ".join(
        (*told, *(f"without {as_text({key: old[key]})}" for key in old if key not in new))
    )


def lines_changed(before: str, text: str) -> str:
    """The lines that went and those that came, all of them; nothing where that is too much."""
    old, new = (Counter(filter(None, map(str.strip, t.split("\n")))) for t in (before, text))
    gone, come = list((old - new).elements()), list((new - old).elements())
    if len(gone) == len(come) == 1 and min(len(gone[0]), len(come[0])) > VALUE // 2:
        gone, come = _middles(gone[0].split(), come[0].split())
    told = "; ".join(
        f"{how}: {'; '.join(map(one_line, lines))}"
        for how, lines in (("without", gone), ("with", come))
        if lines
    )
    return told if len(told) <= APART else ""


def _middles(old: Sequence[str], new: Sequence[str]) -> tuple[list[str], list[str]]:
    """The words between those at both ends that two lines share, and one on each side."""
    shared = [a == b for a, b in zip(old, new, strict=False)]
    head = shared.index(False) if False in shared else len(shared)
    ends = [a == b for a, b in zip(reversed(old[head:]), reversed(new[head:]), strict=False)]
    tail = ends.index(False) if False in ends else len(ends)

    def middle(words: Sequence[str]) -> list[str]:
        return [" ".join(("...", *words[max(0, head - 1) : len(words) - tail + 1], "..."))]

    return middle(old), middle(new)


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


@of_step
def _words(member: Interaction) -> set[str]:
    sent = " ".join(call.arguments for call in member.calls) if member.calls else member.said
    return {"", *sent.replace('"', " ").replace(",", " ").split()}


def alike(one: Interaction, other: Interaction) -> bool:
    """Whether two single calls of one tool differ in some arguments only."""
    if len(one.calls) != 1 or len(other.calls) != 1 or one.calls[0].name != other.calls[0].name:
        return False
    first, second = _sent(one), _sent(other)
    return len(first.keys() ^ second.keys()) <= 1 and _shared(first, second) >= COMMON


def _shared(one: Mapping[str, str], other: Mapping[str, str]) -> int:
    """Characters of the arguments that two calls have in common."""
    return sum(len(key) + len(value) for key, value in one.items() if other.get(key) == value)


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
