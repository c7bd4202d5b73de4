"""Records by a chat model: one question a span, and nothing of the answer is taken on trust."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from difflib import SequenceMatcher
from importlib.resources import files
from typing import Any, TypeAlias

from statecomp.errors import SummaryFailed
from statecomp.history.interaction import Interaction
from statecomp.history.situation import Situation
from statecomp.llm.chat import NOTHING_USED, Chat, ChatFailed, ChatUsage
from statecomp.llm.record import Objection, Record
from statecomp.llm.verify import inventions, mended
from statecomp.llm.writing.answer import (
    ENTRIES,
    RECORDS,
    WrittenRecords,
    parse_entries,
    parse_written,
)
from statecomp.llm.writing.language import another_language
from statecomp.llm.writing.question import question
from statecomp.tokens import ESTIMATE

Span: TypeAlias = Sequence[Interaction]
BATCH_CHARS, BATCH_SPANS = 120_000, 4
"""What is asked for in one question: instructions and situation are read once for all of it."""
NEAREST_LINES, LINE_CHARS = 3, 200
"""What a writer is shown of its source beside a name it made up."""
KEEP_NOTHING = '\n8. Keep nothing: "again" is empty, and there is one record, of all steps.\n'
READ_LINES = 2_000
"""Of which the nearest are sought: a longer source is read from its end."""


class ChatSummarizer:
    """A Summarizer that asks a chat; whatever goes wrong is SummaryFailed, with the reason.

    The writer may object: steps whose exact text is still needed stay, and the rest is recorded
    run by run (`Objection`).  Unless `objects` is false, as in the paper.  It is told once which
    names it made up, and may mend them.

    `on_side_call` hears what every billed call cost, also those whose answer could not be used.
    `limit_chars` keeps a span with huge observations within the window of the model.
    """

    def __init__(
        self,
        chat: Chat,
        *,
        objects: bool = True,
        max_tokens: int = 4096,
        deadline_s: float = 30.0,
        count: Callable[[str], int] = ESTIMATE,
        limit_chars: int | None = None,
        on_side_call: Callable[[str, ChatUsage], None] | None = None,
    ) -> None:
        self._chat = chat
        self._objects = objects
        self._max_tokens = max_tokens
        self._deadline_s = deadline_s
        self._count = count
        self._limit_chars = limit_chars
        self._on_side_call = on_side_call
        self._written: dict[tuple[str, ...], WrittenRecords] = {}  # not asked for yet

    def summarize(self, span: Sequence[Interaction], situation: Situation) -> Record:
        """What the model says of the span, if it is shorter than the span itself."""
        steps = [member.number for member in span]
        written = self._written.pop(_ids(span), None) or self._write(span, situation)
        if written.keep and not self._objects:
            raise SummaryFailed("the summary leaves steps out")
        members = {member.number: member for member in span}
        records = {}
        for (first, last), record in written.records.items():
            run = [members[step] for step in steps if first <= step <= last]
            records[first, last] = self._checked(record, run, situation)
        if written.keep:
            raise Objection(written.keep, records)
        return records[steps[0], steps[-1]]

    def knows(self, span: Sequence[Interaction]) -> bool:
        """Whether it was written already, together with another."""
        return _ids(span) in self._written

    def asked_about(self, span: Sequence[Interaction], situation: Situation) -> list[Span]:
        """The span, and those it is cheaper to ask for together with it, in their order."""
        together: list[Span] = [span]
        room = BATCH_CHARS - _chars(span)
        for other in reversed(situation.also):
            room -= _chars(other)
            if room < 0 or len(together) == BATCH_SPANS:
                break
            together.insert(0, other)
        return together

    def _write(self, span: Span, situation: Situation) -> WrittenRecords:
        """One question for all that is asked at once; what is not this span's is kept for later."""
        spans = self.asked_about(span, situation)
        asked = question(spans, situation, limit_chars=self._limit_chars)
        system = prompt("summarize") + ("" if self._objects else KEEP_NOTHING)
        room = self._max_tokens * len(spans)
        answer = self._ask("summary", system, asked, room, RECORDS)
        for other in spans:
            if other is not span:
                # One that cannot be read is asked for again, alone.
                with suppress(SummaryFailed):
                    steps = [member.number for member in other]
                    self._written[_ids(other)] = parse_written(answer, steps, alone=False)
        steps = [member.number for member in span]
        return parse_written(answer, steps, alone=len(spans) == 1)

    def _checked(self, record: Record, run: Sequence[Interaction], situation: Situation) -> Record:
        record = self._mended(record, run, situation)
        written = self._count(record.body)
        text = "\n".join(interaction.text for interaction in run)
        if other := another_language(record.body, "\n".join((text, *situation.asked))):
            raise SummaryFailed(f"the summary is in {other}, its source is not")
        source = self._count(text)
        if written >= source:
            raise SummaryFailed(
                f"the summary takes {written:,} tokens, its source takes {source:,}"
            )
        return record

    def _mended(self, record: Record, run: Sequence[Interaction], situation: Situation) -> Record:
        """The record after its writer was told what it made up; the rest is for the ledger."""
        made_up = inventions(record, run, situation)
        if not made_up:
            return record
        try:
            told = _told(made_up, run)
            answer = self._ask("mend", prompt("mend"), told, 1024, ENTRIES)
        except SummaryFailed:
            return record
        new = parse_entries(answer)
        mends = {entry: new[n] for n, entry in enumerate(made_up, start=1) if n in new}
        return mended(record, mends) or record

    def _ask(
        self, kind: str, system: str, asked: str, max_tokens: int, schema: Mapping[str, Any]
    ) -> str:
        try:
            completion = self._chat.ask(
                system, asked, max_tokens=max_tokens, schema=schema, deadline_s=self._deadline_s
            )
        except ChatFailed as error:
            if error.usage != NOTHING_USED:
                self._charge(kind, error.usage)
            raise SummaryFailed(f"the summariser gave no answer: {error}") from error
        self._charge(kind, completion.usage)
        return completion.text

    def _charge(self, kind: str, usage: ChatUsage) -> None:
        if self._on_side_call is not None:
            self._on_side_call(kind, usage)


