"""What each step of a span did and how it ended, one line a step."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from statecomp.history.interaction import Call, Interaction
from statecomp.history.text import argument_text
from statecomp.llm.fragments import FENCED, Fragment, Place, one_line
from statecomp.llm.markers import ERROR, FAILURE, RAISED
from statecomp.llm.record import Record
from statecomp.llm.verify import line_count

LONGEST_LINE = 300
SHORTEST_LINE = 36
SHARE = 0.66
"""How much of its room a step's own line may take; the rest is for ranked fragments."""
RETRIES = 6
"""How many steps after a failure are looked at for a success of the same kind."""
SENT = 40
"""Arguments of up to this many characters are shown as they were sent."""


@dataclass(frozen=True, slots=True)
class Outline:
    """The part of a record that every span has; `numbers` are its interactions' numbers."""

    record: Record
    numbers: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Step:
    """What is known of one interaction before any line is written."""

    number: int
    kind: str
    action: str
    lines: int
    told: str = ""
    cause: str = ""
    retried_at: int = 0


def outline_of(
    span: Sequence[Interaction],
    fragments: Sequence[Fragment],
    chances: Sequence[float],
    room: int,
    count: Callable[[str], int],
) -> Outline:
    """A line for each step, as long as the room allows; in the worst case one for several."""
    steps = steps_of(span, fragments, chances)
    numbers = tuple(step.number for step in steps)
    limit = max(SHORTEST_LINE, min(LONGEST_LINE, int(room * 4 * SHARE) // max(1, len(steps))))
    record = _written(steps, limit)
    while count(record.body) > room and limit > SHORTEST_LINE:
        limit = max(SHORTEST_LINE, limit * 3 // 4)
        record = _written(steps, limit)
    if count(record.body) > room:
        record = _merged(steps, room, count)
    return Outline(record, numbers)


def steps_of(
    span: Sequence[Interaction], fragments: Sequence[Fragment], chances: Sequence[float]
) -> list[Step]:
    causes = _causes(fragments)
    told = _most_telling(span, fragments, chances)
    steps = [
        Step(
            number=member.number,
            kind=_kind(member),
            action=action_of(member),
            lines=line_count(member.observed),
            told=told.get(place, ""),
            cause=causes.get(place, ""),
        )
        for place, member in enumerate(span)
    ]
    return [replace(step, retried_at=_success(steps, place)) for place, step in enumerate(steps)]


def _causes(fragments: Sequence[Fragment]) -> Mapping[int, str]:
    """The line of each failed step that says why: in a traceback it is the last."""
    causes: dict[int, str] = {}
    for fragment in fragments:
        if fragment.place is not Place.OBSERVED:
            continue
        if not (fragment.failed or FAILURE.search(fragment.text)):
            continue
        known = causes.get(fragment.step)
        if known is None or not ERROR.search(known) or RAISED.match(fragment.text):
            causes[fragment.step] = fragment.text
    return causes


def _most_telling(
    span: Sequence[Interaction], fragments: Sequence[Fragment], chances: Sequence[float]
) -> Mapping[int, str]:
    best: dict[int, tuple[float, str]] = {}
    for fragment, chance in zip(fragments, chances, strict=True):
        if fragment.place is Place.OBSERVED and chance > best.get(fragment.step, (0.0, ""))[0]:
            best[fragment.step] = (chance, fragment.text)
    return {place: text for place, (_, text) in best.items()}


def _success(steps: Sequence[Step], place: int) -> int:
    """The number of the first later step that did the same kind of thing and did not fail."""
    if not steps[place].cause:
        return 0
    later = steps[place + 1 : place + RETRIES]
    return next((s.number for s in later if not s.cause and s.kind == steps[place].kind), 0)


def _written(steps: Sequence[Step], limit: int) -> Record:
    failures = (_failure(step, limit) for step in steps if step.cause)
    open_ends = ", ".join(str(s.number) for s in steps if s.cause and not s.retried_at)
    unresolved = f"no later success seen for steps {open_ends}"
    return Record(
        facts=tuple(_fact(step, limit) for step in steps),
        failures=tuple(failures),
        unresolved=(unresolved,) if open_ends else (),
    )


def _fact(step: Step, limit: int) -> str:
    size = f" ({step.lines} lines)" if step.lines > 3 else ""
    line = f"{step.number}. {shortened(step.action, limit // 2)}"
    if step.cause:
        return f"{line} -> failed{size}"
    return f"{line} -> {shortened(step.told, limit // 2)}{size}" if step.told else line


def _failure(step: Step, limit: int) -> str:
    line = f"{step.number}: {shortened(step.cause, limit // 2)}"
    return f"{line} (step {step.retried_at} then went through)" if step.retried_at else line


def _merged(steps: Sequence[Step], room: int, count: Callable[[str], int]) -> Record:
    """One line for neighbours of a kind; the earliest go first where even that is too long."""
    facts = list(_runs(steps))
    while len(facts) > 1 and count(Record(facts=tuple(facts)).body) > room:
        del facts[: max(1, len(facts) // 8)]
    return Record(facts=tuple(facts))


def _runs(steps: Sequence[Step]) -> Iterator[str]:
    for kind, run in groupby(steps, key=lambda step: step.kind):
        first, *others = run
        numbers = f"{first.number}-{others[-1].number}" if others else str(first.number)
        yield f"{numbers}. {shortened(kind, SHORTEST_LINE)}"


def _kind(member: Interaction) -> str:
    if member.calls:
        return one_line(", ".join(dict.fromkeys(call.name for call in member.calls)))
    return action_of(member).split(" ", 1)[0]


def action_of(member: Interaction) -> str:
    """The calls as they were sent, or the command in the assistant's text."""
    if member.calls:
        return "; ".join(_call_line(call) for call in member.calls)
    blocks = FENCED.findall(member.said)
    return one_line(blocks[-1] if blocks else member.said) or "(nothing said)"


def _call_line(call: Call) -> str:
    """The call, without JSON's quoting where there is more than a little of it."""
    arguments = call.arguments
    if len(arguments) > SENT:
        arguments = argument_text(arguments)
        if "\n" not in arguments or len(arguments) > LONGEST_LINE:
            arguments = arguments.partition(": ")[2] or arguments
    return one_line(f"{call.name} {arguments}")


def shortened(text: str, limit: int) -> str:
    """The text, or its beginning with three dots behind it, cut where a clause ends if one does.

    Half a value reads like a whole one.
    """
    if len(text) <= limit:
        return text
    cuts = (text.rfind(joint, limit // 3, limit) for joint in ("; ", ", ", " "))
    cut = next((place for place in cuts if place > 0), limit)
    return f"{text[:cut]} ..."
