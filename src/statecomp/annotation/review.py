"""Stage 2: one interaction over all its judgments; the earliest boundary that holds up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from statecomp.annotation.judge import (
    CHARS_PER_TOKEN,
    JudgeAnswer,
    JudgeQuestion,
    bounded,
    prompt_text,
)
from statecomp.annotation.labels import Label, Veto
from statecomp.annotation.records import Judgment, Reading, supported
from statecomp.llm.transcript import cut

ANSWER_TOKENS = 400
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "boundary": {"type": ["integer", "null"]},
        "reason": {"type": "string"},
        "must_keep": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["boundary", "reason", "must_keep"],
    "additionalProperties": False,
}


def defensible(judgments: Sequence[Judgment]) -> list[int]:
    """Supported checkpoints that no later veto speaks against, earliest first."""
    last_veto = max((j.checkpoint for j in judgments if j.veto), default=0)
    return [checkpoint for checkpoint in supported(judgments) if checkpoint > last_veto]


def contradictions(judgments: Sequence[Judgment]) -> list[int]:
    """Checkpoints that say KEEP behind one that said READY: stage 1 disagrees with itself."""
    first = min(supported(judgments), default=None)
    if first is None:
        return []
    return sorted(j.checkpoint for j in judgments if j.checkpoint > first and not j.ready)


def held_to_rules(label: Label, reading: Reading, judgments: Sequence[Judgment]) -> Label:
    """The reviewer's label, held to the rules: what is not supported stays KEEP."""
    number = label.number
    kept = tuple(text for text in label.must_keep if text and reading.holds(number, text))
    label = replace(label, must_keep=kept)
    if label.boundary is None:
        return replace(label, veto=_vetoes(judgments))
    if label.boundary not in defensible(judgments):
        reason = f"unresolved: checkpoint {label.boundary} is not supported by stage 1"
        return replace(label, boundary=None, evidence=(), veto=_vetoes(judgments), reason=reason)
    ground = next(j for j in judgments if j.checkpoint == label.boundary and j.ready)
    return replace(label, evidence=ground.evidence, veto=_vetoes(judgments))


def _vetoes(judgments: Sequence[Judgment]) -> tuple[Veto, ...]:
    """Each later dependency once, in the order of the run."""
    return tuple(sorted({veto for j in judgments for veto in j.veto}, key=lambda v: (v.at, v.what)))


def review_question(
    reading: Reading, number: int, judgments: Sequence[Judgment], window_tokens: int
) -> JudgeQuestion:
    room = (window_tokens - ANSWER_TOKENS) * CHARS_PER_TOKEN
    cited = sorted({e.at for j in judgments if j.ready for e in j.evidence} - {number})
    sources = [reading.interactions[at - 1] for at in cited if 1 <= at <= reading.last]
    lines = "\n".join(_line(judgment) for judgment in judgments)
    prompt = (
        f"STEP {number}\n{bounded(reading.interactions[number - 1 : number], room * 3 // 10)}\n\n"
        f"JUDGMENTS\n{cut(lines, room * 3 // 10)}\n\n"
        f"STEPS THE EVIDENCE STANDS IN\n{bounded(sources, room * 3 // 10)}\n\n"
        f"Supported checkpoints: {', '.join(map(str, defensible(judgments)))}.  "
        f"Which is the earliest from which step {number} can be replaced?"
    )
    return JudgeQuestion(f"review:{number}", prompt_text("review"), prompt, ANSWER_TOKENS, SCHEMA)


def _line(judgment: Judgment) -> str:
    verdict = "READY" if judgment.ready else "KEEP"
    evidence = "; ".join(f"step {e.at}: {e.quote!r}" for e in judgment.evidence)
    veto = "; ".join(f"step {v.at} uses {v.what}" for v in judgment.veto)
    parts = (
        f"checkpoint {judgment.checkpoint}: {verdict}",
        f"evidence {evidence}" if evidence else "",
        f"veto {veto}" if veto else "",
        f"(turned to KEEP: {judgment.problem})" if judgment.problem else "",
    )
    return " | ".join(part for part in parts if part)


def read_review(answer: JudgeAnswer, reading: Reading, number: int, annotator: str) -> Label:
    """The label in an answer, not yet held to the rules; what is malformed has no boundary."""
    unresolved = Label(reading.id, number, None, annotator=annotator)
    try:
        value = answer.json_object()
    except ValueError as error:
        return replace(unresolved, reason=f"unresolved: {error}")
    boundary = value.get("boundary")
    if boundary is not None and (not isinstance(boundary, int) or isinstance(boundary, bool)):
        return replace(unresolved, reason="unresolved: the boundary is not a checkpoint")
    listed = value.get("must_keep")
    must_keep = listed if isinstance(listed, list) else []
    return replace(
        unresolved,
        boundary=boundary,
        reason=str(value.get("reason") or ""),
        must_keep=tuple(text for text in must_keep if isinstance(text, str)),
    )
