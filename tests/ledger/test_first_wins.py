"""The first commit over a source stands, and what once went out for a history goes out again."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from statecomp.compressor import StateComp
from statecomp.controller.spans import Gates
from statecomp.history.history import History
from statecomp.ledger import claims, schema
from statecomp.ledger.commits import Commit, CommitLog, MemoryLog
from statecomp.ledger.ledger import Ledger
from statecomp.ledger.open import open_ledger
from statecomp.testing.words import OneLiner, chat_of
from tests.ledger.conftest import Opener
from tests.ledger.samples import commit, masked
from tests.postgres import Cluster

RUN = "prrrrrrrrrrr"
_TENANTS = count(1)
Door = Callable[[], CommitLog]


@pytest.fixture(scope="module", params=["memory", "sqlite", "postgresql"])
def doors(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[[], Door]]:
    """Each call is a new tenant; each call of what it returns is a log as a new worker opens it."""
    opened: list[Ledger] = []

    def fresh() -> Door:
        if request.param == "memory":
            log = MemoryLog()
            return lambda: log
        tenant = f"tenant {next(_TENANTS)}"
        numbers = count()
        return lambda: ledger_of(next(numbers)).commits(tenant)

    def ledger_of(worker: int) -> Ledger:
        """Two workers, and every third time one that has just started."""
        if len(opened) < 2 or worker % 3 == 2:
            opened.append(open_ledger(url, mask=masked))
        return opened[-1] if worker % 3 == 2 else opened[worker % 2]

    if request.param == "sqlite":
        url = str(tmp_path_factory.mktemp("log") / "ledger.sqlite")
    elif request.param == "postgresql":
        cluster: Cluster = request.getfixturevalue("cluster")
        url = cluster.database()
    yield fresh
    for ledger in opened:
        ledger.close()


def over(at: str, *sources: str, text: str = "") -> Commit:
    return commit(at, text=text or f"written at {at}", sources=sources)


def test_the_first_commit_over_a_source_wins(doors: Callable[[], Door]) -> None:
    door = doors()
    early, late = over("i6", "i2", "i3"), over("i7", "i3", "i4")
    chain = [f"i{n}" for n in range(1, 8)]
    assert list(door().append("i6", [early], chain[:6])) == [early]
    assert list(door().append("i7", [late, over("i7", "i5")], chain)) == []
    assert list(door().find(chain)) == [early]


def test_a_decision_that_comes_late_takes_nothing_a_later_one_took(
    doors: Callable[[], Door],
) -> None:
    door = doors()
    chain = [f"i{n}" for n in range(1, 8)]
    newer = over("i7", "i2", "i3")
    assert list(door().append("i7", [newer], chain)) == [newer]
    assert list(door().append("i6", [over("i6", "i3")], chain[:6])) == []
    assert list(door().append("i6", [over("i6", "i1")], chain[:6])) == [over("i6", "i1")]
    assert list(door().find(chain)) == [newer, over("i6", "i1")]


def test_two_branches_of_a_run_replace_the_same_source_each_its_own_way(
    doors: Callable[[], Door],
) -> None:
    door = doors()
    shared = ["i1", "i2", "i3"]
    here, there = [*shared, "a4"], [*shared, "b4"]
    mine, theirs = over("a4", "i1", "i2"), over("b4", "i1", "i2")
    assert list(door().append("a4", [mine], here)) == [mine]
    assert list(door().append("b4", [theirs], there)) == [theirs]
    assert list(door().find(here)) == [mine]
    assert list(door().find(there)) == [theirs]


def test_what_went_out_for_a_history_first_is_what_stands_for_it(
    doors: Callable[[], Door],
) -> None:
    door = doors()
    assert door().sent("i5") is None
    assert list(door().send("i5", ["a", "b"])) == ["a", "b"]
    assert list(door().send("i5", [])) == ["a", "b"]
    assert list(door().send("i6", [])) == []
    for log in (door(), door(), door()):
        assert list(log.sent("i5") or ()) == ["a", "b"]
        assert log.sent("i6") is not None
        assert log.sent("i7") is None


def test_the_store_itself_refuses_a_source_twice(ledger: Ledger) -> None:
    """Not only the code in front of it: two writers that both saw nothing cannot both write."""
    ledger.commits("t").append("i6", [over("i6", "i2")], ["i2", "i6"])

    def again(connection: Any) -> None:
        connection.execute("INSERT INTO claims SELECT * FROM claims")

    with pytest.raises(Exception, match=r"(?i)unique|duplicate"):
        ledger._database.write(again)


def test_of_two_writers_that_both_saw_nothing_only_one_takes_a_source(cluster: Cluster) -> None:
    """Whatever kept them apart before: two machines, one of which took no lock."""
    ledger = open_ledger(cluster.database(), mask=masked)
    dialect = ledger._database.dialect
    chain = ["i2", "i3", "i6", "i7"]
    connections = [dialect.open() for _ in range(2)]
    for connection in connections:
        connection.execute(dialect.begin_write)
    first, second = connections
    assert claims.claim(first, "t", "i6", [over("i6", "i2", "i3")], chain[:3])
    with ThreadPoolExecutor(1) as beside:
        late = beside.submit(claims.claim, second, "t", "i7", [over("i7", "i3")], chain)
        assert not wait([late], 0.3).done  # it waits for what the first will do
        first.execute("COMMIT")
        with pytest.raises(psycopg.errors.UniqueViolation):
            late.result()
    for connection in connections:
        connection.close()
    ledger.close()


def test_an_older_store_keeps_what_it_holds_and_gets_the_rule(
    opener: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as older:
        older.setattr(schema, "MIGRATIONS", schema.MIGRATIONS[:2])
        old = opener()
        rows = [
            (
                "t",
                at,
                0,
                f"{at}-0",
                json.dumps([sources, 1, 2, f"written at {at}", 4000, 300]),
                place,
            )
            for place, (at, sources) in enumerate([("i6", ["i2", "i3"]), ("i7", ["i3", "i4"])])
        ]
        old._database.write(
            lambda c: c.many(
                "INSERT INTO commits (tenant, at_id, place, id, body, version, when_s, used_s,"
                " state) VALUES (?, ?, ?, ?, ?, ?, 1.0, 1.0, 'live')",
                rows,
            )
        )
    log = opener().commits("t")
    chain = [f"i{n}" for n in range(1, 9)]
    assert [c.at for c in log.find(chain)] == ["i6", "i7"]
    assert list(log.append("i8", [over("i8", "i4", "i5")], chain)) == []
    assert list(log.append("i8", [over("i8", "i5")], chain)) == [over("i8", "i5")]


def test_a_purged_run_can_be_decided_anew(ledger: Ledger) -> None:
    log = ledger.commits("t")
    log.append("i6", [over("i6", "i2")], ["i2", "i6"])
    log.send("i6", ["i6-0"])
    ledger.purge()
    assert log.sent("i6") is None
    assert list(log.append("i7", [over("i7", "i2")], ["i2", "i6", "i7"])) == [over("i7", "i2")]


@dataclass
class Picky:
    """A scorer that finds ready what it was told to, by number."""

    ready: set[int] = field(default_factory=set)

    def score(self, history: History) -> dict[str, float]:
        return {i.id: float(i.number in self.ready) for i in history.interactions}


@dataclass
class Worker:
    """One process: looks, decides and sends as the proxy does, each step when it is told to."""

    log: CommitLog
    scorer: Picky = field(default_factory=Picky)

    def __post_init__(self) -> None:
        gates = Gates(longer_than=0, min_source_tokens=1)
        self.engine = StateComp(self.scorer, rule=gates, summarizer=OneLiner(), log=self.log)

    def decide(self, steps: int, ready: set[int]) -> Callable[[], None]:
        """Judge now; the commit comes when what is returned is called."""
        self.scorer.ready = ready
        pending: list[tuple[str, Sequence[Commit], Sequence[str]]] = []
        held_back = _HeldBack(self.log, pending)
        gates = Gates(longer_than=0, min_source_tokens=1)
        judge = StateComp(self.scorer, rule=gates, summarizer=OneLiner(), log=held_back)
        raw = judge.checkpoint(chat_of(RUN[:steps]), decide=False).raw
        assert raw is not None
        judge.prepare(raw)

        def land() -> None:
            for at, commits, chain in pending:
                self.log.append(at, commits, chain)

        return land

    def send(self, steps: int) -> str:
        checkpoint = self.engine.checkpoint(chat_of(RUN[:steps]), decide=False)
        while not self.engine.seal(checkpoint):
            checkpoint = self.engine.checkpoint(chat_of(RUN[:steps]), decide=False)
        return json.dumps(checkpoint.messages)


@dataclass
class _HeldBack:
    """A log whose appends wait: a worker that is slow between judging and committing."""

    log: CommitLog
    pending: list[tuple[str, Sequence[Commit], Sequence[str]]]

    def __getattr__(self, name: str) -> Any:
        return getattr(self.log, name)

    def append(
        self, at: str, commits: Sequence[Commit], chain: Sequence[str] = ()
    ) -> Sequence[Commit]:
        self.pending.append((at, commits, chain))
        return commits


def test_the_race_of_two_workers_over_one_history(doors: Callable[[], Door]) -> None:
    """Both judged before either had committed; the later state's word came first."""
    door = doors()
    first, second = Worker(door()), Worker(door())
    slow = first.decide(8, {1, 2, 3})
    quick = second.decide(9, {2, 3, 4, 5})
    quick()
    went_out = {steps: second.send(steps) for steps in (8, 9, 10)}
    slow()
    third = Worker(door())
    for steps in (8, 9, 10):
        for worker in (first, second, third):
            assert worker.send(steps) == went_out[steps]


