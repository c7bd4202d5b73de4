"""Requests behind a decision that hangs: few of them wait for it, and nothing of them is lost."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from threading import Event
from time import monotonic, sleep

import pytest

from statecomp.explain import kind_of
from statecomp.history.history import History
from statecomp.ledger.audit import Request
from statecomp.ledger.ledger import Ledger
from statecomp.ledger.open import open_ledger
from statecomp.proxy.settings import Limits
from statecomp.testing.words import WordScorer, chat_of
from tests.proxy.small_upstream import EAGER, Running, running

MOST = 6
WORDS = [f"prr{'r' * more}k" for more in range(10)]
PATIENCE_S, HANGS_S = 20.0, 110.0


@dataclass
class Hanging(WordScorer):
    """Says nothing until it may."""

    go: Event
    asked: Event

    def score(self, history: History) -> Mapping[str, float]:
        self.asked.set()
        assert self.go.wait(HANGS_S)
        return super().score(history)


@dataclass
class Held:
    proxy: Running
    go: Event

    def recorded(self, least: int) -> Sequence[Request]:
        """The requests of the only session, once there are so many, or as many as there are."""
        ends = monotonic() + PATIENCE_S
        while monotonic() < ends:
            found = [r for s in self.ledger.sessions() for r in self.ledger.requests(s.id)]
            if len(found) >= least:
                return found
            sleep(0.02)
        return found

    @property
    def ledger(self) -> Ledger:
        return self.proxy.ledger

    def entries(self) -> list[str]:
        return [e.commit.id for s in self.ledger.sessions() for e in self.ledger.entries(s.id)]


@contextmanager
def held(words: Sequence[str], records: int = 2 * MOST) -> Iterator[Held]:
    """The decision of the first word hangs, and the other requests are answered meanwhile."""
    go, asked = Event(), Event()
    method = replace(EAGER, scorer=lambda: Hanging(go, asked))
    limits = Limits(records=records)
    with running(method=method, commit="background", limits=limits) as proxy:
        assert proxy.chat(chat_of(words[0])).status_code == 200
        assert asked.wait(PATIENCE_S)
        for word in words[1:]:
            assert proxy.chat(chat_of(word)).status_code == 200
        try:
            yield Held(proxy, go)
        finally:
            go.set()


def test_no_more_than_so_many_requests_wait_for_a_decision_that_hangs() -> None:
    with held(WORDS) as held_back:
        written = held_back.recorded(len(WORDS) - MOST)
        assert [request.number for request in written] == list(range(1, len(written) + 1))
        assert len(written) >= len(WORDS) - MOST
        assert kind_of(written[0].note) == "not decided"
        assert held_back.entries() == []


def test_nor_more_than_so_many_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("statecomp.proxy.account.undecided.MOST_BYTES", 50_000)
    with held(WORDS, records=256) as held_back:
        assert len(held_back.recorded(len(WORDS) - MOST)) >= len(WORDS) - MOST


def test_what_is_decided_after_its_request_was_written_down_is_told_of_that_request() -> None:
    with held(WORDS) as late:
        before = late.recorded(len(WORDS) - MOST)
        late.go.set()
        late.proxy.drain()
        after = late.recorded(len(WORDS))
    with held(WORDS[:1]) as in_time:
        in_time.go.set()
        in_time.proxy.drain()
        (request,) = in_time.recorded(1)
        committed = in_time.entries()
    assert committed
    assert set(committed) <= set(late.entries())
    assert [r.number for r in after] == list(range(1, len(WORDS) + 1))
    assert [r.when_s for r in after][: len(before)] == [r.when_s for r in before]
    assert (after[0].note, after[0].grid) == (request.note, request.grid)
    assert late.proxy.endpoint.metrics.value("statecomp_decisions_total", outcome="committed") >= 1


def test_at_the_end_what_waits_for_a_decision_that_hangs_is_written_down() -> None:
    ledger = open_ledger(":memory:")
    go, asked = Event(), Event()
    method = replace(EAGER, scorer=lambda: Hanging(go, asked))
    with running(
        method=method, commit="background", ledger=ledger, limits=Limits(drain_s=0.2)
    ) as proxy:
        for word in WORDS[:3]:
            assert proxy.chat(chat_of(word)).status_code == 200
            assert asked.wait(PATIENCE_S)
    (session,) = ledger.sessions()
    assert session.totals.requests == 3
    go.set()
