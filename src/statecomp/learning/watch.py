"""Are scores worth what they say?  Watched while serving, by what can be seen afterwards.

Of the steps that were replaced, and of which it is settled whether anybody came back, so many
should have been come back for as their scores say.  What comes back more often, beyond chance,
means that the router is too sure of itself with this client: its gates become stricter until it is
not.  The scores are those of the router that decides now: another one has to answer for its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import pairwise
from math import sqrt
from time import time
from typing import Any, Final

from statecomp.errors import StateCompError
from statecomp.history.interaction import Interaction
from statecomp.history.kinds import kind_of
from statecomp.learning.outcomes import QUIET, SessionAccount, StepOutcome, outcomes
from statecomp.learning.refetch import RefetchPrice, Reread, reread_in
from statecomp.ledger.audit import Entry, Session
from statecomp.ledger.own import Account
from statecomp.wire.assemble import parse
from statecomp.wire.providers import wire_named

SESSIONS: Final = 200
OVER_S: Final = 3600.0
"""A session nobody has heard of for so long is taken to have ended."""
EDGES: Final = (0.0, 0.8, 0.9, 0.95, 0.98, 0.99, 1.0)
FEWEST: Final = 10
"""Settled steps of a client before its scores are judged; the interval says the rest."""
STRICTEST: Final = 4.0
NORMAL: Final = 1.959964  # of a 95 % interval


@dataclass(frozen=True, slots=True)
class Settled:
    """One replaced step of which it is known whether it was come back for, or taken back."""

    client: str
    kind: str
    score: float
    wanted: bool
    router: str = ""


@dataclass(frozen=True, slots=True)
class WantedShare:
    """How often steps were wanted back, with its 95 % interval, beside what their scores say."""

    name: str
    steps: int
    wanted: int
    expected: float
    low: float
    high: float

    @property
    def drifts(self) -> bool:
        """More come back than chance allows for the scores they were given."""
        return self.steps >= FEWEST and self.low > self.expected

    @property
    def caution(self) -> float:
        """How many times warier the gates become; 1 where the scores hold."""
        if not self.drifts:
            return 1.0
        return min(STRICTEST, self.low / max(self.expected, 0.005))

    def as_json(self) -> dict[str, Any]:
        return {**asdict(self), "drifts": self.drifts, "caution": round(self.caution, 2)}


@dataclass(frozen=True)
class Watched:
    """By client, by client and kind of step, and by client and score, of the router that decides;
    by router, of all; `prices` of a return by client."""

    clients: Mapping[str, WantedShare] = field(default_factory=dict)
    kinds: tuple[WantedShare, ...] = ()
    curve: tuple[WantedShare, ...] = ()
    routers: tuple[WantedShare, ...] = ()
    prices: Mapping[str, RefetchPrice] = field(default_factory=dict)

    def caution(self, client: str) -> float:
        share = self.clients.get(product(client))
        return share.caution if share else 1.0

    def reread(self, client: str) -> float | None:
        price = self.prices.get(product(client))
        return price.part if price else None

    def as_json(self) -> dict[str, Any]:
        return {
            "clients": [share.as_json() for share in self.clients.values()],
            "kinds": [share.as_json() for share in self.kinds],
            "curve": [share.as_json() for share in self.curve],
            "routers": [share.as_json() for share in self.routers],
            "prices": [{"name": n, **p.as_json()} for n, p in sorted(self.prices.items())],
        }


def watched(ledger: Account, sessions: Sequence[Session] | None = None) -> Watched:
    latest = ledger.sessions(SESSIONS) if sessions is None else sessions
    looked = [(product(session.client), *looked_at(ledger, session)) for session in latest]
    again: dict[str, list[Reread]] = {}
    for client, _, found in looked:
        again.setdefault(client, []).extend(found)
    seen = summed([one for _, settled, _ in looked for one in reversed(settled)])
    prices = {client: RefetchPrice.of(found) for client, found in again.items() if found}
    return replace(seen, prices=prices)


def summed(found: Sequence[Settled]) -> Watched:
    """The newest come first."""
    decides = [one for one in found if one.router == found[0].router]
    return Watched(
        {share.name: share for share in _shares(decides, lambda one: one.client)},
        tuple(_shares(decides, lambda one: f"{one.client} · {one.kind}")),
        tuple(_shares(decides, lambda one: f"{one.client} · {_between(one.score)}")),
        tuple(_shares([one for one in found if one.router], lambda one: one.router)),
    )


def _between(score: float) -> str:
    low, high = next(pair for pair in pairwise(EDGES) if score < pair[1] or pair[1] == EDGES[-1])
    return f"{low:g} to {high:g}"


def _shares(found: Sequence[Settled], key: Any) -> Iterator[WantedShare]:
    for name in sorted({key(one) for one in found}):
        yield share_of(name, [one for one in found if key(one) == name])


def share_of(name: str, found: Sequence[Settled]) -> WantedShare:
    wanted = sum(one.wanted for one in found)
    expected = sum(1.0 - one.score for one in found) / len(found)
    return WantedShare(name, len(found), wanted, expected, *interval(wanted, len(found)))


def interval(wanted: int, steps: int) -> tuple[float, float]:
    """Wilson's: it stays between 0 and 1, and is fair to rare things."""
    share, z = wanted / steps, NORMAL
    middle = (share + z * z / (2 * steps)) / (1 + z * z / steps)
    reach = z / (1 + z * z / steps) * sqrt(share * (1 - share) / steps + z * z / (4 * steps**2))
    return max(0.0, middle - reach), min(1.0, middle + reach)


def looked_at(ledger: Account, session: Session) -> tuple[list[Settled], list[Reread]]:
    """The settled steps of a session, and those read again; what was only observed says nothing.

    A step is settled when the session is over or went on long enough: to count who came back at
    once, and not yet who has not, would find the returns alone.
    """
    if not session.totals.commits and not session.totals.regrets:
        return [], []
    told = SessionAccount.of(ledger, session.id)
    done = replace(told, entries=[entry for entry in told.entries if entry.state != "observed"])
    steps, client = steps_of(done.entries, session.protocol), product(session.client)
    over = session.last_s < time() - OVER_S
    found = [
        _settled(one, client, steps)
        for one in outcomes(done, steps)
        if one.score is not None and (over or told.last - one.since >= QUIET)
    ]
    whole = _all_steps(ledger, session) if told.regrets else {}
    return found, [*reread_in(told, whole)]


def _all_steps(ledger: Account, session: Session) -> dict[int, Interaction]:
    try:
        history = parse(ledger.messages(session.id), wire_named(session.protocol))
    except StateCompError:
        return {}
    return {step.number: step for step in history.interactions}


def _settled(one: StepOutcome, client: str, steps: Mapping[int, Interaction]) -> Settled:
    kind = kind_of(steps[one.number]) if one.number in steps else "other"
    wanted = one.fate in ("returned", "undone")
    return Settled(client, kind, one.score or 0.0, wanted, one.router)


def steps_of(entries: Iterable[Entry], protocol: str) -> dict[int, Interaction]:
    """The replaced steps by number, from the originals that were kept of them."""
    found: dict[int, Interaction] = {}
    for entry in entries:
        try:
            history = parse(entry.originals, wire_named(protocol))
        except StateCompError:
            continue  # masking may have changed what a rule of the protocol rests on
        found.update(
            zip(
                range(entry.commit.first, entry.commit.last + 1), history.interactions, strict=False
            )
        )
    return found


def product(client: str) -> str:
    """A client without its version: a new one works like the old one."""
    return client.partition("/")[0]
