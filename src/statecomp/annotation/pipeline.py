"""Both stages over a run, whoever annotates: judge every checkpoint, review every interaction.

The rules of `records` and `review` are applied to what any annotator says, so that a label can be
trusted whatever wrote it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from statecomp.annotation.labels import Label
from statecomp.annotation.records import (
    Judgment,
    Reading,
    enforced,
    problems,
)
from statecomp.annotation.review import contradictions, held_to_rules


@dataclass(frozen=True)
class Annotated:
    """One run with its labels, the judgments they rest on, and how often a rule was broken."""

    id: str
    labels: tuple[Label, ...]
    judgments: tuple[Judgment, ...]
    problems: Mapping[str, int]
    contradictions: int


class Annotator(Protocol):
    """Both stages of one annotator; the order of the answers follows the order of the questions."""

    def judge_all(self, reading: Reading) -> Iterator[Sequence[Judgment]]:
        """Stage 1 at every checkpoint of the run, in order."""
        ...

    def review_all(
        self, reading: Reading, judgments: Mapping[int, Sequence[Judgment]]
    ) -> Iterator[Label]:
        """Stage 2 for every interaction that has judgments, in order."""
        ...


def annotate(reading: Reading, annotator: Annotator) -> Annotated:
    """The two stages of the paper (section 3.3), held to their rules."""
    by_number: dict[int, list[Judgment]] = {n: [] for n in range(1, reading.last)}
    stage_one = annotator.judge_all(reading)
    for checkpoint, said in zip(reading.checkpoints, stage_one, strict=True):
        for judgment in enforced(said, reading, checkpoint):
            by_number[judgment.number].append(judgment)
    labels = [
        held_to_rules(label, reading, by_number[label.number])
        for label in annotator.review_all(reading, by_number)
    ]
    # No checkpoint stands behind the last interaction, so nothing can be said of it.
    last = Label(
        reading.id, reading.last, None, reason="the run ends here", annotator=_name(labels)
    )
    judgments = tuple(j for made in by_number.values() for j in made)
    return Annotated(
        id=reading.id,
        labels=(*labels, last),
        judgments=judgments,
        problems=problems(judgments),
        contradictions=sum(bool(contradictions(made)) for made in by_number.values()),
    )


def _name(labels: Sequence[Label]) -> str:
    return labels[0].annotator if labels else ""
