"""What each step of a span did: a line for the call, one head for neighbours that are alike."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from statecomp.history.interaction import Call, Interaction
from statecomp.records.extracting.arguments import (
    RUN_KEYS,
    acted,
    acts_of,
    arguments_of,
    as_diff,
    edit_of,
    pairs_of,
    target_of,
    told,
)
from statecomp.records.extracting.ending import Ending, ending_of, endings_of
from statecomp.records.extracting.lengthy import briefly
from statecomp.records.extracting.pieces import LONGEST, cut_off, in_a_row, one_line, shortened
from statecomp.records.extracting.reading.calls import (
    ALIKE,
    LONG,
    alike,
    apart,
    as_text,
    changes,
    common_of,
    flat,
    likeness,
)
from statecomp.records.extracting.reading.programs import described, program_of
from statecomp.records.extracting.reading.size import NOTHING, size_of, words_of_answer
from statecomp.records.extracting.units import MERGED, of_step, parts_of
from statecomp.records.extracting.unwrap import Payload

LONGEST_LINE, SHORTEST_LINE = 300, 36
CAUSE_CHARS = 120
BACK, WELL = 8, 0.1
"""Steps back that are looked through for one that is alike, and how much nearer is one that went
well."""
SENT = 60
"""Arguments of up to this many characters are shown as they were sent."""
GROUP = 3
"""So many neighbours that differ in a few arguments only share a head."""
MESSAGE = "a message, no tool answered: "
CALLS = 12
"""Calls of one step that are told apart."""


@dataclass(frozen=True, slots=True)
class Action:
    """What a step did; in a group that is its own part of the call, below the group's head.

    A program too long to stand whole is told `shortly`, by what it is.
    """

    text: str
    shortly: str = ""
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
            yield Action(_part(run[0], common), head=head)
            yield from (Action(_part(member, common)) for member in run[1:])
        else:
            stop = place + 1
            yield _action(span, place)
        place = stop


def _part(member: Interaction, common: dict[str, str]) -> str:
    return apart(member.calls[0], common) or "the same"


def _action(span: Sequence[Interaction], place: int) -> Action:
    """What a step did; a version of what an earlier step ran is told by the difference."""
    member = span[place]
    if len(member.calls) > 1:
        names = ", ".join(dict.fromkeys(call.name for call in member.calls))
        same = as_text(common_of(member.calls)) if "," not in names else ""
        return Action(one_line(f"{len(member.calls)} calls of {names} {same}"))
    action = sent_by(member)
    if len(action.text) > LONG and _is_compared(member):
        likes = ((_closeness(other, member), other) for other in span[max(0, place - BACK) : place])
        close, other = max(likes, key=lambda like: (like[0], like[1].number), default=(0.0, member))
        if close and (version := _version(other, member)):
            return Action(version, action.shortly or action.text)
    return action


@of_step
def _is_compared(member: Interaction) -> bool:
    """Whether it is one call; edits and messages of data say what they change."""
    call = member.calls[0] if len(member.calls) == 1 else None
    return call is not None and not edit_of(arguments_of(call)) and not acts_of(call)


def _closeness(other: Interaction, member: Interaction) -> float:
    """How near an earlier step is, a little nearer if it went well; 0 where it is no version."""
    like = likeness(other, member) if _is_compared(other) else 0.0
    if like <= ALIKE and not (like and alike(other, member)):
        return 0.0
    ending = ending_of(other)
    return like if ending.failed or ending.said else like + WELL


def _version(other: Interaction, member: Interaction) -> str:
    name, differs = member.calls[0].name, changes(other, member)
    if differs is None:
        return ""
    as_at = f"as at step {other.number}, but {differs}"
    return f"{name} {as_at if differs else f'the same as at step {other.number}'}"


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
        sent = apart(call, common) if one else fitting(_call_line(call), LONGEST_LINE // 2)
        told, size = answers.get(call.id, ("not answered", ""))
        again = "failed as well" if told in known else told or size
        bare = not told and size != NOTHING
        yield CallLine(sent) if together else CallLine(f"{sent} -> {again}", bare)
        known.update({told} if told.startswith("failed") else ())
    if len(member.calls) > CALLS:
        yield CallLine(f"and {len(member.calls) - CALLS} more calls")


def _told(ending: Ending, payload: Payload) -> str:
    """What came of one call of several, where its line can say it."""
    if ending.failed:
        return ending.told(2 * CAUSE_CHARS)
    if told := ending.verdict or (f"said: {ending.said}" if ending.said else ""):
        return told
    words = words_of_answer(payload)
    return words if len(words) <= CAUSE_CHARS else ""


def sized(ending: Ending, size: str) -> str:
    """How much was answered, and that it went well where that is known."""
    return f"ok, {size}" if ending.well and size else size


def action_of(member: Interaction) -> str:
    """The calls as they were sent, or the command in the assistant's text."""
    return sent_by(member).text


@of_step
def sent_by(member: Interaction) -> Action:
    """What a step sent, whatever stands before it."""
    if len(member.calls) == 1:
        return _call_line(member.calls[0])
    if member.calls:
        return Action("; ".join(_call_line(call).text for call in member.calls))
    if not member.observations:
        return Action(MESSAGE + (one_line(member.said) or "(nothing said)"))
    if message := acted(member.said):
        return Action(one_line(told(message[0])) or "(nothing done)")
    program = program_of(member)
    text = in_a_row(program or member.said) or "(nothing said)"
    return Action(text, described(program) if len(text) > LONG else "")


def _call_line(call: Call) -> Action:
    """The call, without JSON's quoting where there is more than a little of it."""
    given = arguments_of(call)
    if edit := edit_of(given):
        # Lines are joined, blanks inside them stay: what is edited next must match them.
        lines = (line.strip() for line in as_diff(*edit).split("\n"))
        head = f"{call.name} {one_line(target_of(given))}:"
        return Action(briefly(" ".join((head, *filter(None, lines))), LONGEST))
    if len(call.arguments) <= SENT:
        return Action(one_line(f"{call.name} {call.arguments}"))
    pairs = pairs_of(call)
    if len(pairs) > 1:
        whole, short = as_text(pairs, LONGEST_LINE), as_text(pairs)
        return Action(f"{call.name} {whole}", f"{call.name} {short}")
    key, value = next(iter(pairs.items()), ("", ""))
    text = f"{call.name} {flat(key, value)}"
    what = described(value, runs=key in RUN_KEYS) if len(text) > LONG else ""
    return Action(text, f"{call.name} {what}" if what else "")


def fitting(action: Action, room: int) -> str:
    """The action as it was sent, or what it is, where it is longer than there is room for."""
    if len(action.text) <= room or not action.shortly:
        return shortened(action.text, room)
    told = cut_off(action.shortly, room)
    return f'{told}"' if told.count('"') % 2 else told
