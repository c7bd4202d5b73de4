"""The contract of a commit log, over every log there is."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from statecomp.ledger.commits import MAX_REFUSED, Commit, CommitLog, MemoryLog
from statecomp.ledger.ledger import Ledger
from statecomp.ledger.log import NOTHING_FOUND, LogMemory
from statecomp.ledger.open import open_ledger
from tests.growth import growth
from tests.ledger.samples import commit, masked, transaction
from tests.postgres import Cluster

EXAMPLES = 25
STATES = [f"s{place}" for place in range(6)]
_TENANTS = count(1)


@dataclass(frozen=True)
class Place:
    """One place logs live in, with two doors to it; every example gets a tenant of its own."""

    doors: Sequence[Callable[[str], CommitLog]]
    ledger: Ledger | None = None

    def fresh(self) -> list[CommitLog]:
        tenant = f"tenant {next(_TENANTS)}"
        return [door(tenant) for door in self.doors]


def in_memory() -> Place:
    logs: dict[str, CommitLog] = {}

    def door(tenant: str) -> CommitLog:
        return logs.setdefault(tenant, MemoryLog())

    return Place([door, door])


@pytest.fixture(scope="module", params=["memory", "sqlite", "sqlite in memory", "postgresql"])
def place(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Place]:
    if request.param == "memory":
        yield in_memory()
        return
    if request.param == "sqlite in memory":
        ledgers = [open_ledger(":memory:")] * 2
    elif request.param == "sqlite":
        path: Path = tmp_path_factory.mktemp("log") / "ledger.sqlite"
        ledgers = [open_ledger(str(path), mask=masked) for _ in range(2)]
    else:
        cluster: Cluster = request.getfixturevalue("cluster")
        url = cluster.database()
        ledgers = [open_ledger(url, mask=masked) for _ in range(2)]
    yield Place([ledger.commits for ledger in ledgers], ledgers[1])
    for ledger in ledgers:
        ledger.close()


def test_what_is_appended_is_found_again_in_the_order_of_decision(place: Place) -> None:
    first, second = place.fresh()
    later, earlier = transaction("s5"), transaction("s2")
    assert list(first.append("s5", later)) == later
    assert list(second.append("s2", earlier)) == earlier
    for log in (first, second):
        assert list(log.find(["s0", "s2", "s5", "s2"])) == [*later, *earlier]
        assert list(log.find(["s2"])) == earlier
        assert list(log.find(["s1"])) == list(log.find([])) == []


def test_a_history_that_grows_finds_what_stands_in_its_beginning_and_in_no_other(
    place: Place,
) -> None:
    first, second = place.fresh()
    early = transaction("s1")
    first.append("s1", early, ["s0", "s1"])
    for log in (first, second):
        for stop in (3, 4, 4, 3):
            assert list(log.find(["s0", "s1", "s2", "s3"][:stop])) == early
        for last in ("s2", "s3"):
            assert list(log.find(["t0", "t1", last])) == list(log.find([last])) == []
    late = [commit("s3")]
    assert list(second.append("s3", late, ["s0", "s1", "s2", "s3"])) == late
    for log in (first, second):
        assert list(log.find(["s0", "s1", "s2", "s3", "s4"])) == [*early, *late]
        assert list(log.find(["s0", "s1", "s2"])) == early


def test_what_is_found_in_a_beginning_is_in_use(place: Place) -> None:
    """Commits that nobody uses are deleted after a while."""
    log, ledger = place.fresh()[1], place.ledger
    if ledger is None:
        pytest.skip("a memory keeps what it was told")
    log.append("s1", transaction("s1"))
    log.find(["s0", "s1"])
    memory = ledger._memory
    memory.take_used()
    log.find(["s0", "s1", "s2"])
    assert [state for _, state in memory.take_used()] == ["s1"]


def test_the_first_transaction_at_a_state_wins(place: Place) -> None:
    first, second = place.fresh()
    winner = transaction("s1", 3, "winner")
    assert list(first.append("s1", winner)) == winner
    assert list(second.append("s1", transaction("s1", 2, "loser"))) == winner
    assert list(first.find(["s1"])) == list(second.find(["s1"])) == winner


def test_a_commit_is_superseded_once_in_a_run(place: Place) -> None:
    """A chapter claims the commits it is over; their sources stay claimed by them."""
    first, second = place.fresh()
    older = transaction("s1")
    sources = tuple(source for commit in older for source in commit.sources)
    over = tuple(commit.id for commit in older)
    first.append("s1", older, ["s0", "s1"])
    chapter = [replace(commit("s3", sources=sources), over=over)]
    assert list(second.append("s3", chapter, ["s0", "s1", "s2", "s3"])) == chapter
    assert list(first.find(["s1", "s3"])) == [*older, *chapter]
    late = [replace(commit("s2", sources=sources), over=over)]
    further = [replace(commit("s4", sources=sources), over=over)]
    plain = [commit("s5", sources=sources)]
    assert list(first.append("s2", late, ["s0", "s1", "s2"])) == []
    assert list(first.append("s4", further, ["s0", "s1", "s2", "s3", "s4"])) == []
    assert list(first.append("s5", plain, ["s0", "s1", "s2", "s3", "s4", "s5"])) == []
    branch = [replace(commit("t3", sources=sources), over=over)]
    assert list(second.append("t3", branch, ["s0", "s1", "s2", "t3"])) == branch


def test_an_empty_transaction_decides_nothing(place: Place) -> None:
    first, second = place.fresh()
    assert list(first.append("s1", [])) == []
    assert list(second.append("s1", transaction("s1"))) == transaction("s1")
    assert list(first.append("s1", [])) == transaction("s1")


def test_tenants_see_nothing_of_each_other(place: Place) -> None:
    mine, theirs = place.fresh()[0], place.fresh()[1]
    mine.append("s1", transaction("s1", text="mine"))
    mine.refuse(["a"], "no")
    assert list(theirs.find(["s1"])) == []
    assert not theirs.refused(["a"])
    other = transaction("s1", text="theirs")
    assert list(theirs.append("s1", other)) == other
    assert list(mine.find(["s1"])) == transaction("s1", text="mine")


def test_a_refused_span_is_remembered_as_that_very_span(place: Place) -> None:
    first, second = place.fresh()
    assert not first.refused(["a", "b"])
    first.refuse(["a", "b"], "the summary invented a path")
    first.refuse(["a", "b"], "again")
    assert second.refused(["a", "b"])
    assert not any(map(second.refused, (["a"], ["b", "a"], ["ab"], ["a", "b", "c"], [])))


def test_why_a_span_was_refused_is_not_written_down(ledger: Ledger) -> None:
    """It quotes what a model wrote, perhaps a secret with a letter changed."""
    ledger.commits("t").refuse(["a"], "the summary names 'Zx81kqPw22LM'")
    rows = ledger._database.look(lambda c: c.execute("SELECT * FROM refused"))
    assert len(rows) == 1
    assert "Zx81" not in repr(rows)


def test_thousands_of_states_are_looked_up_at_once(place: Place) -> None:
    first, second = place.fresh()
    ids = [f"{number:032x}" for number in range(3000)]
    decided = ids[::500]
    for at in decided:
        first.append(at, transaction(at, 1))
    for _ in range(2):
        assert [c.at for c in second.find(ids)] == decided
    assert second.held(ids) == {}


@given(text=st.text(st.characters(), max_size=200), sources=st.lists(st.text(), max_size=4))
@settings(max_examples=EXAMPLES)
def test_any_text_comes_back_byte_for_byte(place: Place, text: str, sources: list[str]) -> None:
    first, second = place.fresh()
    made = commit("s1", text=text + "\x00\ud800\u2028", sources=sources)
    first.append("s1", [made])
    assert list(second.find(["s1"])) == [made]


def test_a_memory_log_forgets_refusals_before_it_grows_without_end() -> None:
    log = MemoryLog()
    for number in range(MAX_REFUSED + 1):
        log.refuse([str(number)], "")
    assert log.refused([str(MAX_REFUSED)])
    assert not log.refused(["0"])


def test_what_was_read_before_a_change_is_not_remembered_after_it() -> None:
    ledger = open_ledger(":memory:")
    memory, look = LogMemory(), ledger._database.look
    before = look(memory.refresh)
    ledger.commits("t").append("s1", transaction("s1"))
    assert look(memory.refresh) != before
    memory.learn(before, "t", {"s1": NOTHING_FOUND})
    assert memory.known("t", ["s1"]) == ([], ["s1"])
    ledger.close()


def test_the_memory_of_a_log_is_bounded() -> None:
    memory = LogMemory(size=3)
    memory.learn(memory.mark, "t", {str(number): NOTHING_FOUND for number in range(10)})
    assert memory.known("t", ["6", "7", "8", "9"]) == ([], ["6"])


@dataclass
class Model:
    """What a log with undo has to say, in the simplest words."""

    decided: dict[str, list[Commit]] = field(default_factory=dict)
    undone: set[str] = field(default_factory=set)

    def live(self, at: str) -> list[Commit]:
        return [c for c in self.decided.get(at, []) if self.undone.isdisjoint(c.sources)]

    def append(self, at: str, commits: list[Commit]) -> list[Commit]:
        wanted = {source for c in commits for source in c.sources}
        taken = {s for made in self.decided.values() for c in made for s in c.sources}
        if at in self.decided or wanted & (self.undone | taken):
            return self.live(at)
        self.decided[at] = commits
        return commits

    def find(self, ids: Sequence[str]) -> list[Commit]:
        return [c for at in self.decided if at in ids for c in self.live(at)]


STEPS = st.lists(
    st.tuples(
        st.sampled_from(["append", "append", "undo"]),
        st.integers(0, 1),
        st.sampled_from(STATES),
        st.integers(1, 3),
    ),
    max_size=12,
)


@given(steps=STEPS)
@settings(max_examples=EXAMPLES)
def test_two_processes_always_see_what_both_have_done(
    place: Place, steps: list[tuple[str, int, str, int]]
) -> None:
    logs, model = place.fresh(), Model()
    tenant = next(_TENANTS)
    for step, (verb, door, at, size) in enumerate(steps):
        # Transactions at neighbouring states want the same interaction, which the first gets.
        sources = [f"{at[1:]}", f"{int(at[1:]) + 1}"]
        made = [
            Commit(
                id=f"{tenant}-{step}-{n}",
                at=at,
                sources=(*(sources if n == 0 else []), f"{step}-{n}"),
                first=n,
                last=n,
                text=f"{step}",
                source_tokens=9,
                summary_tokens=3,
            )
            for n in range(size)
        ]
        if verb == "append":
            assert list(logs[door].append(at, made)) == model.append(at, made)
        elif place.ledger and model.live(at):
            victim = model.live(at)[0]
            assert place.ledger.undo(victim.id)
            model.undone.update(victim.sources)
        for log in logs:
            assert list(log.find(STATES)) == model.find(STATES)
            assert log.held(STATES + sources).keys() == model.undone & {*STATES, *sources}


def test_remembering_very_many_states_costs_in_proportion() -> None:
    def learned(count: int) -> LogMemory:
        memory = LogMemory(size=1024)
        for part in range(2):
            memory.learn((-1, -1), "t", {f"{part}-{n}": NOTHING_FOUND for n in range(count)})
        return memory

    assert growth(learned, 8_000, 128_000, 16, enough=4) < 4
    assert len(learned(8_000).states) == 1024


def test_states_that_are_used_stay_remembered_longest() -> None:
    memory = LogMemory(size=2)
    for state in ("a", "b"):
        memory.learn((-1, -1), "t", {state: NOTHING_FOUND})
    memory.known("t", ["a"])
    memory.learn((-1, -1), "t", {"c": NOTHING_FOUND})
    assert memory.known("t", ["a", "b", "c"])[1] == ["b"]
