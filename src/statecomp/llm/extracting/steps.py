"""What each step of a span did and how it ended, one line a step."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from statecomp.history.interaction import Interaction
from statecomp.llm.extracting.ending import Ending, ending_of
from statecomp.llm.extracting.pieces import one_line, shortened
from statecomp.llm.extracting.reading.actions import (
    CAUSE_CHARS,
    LONGEST_LINE,
    SHORTEST_LINE,
    action_of,
    actions_of,
    calls_of,
)
from statecomp.llm.extracting.reading.calls import NEARLY, likeness, same
from statecomp.llm.extracting.reading.results import results_of
from statecomp.llm.extracting.units import Unit
from statecomp.llm.record import Record

SHARE = 0.75
"""How much of the room the steps' own lines may take; the rest is for units."""
RETRIES = 6
"""How many steps after the span are looked at for a success of the same call."""
LINES = 8
"""The length of an output is told where it has more lines than this."""


@dataclass(frozen=True, slots=True)
class KnownStep:
    """What is known of one interaction before any line is written.

    `below` tells the calls of one step apart; `head` is what the step and those after it share;
    `went_through_at` is the later step that sent the same call and did not fail; `followed` says
    that one like it did not.
    """

    number: int
    kind: str
    action: str
    ending: Ending
    lines: int
    results: tuple[str, ...] = ()
    below: tuple[str, ...] = ()
    head: str = ""
    grouped: bool = False
    went_through_at: int = 0
    followed: bool = False


@dataclass(frozen=True, slots=True)
class Outline:
    """The lines of a span's steps, each with the step's place in it, or -1 where it has none."""

    lines: tuple[tuple[int, str], ...]
    failures: tuple[str, ...] = ()
    unresolved: tuple[str, ...] = ()
    locations: tuple[str, ...] = ()

    @property
    def record(self) -> Record:
        return Record(
            facts=tuple(line for _, line in self.lines),
            locations=self.locations,
            failures=self.failures,
            unresolved=self.unresolved,
        )


def steps_of(
    span: Sequence[Interaction], after: Sequence[Interaction], units: Sequence[Unit]
) -> list[KnownStep]:
    """The steps of the span; those `after` it may show that a failure was overcome."""
    known = (*span, *after[:RETRIES])
    endings = [ending_of(member) for member in known]
    results = results_of(units)
    actions = list(actions_of(span))
    return [
        KnownStep(
            number=member.number,
            kind=_kind(member),
            action=actions[place].text,
            ending=endings[place],
            lines=_line_count(member),
            results=results.get(place, ()),
            below=tuple(calls_of(member)),
            head=actions[place].head,
            grouped=actions[place].grouped,
            went_through_at=_success(place, known, endings, same),
            followed=bool(_success(place, known, endings, _alike)),
        )
        for place, member in enumerate(span)
    ]


def _line_count(member: Interaction) -> int:
    text = member.observed
    return text.count("\n") + 1 if text else 0


def _alike(one: Interaction, other: Interaction) -> bool:
    return likeness(one, other) >= NEARLY


def _success(
    place: int,
    known: Sequence[Interaction],
    endings: Sequence[Ending],
    alike: Callable[[Interaction, Interaction], bool],
) -> int:
    """The later step with such a call that went through, if none failed after it."""
    if not endings[place].failed:
        return 0
    found = 0
    for later in range(place + 1, len(known)):
        if alike(known[place], known[later]):
            bad = endings[later].failed or endings[later].said
            found = 0 if bad else found or known[later].number
    return found


