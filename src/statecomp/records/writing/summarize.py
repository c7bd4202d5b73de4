"""Records by a chat model: few questions at once, and nothing of an answer is taken on trust."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from difflib import SequenceMatcher
from functools import cache
from importlib.resources import files
from typing import Any, TypeAlias

from statecomp.errors import SummaryFailed
from statecomp.history.interaction import Interaction, Segment
from statecomp.history.situation import Situation
from statecomp.llm.chat import (
    NOTHING_USED,
    Chat,
    ChatFailed,
    ChatUsage,
    Completion,
    QuestionFailed,
)
from statecomp.records.record import Objection, Record
from statecomp.records.verify import inventions
from statecomp.records.writing.answer import (
    ENTRIES,
    RECORDS,
    WrittenRecords,
    parse_entries,
    parse_written,
)
from statecomp.records.writing.language import another_language
from statecomp.records.writing.question import question
from statecomp.tokens import ESTIMATE

Span: TypeAlias = Sequence[Interaction]
BATCH_CHARS, BATCH_SPANS = 120_000, 4
"""What is asked for in one question: instructions and situation are read once for all of it."""
LIMIT_CHARS = 400_000
"""Of a question: so much fits into the window of most models."""
AT_ONCE = 4
"""Questions that are asked at the same time, where the spans of a rewrite take several."""
MOST_TOKENS, MEND_TOKENS = 8192, 2048
"""Of an answer, what its model thinks included, and of a mend: some providers allow no more."""
NEAREST_LINES, LINE_CHARS = 3, 200
"""What a writer is shown of its source beside a name it made up."""
KEEP_NOTHING = '\n8. Keep nothing: "again" is empty, and there is one record, of all steps.\n'
NO_ANSWER = "the summariser gave no answer"
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
        max_tokens: int = MOST_TOKENS,
        deadline_s: float = 30.0,
        count: Callable[[str], int] = ESTIMATE,
        limit_chars: int = LIMIT_CHARS,
        on_side_call: Callable[[str, ChatUsage], None] | None = None,
    ) -> None:
        self._chat = chat
        self._objects = objects
        self._max_tokens = max_tokens
        self._deadline_s = deadline_s
        self._count = count
        self._limit_chars = limit_chars
        self._on_side_call = on_side_call
        # Written or failed together with others, and not asked for yet.
        self._written: dict[tuple[str, ...], WrittenRecords | SummaryFailed] = {}
        self._bills: dict[tuple[str, ...], list[ChatUsage]] = {}

    def summarize(self, span: Sequence[Interaction], situation: Situation) -> Record:
        """What the model says of the span, if it is shorter than the span itself."""
        steps = [member.number for member in span]
        written = self._taken(span, situation)
        if written.keep and (situation.finished or not self._objects):
            raise SummaryFailed("the summary leaves steps out")
        members = {member.number: member for member in span}
        records = {}
        for (first, last), record in written.records.items():
            run = [members[step] for step in steps if first <= step <= last]
            records[first, last] = self._checked(record, run, situation, self._bill(span))
        if written.keep:
            raise Objection(written.keep, records)
        return records[steps[0], steps[-1]]

    def knows(self, span: Sequence[Interaction]) -> bool:
        """Whether it was written already, together with another."""
        return _ids(span) in self._written

    def batches(self, span: Sequence[Interaction], situation: Situation) -> list[list[Span]]:
        """All that is asked for with a span: what is cheaper together is one question.

        The first question is about the span itself; in each the spans are in their order.
        """
        batches: list[list[Span]] = [[span]]
        room = BATCH_CHARS - _chars(span)
        for other in reversed(situation.also):
            room -= _chars(other)
            if room < 0 or len(batches[-1]) == BATCH_SPANS:
                batches.append([])
                room = BATCH_CHARS - _chars(other)
            batches[-1].insert(0, other)
        return batches[:AT_ONCE]

    def bill(self, span: Sequence[Interaction]) -> list[ChatUsage]:
        """What was spent on a span and not told yet; the first of a question bears all of it."""
        return self._bills.pop(_ids(span), [])

    def _bill(self, span: Span) -> list[ChatUsage]:
        return self._bills.setdefault(_ids(span), [])

    def _taken(self, span: Span, situation: Situation) -> WrittenRecords:
        """What was written of a span, now or before; one that failed has failed once."""
        if not self.knows(span):
            self._write(span, situation)
        written = self._written.pop(_ids(span))
        if isinstance(written, SummaryFailed):
            raise written
        return written

    def _write(self, span: Span, situation: Situation) -> None:
        """All questions at once; what comes of each is kept until its spans are asked for."""
        batches = self.batches(span, situation)

        def asked(batch: Sequence[Span]) -> Completion | ChatFailed:
            told = question(batch, situation, limit_chars=self._limit_chars)
            system = self._instructions(situation)
            return self._answer(system, told, max_tokens=self._max_tokens, schema=RECORDS)

        if len(batches) == 1:
            answers = [asked(batches[0])]
        else:
            with ThreadPoolExecutor(len(batches), thread_name_prefix="statecomp-record") as pool:
                answers = list(pool.map(asked, batches))
        for batch, answer in zip(batches, answers, strict=True):
            self._keep(batch, answer)

    def _answer(
        self, system: str, told: str, *, max_tokens: int, schema: Mapping[str, Any]
    ) -> Completion | ChatFailed:
        try:
            return self._chat.ask(
                system, told, max_tokens=max_tokens, schema=schema, deadline_s=self._deadline_s
            )
        except ChatFailed as error:
            return error

    def _keep(self, batch: Sequence[Span], answer: Completion | ChatFailed) -> None:
        self._charge("summary", answer.usage, self._bill(batch[-1]))
        for span in batch:
            steps = [member.number for member in span]
            try:
                if isinstance(answer, QuestionFailed):
                    raise SummaryFailed(str(answer))
                if isinstance(answer, ChatFailed):
                    raise SummaryFailed(f"{NO_ANSWER}: {answer}") from answer
                written = parse_written(answer.text, steps, alone=len(batch) == 1)
            except SummaryFailed as error:
                # One that a shared answer leaves out is asked for again, alone.
                if span is batch[-1] or isinstance(answer, ChatFailed):
                    self._written[_ids(span)] = error
            else:
                self._written[_ids(span)] = written

    def _instructions(self, situation: Situation) -> str:
        keeps = self._objects and not situation.finished
        parts = (prompt("summarize"), "" if keeps else KEEP_NOTHING)
        return "".join((*parts, prompt("finished") if situation.finished else ""))

    def _checked(
        self, record: Record, run: Span, situation: Situation, bill: list[ChatUsage]
    ) -> Record:
        record = self._mended(record, run, situation, bill)
        written = self._count(record.body)
        text = "\n".join(interaction.text for interaction in run)
        agent = "\n".join(interaction.said for interaction in run)
        if other := another_language(record.body, text, agent, "\n".join(situation.asked)):
            raise SummaryFailed(f"the summary is in {other}, its source is not")
        source = self._count(text)
        if written >= source:
            raise SummaryFailed(
                f"the summary takes {written:,} tokens, its source takes {source:,}"
            )
        return replace(record, by=self._chat.model)

    def _mended(
        self, record: Record, run: Span, situation: Situation, bill: list[ChatUsage]
    ) -> Record:
        """The record after its writer was told what it made up; the rest is for the ledger."""
        made_up = inventions(record, run, situation)
        if not made_up:
            return record
        told = _told(made_up, run)
        answer = self._answer(prompt("mend"), told, max_tokens=MEND_TOKENS, schema=ENTRIES)
        self._charge("mend", answer.usage, bill)
        if isinstance(answer, ChatFailed):
            return record
        new = parse_entries(answer.text)
        mends = {entry: new[n] for n, entry in enumerate(made_up, start=1) if n in new}
        return record.changed(mends) or record

    def _charge(self, kind: str, usage: ChatUsage, bill: list[ChatUsage]) -> None:
        if usage == NOTHING_USED:
            return
        bill.append(usage)
        if self._on_side_call is not None:
            self._on_side_call(kind, usage)


def _ids(span: Span) -> tuple[str, ...]:
    return tuple(member.id for member in span)


def _chars(span: Span) -> int:
    return sum(len(member.text) for member in span)


def asked_beside(segments: Sequence[Segment]) -> int:
    """Tokens of a question about some steps of these beside the steps: instructions, situation."""
    return ESTIMATE(prompt("summarize")) + ESTIMATE(question((), Situation(before=(*segments,))))


@cache
def prompt(name: str) -> str:
    """One of the prompts that lie beside these modules."""
    return files("statecomp.records").joinpath("prompts", f"{name}.md").read_text("utf-8")


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
