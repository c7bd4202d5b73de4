"""The protocols: what scores interactions, what summarises a span, what a strategy is."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, Protocol, TypeAlias, runtime_checkable

from statecomp.history.history import History
from statecomp.history.interaction import Call, Interaction, JsonObject, Segment
from statecomp.history.situation import Situation
from statecomp.history.trajectory import Trajectory
from statecomp.ledger.commits import Commit
from statecomp.llm.side import SideCall
from statecomp.records.record import Record
from statecomp.wire.protocol import Wire

CacheState: TypeAlias = Literal["warm", "cold", "none"]
RefusalKind: TypeAlias = Literal["size", "economics", "summary"]


class Scorer(Protocol):
    """Says, for each surviving interaction, how surely it may be replaced at this state."""

    def score(self, history: History) -> Mapping[str, float]:
        """p_ik in [0, 1] by interaction id; raises ScoringFailed when there is no answer."""
        ...


class Summarizer(Protocol):
    """Writes what stays when a span goes."""

    def summarize(self, span: Sequence[Interaction], situation: Situation) -> Record:
        """One proposal for one span; raises SummaryFailed, and the span stays as it was.

        The situation is the history around the span: the user's words, what stands elsewhere, and
        where the agent is now.
        """
        ...


@runtime_checkable
class MayFallSilent(Protocol):
    """A summariser for which another stands in while nobody answers it."""

    def is_silent(self) -> bool:
        """Whether it was asked of late and gave no answer."""
        ...

    @property
    def stand_in(self) -> Summarizer: ...


@runtime_checkable
class ReadsAhead(Protocol):
    """A summariser that is quicker about what it has read before."""

    def read_ahead(self, segment: Segment) -> None:
        """Read a segment when it is new: it may be summarised later, or stand beside what is."""
        ...


@dataclass(frozen=True, slots=True)
class Refusal:
    """A replacement that was considered and not made, with the reason.

    `kind` says what stood in the way: the span itself, its price, or its summary.
    """

    first: int
    last: int
    reason: str
    kind: RefusalKind = "size"


@dataclass(frozen=True, slots=True)
class Ruling:
    """Whether a rewrite of `spans` spans pays, with the numbers it was decided by.

    It takes `saved_tokens` out of every request.  Carrying them counts over `requests` requests,
    those already made and some of those expected, as `saving_dollars`, at the price they are billed
    at.  A rewrite costs `rebilling_dollars`, because `rewritten_tokens` behind the first change
    would have come from the cache and are written to it again, and `summary_dollars`.  It pays when
    it saves more than it costs; `forced` means that the window is nearly full, and then whatever
    shortens is done.  `pays_at` is the request from which on it would pay if
    nothing else changed, where it does not pay now.  `risk_dollars` is the chance that the agent
    needs an original again times what that counts; each interaction was found worth it before.
    """

    commit: bool
    spans: int
    requests: float
    saved_tokens: int
    saving_dollars: float
    rewritten_tokens: int
    rebilling_dollars: float
    summary_dollars: float
    risk_dollars: float
    cache: CacheState
    prices: str
    forced: bool = False
    pays_at: int | None = None

    @property
    def cost_dollars(self) -> float:
        return self.rebilling_dollars + self.summary_dollars

    @property
    def net_dollars(self) -> float:
        return self.saving_dollars - self.cost_dollars

    @property
    def text(self) -> str:
        """The inequality as a sentence."""
        numbers = (
            f"${self.cost_dollars:.4f} (cache ${self.rebilling_dollars:.4f}, records "
            f"${self.summary_dollars:.4f}) against ${self.saving_dollars:.4f} for carrying "
            f"{self.saved_tokens:,} tokens through {self.requests:.1f} requests"
        )
        if self.forced:
            return f"the window is nearly full: costs {numbers}"
        if self.commit:
            return f"pays: costs {numbers}"
        when = f"; would pay from about request {self.pays_at} on" if self.pays_at else ""
        return f"does not pay yet: costs {numbers}{when}"

    def as_json(self) -> dict[str, Any]:
        """The plain mapping a ledger stores."""
        return {**asdict(self), "net_dollars": self.net_dollars, "text": self.text}


@dataclass(frozen=True)
class View:
    """What a strategy would send instead of the raw history, and how it came to that.

    `required` is the score at which each interaction could have gone; `remarks` say how the records
    came to be, where that is not what was asked for.  `scored_by` is the router's name, if it has
    one.
    """

    history: History
    scores: Mapping[str, float] = field(default_factory=dict)
    required: Mapping[str, float] = field(default_factory=dict)
    commits: tuple[Commit, ...] = ()
    refusals: tuple[Refusal, ...] = ()
    side_calls: tuple[SideCall, ...] = ()
    note: str = ""
    ruling: Ruling | None = None
    remarks: tuple[str, ...] = ()
    scored_by: str = ""


class Strategy(Protocol):
    """Turns a raw history into a shorter valid one, or hands the same one back.

    Only `before_request` must be written; the other hooks are for methods that act on fresh
    observations or give the agent tools of their own, and do nothing unless overridden.
    """

    def before_request(self, history: History) -> View:
        """What to send instead of this history, before every request."""
        ...

    def after_break(self, history: History) -> View:
        """The same, where the provider's cache has run out since the request before."""
        return self.before_request(history)

    def on_observation(self, call: Call, text: str) -> str:
        """A fresh observation, before it enters the history."""
        return text

    def adapt_tool(self, tool: JsonObject) -> JsonObject:
        """One of the agent's own reading tools, as it is offered with this strategy."""
        return tool

    def extra_tools(self) -> Sequence[JsonObject]:
        """Tool definitions to offer the agent beside its own."""
        return ()

    def handle_tool(self, call: Call) -> str:
        """The result of a call to one of `extra_tools`."""
        return f"There is no tool named {call.name!r}."

    def extra_system_text(self) -> str:
        """Guidance to add to the system prompt."""
        return ""


@dataclass(frozen=True, slots=True)
class Card:
    """One strategy in words: when it acts, on what, at whose cost, and where the facts are from.

    `calls` are the model calls it makes beside the agent's, and what runs where no model is given;
    `tools` are offered to the agent; `inferred` are choices no published source states.
    """

    name: str
    title: str
    trigger: str
    unit: str
    calls: str = "none"
    tools: tuple[str, ...] = ()
    source: str = ""
    inferred: str = ""


StrategyFactory: TypeAlias = Callable[[Trajectory, Wire], Strategy]
"""A strategy for one run: what it remembers belongs to that run."""
