"""Decisions in the background: in time, one at a time, the newest only, and never in the way."""

from __future__ import annotations

import gc
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from threading import Event, Lock
from typing import Any

import pytest

from statecomp.controller.age import AgeScorer
from statecomp.controller.prices import PriceBook, shipped_prices
from statecomp.history.history import History
from statecomp.history.interaction import Interaction
from statecomp.history.situation import Situation
from statecomp.ledger.audit import LedgerFailed
from statecomp.ledger.commits import Commit, MemoryLog
from statecomp.ledger.open import open_ledger
from statecomp.method import Method
from statecomp.proxy.remembering import RememberingLog
from statecomp.proxy.settings import Limits
from statecomp.records.record import Record
from statecomp.testing.words import BULK, chat_of
from tests.proxy.small_upstream import EAGER, Running, SmallUpstream, running
from tests.rules import paying

PATIENCE_S = 30


@dataclass
class Gated:
    """A scorer that waits for a word; it counts how many decide at the same time."""

    go: Event = field(default_factory=Event)
    began: Event = field(default_factory=Event)
    asked: list[int] = field(default_factory=list)
    lock: Lock = field(default_factory=Lock)

    def score(self, history: History) -> Mapping[str, float]:
        with self.lock:
            self.asked.append(history.checkpoint - 1)
        self.began.set()
        self.go.wait(PATIENCE_S)
        return AgeScorer(2).score(history)


def body_of(proxy: Running, place: int = -1) -> bytes:
    return proxy.received[place].body


def test_a_request_never_waits_for_a_decision_and_the_next_one_has_it() -> None:
    scorer = Gated()
    with running(commit="background", method=replace(EAGER, scorer=lambda: scorer)) as proxy:
        assert proxy.chat(chat_of("prrrr")).status_code == 200  # though nothing was decided yet
        assert proxy.received[0].json["messages"] == chat_of("prrrr")
        scorer.go.set()
        proxy.drain()
        proxy.chat(chat_of("prrrrr"))
        assert b"[Record of past steps 1-2" in body_of(proxy)


def test_a_retry_goes_out_as_before_though_something_was_decided_meanwhile() -> None:
    scorer, ledger = Gated(), open_ledger(":memory:")
    method = replace(EAGER, scorer=lambda: scorer)
    with running(commit="background", method=method, ledger=ledger) as proxy:
        proxy.chat(chat_of("prrrr"))
        scorer.go.set()
        proxy.drain()
        proxy.chat(chat_of("prrrr"))
        assert body_of(proxy, 1) == body_of(proxy, 0)
        with running(ledger=ledger) as other:  # another worker, which would decide at once
            other.chat(chat_of("prrrr"))
            assert body_of(other) == body_of(proxy, 0)
            other.chat(chat_of("prrrrk"))
            assert b"[Record of past steps 1-2" in body_of(other)


@pytest.mark.parametrize("broken", ["seal", "again"])
def test_what_cannot_be_written_down_goes_out_all_the_same(
    broken: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*given: object) -> bool:
        if broken == "seal":
            raise OSError("disk")
        return False  # something else went out before, and cannot be had

    def gone(*given: object) -> None:
        raise OSError("disk")

    monkeypatch.setattr("statecomp.compressor.StateComp.seal", fails)
    monkeypatch.setattr("statecomp.proxy.request.reading.RequestReader._again", gone)
    with running(commit="background") as proxy:
        assert proxy.chat(chat_of("prrrr")).status_code == 200
        assert proxy.received[0].json["messages"] == chat_of("prrrr")


def test_states_that_were_overtaken_are_not_decided() -> None:
    scorer = Gated()
    with running(commit="background", method=replace(EAGER, scorer=lambda: scorer)) as proxy:
        proxy.chat(chat_of("prrrr"))
        assert scorer.began.wait(PATIENCE_S)
        for word in ("prrrrr", "prrrrrr", "prrrrrrr"):
            proxy.chat(chat_of(word))
        scorer.go.set()
        proxy.drain()
        assert scorer.asked == [4, 7]
        assert proxy.ledger.totals().requests == 4


def test_a_decision_holds_only_where_its_state_still_stands() -> None:
    with running(commit="background") as proxy:
        proxy.chat(chat_of("prrrrr"))
        proxy.drain()
        proxy.chat(chat_of("prrrr"))  # a fork from before the decision
        assert proxy.received[-1].json["messages"] == chat_of("prrrr")


