"""What an exchange is in the ledger: its session, its entries, what became of each interaction."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import takewhile
from typing import Any

from statecomp.history.history import History
from statecomp.history.interaction import Interaction
from statecomp.ledger.audit import Cell, Entry, Session, Totals
from statecomp.ledger.commits import Commit
from statecomp.proxy.account.exchange import Exchange
from statecomp.records.record import STANDS_IN, WANTS_KEPT
from statecomp.strategy import View

_cell = lru_cache(maxsize=8192)(Cell)  # nearly all of them were in the request before


def decided(exchange: Exchange) -> View | None:
    if exchange.decision is None or exchange.decision.exception() is not None:
        return None
    return exchange.decision.result()


def outcome_of(exchange: Exchange, view: View | None) -> str:
    if exchange.decision is None:
        return "none needed"
    if exchange.decision.exception() is not None:
        return "failed"
    if view is None:
        return "dropped"
    return "committed" if view.commits else "nothing to do"


def session_row(exchange: Exchange, *, title: str, parent: str, started_s: float) -> Session:
    return Session(
        id=exchange.session,
        tenant=exchange.tenant,
        client=exchange.client,
        title=title,
        protocol=exchange.protocol,
        model=exchange.model,
        started_s=started_s,
        last_s=exchange.when_s,
        totals=Totals(),
        parent=parent,
        family=exchange.kin.family if exchange.kin.tools else "",
    )


def entries_of(exchange: Exchange, view: View, raw: History) -> list[Entry]:
    by_id = {i.id: i for i in raw.interactions}
    ruling: dict[str, Any] = view.ruling.as_json() if view.ruling else {}
    if view.scored_by:
        ruling["router"] = view.scored_by
    return [
        Entry(
            commit=commit,
            session=exchange.session,
            when_s=exchange.when_s,
            state="observed" if exchange.mode == "observe" else "live",
            scores={by_id[s].number: view.scores[s] for s in commit.sources if s in view.scores},
            ruling={**ruling, "writer": commit.by} if commit.by else ruling,
            originals=tuple(m for s in commit.sources for m in by_id[s].messages),
        )
        for commit in view.commits
        if _whole(commit, by_id)
    ]


def records_of(view: View) -> Iterator[str]:
    """What came of each record that a model was asked for."""
    for commit in view.commits:
        if commit.by:
            yield "extract" if commit.by.startswith(STANDS_IN) else "written"
    for refusal in view.refusals:
        if refusal.reason.startswith(WANTS_KEPT):
            yield "kept"


def _whole(commit: Commit, by_id: Mapping[str, Interaction]) -> bool:
    return all(source in by_id for source in commit.sources)


def outside_of(raw: History) -> tuple[str, ...]:
    """What stands outside the messages: a system prompt, where the protocol has it so."""
    return tuple(segment.text for segment in takewhile(lambda s: not s.messages, raw.segments))


def grid_of(raw: History, shown: History, scores: Mapping[str, float]) -> tuple[Cell, ...]:
    """What became of each interaction in this request."""
    gone = {source for summary in shown.summaries for source in summary.sources}
    # A list at once: this is done for every interaction of every request.
    return tuple(
        [
            _cell(
                i.number,
                "summarised" if i.id in gone else "locked" if i.locked else "kept",
                scores.get(i.id),
            )
            for i in raw.interactions
        ]
    )
