"""From scores to spans: which runs of interactions may be replaced now, and which must wait."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from statecomp.errors import BadInput
from statecomp.history.history import History, Span
from statecomp.history.interaction import Interaction
from statecomp.strategy import Refusal

WARINESS = 4
"""How many times dearer a wrong replacement is taken to be each time that one has shown."""


@dataclass(frozen=True, slots=True)
class Gates:
    """When a predicted opportunity is worth a rewrite (equation 4 of the paper).

    A score at or above `threshold` (tau) selects an interaction; a span is replaced when it holds
    more than `longer_than` (kappa) interactions and at least `min_source_tokens` (B_min).

    With `unsafe_tokens` above zero the threshold is the cost-sensitive one of appendix C.2, for
    each interaction its own: a wrong replacement costs `unsafe_tokens`, a missed one the tokens of
    the interaction, so a large old output may go at a score at which a small one stays.
    """

    threshold: float = 0.60
    longer_than: int = 3
    min_source_tokens: int = 1000
    unsafe_tokens: int = 0

    def required(self, interaction: Interaction) -> float:
        """The score at which this interaction may go."""
        if not self.unsafe_tokens:
            return self.threshold
        return self.unsafe_tokens / (self.unsafe_tokens + interaction.tokens)

    def warier(self, returns: int) -> Gates:
        """These gates once the agent has come back so often for what had been replaced.

        A threshold that was given stays: only what a wrong replacement costs has been underrated.
        """
        return replace(self, unsafe_tokens=self.unsafe_tokens * WARINESS ** min(returns, 9))

    def __post_init__(self) -> None:
        if not 0.0 < self.threshold <= 1.0:
            raise BadInput(f"must lie in (0, 1], not {self.threshold}", field="threshold")
        if self.longer_than < 0:
            raise BadInput(f"must not be negative, not {self.longer_than}", field="longer_than")
        if self.min_source_tokens < 0:
            problem = f"must not be negative, not {self.min_source_tokens}"
            raise BadInput(problem, field="min_source_tokens")
        if self.unsafe_tokens < 0:
            problem = f"must not be negative, not {self.unsafe_tokens}"
            raise BadInput(problem, field="unsafe_tokens")


def selected_runs(history: History, scores: Mapping[str, float], gates: Gates) -> Iterator[Span]:
    """Maximal runs of selected interactions; KEEP, locked, pinned and summaries break a run."""
    start = None
    for place, segment in enumerate(history.segments):
        selected = (
            isinstance(segment, Interaction)
            and not segment.locked
            and scores.get(segment.id, 0.0) >= gates.required(segment)
        )
        if selected and start is None:
            start = place
        elif not selected and start is not None:
            yield Span(start, place)
            start = None
    if start is not None:
        yield Span(start, len(history.segments))


def eligible_spans(
    history: History, scores: Mapping[str, float], gates: Gates
) -> tuple[list[Span], list[Refusal]]:
    """The runs that pass both size gates, in history order, and why the others wait."""
    spans, refusals = [], []
    for run in selected_runs(history, scores, gates):
        members = history.members(run)
        tokens = sum(member.tokens for member in members)
        if len(members) <= gates.longer_than:
            reason = f"{len(members)} interactions; more than {gates.longer_than} are needed"
        elif tokens < gates.min_source_tokens:
            reason = f"{tokens} source tokens; {gates.min_source_tokens} are needed"
        else:
            spans.append(run)
            continue
        refusals.append(Refusal(members[0].number, members[-1].number, reason))
    return spans, refusals
