"""Questions that somebody else made of a span, a model say, and which of them can be asked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from statecomp.exam.clozes import words_of
from statecomp.exam.facts import FactKind
from statecomp.exam.questions import ExamQuestion, Scene
from statecomp.exam.reader import NEAR
from statecomp.exam.spans import Exam
from statecomp.exam.text import folded, stands, telling

NOT_SHOWN, IN_SIGHT = "no step shows the answer", "something else in sight tells the answer"


@dataclass(frozen=True, slots=True)
class PosedQuestion:
    """What somebody who read a span asks about it, and answers that would be wrong."""

    text: str
    answer: str
    wrong: tuple[str, ...] = ()


def posed_questions(
    exam: Exam, posed: Sequence[PosedQuestion]
) -> tuple[list[ExamQuestion], Counter[str]]:
    """Those that can be asked, and why how many of the others cannot.

    Models answer in words of their own now and then: that costs the question, not the span.
    """
    scene, left_out = Scene(exam), Counter[str]()
    asked = []
    for one in posed:
        answer = folded(one.answer)
        step = next((m.number for m in exam.span if stands(answer, folded(m.text))), 0)
        if not step:
            left_out[NOT_SHOWN] += 1
        elif _in_sight(one, answer, scene):
            left_out[IN_SIGHT] += 1
        else:
            asked.append(_about(one, answer, step, scene))
    return asked, left_out


def _in_sight(posed: PosedQuestion, answer: str, scene: Scene) -> bool:
    """Whether what stays tells it: a short answer only beside words of its question."""
    words = words_of(folded(posed.text))
    lines = (line for text in scene.rest if answer in text for line in text.split("\n"))
    return any(
        telling(answer) or len(words & words_of(line)) >= NEAR * len(words)
        for line in lines
        if stands(answer, line)
    )


def _about(posed: PosedQuestion, answer: str, step: int, scene: Scene) -> ExamQuestion:
    return ExamQuestion(
        id=scene.id_of(FactKind.ASKED, posed.text, answer),
        kind=FactKind.ASKED,
        stratum=scene.stratum("", answer),
        step=step,
        text=posed.text,
        shown=posed.answer,
        answer=answer,
        wrong=tuple(map(folded, posed.wrong)),
        field=folded(posed.text),
    )
