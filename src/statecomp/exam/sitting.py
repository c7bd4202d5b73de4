"""One run examined: its spans, the questions about each, and what each writer's record answers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from statecomp.annotation.records import Reading
from statecomp.errors import SummaryFailed
from statecomp.exam.lines import ReaderFinding, RecordText
from statecomp.exam.measures import NONE, WHOLE, Integrity, LabelledValues, Share, false_failures
from statecomp.exam.questions import (
    ExamQuestion,
    PosedQuestion,
    groups_of,
    posed_questions,
    questions_of,
    verdict_questions,
)
from statecomp.exam.reader import find
from statecomp.exam.spans import Exam, Ready, exams
from statecomp.exam.writers import ExamWriter
from statecomp.llm.transcript import transcript

SMALLEST = 200
"""Tokens; a shorter span is replaced by nobody."""
NOBODY_ASKS: Mapping[str, Sequence[PosedQuestion]] = {}


@dataclass(frozen=True)
class ExamSheet:
    """One writer's record of one span, and what was found in it."""

    record: str
    tokens: int
    findings: tuple[ReaderFinding, ...] = ()
    integrity: Integrity = WHOLE
    false_failed: Share = NONE
    refused: str = ""


@dataclass(frozen=True)
class Paper:
    """One span with its questions; a sheet for each writer by the name it was asked for under.

    `transcript` is the span as a writer is given it; `left_out` are the posed questions that could
    not be asked, by the reason.
    """

    name: str
    domain: str
    half: str
    source_tokens: int
    questions: tuple[ExamQuestion, ...]
    transcript: str = ""
    sheets: Mapping[str, ExamSheet] = field(default_factory=dict)
    left_out: Mapping[str, int] = field(default_factory=dict)


def sit(
    reading: Reading,
    ready: Ready,
    writers: Mapping[str, ExamWriter],
    count: Callable[[str], int],
    posed: Mapping[str, Sequence[PosedQuestion]] = NOBODY_ASKS,
) -> Iterator[Paper]:
    """A paper for every span of the run that is worth a record.

    `posed` are questions that somebody else made, by the name of their span.
    """
    for exam in exams(reading, ready):
        source = "\n".join(member.text for member in exam.span)
        tokens = count(source)
        if tokens < SMALLEST:
            continue
        others, left_out = posed_questions(exam, posed.get(exam.name, ()))
        asked = (*questions_of(exam), *others)
        labelled = LabelledValues.of(list(groups_of(exam)), source)
        verdicts = verdict_questions(exam)
        sheets: dict[str, ExamSheet] = {}
        length = 0
        for name, writer in writers.items():
            sheet = _sheet(exam, writer, length, asked, labelled, verdicts, count)
            length = length or sheet.tokens
            sheets[name] = sheet
        text = transcript(exam.span)
        yield Paper(exam.name, exam.domain, exam.half, tokens, asked, text, sheets, left_out)


def _sheet(
    exam: Exam,
    writer: ExamWriter,
    length: int,
    asked: Sequence[ExamQuestion],
    labelled: LabelledValues,
    verdicts: Sequence[ExamQuestion],
    count: Callable[[str], int],
) -> ExamSheet:
    try:
        body = writer.write(exam, length)
    except SummaryFailed as failure:
        return ExamSheet("", 0, refused=str(failure))
    record = RecordText(body)
    return ExamSheet(
        body,
        count(body),
        tuple(find(question, record) for question in asked),
        labelled.integrity(record),
        false_failures(verdicts, record),
    )
