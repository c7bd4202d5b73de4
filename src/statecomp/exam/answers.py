"""The exam for another reader: questions with their records to hand out, answers to grade."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from statecomp.annotation.labels import parsing
from statecomp.errors import BadInput
from statecomp.exam.facts import FactKind
from statecomp.exam.lines import ReaderOutcome
from statecomp.exam.questions import FAILED, SUCCEEDED, ExamQuestion, PosedQuestion
from statecomp.exam.sitting import Paper
from statecomp.exam.text import folded, places

Found = TypeVar("Found")
UNMATCHED = "unmatched"
"""An answer that is neither the right one nor a known wrong one: somebody must read it."""
ASKED = (
    "Answer from the record alone, as briefly as you can, with the exact value. "
    "If the record does not tell, answer: not stated."
)
_DECLINED = re.compile(
    r"\b(?:not (?:stated|given|known|mentioned|specified|recorded|available|shown|clear|told|said)|"
    r"unknown|unclear|cannot (?:tell|be)|does not (?:say|tell|state)|no answer|missing)\b"
)
_SUCCESS = re.compile(r"\b(?:succe\w+|passed|worked|yes|ok)\b")
_FAILURE = re.compile(r"\b(?:fail\w*|error\w*|did not|no)\b")


def sheets_out(papers: Iterable[Paper], writers: Sequence[str]) -> Iterator[dict[str, Any]]:
    """A line for every question and record, without the answer."""
    written = ((paper, writer, paper.sheets[writer]) for paper in papers for writer in writers)
    for paper, writer, sheet in written:
        for question in () if sheet.refused else paper.questions:
            yield {
                "id": name_of(question, writer),
                "span": paper.name,
                "records": writer,
                "half": paper.half,
                "kind": str(question.kind),
                "stratum": question.stratum,
                "question": question.text,
                "instruction": ASKED,
                "record": sheet.record,
            }


def name_of(question: ExamQuestion, writer: str) -> str:
    return f"{question.id}:{writer}"


def read_given(path: Path) -> dict[str, str]:
    """Records by the name of their span: lines with `span` and `record`."""
    return dict(_read(path, "record", lambda line: (str(line["span"]), str(line["record"]))))


def read_answers(path: Path) -> dict[str, str]:
    """Answers by the id of their question: lines with `id` and `answer`."""
    return dict(_read(path, "answer", lambda line: (str(line["id"]), str(line["answer"]))))


def read_questions(path: Path) -> dict[str, list[PosedQuestion]]:
    """Questions by the name of their span: lines with `span`, `question`, `answer` and `wrong`."""
    posed: dict[str, list[PosedQuestion]] = {}
    for span, question in _read(path, "question", _posed):
        posed.setdefault(span, []).append(question)
    return posed


def _posed(line: Mapping[str, Any]) -> tuple[str, PosedQuestion]:
    wrong = line.get("wrong", [])
    if not isinstance(wrong, list):
        raise ValueError("wrong answers are a list")
    question = PosedQuestion(str(line["question"]), str(line["answer"]), tuple(map(str, wrong)))
    return str(line["span"]), question


def _read(path: Path, what: str, parse: Callable[[Mapping[str, Any]], Found]) -> Iterator[Found]:
    try:
        with path.open(encoding="utf-8") as file:
            for line, text in enumerate(file, start=1):
                if text.strip():
                    with parsing(what, str(path), line):
                        yield parse(json.loads(text))
    except UnicodeDecodeError as error:
        raise BadInput("is no text; it should hold a JSON object a line", file=str(path)) from error
    except OSError as error:
        raise BadInput(f"cannot be read: {error.strerror}", file=str(path)) from error


@dataclass(frozen=True)
class Graded:
    """One answer beside what the mechanical reader made of the same record."""

    question: ExamQuestion
    half: str
    writer: str
    outcome: str
    mechanical: ReaderOutcome


def graded(papers: Iterable[Paper], answers: Mapping[str, str]) -> Iterator[Graded]:
    """Every answer that was given to a question of these papers."""
    for paper in papers:
        for writer, sheet in paper.sheets.items():
            for question, found in zip(paper.questions, sheet.findings, strict=False):
                answer = answers.get(name_of(question, writer))
                if answer is not None:
                    outcome = grade(question, answer)
                    yield Graded(question, paper.half, writer, outcome, found.outcome)


def grade(question: ExamQuestion, answer: str) -> str:
    """Right or misleading by the value that is said first, missing if none is claimed."""
    said = folded(answer)
    if question.kind is FactKind.VERDICT:
        return _verdict(question, said)
    right = next(places(question.answer, said), -1)
    known = (next(places(wrong, said), -1) for wrong in question.wrong)
    wrong = min((at for at in known if at >= 0), default=-1)
    if right >= 0 and not 0 <= wrong < right:
        return ReaderOutcome.RIGHT
    if wrong >= 0:
        return ReaderOutcome.MISLEADING
    if not said or _DECLINED.search(said):
        return ReaderOutcome.MISSING
    return UNMATCHED


def _verdict(question: ExamQuestion, said: str) -> str:
    if not said or _DECLINED.search(said):
        return ReaderOutcome.MISSING
    failed, worked = _FAILURE.search(said), _SUCCESS.search(said)
    if not failed and not worked:
        return UNMATCHED
    first = min((m for m in (failed, worked) if m), key=lambda found: found.start())
    claimed = FAILED if first is failed else SUCCEEDED
    return ReaderOutcome.RIGHT if claimed == question.answer else ReaderOutcome.MISLEADING
