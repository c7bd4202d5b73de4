"""Steps of a run as the exam's tests draw them: what was done, and what came of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from statecomp.exam.facts import FactKind
from statecomp.exam.questions import ExamQuestion, questions_of
from statecomp.exam.spans import Exam
from statecomp.history.interaction import Interaction
from statecomp.testing.words import step
from statecomp.wire.assemble import parse
from statecomp.wire.openai_chat.wire import OpenAIChat

Step = tuple[str, str]
"""The arguments of a call, and its answer."""


def messages_of(steps: Sequence[Step], task: str = "Do it.") -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = [{"role": "user", "content": task}]
    for place, (arguments, answer) in enumerate(steps):
        messages += step("shell", arguments, answer, call_id=f"c{place}")
    return messages


def steps_of(*steps: Step) -> tuple[Interaction, ...]:
    return parse(messages_of(steps), OpenAIChat()).interactions


def shown(*answers: str) -> tuple[Interaction, ...]:
    """Steps of which only the answers matter."""
    return steps_of(*(("{}", answer) for answer in answers))


def exam_of(
    *steps: Step, later: Sequence[Step] = (), kept: Sequence[Step] = (), task: str = "Do it."
) -> Exam:
    """A span of steps; `kept` ones stay in sight behind it, `later` ones are still to come."""
    history = parse(messages_of((*steps, *kept, *later), task), OpenAIChat())
    pinned, *members = history.segments
    taken = [member for member in members if isinstance(member, Interaction)]
    end = len(steps) + len(kept)
    return Exam(
        run="run",
        domain="Office",
        half="tune",
        checkpoint=end + 1,
        span=tuple(taken[: len(steps)]),
        before=(pinned,),
        after=tuple(taken[len(steps) : end]),
        later=tuple(taken[end:]),
    )


def asked(exam: Exam, kind: FactKind) -> dict[str, ExamQuestion]:
    """The questions of one kind by what they are about."""
    return {q.entity: q for q in questions_of(exam) if q.kind is kind}