def outline(steps: Sequence[KnownStep], room: int, count: Callable[[str], int]) -> Outline:
    """A line for each step, as long as the room allows; in the worst case one for several."""
    limit = max(SHORTEST_LINE, min(LONGEST_LINE, int(room * 4 * SHARE) // max(1, len(steps))))
    told = _written(steps, limit)
    while count("\n".join(told.record.facts)) > room * SHARE and limit > SHORTEST_LINE:
        limit = max(SHORTEST_LINE, limit * 3 // 4)
        told = _written(steps, limit)
    while count(told.record.body) > room and len(told.failures) > 1:
        told = replace(told, failures=told.failures[1:])
    return told if count(told.record.body) <= room else _merged(steps, room, count)


def _written(steps: Sequence[KnownStep], limit: int) -> Outline:
    failed = [step for step in steps if step.ending.failed]
    left = [step for step in failed if not (step.went_through_at or step.followed)]
    open_ends = ", ".join(str(step.number) for step in left)
    unresolved = f"no later success of the same call seen for steps {open_ends}"
    lines: list[tuple[int, str]] = []
    before = ""
    for place, step in enumerate(steps):
        if step.head:
            lines.append((-1, step.head))
        lines.append((place, _fact(step, limit, before, step.grouped)))
        before = "" if step.ending.failed else _result(step, limit)
    return Outline(
        lines=tuple(lines),
        failures=tuple(_failures(failed, limit)),
        unresolved=(unresolved,) if open_ends else (),
    )


def _fact(step: KnownStep, limit: int, before: str, grouped: bool) -> str:
    size = f" ({step.lines} lines)" if step.lines > LINES else ""
    result = _result(step, limit)
    if grouped and result and result == before:
        result, size = "likewise", ""
    line = f"{step.number}. {shortened(step.action, max(limit - len(result), limit // 2))}"
    line = f"{line} -> {result}{size}" if result else f"{line}{size}"
    return "\n  ".join((line, *step.below))


def _result(step: KnownStep, room: int) -> str:
    """The verdict, or the result where it fits whole: half a value reads like a whole one."""
    if step.below:
        bad = sum(1 for line in step.below if " -> failed" in line)
        return f"{bad} of {len(step.below)} failed" if bad else "ok"
    if step.ending.failed:
        return "failed"
    if step.ending.verdict:
        return step.ending.verdict
    if step.ending.said:
        return f"said: {step.ending.said}"
    news = (_unsent(text, step.action) for text in step.results)
    fitting = (text for text in news if text and len(text) <= max(room * 3 // 2, SHORTEST_LINE))
    if found := next(fitting, ""):
        return found
    return "ok" if step.ending.well else "shown" if step.lines else ""


def _unsent(result: str, action: str) -> str:
    """A result without the arguments it repeats."""
    return "; ".join(part for part in result.split("; ") if ": " not in part or part not in action)


def _failures(failed: Sequence[KnownStep], limit: int) -> Iterator[str]:
    """Each cause once, with the steps that met it."""
    causes: dict[str, list[KnownStep]] = {}
    for step in failed:
        if step.ending.cause:
            cause = shortened(step.ending.cause, max(limit, CAUSE_CHARS))
            causes.setdefault(cause, []).append(step)
    for cause, (first, *others) in causes.items():
        notes = []
        if others:
            notes.append(f"again at {', '.join(str(step.number) for step in others)}")
        if (others or [first])[-1].went_through_at:
            notes.append(f"the same call went through at {(others or [first])[-1].went_through_at}")
        yield f"{first.number}: {cause}" + (f" ({'; '.join(notes)})" if notes else "")


def _merged(steps: Sequence[KnownStep], room: int, count: Callable[[str], int]) -> Outline:
    """One line for neighbours of a kind; the earliest go first where even that is too long."""
    facts = [(-1, line) for line in _runs(steps)]
    while len(facts) > 1 and count(Outline(tuple(facts)).record.body) > room:
        del facts[: max(1, len(facts) // 8)]
    return Outline(tuple(facts))


def _runs(steps: Sequence[KnownStep]) -> Iterator[str]:
    for (kind, failed), run in groupby(steps, key=lambda step: (step.kind, step.ending.failed)):
        first, *others = run
        numbers = f"{first.number}-{others[-1].number}" if others else str(first.number)
        ended = " -> failed" if failed else ""
        yield f"{numbers}. {shortened(kind, SHORTEST_LINE)}{ended}"


def _kind(member: Interaction) -> str:
    if member.calls:
        return one_line(", ".join(dict.fromkeys(call.name for call in member.calls)))
    return action_of(member).split(" ", 1)[0]
