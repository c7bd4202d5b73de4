"""Forecasts by a chat model: how surely each past step is READY, asked before the run goes on.

The question holds the past alone, so an answer can be no better than what a router could know.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from statecomp.annotation.asking import Asker, Expected
from statecomp.annotation.judge import (
    CHARS_PER_TOKEN,
    JudgeAnswer,
    JudgeQuestion,
    bounded,
    prompt_text,
    task_text,
)
from statecomp.annotation.records import Reading
from statecomp.tokens import ESTIMATE

FIRST = 3
"""The earliest checkpoint with a pair k >= i+2; on the newest step the agent has yet to act."""
NUMBER_TOKENS, WORDS_TOKENS = 20, 300
"""What one probability takes in an answer, and the sentences before them."""
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "still_asked": {"type": "string"},
        "ready": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"i": {"type": "integer"}, "p": {"type": "number"}},
                "required": ["i", "p"],
                "additionalProperties": False,
            },
        },
    },
    "required": ["still_asked", "ready"],
    "additionalProperties": False,
}


@dataclass(frozen=True, slots=True)
class Foreseen:
    """What was said at one checkpoint: a line of a forecast file, or why there is none."""

    run: str
    checkpoint: int
    ready: tuple[float, ...] = ()
    problem: str = ""

    def as_json(self) -> dict[str, Any]:
        return {"id": self.run, "k": self.checkpoint, "ready": list(self.ready)}


def checkpoints_of(reading: Reading, count: int) -> list[int]:
    """So many checkpoints spread evenly over the run, the last among them."""
    all_of_them = range(FIRST, reading.last + 1)
    if count >= len(all_of_them):
        return [*all_of_them]
    places = (len(all_of_them) * (turn + 1) // count - 1 for turn in range(count))
    return [all_of_them[place] for place in places]


def foresee(
    reading: Reading, checkpoints: Sequence[int], asker: Asker, window_tokens: int
) -> Iterator[Foreseen]:
    questions = [forecast_question(reading, k, window_tokens) for k in checkpoints]
    for k, answer in zip(checkpoints, asker.answers(questions), strict=True):
        try:
            yield Foreseen(reading.id, k, read_forecast(answer, k))
        except ValueError as problem:
            yield Foreseen(reading.id, k, problem=str(problem))


def expected(readings: Sequence[Reading], checkpoints: int, window_tokens: int) -> Expected:
    """What forecasting would take."""
    calls = input_tokens = output_tokens = 0
    for reading in readings:
        for k in checkpoints_of(reading, checkpoints):
            question = forecast_question(reading, k, window_tokens)
            calls += 1
            input_tokens += ESTIMATE(question.system) + ESTIMATE(question.prompt)
            output_tokens += (NUMBER_TOKENS * k + WORDS_TOKENS) // 2
    return Expected(calls, input_tokens, output_tokens)


def forecast_question(reading: Reading, checkpoint: int, window_tokens: int) -> JudgeQuestion:
    """The past and nothing else; the newest step is shown, and not asked about."""
    max_tokens = min(NUMBER_TOKENS * checkpoint + WORDS_TOKENS, window_tokens // 3)
    room = (window_tokens - max_tokens) * CHARS_PER_TOKEN
    past = reading.interactions[: checkpoint - 1]
    task = task_text(reading.until(checkpoint), room // 10)
    prompt = (
        f"TASK\n{task}\n\n"
        f"PAST: steps 1 to {checkpoint - 1}\n{bounded(past, room * 8 // 10)}\n\n"
        f"Say how surely each of steps 1 to {checkpoint - 2} may be replaced before step "
        f"{checkpoint}."
    )
    return JudgeQuestion(
        f"forecast:{checkpoint}", prompt_text("forecast"), prompt, max_tokens, SCHEMA
    )


def read_forecast(answer: JudgeAnswer, checkpoint: int) -> tuple[float, ...]:
    """P(READY) of steps 1 to k-2; ValueError says what is wrong with the answer."""
    said = answer.json_object().get("ready")
    if not isinstance(said, list):
        raise ValueError("the answer holds no list of probabilities")
    found = {step: p for entry in said for step, p in _entry(entry)}
    wanted = range(1, checkpoint - 1)
    if absent := [step for step in wanted if step not in found]:
        raise ValueError(f"nothing is said of step {absent[0]}")
    return tuple(found[step] for step in wanted)


def _entry(entry: Any) -> Iterator[tuple[int, float]]:
    if not isinstance(entry, Mapping) or not {"i", "p"} <= entry.keys():
        raise ValueError("an entry names no step, or no probability")
    step, p = entry["i"], entry["p"]
    if isinstance(p, bool) or not isinstance(p, int | float):
        raise ValueError(f"the probability of step {step} is no number")
    if not 0.0 <= p <= 1.0:  # NaN lies nowhere
        raise ValueError(f"the probability of step {step} is {p}, not between 0 and 1")
    if isinstance(step, int) and not isinstance(step, bool):
        yield step, float(p)
