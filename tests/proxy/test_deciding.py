"""When decisions are made: before the request where that is quick or worth it, else behind it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from threading import Event
from time import time

import pytest

from statecomp.controller.age import AgeScorer
from statecomp.controller.prices import PriceBook, shipped_prices
from statecomp.history.history import History
from statecomp.history.interaction import Interaction
from statecomp.history.situation import Situation
from statecomp.ledger.open import open_ledger
from statecomp.proxy.horizons import Horizons
from statecomp.proxy.settings import Limits
from statecomp.records.record import Record
from statecomp.testing.words import OneLiner, chat_of
from tests.ledger.samples import request, session
from tests.proxy.small_upstream import EAGER, running

USUAL = shipped_prices().of()
FORGETFUL = PriceBook({USUAL.model: replace(USUAL, ttl_s=0)}, USUAL.model)
RECORD = b"[Record of past steps 1-2"
PATIENCE_S = 30


@dataclass
class Slow:
    """A scorer that waits for a word."""

    go: Event = field(default_factory=Event)

    def score(self, history: History) -> Mapping[str, float]:
        self.go.wait(PATIENCE_S)
        return AgeScorer(2).score(history)


class Asking:
    """A summariser that is none of ours: it could ask a model."""

    def summarize(self, span: Sequence[Interaction], situation: Situation) -> Record:
        return OneLiner().summarize(span, situation)


def test_what_takes_no_model_is_decided_before_its_request() -> None:
    with running(commit="auto", limits=Limits(quick_s=PATIENCE_S)) as proxy:
        proxy.chat(chat_of("prrrr"))
        assert RECORD in proxy.received[0].body


def test_what_a_model_writes_is_decided_behind_its_request() -> None:
    method = replace(EAGER, summarizer=lambda account: Asking())
    with running(commit="auto", method=method, limits=Limits(quick_s=PATIENCE_S)) as proxy:
        proxy.chat(chat_of("prrrr"))
        proxy.drain()
        proxy.chat(chat_of("prrrrr"))
        assert [RECORD in got.body for got in proxy.received] == [False, True]


def test_a_decision_that_is_not_quick_is_not_waited_for_and_holds_from_the_next_request() -> None:
    slow = Slow()
    method = replace(EAGER, scorer=lambda: slow)
    with running(commit="auto", method=method, limits=Limits(quick_s=0.05)) as proxy:
        proxy.chat(chat_of("prrrr"))
        slow.go.set()
        proxy.drain()
        proxy.chat(chat_of("prrrrr"))
        assert [RECORD in got.body for got in proxy.received] == [False, True]


@pytest.mark.parametrize("commit", ["auto", "background"])
def test_a_cold_cache_is_worth_a_longer_wait(commit: str) -> None:
    limits = Limits(quick_s=0.0, cold_s=PATIENCE_S)
    for prices, waited in ((FORGETFUL, True), (None, False)):
        with running(commit=commit, prices=prices, limits=limits) as proxy:
            proxy.chat(chat_of("p"))
            proxy.chat(chat_of("prrrr"))
            assert (RECORD in proxy.received[-1].body) == waited


def test_how_long_sessions_go_on_is_learned_from_those_of_the_same_client_that_have_ended() -> None:
    ledger = open_ledger(":memory:")
    for name, client, heard_s in (
        ("one", "agent/1.0", 0.0),
        ("two", "agent/1.1", 0.0),
        ("now", "agent/1.1", time()),  # still going on
        ("other", "tool/1.0", 0.0),
    ):
        for number in range(1, 4):
            held = replace(session(name, last_s=heard_s), client=client)
            ledger.record(held, request(name, number), [])
    known = Horizons(ledger)
    found = known.of("agent/2.0", "gpt-5")
    assert found is not None
    assert found.lengths == (3, 3)
    assert known.of("agent/2.0", "another model") is None


def test_a_ledger_that_fails_leaves_what_is_known_of_no_client() -> None:
    ledger = open_ledger(":memory:")
    ledger.close()
    assert Horizons(ledger).of("agent/2.0", "gpt-5") is None
