"""A span as units: every piece of it, with the step it is from and whose words it is."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import partial, wraps
from typing import Any, TypeVar

from statecomp.history.interaction import Call, Interaction
from statecomp.history.text import Kind, identifiers
from statecomp.recent import Weighed
from statecomp.records.extracting.arguments import (
    Thoughts,
    acted,
    acts_of,
    arguments_of,
    as_diff,
    command_of,
    edit_of,
    pairs_in,
    target_of,
    thoughts_of,
)
from statecomp.records.extracting.cut import cut
from statecomp.records.extracting.decode import Json
from statecomp.records.extracting.listing.alike import alike_in
from statecomp.records.extracting.markup.kinds import is_source
from statecomp.records.extracting.pieces import (
    FENCED,
    Form,
    Owner,
    Piece,
    labelled,
    one_line,
    wordless,
)
from statecomp.records.extracting.reading.noise import without_shown
from statecomp.records.extracting.reading.window import ECHO, behind_echoes
from statecomp.records.extracting.said import read_said
from statecomp.records.extracting.unwrap import Payload, unwrapped

REMEMBERED = 4096
"""Interactions whose units are kept: a span that waits is looked at again with every step."""
MERGED = re.compile(r"\W*result merged with")
"""What stands for the answer of a call that was answered together with another."""
ARGUMENT = 200
"""Characters of an argument that is a value; a longer one is a text, a program or a file."""
EDIT = 700
"""Characters of what differs in an edit that is told as a difference."""


class Place(StrEnum):
    """Whose words a unit is, and where they stood; what was `meant` is what a call was for."""

    SAID = "said"
    MEANT = "meant"
    CALL = "call"
    OBSERVED = "observed"


@dataclass(frozen=True, slots=True)
class Unit:
    """A piece in its place; `index` of `count` pieces there; `step` is its place in the span.

    `answer` is the place of the call it answers among those of the step, `alike` are the places of
    the lines that differ from it and each other in figures alone; `notes` hold what was
    found out about the piece alone, see `alone`.
    """

    text: str
    form: Form
    owner: Owner | None
    step: int
    place: Place
    index: int
    count: int
    names: Mapping[str, Kind]
    answer: int = 0
    alike: range = range(0)
    notes: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)

    @property
    def label(self) -> str:
        return self.owner.label if self.owner else ""


WORDS = (Place.SAID, Place.MEANT)
"""What the agent said beside its calls: the lines of the steps tell it, and no unit does."""
Known = TypeVar("Known")


def alone(read: Callable[[Unit], Known]) -> Callable[[Unit], Known]:
    """What can be told of a unit by itself, in whatever span it comes: read once for its piece."""
    name = f"{read.__module__}.{read.__name__}"

    @wraps(read)
    def known(unit: Unit) -> Known:
        notes = unit.notes
        if name not in notes:
            notes[name] = read(unit)
        found: Known = notes[name]
        return found

    return known


@dataclass(frozen=True, slots=True)
class NamedPiece:
    """A piece with the names in it, and what was found out about it since."""

    piece: Piece
    names: Mapping[str, Kind]
    alike: range
    notes: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Parts:
    """One interaction, unwrapped and cut."""

    payloads: tuple[Payload, ...]
    pieces: tuple[tuple[Place, tuple[NamedPiece, ...]], ...]
    notes: dict[object, Any] = field(default_factory=dict)


def _weight(parts: Parts) -> int:
    """Bytes it takes, about, with all that may be found out about it: measured on recorded runs."""
    texts = sum(len(payload.body) for payload in parts.payloads)
    return 1000 + 14 * texts + 1100 * sum(len(pieces) for _, pieces in parts.pieces)


_memory: Weighed[tuple[str, int], Parts] = Weighed(REMEMBERED, _weight)


def parts_of(member: Interaction) -> Parts:
    """What an interaction is made of, read once and remembered by its id."""
    key = (member.id, hash((member.said, member.calls, member.observations)))
    return _memory.get(key) or _memory.put(key, _read(member))


def of_step(read: Callable[[Interaction], Known]) -> Callable[[Interaction], Known]:
    """What can be told of an interaction by itself, read once and kept with its parts."""
    name = f"{read.__module__}.{read.__name__}"

    @wraps(read)
    def known(member: Interaction) -> Known:
        notes = parts_of(member).notes
        if name not in notes:
            notes[name] = read(member)
        found: Known = notes[name]
        return found

    return known


def units_of(span: Sequence[Interaction]) -> list[Unit]:
    """Every unit of the span, in order."""
    return [
        Unit(
            named.piece.text,
            named.piece.form,
            named.piece.owner,
            step,
            place,
            index,
            len(group),
            named.names,
            answer,
            named.alike,
            named.notes,
        )
        for step, member in enumerate(span)
        for (place, group), answer in zip(parts_of(member).pieces, answers_of(member), strict=True)
        for index, named in enumerate(group)
        if named.piece.text  # an empty one stands for what was left out
    ]


def answers_of(member: Interaction) -> list[int]:
    """Which call each group of pieces is of: what was said, meant and sent, then each answer."""
    places = {call.id: place for place, call in enumerate(member.calls)}
    seen = enumerate(member.observations)
    return [0, 0, 0, *(places.get(one.call_id or "", place) for place, one in seen)]


def _unwrapped(member: Interaction) -> Iterator[Payload]:
    calls = {call.id: call for call in member.calls}
    for place, seen in enumerate(member.observations):
        sent = calls.get(seen.call_id or "") or next(iter(member.calls[place:]), None)
        yield unwrapped(seen, partial(is_source, member, sent))


def _read(member: Interaction) -> Parts:
    # Reasoning is left out: a record never contains thinking.
    payloads = _apart(tuple(_unwrapped(member)), member.calls)
    message = acted(member.said)
    thoughts = message[1] if message else Thoughts(FENCED.sub("\n", without_shown(member.said)))
    said = read_said([thoughts, *map(thoughts_of, member.calls)])
    # What stands in a fence beside a call was not what was sent.
    written = _done(message[0]) if message else () if member.calls else _written(member.said)
    groups = (
        (Place.SAID, [Piece(one, Form.LINE) for one in said.stated]),
        (Place.MEANT, [Piece(one, Form.LINE) for one in said.aims]),
        (Place.CALL, [*written, *(p for c in member.calls for p in _sent(c))]),
        *(
            (Place.OBSERVED, list(_once(cut(payload.body, read=not payload.source))))
            for payload in payloads
        ),
    )
    named = (
        (place, tuple(map(NamedPiece, pieces, map(_names_in, pieces), alike_in(pieces))))
        for place, pieces in groups
    )
    return Parts(payloads, tuple(named))


def _names_in(piece: Piece) -> Mapping[str, Kind]:
    return identifiers(piece.text)


def _apart(payloads: tuple[Payload, ...], calls: Sequence[Call]) -> tuple[Payload, ...]:
    """The answers, one screen that shows what came of several calls as an answer to each."""
    merged = all(MERGED.match(payload.text) for payload in payloads[1:])
    if not calls or len(payloads) != len(calls) or not merged or ECHO not in payloads[0].text:
        return payloads
    shown = behind_echoes(payloads[0].text, [command_of(call) for call in calls])
    # How a screen ended is how its last command did.
    return (*map(Payload, shown[:-1]), replace(payloads[0], body=shown[-1])) if shown else payloads


def _once(pieces: Sequence[Piece]) -> Iterator[Piece]:
    """The pieces of an answer without those of a block that it says a second time.

    Of two copies each would be shown in part, and what is of which nobody could tell.
    """
    first: dict[tuple[Form, str, str], Owner | None] = {}
    again = False
    for piece in pieces:
        label = piece.owner.label.rpartition("; ")[2] if piece.owner else ""
        owner = first.setdefault((piece.form, piece.text, label), piece.owner)
        copied = owner is not piece.owner and piece.form in _COPIED
        again = copied and (again or len(piece.text) >= COPIED)
        yield Piece("", Form.LINE) if again else piece


_COPIED = (Form.LINE, Form.RULE, Form.ROW, Form.FIELD)
COPIED = 16
"""Characters of a piece by which a copy is known; behind it shorter ones are copies too."""


def _written(said: str) -> Iterator[Piece]:
    """What stands in the fence of a text whose action is a fence: the last is what was run."""
    for block in FENCED.findall(said)[-1:]:
        yield from cut(block, 0)


def _done(acts: Json) -> Iterator[Piece]:
    """The long texts in the acts of a message of data; its line tells the short ones."""
    if isinstance(acts, str):
        if len(acts) > ARGUMENT:
            yield from cut(acts, 0)
    else:
        inside = acts.values() if isinstance(acts, dict) else acts
        for inner in inside if isinstance(inside, Iterable) else ():
            yield from _done(inner)


def _sent(call: Call) -> Iterator[Piece]:
    """The arguments of a call: an edit as what differs, short values as fields, texts cut.

    Where much differs the old text and the new one are cut apart, each under its name.
    """
    arguments = arguments_of(call)
    if acts_of(call):
        return  # its line tells all of it
    edit = edit_of(arguments) or ()
    target = target_of(arguments)
    if edit and len(told := as_diff(*edit)) <= EDIT:
        yield Piece(told, Form.DIFF, Owner(target) if target else None)
        arguments = {k: v for k, v in arguments.items() if v not in edit}
    halves = dict(zip(edit, ("old:", "new:"), strict=False))
    for key, value in arguments.items():
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        if len(text) <= ARGUMENT and "\n" not in text.strip():
            for name, plain in pairs_in(value, key):
                if not wordless(plain):
                    yield Piece(f"{name}: {one_line(plain)}", Form.FIELD, None)
        else:
            yield from _owned(cut(value, 1), labelled(target, halves.get(text, "")), text in halves)


def _owned(pieces: Sequence[Piece], label: str, half: bool) -> Iterator[Piece]:
    """The pieces below a label; of one `half` of an edit also those that are below another."""
    owners: dict[Owner | None, Owner | None] = {None: Owner(label) if label else None}
    for piece in pieces:
        if (own := piece.owner) not in owners:
            owners[own] = Owner(labelled(label, own.label)) if half and own else own
        yield Piece(piece.text, piece.form, owners[own])
