"""Workers of one machine send the same bytes also while their store answers none of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from statecomp.ledger.audit import LedgerFailed
from statecomp.ledger.commits import Commit, MemoryLog
from statecomp.ledger.nearby import NearbyFile
from statecomp.ledger.open import open_ledger
from statecomp.proxy.remembering import RememberingLog
from statecomp.testing.words import chat_of
from tests.ledger.samples import commit
from tests.postgres import running_cluster
from tests.proxy.small_upstream import Running, running


class Away(MemoryLog):
    """A store that each worker reaches or does not, as a test says."""

    def __init__(self) -> None:
        super().__init__()
        self.away = False

    def _answer(self) -> None:
        if self.away:
            raise LedgerFailed("away")

    def find(self, ids: Sequence[str]) -> Sequence[Commit]:
        self._answer()
        return super().find(ids)

    def sent(self, seen: str) -> Sequence[str] | None:
        self._answer()
        return super().sent(seen)

    def send(self, seen: str, commits: Sequence[str]) -> Sequence[str]:
        self._answer()
        return super().send(seen, commits)


class Worker:
    """A process as far as its log goes: killed, and there is another with an empty memory."""

    def __init__(self, store: MemoryLog, path: Path) -> None:
        self._store, self._path = store, path
        self.kill()

    def kill(self) -> None:
        self.file = NearbyFile(self._path)
        self.log = RememberingLog(self._store, nearby=self.file.of("t"))

    def sends(self, seen: str, ids: Sequence[str]) -> tuple[str, ...]:
        """As an engine does: what went out, what is committed, the first word of both."""
        self.rested()
        sent = self.log.sent(seen)
        commits = [c.id for c in self.log.find(ids) if sent is None or c.id in sent]
        if sent is not None:
            return tuple(commits)
        first = tuple(self.log.send(seen, commits))
        if first == tuple(commits):
            return first
        return tuple(c.id for c in self.log.find(ids) if c.id in first)

    def rested(self) -> None:
        """A store that failed is asked again after a rest; here at once."""
        for kind in (self.log._reads, self.log._writes, self.log._decides):
            kind.away_until = 0.0


@pytest.fixture
def store() -> Away:
    return Away()


def test_what_one_worker_sent_another_sends_while_the_store_is_away(
    store: Away, tmp_path: Path
) -> None:
    one, other = Worker(store, tmp_path / "near"), Worker(store, tmp_path / "near")
    one.log.append("a", [commit("a")])
    went = one.sends("seen", ["a"])
    assert went == (commit("a").id,)
    store.away = True
    assert other.sends("seen", ["a"]) == went


def test_what_was_sent_while_the_store_was_away_outlives_its_worker(
    store: Away, tmp_path: Path
) -> None:
    one, other = Worker(store, tmp_path / "near"), Worker(store, tmp_path / "near")
    one.log.append("a", [commit("a")])
    one.sends("before", ["a"])
    store.away = True
    went = one.sends("seen", ["a", "b"])
    one.kill()
    store.away = False
    other.log.append("b", [commit("b")])
    assert other.sends("seen", ["a", "b"]) == went
    assert store.sent("seen") == went


def test_what_a_killed_worker_owed_is_told_by_the_next(store: Away, tmp_path: Path) -> None:
    one = Worker(store, tmp_path / "near")
    store.away = True
    one.sends("seen", [])
    one.kill()
    store.away = False
    one.sends("another", [])
    assert store.sent("seen") == ()


def test_what_nobody_sent_with_a_record_goes_without_one(store: Away, tmp_path: Path) -> None:
    """No commit at all is a word too, and the first one stands."""
    one, other = Worker(store, tmp_path / "near"), Worker(store, tmp_path / "near")
    store.away = True
    assert one.sends("seen", ["a"]) == ()
    store.away = False
    other.log.append("a", [commit("a")])
    assert other.sends("seen", ["a"]) == ()


def test_what_the_store_says_stands_above_the_file(store: Away, tmp_path: Path) -> None:
    """Another machine was first."""
    one, other = Worker(store, tmp_path / "near"), Worker(store, tmp_path / "near")
    store.append("a", [commit("a")])
    store.send("seen", [commit("a").id])
    assert one.log.send("seen", []) == (commit("a").id,)
    one.log.find(["a"])
    store.away = True
    assert other.sends("seen", ["a"]) == (commit("a").id,)


def test_a_file_that_cannot_be_used_keeps_nothing_from_going_out(
    store: Away, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    one = Worker(store, tmp_path / "near")
    one.file.close()
    store.append("a", [commit("a")])
    assert one.sends("seen", ["a"]) == (commit("a").id,)
    assert "is not used" in caplog.text


STEP = st.tuples(st.sampled_from(["serve", "commit", "kill", "away"]), st.integers(0, 2))


@settings(max_examples=60, deadline=None)
@given(st.lists(STEP, min_size=4, max_size=40))
def test_whatever_fails_one_history_goes_out_in_one_way(
    tmp_path_factory: pytest.TempPathFactory, steps: Sequence[tuple[str, int]]
) -> None:
    """Three workers, commits, kills and a store that comes and goes, in any order."""
    store = Away()
    path = tmp_path_factory.mktemp("near") / "near"
    workers = [Worker(store, path) for _ in range(3)]
    states: list[str] = []
    went_out: dict[str, tuple[str, ...]] = {}
    for place, (what, number) in enumerate(steps):
        worker = workers[number]
        if what == "away":
            store.away = not store.away
        elif what == "kill":
            worker.kill()
        elif what == "commit" and not store.away:
            states.append(f"s{place}")
            worker.rested()
            worker.log.append(states[-1], [commit(states[-1])])
        else:
            seen = f"seen {place // 4}"
            sent = worker.sends(seen, states)
            assert went_out.setdefault(seen, sent) == sent
    for worker in workers:
        worker.file.close()


def test_an_undone_commit_does_not_come_back_from_the_file(tmp_path: Path) -> None:
    ledger, file = open_ledger(":memory:"), NearbyFile(tmp_path / "near")
    ledger.copied_to(file)
    log = RememberingLog(ledger.commits("t"), nearby=file.of("t"))
    log.append("a", [commit("a")])
    log.find(["a"])
    log.send("seen", [commit("a").id])
    assert file.of("t").find(["a"])
    ledger.undo(commit("a").id)
    other = NearbyFile(tmp_path / "near")  # of a worker that has read nothing yet
    log.find([])
    assert not other.of("t").find(["a"])
    other.of("t").keep({"a": [commit("a")]})  # what it had read before
    assert not other.of("t").find(["a"])
    ledger.close()


def test_what_is_old_is_forgotten_and_what_is_owed_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    near = NearbyFile(tmp_path / "near").of("t")
    near.keep({"a": [commit("a")]})
    near.settle("told", [])
    near.first("owed", ["c"])
    monkeypatch.setattr("statecomp.ledger.nearby.KEPT_S", -1.0)
    near = NearbyFile(tmp_path / "near").of("t")
    assert not near.find(["a"])
    assert near.said("told") is None
    assert near.owed(9) == {"owed": ("c",)}


def test_two_workers_send_the_same_while_postgresql_hangs(tmp_path: Path) -> None:
    """The one has sent it, and the other, which cannot ask, has never seen the conversation."""
    with running_cluster() as cluster, ExitStack() as stack:
        store = cluster.database()
        one, other = (stack.enter_context(_worker(store, tmp_path)) for _ in range(2))
        one.chat(chat_of("prrrr"))
        before = one.received[-1].body
        assert b"[Record of past" in before
        with cluster.hanging():
            for worker in (other, one):
                for history in ("prrrr", "prrrrr"):
                    assert worker.chat(chat_of(history)).status_code == 200
            assert [got.body for got in other.received] == [got.body for got in one.received[1:]]
            assert other.received[0].body == before


@contextmanager
def _worker(store: str, home: Path) -> Iterator[Running]:
    ledger, nearby = open_ledger(store, mask=lambda message, known: message), NearbyFile(home / "n")
    ledger.copied_to(nearby)
    with running(ledger=ledger, local_store=False, commit="now", nearby=nearby) as proxy:
        yield proxy
        proxy.drain()
    ledger.close()
    nearby.close()
