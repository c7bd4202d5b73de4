"""Stage 1 by a chat model: each checkpoint on its own, a record for every past interaction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from statecomp.annotation.labels import evidence_in, vetoes_in
from statecomp.annotation.records import Judgment, Reading
from statecomp.history.interaction import Interaction, Pinned
from statecomp.llm.answer import json_object
from statecomp.llm.transcript import cut, transcript

CHARS_PER_TOKEN = 3
"""Low for prose and code alike, so that a prompt cut by characters fits by tokens too."""
RECORD_TOKENS = 160
"""What a careful record takes; evidence quotes are short."""

_TEXT = {"type": "string"}
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "records": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "i": {"type": "integer"},
                    "progress": _TEXT,
                    "complexity": _TEXT,
                    "next_needs": _TEXT,
                    "utility": _TEXT,
                    "decision": {"type": "string", "enum": ["KEEP", "READY"]},
                    "evidence": {
                        "type": "array",
                        "items": {
                            "type": "object",
                            "properties": {"at": {"type": "integer"}, "quote": _TEXT},
                            "required": ["at", "quote"],
                            "additionalProperties": False,
                        },
                    },
                    "veto": {
                        "type": "array",
                        "items": {
                            "type": "object",
                            "properties": {"at": {"type": "integer"}, "what": _TEXT},
                            "required": ["at", "what"],
                            "additionalProperties": False,
                        },
                    },
                },
                "required": [
                    "i", "progress", "complexity", "next_needs", "utility", "decision",
                    "evidence", "veto",
                ],
                "additionalProperties": False,
            },
        }
    },
    "required": ["records"],
    "additionalProperties": False,
}  # fmt: skip


@dataclass(frozen=True)
class JudgeQuestion:
    """One call to the annotating model; `key` names it for good."""

    key: str
    system: str
    prompt: str
    max_tokens: int
    schema: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class JudgeAnswer:
    """What the model wrote, or why that cannot be used though it was paid for."""

    text: str = ""
    problem: str = ""

    def json_object(self) -> dict[str, Any]:
        """The object in the answer; ValueError says what is wrong with it."""
        if self.problem:
            raise ValueError(self.problem)
        try:
            return json_object(self.text)
        except ValueError as error:
            raise ValueError(f"the answer {error}") from error


def prompt_text(name: str) -> str:
    return files("statecomp.annotation").joinpath("prompts", f"{name}.md").read_text("utf-8")


def judge_question(reading: Reading, checkpoint: int, window_tokens: int) -> JudgeQuestion:
    """The prefix in full where it fits, the future in a smaller part: it may only veto."""
    max_tokens = min(RECORD_TOKENS * (checkpoint - 1) + 200, window_tokens // 3)
    room = (window_tokens - max_tokens) * CHARS_PER_TOKEN
    before = reading.interactions[: checkpoint - 1]
    after = reading.interactions[checkpoint - 1 :]
    prompt = (
        f"TASK\n{task_text(reading, room // 10)}\n\n"
        f"PREFIX: steps 1 to {checkpoint - 1}\n{bounded(before, room * 6 // 10)}\n\n"
        f"FUTURE: steps {checkpoint} to {reading.last}\n{bounded(after, room * 2 // 10)}\n\n"
        f"Judge steps 1 to {checkpoint - 1} at the moment before step {checkpoint}."
    )
    return JudgeQuestion(f"judge:{checkpoint}", prompt_text("judge"), prompt, max_tokens, SCHEMA)


def task_text(reading: Reading, limit_chars: int) -> str:
    """What the user asked for: every pinned message that is not the system's."""
    pinned = [s for s in reading.history.segments if isinstance(s, Pinned)]
    spoken = [s.text for s in pinned if s.role == "user"] or [s.text for s in pinned]
    return cut("\n".join(spoken), limit_chars)


def bounded(span: Sequence[Interaction], limit_chars: int) -> str:
    """A transcript that fits; whatever is cut, the place says how much."""
    return cut(transcript(span, limit_chars=limit_chars), limit_chars)


def read_judgments(answer: JudgeAnswer, checkpoint: int) -> list[Judgment]:
    """The judgments in an answer; what is malformed is KEEP with its problem named."""
    try:
        records = answer.json_object().get("records")
    except ValueError as error:
        return _all_kept(checkpoint, str(error))
    if not isinstance(records, list):
        return _all_kept(checkpoint, "the answer holds no list of records")
    return [_judgment(r, checkpoint) for r in records if _number(r) is not None]


def _all_kept(checkpoint: int, problem: str) -> list[Judgment]:
    return [Judgment(n, checkpoint, ready=False, problem=problem) for n in range(1, checkpoint)]


def _number(record: Any) -> int | None:
    number = record.get("i") if isinstance(record, Mapping) else None
    return number if isinstance(number, int) and not isinstance(number, bool) else None


def _judgment(record: Mapping[str, Any], checkpoint: int) -> Judgment:
    number = int(record["i"])
    try:
        decision = record["decision"]
        if decision not in ("KEEP", "READY"):
            raise ValueError
        return Judgment(
            number=number,
            checkpoint=checkpoint,
            ready=decision == "READY",
            evidence=evidence_in(record),
            veto=vetoes_in(record),
            progress=str(record.get("progress") or ""),
            complexity=str(record.get("complexity") or ""),
            next_needs=str(record.get("next_needs") or ""),
            utility=str(record.get("utility") or ""),
        )
    except (KeyError, TypeError, ValueError, AttributeError):
        return Judgment(number, checkpoint, ready=False, problem="the record is malformed")
