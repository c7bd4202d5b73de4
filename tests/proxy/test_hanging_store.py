"""A store that hangs is not waited for: what was sent is sent again from memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from threading import Event, Timer
from typing import Any

import pytest

from statecomp.ledger.audit import LedgerFailed
from statecomp.ledger.commits import Commit, CommitLog, MemoryLog
from statecomp.ledger.open import open_ledger
from statecomp.proxy import answering
from statecomp.proxy.remembering import FROM_MEMORY, RememberingLog
from statecomp.testing.words import chat_of
from tests.postgres import running_cluster
from tests.proxy.small_upstream import Running, running

LONG_S = 20.0


class Hanging(MemoryLog):
    """Answers to nobody while it hangs."""

    def __init__(self, store: CommitLog | None = None) -> None:
        super().__init__()
        self.goes_on = Event()
        self.goes_on.set()
        self._store = store

    def find(self, ids: Sequence[str]) -> Sequence[Commit]:
        self.goes_on.wait(LONG_S)
        return super().find(ids) if self._store is None else self._store.find(ids)

    def sent(self, seen: str) -> Sequence[str] | None:
        self.goes_on.wait(LONG_S)
        return super().sent(seen) if self._store is None else self._store.sent(seen)

    def send(self, seen: str, commits: Sequence[str]) -> Sequence[str]:
        self.goes_on.wait(LONG_S)
        store = self._store
        return super().send(seen, commits) if store is None else store.send(seen, commits)

    def append(
        self, at: str, commits: Sequence[Commit], chain: Sequence[str] = ()
    ) -> Sequence[Commit]:
        store = self._store
        if store is None:
            return super().append(at, commits, chain)
        return store.append(at, commits, chain)

    @contextmanager
    def hanging(self) -> Iterator[None]:
        self.goes_on.clear()
        timer = Timer(LONG_S, self.goes_on.set)
        timer.start()
        yield
        assert not self.goes_on.is_set(), "somebody waited for it"
        timer.cancel()
        self.goes_on.set()


def commit_at(state: str) -> Commit:
    return Commit(f"c{state}", state, ("x",), 1, 1, "text", 10, 5)


@pytest.fixture
def threads() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(4) as threads:
        yield threads


def test_memory_answers_while_the_store_hangs_and_the_log_says_so_once(
    threads: ThreadPoolExecutor, caplog: pytest.LogCaptureFixture
) -> None:
    store, failed = Hanging(), list[str]()
    log = RememberingLog(store, lambda: failed.append("once"), ask=threads)
    log.append("a", [commit_at("a")])
    with store.hanging():
        for _ in range(3):
            assert list(log.find(["a", "b"])) == [commit_at("a")]
        assert log.slow
    assert [record.message for record in caplog.records] == [FROM_MEMORY]
    assert failed == ["once"]


def test_what_the_store_says_late_is_learned(threads: ThreadPoolExecutor) -> None:
    store = Hanging()
    log = RememberingLog(store, ask=threads)
    store.append("a", [commit_at("a")])
    with store.hanging():
        assert list(log.find(["a"])) == []
    threads.shutdown(wait=True)  # the late answer has come
    assert log._known.get("a") is not None


class Counting(ThreadPoolExecutor):
    """Knows how many questions were handed to it."""

    asked = 0

    def submit(self, *arguments: Any, **named: Any) -> Future[Any]:
        self.asked += 1
        return super().submit(*arguments, **named)


def test_one_question_at_a_time_waits_for_a_store_that_hangs() -> None:
    store = Hanging()
    with Counting(4) as threads:
        log = RememberingLog(store, ask=threads)
        with store.hanging():
            log.find(["a"])  # this one found out
            asked = threads.asked
            for state in "bcdef":
                log.find([state])
                log.send(state, [])
                assert log.sent(state) == []
            assert threads.asked == asked


@pytest.mark.parametrize("ask", [True, False])
def test_what_went_out_meanwhile_is_written_down_once_the_store_answers(ask: bool) -> None:
    store = Hanging()
    with ThreadPoolExecutor(4) as threads:
        log = RememberingLog(store, ask=threads if ask else None)
        log._writes.away_until = float("inf")
        assert log.send("a", ["c1"]) == ["c1"]
        assert log.send("a", ["c2"]) == ["c1"]
        assert store.sent("a") is None
        log._writes.away_until = 0.0
        log.send("b", [])
    assert store.sent("a") == ("c1",)
    assert len(log._owed) == 0


def test_what_another_worker_wrote_down_first_stands() -> None:
    store = Hanging()
    log = RememberingLog(store)
    log._writes.away_until = float("inf")
    log.send("a", ["c1"])
    store.send("a", ["c2"])
    log._writes.away_until = 0.0
    log.catch_up()
    assert log.sent("a") == ("c2",)


def test_what_went_out_meanwhile_is_settled_before_it_goes_out_again() -> None:
    store = Hanging()
    log = RememberingLog(store)
    log._writes.away_until = float("inf")
    log.send("a", ["c1"])
    assert log.sent("a") == ["c1"]  # nobody can say otherwise yet
    store.send("a", ["c2"])
    log._writes.away_until = 0.0
    assert log.sent("a") == ("c2",)
    assert len(log._owed) == 0


def test_what_is_owed_to_a_store_that_is_still_away_stays_owed() -> None:
    log = RememberingLog(Hanging())
    log._writes.away_until = float("inf")
    log.send("a", ["c1"])
    log.catch_up()
    assert len(log._owed) == 1


class Full(MemoryLog):
    """Finds, and cannot write."""

    def send(self, seen: str, commits: Sequence[str]) -> Sequence[str]:
        raise LedgerFailed("the disk is full")


def test_a_store_that_cannot_write_is_still_read() -> None:
    store = Full()
    log = RememberingLog(store)
    log.send("a", [])
    store.append("b", [commit_at("b")])
    assert list(log.find(["b"])) == [commit_at("b")]


class Shared:
    """A ledger whose commit logs hang; all else answers."""

    def __init__(self) -> None:
        self.ledger = open_ledger(":memory:")
        self.logs: list[Hanging] = []

    def commits(self, tenant: str) -> CommitLog:
        self.logs.append(Hanging(self.ledger.commits(tenant)))
        return self.logs[-1]

    def __getattr__(self, name: str) -> Any:
        return getattr(self.ledger, name)


class Waiting(MemoryLog):
    """Its commits wait for those of a worker that gets no turn."""

    def __init__(self) -> None:
        super().__init__()
        self.waits, self.goes_on = Event(), Event()

    def append(
        self, at: str, commits: Sequence[Commit], chain: Sequence[str] = ()
    ) -> Sequence[Commit]:
        self.waits.set()
        self.goes_on.wait(LONG_S)
        raise LedgerFailed("another worker holds the log")


@pytest.mark.parametrize("ended", [False, True], ids=["while it waits", "after it failed"])
def test_what_goes_out_is_written_down_while_commits_wait_for_each_other(
    threads: ThreadPoolExecutor, monkeypatch: pytest.MonkeyPatch, *, ended: bool
) -> None:
    monkeypatch.setattr(answering, "PATIENCE_S", 0.0)
    store = Waiting()
    log = RememberingLog(store, ask=threads)
    committing = threads.submit(log.append, "a", [commit_at("a")])
    store.waits.wait(LONG_S)
    if ended:
        store.goes_on.set()
        assert committing.exception(LONG_S)
    log.send("seen", ["c"])
    store.goes_on.set()
    assert store.sent("seen") == ("c",)


def test_a_request_goes_out_as_before_while_the_store_hangs() -> None:
    ledger: Any = Shared()
    with running(ledger=ledger, local_store=False) as proxy:
        proxy.chat(chat_of("prrrr"))
        before = proxy.received[-1].body
        assert b"[Record of past" in before
        with ledger.logs[0].hanging():
            for _ in range(2):
                assert proxy.chat(chat_of("prrrr")).status_code == 200
                assert proxy.received[-1].body == before


def test_what_goes_out_while_postgresql_hangs_is_what_another_worker_sends_later() -> None:
    with running_cluster() as cluster:
        store = cluster.database()
        with _worker(store) as proxy:
            proxy.chat(chat_of("prrrr"))
            before = proxy.received[-1].body
            assert b"[Record of past" in before
            with cluster.hanging():
                for history in ("prrrr", "prrrrr", "prrrrr"):
                    assert proxy.chat(chat_of(history)).status_code == 200
            assert proxy.received[-3].body == before
            meanwhile = proxy.received[-1].body
            assert b"[Record of past" in meanwhile
        with _worker(store) as other:
            other.chat(chat_of("prrrrr"))
            assert other.received[-1].body == meanwhile


@contextmanager
def _worker(store: str) -> Iterator[Running]:
    ledger = open_ledger(store, mask=lambda message, known: message)
    with running(ledger=ledger, local_store=False, commit="now") as proxy:
        yield proxy
        proxy.drain()
    ledger.close()
