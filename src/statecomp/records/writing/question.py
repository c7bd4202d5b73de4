"""What a model is asked: where the agent stands, and the steps to record, as one text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice

from statecomp.history.interaction import Interaction, Summary
from statecomp.history.situation import LATEST, Situation
from statecomp.llm.transcript import TranscriptPart, cut, delimited, parts_of
from statecomp.records.extracting.pieces import one_line, shortened
from statecomp.records.extracting.reading.actions import action_of
from statecomp.records.still_open import unwritten

ASKED_CHARS, WORDS_CHARS = 6_000, 24_000
"""Of each message of the user, as some paste whole files, and of all: the task and the newest."""
PREAMBLE_CHARS = 2_000
"""Of what is shown before the task and is none: how tools are used, a run to imitate."""
LIST_CHARS = 3_000
DOCUMENT_CHARS, DOCUMENTS = 1_200, 4
"""Of what each document begins with that the user names, and of so many: it says what is asked."""
RECORD_CHARS, RECORDS_CHARS = 2_000, 8_000
"""Of each record that stands already, and of all: the newest tell most."""
ACTION_CHARS, ACTIONS_CHARS = 160, 4_000
"""Of what each step did that stays, and of all: a seventh of what spans show stands there too."""
STEP_CHARS, PAYLOAD_CHARS = 1_500, 700
"""Of what the agent says in the last steps, and of what it hands to tools and reads there."""


def question(
    spans: Sequence[Sequence[Interaction]], situation: Situation, *, limit_chars: int | None = None
) -> str:
    """The situation and the transcript of some spans, labelled and delimited."""
    parts = [*_situation(situation, spans)]
    for span in spans:
        if len(spans) > 1:
            first, last = span[0].number, span[-1].number
            parts.append(TranscriptPart(f"a stretch of its own, steps {first} to {last}", ""))
        parts += (part for step in span for part in parts_of(step))
    return delimited(parts, limit_chars=limit_chars)


def _situation(
    situation: Situation, spans: Sequence[Sequence[Interaction]]
) -> Iterator[TranscriptPart]:
    yield from _words(situation.asked, situation.preambles)
    if noted := situation.noted(chain.from_iterable(spans)):
        yield TranscriptPart("situation: the agent's own list", cut(noted.text, LIST_CHARS))
    for line in unwritten([*chain.from_iterable(spans)], situation):
        yield TranscriptPart("situation: what is open", line)
    for path, step in islice(situation.documents.items(), DOCUMENTS):
        label = f"situation: {path}, which the user names, as step {step.number} shows it"
        yield TranscriptPart(label, step.observed[:DOCUMENT_CHARS])
    yield from _standing(situation)
    going = {step.id for span in situation.going for step in span}
    staying = [step for step in situation.interactions if step.id not in going]
    if staying:
        yield TranscriptPart("situation: steps that stay word for word", _told(staying))
    for step in staying[-LATEST:]:
        for part in parts_of(step):
            label = f"situation: the last of those that stay, {part.label}"
            most = PAYLOAD_CHARS if part.is_payload else STEP_CHARS
            yield TranscriptPart(label, cut(part.text, most))


def _told(staying: Sequence[Interaction]) -> str:
    """Their numbers, and what each did that is not shown below, the newest as far as there is room.

    Who knows what was done in them knows what need not be recorded again.
    """
    done = (
        TranscriptPart("", f"{step.number}. {shortened(one_line(action_of(step)), ACTION_CHARS)}")
        for step in reversed(staying[:-LATEST])
    )
    lines = (part.text for part in _newest(done, ACTIONS_CHARS))
    return "\n".join((_ranges([step.number for step in staying]), *lines))


def _ranges(numbers: Sequence[int]) -> str:
    """Rising numbers, with a dash for those that follow each other: `1, 4-9`."""
    runs: list[tuple[int, int]] = []
    for number in numbers:
        if runs and runs[-1][1] == number - 1:
            runs[-1] = (runs[-1][0], number)
        else:
            runs.append((number, number))
    return ", ".join(str(a) if a == b else f"{a}-{b}" for a, b in runs)


def _words(asked: Sequence[str], preambles: int) -> Iterator[TranscriptPart]:
    """The task and the newest of what the user said after it; what was said again stands once."""
    numbers = {text: number for number, text in reversed([*enumerate(asked, start=1)])}
    told = [
        TranscriptPart(
            f"situation: the user's message {number}",
            cut(text, PREAMBLE_CHARS if number <= preambles else ASKED_CHARS),
        )
        for text, number in sorted(numbers.items(), key=lambda item: item[1])
    ]
    yield from told[:1]
    room = WORDS_CHARS - sum(len(part.text) for part in told[:1])
    yield from _newest(reversed(told[1:]), room)


def _standing(situation: Situation) -> Iterator[TranscriptPart]:
    """The records that stand already, the newest as far as there is room, in their order."""
    told = [
        TranscriptPart(
            f"situation: record of steps {_steps(record)}", cut(record.text, RECORD_CHARS)
        )
        for record in situation.records
    ]
    shown = _newest(reversed(told), RECORDS_CHARS)
    older = situation.records[: len(told) - len(shown)]
    if older:
        numbers = ", ".join(map(_steps, older))
        yield TranscriptPart("situation: older records that stand too, of steps", numbers)
    yield from shown


def _newest(parts: Iterable[TranscriptPart], room: int) -> list[TranscriptPart]:
    """Of parts, newest first, as many as there is room for, in their order."""
    shown: list[TranscriptPart] = []
    for part in parts:
        room -= len(part.text)
        if room < 0:
            break
        shown.append(part)
    return shown[::-1]


def _steps(record: Summary) -> str:
    return f"{record.first}-{record.last}"