def test_the_same_request_again_is_decided_once() -> None:
    scorer = Gated()
    scorer.go.set()
    with running(commit="background", method=replace(EAGER, scorer=lambda: scorer)) as proxy:
        for _ in range(3):
            proxy.chat(chat_of("pr"))
            proxy.drain()
        assert len(scorer.asked) == 1


def test_a_decision_over_its_deadline_commits_nothing() -> None:
    with running(commit="background", limits=Limits(decision_s=0.0)) as proxy:
        proxy.chat(chat_of("prrrr"))
        proxy.drain()
        proxy.chat(chat_of("prrrrr"))
        proxy.drain()
        assert b"[Record of past" not in body_of(proxy)
        assert proxy.ledger.totals().commits == 0


def test_deciding_now_gives_up_after_its_deadline_and_sends_the_last_good_view() -> None:
    scorer = Gated()
    method = replace(EAGER, scorer=lambda: scorer)
    with running(commit="now", method=method, limits=Limits(now_s=0.2)) as proxy:
        scorer.go.set()
        proxy.chat(chat_of("prrrr"))
        before = proxy.received[0].json["messages"]
        scorer.go.clear()
        assert proxy.chat(chat_of("prrrrrr")).status_code == 200
        assert proxy.received[-1].json["messages"] == [*before, *chat_of("prrrrrr")[9:]]
        scorer.go.set()


def test_a_cache_that_is_cold_by_the_clock_makes_a_short_wait_worth_it() -> None:
    """Nothing is re-billed by a rewrite now; a request later it would be."""
    book = shipped_prices()
    forgetful = replace(book.of(), ttl_s=0)
    prices = PriceBook({forgetful.model: forgetful}, forgetful.model)
    with running(commit="background", prices=prices) as proxy:
        proxy.chat(chat_of("p"))
        proxy.chat(chat_of("prrrr"))
        assert b"[Record of past steps 1-2" in body_of(proxy)
    with running(commit="background", prices=book) as proxy:
        proxy.chat(chat_of("p"))
        proxy.chat(chat_of("prrrr"))
        assert b"[Record of past" not in body_of(proxy)


def test_a_commit_must_pay_and_its_inequality_is_written_down() -> None:
    with running(method=replace(EAGER, rule=paying())) as proxy:
        for place in range(4, 30):
            proxy.chat(chat_of("p" + "r" * place, bulk=BULK * 4))
        ledger = proxy.drain()
        (session,) = ledger.sessions()
        entries = ledger.entries(session.id)
        requests = ledger.requests(session.id)
    assert entries
    assert all(entry.ruling["net_dollars"] > 0 for entry in entries)
    assert sum(r.sent_dollars for r in requests) < sum(r.raw_dollars for r in requests)


def test_too_many_decisions_mean_the_last_good_view_and_no_failure() -> None:
    scorer = Gated()
    limits = Limits(threads=1, waiting=1, now_s=PATIENCE_S)
    method = replace(EAGER, scorer=lambda: scorer)
    with running(commit="background", method=method, limits=limits) as proxy:
        for number in range(4):
            task = {"role": "user", "content": f"task {number}"}
            assert proxy.chat([task, *chat_of("rrrr")]).status_code == 200
        scorer.go.set()
        assert proxy.drain().totals().requests == 4


def test_too_many_requests_at_once_go_out_as_they_came() -> None:
    with running(limits=Limits(views=0)) as proxy:
        assert proxy.chat(chat_of("prrrr")).status_code == 200
        assert proxy.received[0].json["messages"] == chat_of("prrrr")


class Broken:
    """A scorer, and a summariser, that raise what nobody expects."""

    def score(self, history: History) -> Mapping[str, float]:
        raise ZeroDivisionError

    def summarize(self, span: Sequence[Interaction], situation: Situation) -> Record:
        raise ZeroDivisionError


@pytest.mark.parametrize("commit", ["now", "background"])
@pytest.mark.parametrize(
    "method",
    [replace(EAGER, scorer=Broken), replace(EAGER, summarizer=lambda account: Broken())],
    ids=["scorer", "summariser"],
)
def test_whatever_breaks_inside_the_request_goes_out(
    commit: str, method: Method, caplog: pytest.LogCaptureFixture
) -> None:
    with running(commit=commit, method=method) as proxy:
        assert proxy.chat(chat_of("prrrr")).status_code == 200
        assert proxy.received[0].json["messages"] == chat_of("prrrr")
        assert proxy.drain().totals().requests == 1
        assert proxy.endpoint.metrics.value("statecomp_decisions_total", outcome="failed") == 1
    gc.collect()
    assert caplog.records == []  # asyncio complains of exceptions that nobody looked at


