"""Stage-1 judgments, and the rules every judgment must obey whoever made it.

A READY judgment needs evidence inside the prefix and no veto from the future (b_ik = 1 implies
e_ik = 1 and v_ik = 0).  The rules are enforced here, by code, not by a prompt: a judgment that
breaks one is KEEP, and says which.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from statecomp.annotation.labels import Evidence, Veto
from statecomp.errors import BadInput
from statecomp.history.history import History
from statecomp.history.interaction import Interaction
from statecomp.history.text import argument_text
from statecomp.history.trajectory import Trajectory
from statecomp.wire.assemble import parse
from statecomp.wire.providers import wire_named


@dataclass(frozen=True)
class Reading:
    """A recorded run as an annotator reads it; interactions are counted from one."""

    id: str
    domain: str
    group: str
    history: History

    @classmethod
    def of(cls, run: Trajectory) -> Reading:
        """Raises BadInput, with the file, for a run that cannot be read."""
        try:
            history = parse(run.messages, wire_named(run.protocol))
        except BadInput as problem:
            raise problem.at(file=run.source) from problem
        return cls(run.id, run.domain, run.group, history)

    @property
    def interactions(self) -> tuple[Interaction, ...]:
        return self.history.interactions

    @property
    def last(self) -> int:
        """T: the last checkpoint stands before this interaction."""
        return len(self.interactions)

    @property
    def checkpoints(self) -> range:
        """k = 2..T; before the first interaction there is nothing to judge."""
        return range(2, self.last + 1)

    def until(self, checkpoint: int) -> Reading:
        """What stood before interaction k, and nothing of what came later."""
        end = self.history.segments.index(self.interactions[checkpoint - 1])
        return replace(self, history=History(self.history.segments[:end]))

    def holds(self, number: int, quote: str) -> bool:
        """Whether interaction `number` contains the quote, whitespace aside."""
        if not 1 <= number <= self.last:
            return False
        interaction = self.interactions[number - 1]
        if quote in interaction.text:
            return True
        arguments = "\n".join(argument_text(call.arguments) for call in interaction.calls)
        wanted = _squeezed(quote)
        return wanted in _squeezed(interaction.text) or wanted in _squeezed(arguments)


def _squeezed(text: str) -> str:
    return re.sub(r"\s+", " ", text).strip()


@dataclass(frozen=True, slots=True)
class Judgment:
    """What stage 1 says about interaction i at checkpoint k, on its own, inheriting nothing."""

    number: int
    checkpoint: int
    ready: bool
    evidence: tuple[Evidence, ...] = ()
    veto: tuple[Veto, ...] = ()
    progress: str = ""
    complexity: str = ""
    next_needs: str = ""
    utility: str = ""
    problem: str = ""

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def enforced(
    judgments: Iterable[Judgment], reading: Reading, checkpoint: int
) -> tuple[Judgment, ...]:
    """One sound judgment for every interaction of the prefix, in order.

    What is missing, doubled or unsound is KEEP with its problem named.
    """
    found: dict[int, Judgment] = {}
    for judgment in judgments:
        if judgment.checkpoint == checkpoint and judgment.number not in found:
            found[judgment.number] = sound(judgment, reading)
    return tuple(
        found.get(number)
        or Judgment(number, checkpoint, ready=False, problem="no judgment was given")
        for number in range(1, checkpoint)
    )


def sound(judgment: Judgment, reading: Reading) -> Judgment:
    problem = _problem(judgment, reading)
    return replace(judgment, ready=False, problem=problem) if problem else judgment


def _problem(judgment: Judgment, reading: Reading) -> str:
    """Which rule a READY judgment breaks; a KEEP judgment breaks none."""
    if not judgment.ready:
        return ""
    if judgment.veto:
        return "a later step still needs it"
    if not judgment.evidence:
        return "no evidence was given"
    for evidence in judgment.evidence:
        if not 1 <= evidence.at < judgment.checkpoint:
            return f"evidence at {evidence.at} lies outside the prefix"
        if not evidence.quote.strip() or not reading.holds(evidence.at, evidence.quote):
            return f"the quote does not occur in interaction {evidence.at}"
    return ""


def supported(judgments: Sequence[Judgment]) -> list[int]:
    """Checkpoints at which a sound judgment says READY, earliest first."""
    return sorted(j.checkpoint for j in judgments if j.ready and not j.problem)


def problems(judgments: Iterable[Judgment]) -> Mapping[str, int]:
    """How often each rule was broken; numbers in the sentences are left out."""
    counts: dict[str, int] = {}
    for judgment in judgments:
        if judgment.problem:
            kind = re.sub(r"\d+", "N", judgment.problem)
            counts[kind] = counts.get(kind, 0) + 1
    return counts
