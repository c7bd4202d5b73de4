"""The script: the plan's steps, done with the tools of whoever asks."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from benchmarks.clients.coding.hands import ending, hands_of
from benchmarks.clients.coding.plan import PlannedStep, steps_of
from statecomp.testing.provider.turns import Body, Turn

ASIDE = "Mending the modules of a small library"
"""The answer to a request without tools: clients ask for a title, or whether they are heard."""


@dataclass(frozen=True)
class CodingSession:
    """`length` steps in `workspace`, then a report.

    The step is counted by the newest call of the history: what stood before it may have been
    replaced.
    """

    workspace: Path
    length: int
    at_once: int = 1

    @property
    def last(self) -> int:
        return self.length

    @cached_property
    def steps(self) -> tuple[PlannedStep, ...]:
        return steps_of(self.length, self.at_once)

    @property
    def report(self) -> str:
        return f"That was step {self.length}: what I came to is mended, each module by one line."

    def turn(self, body: Body, step: int) -> Turn:
        hands = hands_of(body, self.workspace)
        if hands is None:
            return Turn(said=ASIDE)
        if step >= self.length:
            return ending(body, self.report)
        planned = self.steps[step]
        calls = tuple(hands.call(action) for action in planned.actions)
        return Turn(planned.said, planned.thought if reasons(body) else "", calls)


def reasons(body: Body) -> bool:
    """Whether this request asks a model to reason; of a chat nobody sees the reasoning."""
    if "thinking" in body:
        return bool((body["thinking"] or {}).get("type") in ("enabled", "adaptive"))
    effort = (body.get("reasoning") or {}).get("effort")
    return effort not in (None, "none", "minimal")
