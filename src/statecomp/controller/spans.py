"""From scores to spans: which runs of interactions may be replaced now, and which must wait."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from statecomp.controller.circumstances import Circumstances
from statecomp.controller.gate import GateVerdict
from statecomp.errors import BadInput
from statecomp.history.history import History, Span
from statecomp.history.interaction import Interaction, Summary
from statecomp.strategy import Refusal


class Rule(Protocol):
    """Turns scores into replacements: what may go, what is worth a rewrite, what is made now."""

    def required(self, history: History, now: Circumstances) -> Mapping[str, float]:
        """The score at which each surviving interaction may go, by id; above 1 means not now."""
        ...

    def too_small(self, members: Sequence[Interaction]) -> str:
        """Why a run of such interactions is not worth a summary, or nothing."""
        ...

    def judge(
        self,
        history: History,
        spans: Sequence[Span],
        scores: Mapping[str, float],
        now: Circumstances,
        summaries: Mapping[Span, Summary] | None = None,
    ) -> GateVerdict:
        """Which spans are replaced now: by what is expected of summaries, or by those written."""
        ...

    def stricter(self, refetches: int, replaced: int) -> Rule:
        """The rule once the agent has come back so often for some of what was replaced."""
        return self

    def for_extracts(self) -> Rule:
        """The rule while the model that writes records does not answer, and extracts stand in."""
        return self

    def remembering(self) -> Rule:
        """The rule as one engine has it: what it learns on the way stays there."""
        return self


@dataclass(frozen=True, slots=True)
class Gates(Rule):
    """When a predicted opportunity is worth a rewrite (equation 4 of the paper).

    A score at or above `threshold` (tau) selects an interaction; a span is replaced when it holds
    more than `longer_than` (kappa) interactions and at least `min_source_tokens` (B_min).
    """

    threshold: float = 0.60
    longer_than: int = 3
    min_source_tokens: int = 1000

    def __post_init__(self) -> None:
        if not 0.0 < self.threshold <= 1.0:
            raise BadInput(f"must lie in (0, 1], not {self.threshold}", field="threshold")
        if self.longer_than < 0:
            raise BadInput(f"must not be negative, not {self.longer_than}", field="longer_than")
        if self.min_source_tokens < 0:
            problem = f"must not be negative, not {self.min_source_tokens}"
            raise BadInput(problem, field="min_source_tokens")

    def required(self, history: History, now: Circumstances) -> Mapping[str, float]:
        cautious = 1.0 - (1.0 - self.threshold) / now.caution
        needed = max(self.threshold, cautious)  # the threshold itself, to the last digit
        return dict.fromkeys((i.id for i in history.interactions), needed)

    def too_small(self, members: Sequence[Interaction]) -> str:
        tokens = sum(member.tokens for member in members)
        if len(members) <= self.longer_than:
            held = "1 interaction" if len(members) == 1 else f"{len(members)} interactions"
            return f"{held}; more than {self.longer_than} are needed"
        if tokens < self.min_source_tokens:
            return f"{tokens} source tokens; {self.min_source_tokens} are needed"
        return ""

    def judge(
        self,
        history: History,
        spans: Sequence[Span],
        scores: Mapping[str, float],
        now: Circumstances,
        summaries: Mapping[Span, Summary] | None = None,
    ) -> GateVerdict:
        """The paper replaces whatever passes its gates."""
        return GateVerdict(tuple(range(len(spans))), {}, None)


def selected_runs(
    history: History, scores: Mapping[str, float], required: Mapping[str, float]
) -> Iterator[Span]:
    """Maximal runs of selected interactions; KEEP, locked, pinned and summaries break a run."""
    start = None
    for place, segment in enumerate(history.segments):
        selected = (
            isinstance(segment, Interaction)
            and not segment.locked
            and scores.get(segment.id, 0.0) >= required.get(segment.id, 2.0)
        )
        if selected and start is None:
            start = place
        elif not selected and start is not None:
            yield Span(start, place)
            start = None
    if start is not None:
        yield Span(start, len(history.segments))


def eligible_spans(
    history: History, scores: Mapping[str, float], required: Mapping[str, float], rule: Rule
) -> tuple[list[Span], list[Refusal]]:
    """The runs that are large enough, in history order, and why the others wait."""
    spans, refusals = [], []
    for run in selected_runs(history, scores, required):
        members = history.members(run)
        if reason := rule.too_small(members):
            refusals.append(Refusal(members[0].number, members[-1].number, reason))
        else:
            spans.append(run)
    return spans, refusals
