"""What was done, for people: sessions, requests, commits with their reasons, and regrets.

The commit log decides what goes out; this is the account of it.  Losing the account never changes
a request, so whoever writes it goes on without it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, TypeAlias

from statecomp.errors import StateCompError
from statecomp.history.interaction import JsonObject
from statecomp.ledger.commits import Commit
from statecomp.tokens.usage import Usage

CellState: TypeAlias = Literal["kept", "summarised", "locked"]
EntryState: TypeAlias = Literal["live", "undone", "suspect", "observed"]
RegretKind: TypeAlias = Literal["repeated call", "lost identifier"]


class LedgerFailed(StateCompError):
    """The ledger cannot be read or written now; a request goes on without it."""


class Cell(NamedTuple):
    """What became of one interaction in one request: one of each for every request there is."""

    number: int
    state: CellState
    score: float | None = None


@dataclass(frozen=True, slots=True)
class Request:
    """One request through a door.  `raw_tokens` came in, `sent_tokens` went out, by our count.

    Both are of the history, system prompt included; `outside_tokens`, the tool definitions, are
    sent beside it and never change.  In mode "observe" what came in went out, and `sent` is what
    would have been sent.  Dollars are those of the whole request by the price book, under caching
    where the provider or the client does that: as if nothing had been rewritten, and as sent, with
    the `record_dollars` that a model cost for writing records behind it.
    `note` says what stood in the way of sending less (see `statecomp.explain`).
    """

    session: str
    number: int
    when_s: float
    protocol: str
    model: str
    mode: str
    raw_tokens: int
    sent_tokens: int
    raw_dollars: float = 0.0
    sent_dollars: float = 0.0
    usage: Usage = Usage()
    status: int = 0
    first_change: int | None = None
    grid: tuple[Cell, ...] = ()
    note: str = ""
    outside_tokens: int = 0
    record_dollars: float = 0.0


@dataclass(frozen=True, slots=True)
class Entry:
    """A commit with everything a person needs to argue with it.

    `scores` are by interaction number; `ruling` is the economic inequality with its numbers;
    `originals` are the replaced messages, secrets masked, for audit only.
    """

    commit: Commit
    session: str
    when_s: float
    state: EntryState = "live"
    scores: Mapping[int, float] = field(default_factory=dict)
    ruling: Mapping[str, Any] = field(default_factory=dict)
    originals: tuple[JsonObject, ...] = ()


@dataclass(frozen=True, slots=True)
class Regret:
    """A later step that wanted something a commit had taken (or, observed, would have taken)."""

    session: str
    request: int
    commit: str
    kind: RegretKind
    detail: str


@dataclass(frozen=True, slots=True)
class Sums:
    """Over requests; savings may be negative and are shown as that."""

    requests: int = 0
    raw_tokens: int = 0
    sent_tokens: int = 0
    raw_dollars: float = 0.0
    sent_dollars: float = 0.0
    commits: int = 0
    regrets: int = 0

    @property
    def saved_tokens(self) -> int:
        return self.raw_tokens - self.sent_tokens

    @property
    def saved_dollars(self) -> float:
        return self.raw_dollars - self.sent_dollars


@dataclass(frozen=True, slots=True)
class Totals(Sums):
    """Over all requests, by what really went out.

    Of a request that was only observed that is what came in; `observed` holds what would have been
    sent, committed and regretted instead.  `outside_tokens` were sent beside the histories;
    `record_dollars`, part of what was sent, went to models that write records.
    """

    usage: Usage = Usage()
    observed: Sums = Sums()
    outside_tokens: int = 0
    record_dollars: float = 0.0

    @property
    def acted(self) -> Sums:
        """Without the requests that were only observed."""
        seen = self.observed
        return Sums(
            self.requests - seen.requests,
            self.raw_tokens - seen.raw_tokens,
            self.sent_tokens - seen.raw_tokens,
            self.raw_dollars - seen.raw_dollars,
            self.sent_dollars - seen.raw_dollars,
            self.commits,
            self.regrets,
        )


UNCUT = 4000
"""Characters of a title that a ledger is told: it masks them, and then keeps fewer."""


@dataclass(frozen=True, slots=True)
class Session:
    """One agent run as far as its requests show it.

    `title` is the start of its task, `note` the one of its latest request.  `parent` is the
    session of the agent that started this one as a sub-agent; `family` names the client's run.
    """

    id: str
    tenant: str
    client: str
    title: str
    protocol: str
    model: str
    started_s: float
    last_s: float
    totals: Totals
    note: str = ""
    parent: str = ""
    family: str = ""


@dataclass(frozen=True, slots=True)
class Told:
    """One request with all that belongs to it.

    `messages` is the raw history, which says what is secret in all of it, also where it is `stored`
    already; so do texts `outside` of it, such as a system prompt, which are not stored.
    """

    session: Session
    request: Request
    entries: Sequence[Entry] = ()
    regrets: Sequence[Regret] = ()
    messages: Sequence[JsonObject] = ()
    stored: bool = False
    outside: tuple[str, ...] = ()