class Away:
    """A ledger whose store can be taken away."""

    def __init__(self) -> None:
        self.inner = open_ledger(":memory:")
        self.away = False

    def commits(self, tenant: str) -> Any:
        return AwayLog(self, self.inner.commits(tenant))

    def __getattr__(self, name: str) -> Any:
        if self.away:
            raise LedgerFailed("away")
        return getattr(self.inner, name)


@dataclass
class AwayLog:
    ledger: Away
    log: Any

    def __getattr__(self, name: str) -> Any:
        if self.ledger.away:
            raise LedgerFailed("away")
        return getattr(self.log, name)


def test_a_store_that_goes_away_fails_no_request_and_changes_no_byte() -> None:
    ledger: Any = Away()
    with running(ledger=ledger) as proxy:
        proxy.chat(chat_of("prrrr"))
        proxy.drain()
        ledger.away = True
        assert proxy.chat(chat_of("prrrr")).status_code == 200
        assert body_of(proxy, 1) == body_of(proxy, 0)
        # Nothing new can be decided without the store, and what was decided stays.
        assert proxy.chat(chat_of("prrrrrr")).status_code == 200
        assert body_of(proxy).count(b"[Record of past") == 1
        proxy.drain()
        assert proxy.endpoint.metrics.value("statecomp_ledger_failures_total") >= 3


def test_a_store_that_is_away_from_the_start_fails_no_request() -> None:
    ledger: Any = Away()
    ledger.away = True
    with running(ledger=ledger) as proxy:
        assert proxy.chat(chat_of("prrrr")).status_code == 200
        assert proxy.received[0].json["messages"] == chat_of("prrrr")


def commit_at(state: str) -> Commit:
    return Commit(f"c{state}", state, (f"x{state}",), 1, 1, "text", 10, 5)


class Fragile(MemoryLog):
    """A log that fails on demand, and counts how often it was asked."""

    def __init__(self) -> None:
        super().__init__()
        self.fails = False
        self.asked = 0

    def find(self, ids: Sequence[str]) -> Sequence[Commit]:
        self.asked += 1
        if self.fails:
            raise OSError("disk")
        return super().find(ids)


def test_memory_answers_for_a_store_that_fails_and_leaves_it_alone_for_a_while() -> None:
    store = Fragile()
    log = RememberingLog(store)
    store.append("a", [commit_at("a")])
    assert list(log.find(["a", "b"])) == [commit_at("a")]
    log.append("b", [commit_at("b")])
    store.fails = True
    for _ in range(3):
        assert list(log.find(["b", "a"])) == [commit_at("a"), commit_at("b")]
    assert store.asked == 2
    with pytest.raises(LedgerFailed):
        log.held(["a"])  # what may not be taken is unknown, so nothing may be


class Dawdling(MemoryLog):
    """A log that takes its time over one kind of question."""

    def __init__(self, over: str) -> None:
        super().__init__()
        self.over = over

    def find(self, ids: Sequence[str]) -> Sequence[Commit]:
        Event().wait(0.3 if self.over == "find" else 0)
        return super().find(ids)

    def append(
        self, at: str, commits: Sequence[Commit], chain: Sequence[str] = ()
    ) -> Sequence[Commit]:
        Event().wait(0.3 if self.over == "append" else 0)
        return super().append(at, commits, chain)


@pytest.mark.parametrize("over", ["find", "append"])
def test_only_a_store_that_finds_slowly_is_slow_for_a_request(
    over: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("statecomp.proxy.remembering.SLOW_S", 0.2)
    log = RememberingLog(Dawdling(over))
    log.append("a", [commit_at("a")])
    assert not log.slow
    assert list(log.find(["a"])) == [commit_at("a")]
    assert log.slow == (over == "find")


def test_what_was_undone_does_not_come_back_from_memory() -> None:
    store = Fragile()
    log = RememberingLog(store)
    log.append("a", [commit_at("a")])
    store._by_state.clear()
    assert list(log.find(["a"])) == []
    store.fails = True
    assert list(log.find(["a"])) == []


def test_what_was_accounted_is_in_the_ledger_when_the_proxy_has_ended() -> None:
    ledger = open_ledger(":memory:")
    with running(SmallUpstream(), ledger=ledger, commit="background") as proxy:
        for number in range(20):
            proxy.chat([{"role": "user", "content": f"task {number}"}])
    assert ledger.totals().requests == 20
