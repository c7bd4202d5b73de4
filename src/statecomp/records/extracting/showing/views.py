"""What each step was for, and what the agent made of its answer, in few words of its own."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from statecomp.history.text import words_of
from statecomp.records.extracting.reading.actions import MESSAGE
from statecomp.records.extracting.reading.noise import VERBS
from statecomp.records.extracting.said import cut_short, first_act, grounded, stated_shortly, turned
from statecomp.records.extracting.steps import KnownStep
from statecomp.records.extracting.units import Place, Unit, alone

AIM, VIEW = 100, 130
"""Characters of an aim and of a view."""
STEM = 4
"""Letters by which a word is known in its other forms."""
NEWS = 2
"""Words that no line has yet, from which on a sentence says something."""
AGAIN, DOUBTED = 0.75, 0.6
"""The share of a sentence's words in another that says it again, or doubts it."""
_DOUBTS = re.compile(
    r"\b(?:actually|however|but|wrong|incorrect\w*|mistake\w*|not|instead|contrary|turns out|"
    r"unfortunately|fail\w*|still|no longer)\b|n't\b",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"`([^`]+)`")
_SAYING_NOTHING = """
    able about actual actually all also and another any appear approach are attempt back based been
    before begin both but can clear command commands complete contain content continue correct could
    current data detail different directory display does each error every exact example explore file
    find first folder following for found from further gather get had happen has have here how
    however information issue its just let like link list main make more most much need new next not
    now one only other our out output page part possible previous problem proceed progress provide
    read really repository result see seem several should show some specific still structure such
    successful sure take task than that the their them then there these they thing this those
    through too tool toward understand use using very view want was way what when where whether
    which will with work would yet you your button
"""


def _stems(text: str) -> frozenset[str]:
    return frozenset(word[:STEM] for word in words_of(text.replace("_", " ")))


_EMPTY = _stems(_SAYING_NOTHING) | _stems(VERBS.replace("|", " "))


def _telling(text: str) -> frozenset[str]:
    return _stems(text) - _EMPTY


@alone
def _telling_words(unit: Unit) -> frozenset[str]:
    return _telling(unit.text)


@alone
def _doubts(unit: Unit) -> bool:
    return _DOUBTS.search(unit.text) is not None


def read_views(units: Sequence[Unit]) -> None:
    """Read ahead what is asked of the agent's sentences."""
    for unit in units:
        if unit.place is Place.SAID:
            _telling_words(unit)
            _doubts(unit)


def with_views(steps: Sequence[KnownStep], units: Sequence[Unit]) -> list[KnownStep]:
    """The steps, each with what it was for, and what was said of it by the next.

    The record that a message is in tells it: what the last step of a span came to is said where
    the next begins.
    """
    stated, meant = (
        _by_step(units, Place.SAID, len(steps)),
        _by_step(units, Place.MEANT, len(steps)),
    )
    known = [frozenset[str](), *map(_told, steps)]
    met: list[frozenset[str]] = []
    views, aims = [], []
    doubting = [unit for said in stated for unit in said if _doubts(unit)]
    for place, step in enumerate(steps):
        doubts = [unit for unit in doubting if unit.step > place]
        # The line of a message says what it said.
        told = not step.action.text.startswith(MESSAGE)
        views.append(_view(stated[place], known[place], met, doubts) if told else "")
        aims.append(_aim(meant[place][::-1], step, known[place + 1], met) if told else "")
    return [
        replace(step, aim=aim, view=view, before="" if place else views[0])
        for place, (step, aim, view) in enumerate(zip(steps, aims, (*views[1:], ""), strict=True))
    ]


def _by_step(units: Sequence[Unit], place: Place, steps: int) -> list[list[Unit]]:
    found: list[list[Unit]] = [[] for _ in range(steps)]
    for unit in units:
        if unit.place is place:
            found[unit.step].append(unit)
    return found


def _told(step: KnownStep) -> frozenset[str]:
    """The words of what a step's line may say, whatever room there is."""
    action = step.action
    calls = " ".join(line.text for line in step.below)
    told = (action.head, action.shortly or action.text, calls, step.words, step.ending.told())
    return _stems(" ".join((*told, *step.results)))


def _aim(
    meant: Iterable[Unit], step: KnownStep, known: frozenset[str], met: list[frozenset[str]]
) -> str:
    """The nearest of them to the call that says more than the call does, and names nothing else."""
    called = " ".join((step.action.head, step.action.text, *(line.text for line in step.below)))
    for unit in meant:
        short = cut_short(first_act(unit.text), AIM)
        foreign = any(name not in called for name in _QUOTED.findall(short))
        if short and not foreign and _is_news(_telling(short), known, met):
            return short
    return ""


def _view(
    stated: Sequence[Unit],
    known: frozenset[str],
    met: list[frozenset[str]],
    doubts: Sequence[Unit],
) -> str:
    """The first sentences that say something which the agent did not take back, while they fit."""
    told = ""
    left = set(turned(unit.text for unit in stated))
    for unit in (unit for unit in stated if unit.text in left):
        short = stated_shortly(grounded(unit.text), VIEW)
        if not short or len(told) + len(short) > VIEW:
            break
        words = _telling_words(unit)
        if not _is_doubted(unit, words, doubts) and _is_news(words, known, met):
            told = f"{told} {short}".lstrip()
    return told


def _is_doubted(unit: Unit, words: frozenset[str], doubts: Sequence[Unit]) -> bool:
    """Whether the agent said otherwise since; what is a doubt itself it may have said again."""
    least = max(NEWS, DOUBTED * len(words))
    return not _doubts(unit) and any(len(words & _telling_words(one)) >= least for one in doubts)


def _is_news(words: frozenset[str], known: frozenset[str], met: list[frozenset[str]]) -> bool:
    """Whether neither the step's line nor an earlier sentence says it; then it is said now."""
    if len(words - known) < NEWS or any(len(words & one) >= AGAIN * len(words) for one in met):
        return False
    met.append(words)
    return True
