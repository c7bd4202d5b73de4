"""The protocols: what scores interactions, what summarises a span, what a strategy is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from statecomp.history.facts import FactIndex
from statecomp.history.history import History
from statecomp.history.interaction import Call, Interaction, JsonObject
from statecomp.ledger.commits import Commit
from statecomp.llm.record import Record
from statecomp.llm.side import SideCall


class Scorer(Protocol):
    """Says, for each surviving interaction, how surely it may be replaced at this state."""

    def score(self, history: History) -> Mapping[str, float]:
        """p_ik in [0, 1] by interaction id; raises ScoringFailed when there is no answer."""
        ...


class Summarizer(Protocol):
    """Writes what stays when a span goes."""

    def summarize(self, span: Sequence[Interaction], rest: FactIndex) -> Record:
        """One proposal for one span; raises SummaryFailed, and the span stays as it was.

        `rest` knows the identifiers of the history without the span.
        """
        ...


@dataclass(frozen=True, slots=True)
class Refusal:
    """A replacement that was considered and not made, with the reason."""

    first: int
    last: int
    reason: str


@dataclass(frozen=True)
class View:
    """What a strategy would send instead of the raw history, and how it came to that."""

    history: History
    scores: Mapping[str, float] = field(default_factory=dict)
    commits: tuple[Commit, ...] = ()
    refusals: tuple[Refusal, ...] = ()
    side_calls: tuple[SideCall, ...] = ()
    note: str = ""


class Strategy(Protocol):
    """Turns a raw history into a shorter valid one, or hands the same one back.

    Only `before_request` must be written; the other hooks are for methods that act on fresh
    observations or give the agent tools of their own, and do nothing unless overridden.
    """

    def before_request(self, history: History) -> View: ...

    def on_observation(self, call: Call, text: str) -> str:
        """A fresh observation, before it enters the history."""
        return text

    def extra_tools(self) -> Sequence[JsonObject]:
        """Tool definitions to offer the agent beside its own."""
        return ()

    def handle_tool(self, call: Call) -> str:
        """The result of a call to one of `extra_tools`."""
        return f"There is no tool named {call.name!r}."

    def extra_system_text(self) -> str:
        """Guidance to add to the system prompt."""
        return ""
