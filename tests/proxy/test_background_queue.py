"""The queue of decisions: one at a time for a session, the most urgent first, nobody forgotten."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from threading import Event

import pytest

from statecomp.proxy.background import Background, Wanted

PATIENCE_S = 30


def background(threads: int = 2, waiting: int = 8, deadline_s: float = 60.0) -> Background[str]:
    return Background(threads=threads, waiting=waiting, deadline_s=deadline_s)


def result(future: Future[str | None]) -> str | None:
    return future.result(PATIENCE_S)


@dataclass
class Held:
    """Work that says when it began and goes on when told."""

    name: str
    began: Event = field(default_factory=Event)
    go: Event = field(default_factory=Event)

    def __call__(self, wanted: Wanted) -> str:
        self.began.set()
        self.go.wait(PATIENCE_S)
        return self.name if wanted() else "late"


def test_nobody_waits_for_what_is_done_after_a_decision() -> None:
    back, go, done = background(), Event(), Event()

    def after(decided: str) -> None:
        assert decided == "decided"
        go.wait(PATIENCE_S)
        done.set()

    assert result(back.submit("a", lambda wanted: "decided", after=after)) == "decided"
    assert not done.is_set()
    assert not back.idle
    go.set()
    assert done.wait(PATIENCE_S)


def test_only_the_newest_waiting_state_of_a_session_is_decided() -> None:
    back = background()
    running_now, *rest = (Held(name) for name in ("first", "second", "third"))
    first = back.submit("s", running_now)
    assert running_now.began.wait(PATIENCE_S)
    second, third = (back.submit("s", held) for held in rest)
    assert result(second) is None
    assert not rest[1].began.is_set()  # one at a time for a session, though a thread is free
    for held in (running_now, *rest):
        held.go.set()
    assert (result(first), result(third)) == ("first", "third")


def test_sessions_are_decided_side_by_side() -> None:
    back = background()
    one, two = Held("one"), Held("two")
    futures = [back.submit(held.name, held) for held in (one, two)]
    assert one.began.wait(PATIENCE_S)
    assert two.began.wait(PATIENCE_S)
    one.go.set()
    two.go.set()
    assert [result(future) for future in futures] == ["one", "two"]


@pytest.mark.parametrize(("worth", "kept"), [(50, "ab"), (150, "bc"), (250, "bc")])
def test_a_full_queue_drops_what_could_save_least(worth: int, kept: str) -> None:
    back = background(threads=1, waiting=2)
    busy = Held("busy")
    future = back.submit("busy", busy)
    assert busy.began.wait(PATIENCE_S)
    sizes = {"a": 100, "b": 200, "c": worth}
    futures = [back.submit(n, lambda wanted, n=n: n, worth=sizes[n]) for n in sizes]  # type: ignore[misc]
    busy.go.set()
    assert result(future) == "busy"
    assert "".join(filter(None, map(result, futures))) == kept


@dataclass
class Noted:
    """Work that notes when it was its turn."""

    name: str
    done: list[str]

    def __call__(self, wanted: Wanted) -> str:
        self.done.append(self.name)
        return self.name


def order_of(back: Background[str], busy: Held, submit: Callable[[], None], done: list[str]) -> str:
    back.submit("busy", busy)
    assert busy.began.wait(PATIENCE_S)
    submit()
    busy.go.set()
    assert result(back.submit("busy", lambda wanted: "")) == ""
    while not back.idle:
        Event().wait(0.005)
    return "".join(done)


def test_what_is_waited_for_comes_first_then_live_sessions_and_finished_ones_leave(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now, done = [1000.0], list[str]()
    monkeypatch.setattr("statecomp.proxy.background.monotonic", lambda: now[0])
    back = background(threads=1)

    def put(name: str, worth: int, awaited_s: float = 0.0) -> None:
        back.submit(name, Noted(name, done), worth=worth, awaited_s=awaited_s)

    def arrive() -> None:
        put("gone", 10**6)
        now[0] += 100.0
        put("old", 10**6)
        now[0] += 30.0
        for name, worth in (("small", 10), ("large", 1000)):
            put(name, worth)
        put("awaited", 1, awaited_s=1.0)

    assert order_of(back, Held("busy"), arrive, done) == "awaitedlargesmallold"


def test_a_small_session_that_waits_gets_its_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    now, done = [1000.0], list[str]()
    monkeypatch.setattr("statecomp.proxy.background.monotonic", lambda: now[0])
    back = background(threads=1)

    def put(name: str, worth: int) -> None:
        back.submit(name, Noted(name, done), worth=worth)

    def arrive() -> None:
        put("small", 100)
        now[0] += 15.0
        put("large", 1000)

    assert order_of(back, Held("busy"), arrive, done) == "smalllarge"


def test_work_that_is_over_its_deadline_is_told_so_and_work_that_fails_harms_no_other() -> None:
    back = background(threads=1, deadline_s=0.0)
    assert result(back.submit("s", lambda wanted: "in time" if wanted() else "late")) == "late"
    failed = back.submit("s", lambda wanted: str(1 // 0))
    assert isinstance(failed.exception(PATIENCE_S), ZeroDivisionError)
    assert result(back.submit("s", lambda wanted: "next")) == "next"


def test_at_the_end_nobody_is_left_waiting() -> None:
    back = background(threads=1)
    busy = Held("busy")
    future, waiting = back.submit("a", busy), back.submit("b", Held("never"))
    assert busy.began.wait(PATIENCE_S)
    back.close(0.01)
    assert result(waiting) is None
    assert result(back.submit("c", Held("too late"))) is None
    busy.go.set()
    assert result(future) == "late"


def test_a_decision_makes_way_for_requests_but_not_for_ever(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("statecomp.proxy.background.MAKE_WAY_S", 0.1)
    back: Background[str] = Background(threads=1, waiting=8, deadline_s=60.0, busy=lambda: True)
    decided = Event()

    def work(wanted: Wanted) -> str:
        decided.set()
        return "decided"

    for _ in range(PATIENCE_S * 100):  # each state is overtaken by the next one
        back.submit("s", work)
        if decided.wait(0.01):
            break
    assert decided.is_set()


def test_what_somebody_waits_for_does_not_make_way(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("statecomp.proxy.background.MAKE_WAY_S", 1e6)
    busy = Event()
    busy.set()
    back: Background[str] = Background(threads=1, waiting=8, deadline_s=60.0, busy=busy.is_set)
    behind = back.submit("a", lambda wanted: "behind")
    assert result(back.submit("b", lambda wanted: "at once", awaited_s=PATIENCE_S)) == "at once"
    assert not behind.done()
    assert result(back.submit("a", lambda wanted: "newer", awaited_s=PATIENCE_S)) == "newer"
    assert result(behind) is None
    last = back.submit("c", lambda wanted: "in peace")
    busy.clear()
    assert result(last) == "in peace"
