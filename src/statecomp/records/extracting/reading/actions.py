"""What each step of a span did: a line for the call, one head for neighbours that are alike."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from statecomp.history.interaction import Call, Interaction
from statecomp.records.extracting.arguments import (
    acted,
    acts_of,
    arguments_of,
    as_diff,
    edit_of,
    pairs_of,
    target_of,
    told,
)
from statecomp.records.extracting.ending import Ending, endings_of
from statecomp.records.extracting.lengthy import briefly
from statecomp.records.extracting.pieces import FENCED, LONGEST, in_a_row, one_line, shortened
from statecomp.records.extracting.reading.calls import (
    ALIKE,
    LONG,
    alike,
    apart,
    as_text,
    changed,
    common_of,
    likeness,
)
from statecomp.records.extracting.reading.size import NOTHING, size_of, words_of_answer
from statecomp.records.extracting.units import MERGED, of_step, parts_of
from statecomp.records.extracting.unwrap import Payload

LONGEST_LINE, SHORTEST_LINE = 300, 36
CAUSE_CHARS = 120
SENT = 60
"""Arguments of up to this many characters are shown as they were sent."""
GROUP = 3
"""So many neighbours that differ in a few arguments only share a head."""
MESSAGE = "a message, no tool answered: "
CALLS = 12
"""Calls of one step that are told apart."""


@dataclass(frozen=True, slots=True)
class Action:
    """What a step did; in a group that is its own part of the call, below the group's head."""

    text: str
    head: str = ""


def actions_of(span: Sequence[Interaction]) -> Iterator[Action]:
    """What each step did, neighbours that differ in a few arguments under one head."""
    place = 0
    while place < len(span):
        stop = place + 1
        while stop < len(span) and alike(span[place], span[stop]):
            stop += 1
        run = span[place:stop]
        common = common_of([member.calls[0] for member in run]) if len(run) >= GROUP else {}
        if len(as_text(common)) >= SHORTEST_LINE // 2:
            head = shortened(f"{run[0].calls[0].name} {as_text(common)}", LONGEST_LINE)
            head = f"{run[0].number}-{run[-1].number}. each {head}"
            yield Action(_part(run[0], common), head)
            yield from (Action(_part(member, common)) for member in run[1:])
        else:
            stop = place + 1
            yield _action(span, place)
        place = stop


def _part(member: Interaction, common: dict[str, str]) -> str:
    return apart(member.calls[0], common) or "the same"


def _action(span: Sequence[Interaction], place: int) -> Action:
    """What a step did; a version of the program that an earlier step ran is called so."""
    member = span[place]
    action = action_of(member)
    if len(member.calls) > 1:
        names = ", ".join(dict.fromkeys(call.name for call in member.calls))
        same = as_text(common_of(member.calls)) if "," not in names else ""
        return Action(one_line(f"{len(member.calls)} calls of {names} {same}"))
    # What begins alike would read alike; else a step may go on with the one before it.
    begun = (other for other in reversed(span[:place]) if action_of(other)[:LONG] == action[:LONG])
    before = next(begun, span[place - 1] if place else None)
    if (
        before
        and member.calls
        and len(action) > LONG
        and not edit_of(arguments_of(member.calls[0]))
        and not acts_of(member.calls[0])
    ):
        if alike(before, member):
            differs = _part(member, common_of((before.calls[0], member.calls[0])))
            return Action(f"{member.calls[0].name} as at step {before.number}, but {differs}")
        if likeness(before, member) > ALIKE:
            text = f"{member.calls[0].name}, much like step {before.number}"
            differs = changed(before.calls[0], member.calls[0])
            return Action(f"{text}, but {differs}" if differs else text)
    return Action(action)


class CallLine(NamedTuple):
    """One call of several with its outcome; `bare` where that is no more than a size."""

    text: str
    bare: bool = False


@of_step
def calls_of(member: Interaction) -> tuple[CallLine, ...]:
    """Each call of several with its own outcome."""
    return tuple(_calls_of(member))


def _calls_of(member: Interaction) -> Iterator[CallLine]:
    if len(member.calls) < 2 or len(member.calls) != len(member.observations):
        return
    answers = {
        seen.call_id: (_told(end, payload), sized(end, size_of([payload])))
        for seen, end, payload in zip(
            member.observations, endings_of(member), parts_of(member).payloads, strict=True
        )
    }
    one = len({call.name for call in member.calls}) == 1
    common = common_of(member.calls) if one else {}
    together = any(MERGED.match(told) for told, _ in answers.values())
    known: set[str] = set()
    for call in member.calls[:CALLS]:
        sent = shortened(apart(call, common) if one else _call_line(call), LONGEST_LINE // 2)
        told, size = answers.get(call.id, ("not answered", ""))
        again = "failed as well" if told in known else told or size
        bare = not told and size != NOTHING
        yield CallLine(sent) if together else CallLine(f"{sent} -> {again}", bare)
        known.update({told} if told.startswith("failed: ") else ())
    if len(member.calls) > CALLS:
        yield CallLine(f"and {len(member.calls) - CALLS} more calls")


def _told(ending: Ending, payload: Payload) -> str:
    """What came of one call of several, where its line can say it."""
    if ending.failed:
        return f"failed: {shortened(ending.cause, CAUSE_CHARS)}" if ending.cause else "failed"
    if told := ending.verdict or (f"said: {ending.said}" if ending.said else ""):
        return told
    words = words_of_answer(payload)
    return words if len(words) <= CAUSE_CHARS else ""


def sized(ending: Ending, size: str) -> str:
    """How much was answered, and that it went well where that is known."""
    return f"ok, {size}" if ending.well and size else size


@of_step
def action_of(member: Interaction) -> str:
    """The calls as they were sent, or the command in the assistant's text."""
    if member.calls:
        return "; ".join(_call_line(call) for call in member.calls)
    if not member.observations:
        return MESSAGE + (one_line(member.said) or "(nothing said)")
    if message := acted(member.said):
        return one_line(told(message[0])) or "(nothing done)"
    blocks = FENCED.findall(member.said)
    return in_a_row(blocks[-1] if blocks else member.said) or "(nothing said)"


def _call_line(call: Call) -> str:
    """The call, without JSON's quoting where there is more than a little of it."""
    arguments = call.arguments
    given = arguments_of(call)
    if edit := edit_of(given):
        # Lines are joined, blanks inside them stay: what is edited next must match them.
        lines = (line.strip() for line in as_diff(*edit).split("\n"))
        return " ".join((f"{call.name} {one_line(target_of(given))}:", *filter(None, lines)))
    if len(arguments) > SENT:
        pairs = pairs_of(call)
        arguments = as_text(pairs) if len(pairs) > 1 else next(iter(pairs.values()), "")
    return briefly(one_line(f"{call.name} {arguments}"), LONGEST)
