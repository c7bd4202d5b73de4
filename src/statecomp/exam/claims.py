"""How a record says its steps ended.

A verdict is what the entries of a step say in the record's own words, behind the arrow or under
"Failure causes", or a status line; a word quoted from the step is none.  Where no verdict is given,
an outcome that is shown without a word of failure came about, and one with such a word failed.  An
outcome stands behind an arrow, or as a writer tells it: "4. listed the tables: 20", "5. read it".
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from statecomp.exam.lines import Line, ReaderFinding, ReaderOutcome, RecordText
from statecomp.exam.questions import FAILED, SUCCEEDED, ExamQuestion

_FAILING = re.compile(
    r"\b(?:failed|failure|fails|[a-z]*errors?|error'd|not available|unsuccessful\w*|"
    r"crashed|timed out|did not (?:work|succeed|run)|could not|couldnt|not found|denied|refused|"
    r"rejected|exception|traceback)\b"
)
_WORKING = re.compile(
    r"\b(?:succe\w+|passed|passes|worked|works|completed|ok|done|created|added|updated|saved|wrote|"
    r"written|returned|confirmed|deleted|set)\b"
)
_STATUS_BAD = re.compile(
    r"(?:return[_ ]?code|exit[_ ]?(?:code|status))(?: was|[:=>\s])*-?[1-9]|"
    r"success: ?false|is_?error: ?true|status_code: ?[45]\d\d"
)
_STATUS_GOOD = re.compile(
    r"(?:return[_ ]?code|exit[_ ]?(?:code|status))(?: was|[:=>\s])*0\b|"
    r"success: ?true|is_?error: ?false|status_code: ?2\d\d|ran successfully"
)
_VIEW = re.compile(r"(?:- )?(?:the )?agents? (?:own )?(?:view|words)")
_AIM = re.compile(r" \(aim: .*?\)(?= -> |\Z)")
"""What a step was for says nothing of what came of it."""
_ARROW = re.compile(r" (?:->|→|=>) (?P<outcome>.*)\Z")
_DID = r"(?:\w+ed|began|did|found|gave|got|made|put|ran|read|saw|sent|took|wrote)\b"
_TOLD = re.compile(
    rf"(?:steps? )?\d[\d, –-]*[.:)] (?:(?:(?!: ).)+: (?P<outcome>.+)|(?={_DID})(?P<alone>.+))\Z"
)


def read_verdict(question: ExamQuestion, record: RecordText) -> ReaderFinding:
    lines = [line for line in record.lines if line.of_step(question.step)]
    claims = [claim for line in lines if (claim := _claim(question, line))]
    for said in (FAILED, SUCCEEDED):
        told = [claim.text for claim in claims if claim.said == said]
        if told:
            right = said == question.answer
            return ReaderFinding(
                ReaderOutcome.RIGHT if right else ReaderOutcome.MISLEADING, told[0]
            )
    return _shown(question, lines)


def _shown(question: ExamQuestion, lines: Sequence[Line]) -> ReaderFinding:
    """Where nothing is claimed: what was shown as the outcome.

    Shown without a word of failure it came about, with one it failed; but a quotation that looks
    otherwise says nothing false.
    """
    arrows = (found["outcome"] for line in lines if (found := _ARROW.search(line.text)))
    written = (_outcome(line) for line in lines if not line.heading.startswith("unresolved"))
    told = next(filter(None, (*arrows, *written)), "")
    looks = FAILED if _FAILING.search(told) else SUCCEEDED
    right = bool(told) and looks == question.answer
    return ReaderFinding(ReaderOutcome.RIGHT if right else ReaderOutcome.MISSING, told)


@dataclass(frozen=True)
class _Claim:
    said: str
    text: str


def _outcome(line: Line) -> str:
    """How a writer says that a step ended: not what it was for, which stands before the colon."""
    told = _TOLD.match(line.text) if line.opens else None
    return (told["outcome"] or told["alone"]) if told else ""


def _claim(question: ExamQuestion, line: Line) -> _Claim | None:
    """What one line says, in so many words, of how its step ended."""
    if line.heading.startswith("failure"):
        return _Claim(FAILED, f"failure causes: {line.text}")
    if line.heading.startswith("unresolved") or _VIEW.match(line.text):
        return None  # what is open, or what the agent took to be so, is no verdict on what was done
    text = _AIM.sub("", line.text, count=1)
    outcome = _ARROW.search(text)
    # What was sent may name a status of its own.
    told = outcome["outcome"] if outcome else text
    if _STATUS_BAD.search(told):
        return _Claim(FAILED, text)
    if _STATUS_GOOD.search(told):
        return _Claim(SUCCEEDED, text)
    if outcome and outcome["outcome"].startswith("failed"):
        return _Claim(FAILED, text)
    text = text if outcome else _outcome(line) or text
    for pattern, said in ((_FAILING, FAILED), (_WORKING, SUCCEEDED)):
        if any(found[0] not in question.quoted for found in pattern.finditer(text)):
            return _Claim(said, line.text)
    return None