def _ids(span: Span) -> tuple[str, ...]:
    return tuple(member.id for member in span)


def _chars(span: Span) -> int:
    return sum(len(member.text) for member in span)


def prompt(name: str) -> str:
    """One of the prompts that lie beside these modules."""
    return files("statecomp.llm").joinpath("prompts", f"{name}.md").read_text("utf-8")


def _told(made_up: Mapping[str, Sequence[str]], run: Sequence[Interaction]) -> str:
    """Each entry with what was not found, and the lines of the source nearest to it."""
    text = "\n".join(member.text.replace("\\n", "\n") for member in run)
    lines = [*dict.fromkeys(line.strip()[:LINE_CHARS] for line in text.splitlines())]
    blocks = []
    for number, (entry, names) in enumerate(made_up.items(), start=1):
        near = [line for name in names for line in _nearest(name, entry, lines[-READ_LINES:])]
        shown = "\n".join(f"  | {line}" for line in dict.fromkeys(near)) or "  (none)"
        missing = ", ".join(names)
        blocks.append(f"Entry {number}: {entry}\nNot found: {missing}\nNearest lines:\n{shown}")
    return "\n\n".join(blocks)


def _nearest(name: str, entry: str, lines: Sequence[str]) -> list[str]:
    """Lines that share most with a name and the entry around it."""
    words = set(re.findall(r"\w{3,}", f"{name} {entry}".lower()))
    shared = [
        (len(words.intersection(re.findall(r"\w{3,}", line.lower()))), line) for line in lines
    ]
    best = sorted((pair for pair in shared if pair[0]), key=lambda pair: -pair[0])[:12]
    # Of the lines about the same matter, those in which something looks like the name.
    alike = sorted(
        best, key=lambda pair: -SequenceMatcher(None, name.lower(), pair[1].lower()).ratio()
    )
    return [line for _, line in alike[:NEAREST_LINES]]