def test_a_commit_that_lands_after_a_history_went_out_waits_for_the_next_one(
    doors: Callable[[], Door],
) -> None:
    door = doors()
    worker, other = Worker(door()), Worker(door())
    slow = worker.decide(8, {1, 2, 3})
    raw = worker.send(8)
    slow()
    assert other.send(8) == worker.send(8) == raw
    assert "Record of past steps 1-3" in other.send(9)


MOVES = st.lists(
    st.tuples(
        st.sampled_from(["send", "decide", "land", "restart"]),
        st.integers(0, 1),
        st.integers(4, len(RUN)),
        st.sets(st.integers(1, 9), max_size=6),
    ),
    max_size=14,
)


@given(moves=MOVES)
@settings(max_examples=30, suppress_health_check=[HealthCheck.too_slow])
def test_however_workers_interleave_a_history_goes_out_with_the_same_bytes(
    doors: Callable[[], Door], moves: list[tuple[str, int, int, set[int]]]
) -> None:
    door = doors()
    workers = [Worker(door()), Worker(door())]
    in_flight: list[Callable[[], None]] = []
    went_out: dict[int, str] = {}
    for move, number, steps, ready in moves:
        if move == "send":
            assert workers[number].send(steps) == went_out.setdefault(
                steps, workers[1 - number].send(steps)
            )
        elif move == "decide":
            in_flight.append(workers[number].decide(steps, ready))
        elif move == "land" and in_flight:
            in_flight.pop(number % len(in_flight))()
        elif move == "restart":
            workers[number] = Worker(door())
    for steps, text in went_out.items():
        assert Worker(door()).send(steps) == text


def test_a_store_grows_by_no_more_than_a_line_for_each_history(tmp_path: Path) -> None:
    ledger = open_ledger(str(tmp_path / "ledger.sqlite"), mask=masked)
    log = ledger.commits("t")
    for _ in range(3):
        log.send("i5", ["a"])
    (rows,) = ledger._database.look(lambda c: c.execute("SELECT count(*) FROM sent"))
    assert rows == (1,)
    ledger.close()
