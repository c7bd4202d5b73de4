"""A store that hangs is not waited for: what was sent is sent again from memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Event, Timer
from typing import Any

import pytest

from statecomp.ledger.commits import Commit, CommitLog, MemoryLog
from statecomp.ledger.open import open_ledger
from statecomp.proxy.tenants import RememberingLog
from statecomp.testing.words import chat_of
from tests.proxy.small_upstream import running

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


def test_memory_answers_while_the_store_hangs(threads: ThreadPoolExecutor) -> None:
    store = Hanging()
    log = RememberingLog(store, ask=threads)
    log.append("a", [commit_at("a")])
    with store.hanging():
        for _ in range(3):
            assert list(log.find(["a", "b"])) == [commit_at("a")]
        assert log.slow


def test_what_the_store_says_late_is_learned(threads: ThreadPoolExecutor) -> None:
    store = Hanging()
    log = RememberingLog(store, ask=threads)
    store.append("a", [commit_at("a")])
    with store.hanging():
        assert list(log.find(["a"])) == []
    threads.shutdown(wait=True)  # the late answer has come
    assert log._known.get("a") is not None


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
