"""Work on this machine's processes: order, laziness, errors, lost workers."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from statecomp.errors import BadInput
from statecomp.workers.engine import AHEAD, RETRIES, Crew, Spared, WorkersLost, in_order
from statecomp.workers.local import LocalEngine
from tests.workers.jobs import Arriving, Dying, counting, only_even, square


class Desk:
    """The smallest crew: one worker who starts when asked for a result."""

    def __init__(self) -> None:
        self.items: list[int] = []
        self.most = 0

    def put(self, item: int) -> None:
        self.items.append(item)
        self.most = max(self.most, len(self.items))

    def take(self) -> int:
        return square(self.items.pop(0))

    def waiting(self) -> int:
        return len(self.items)


@given(st.lists(st.integers()), st.integers(1, 9))
def test_results_come_in_order_with_a_bounded_number_in_flight(
    items: list[int], ahead: int
) -> None:
    desk, done = Desk(), list[int]()
    crew: Crew[int, int] = desk
    assert list(in_order(crew, items, ahead, done.append)) == [*map(square, items)]
    assert done == [*range(1, len(items) + 1)]
    assert desk.most <= ahead


def test_two_processes_take_items_only_as_they_come_free_and_the_job_once_each(
    tmp_path: Path,
) -> None:
    taken, done, log = list[int](), list[int](), tmp_path / "arrivals"
    results = LocalEngine(2).map(Arriving(log), counting(taken), watch=done.append)
    assert list(islice(results, 40)) == [*map(square, range(40))]
    assert len(taken) == 40 + AHEAD * 2 - 1
    assert done == [*range(1, 41)]
    results.close()  # type: ignore[attr-defined]  # a generator, which the protocol need not say
    arrivals = log.read_text().split()
    assert len(arrivals) == len(set(arrivals)) <= 2


def test_one_job_works_here_and_lazily() -> None:
    taken: list[int] = []
    assert next(LocalEngine().map(square, counting(taken))) == 0
    assert taken == [0]


def test_a_bad_item_raises_what_the_job_raised_or_is_a_result_where_asked() -> None:
    for engine in (LocalEngine(1), LocalEngine(2)):
        results = engine.map(only_even, range(4))
        assert next(results) == 0
        with pytest.raises(BadInput, match="numbers, line 1: is odd") as raised:
            next(results)
        assert (raised.value.problem, raised.value.line) == ("is odd", 1)
    found = [*LocalEngine().map(Spared(only_even), range(4))]
    assert [str(one) for one in found] == ["0", "numbers, line 1: is odd", "2",
                                          "numbers, line 3: is odd"]  # fmt: skip


def test_a_killed_process_costs_only_what_it_had_not_finished(tmp_path: Path) -> None:
    log = tmp_path / "calls"
    assert [*LocalEngine(2).map(Dying(20, log), range(40))] == [*map(square, range(40))]
    calls = log.read_text().split()
    assert calls.count("20") == 2
    # Results that came before the loss are not made again.
    assert len(calls) <= 40 + AHEAD * 2
    assert all(calls.count(str(number)) == 1 for number in range(20 - AHEAD * 2))


def test_an_item_that_always_kills_its_process_ends_in_one_sentence(tmp_path: Path) -> None:
    log = tmp_path / "calls"
    with pytest.raises(WorkersLost, match="try fewer --jobs"):
        list(LocalEngine(2).map(Dying(0, log, once=False), range(1)))
    assert log.read_text().split() == ["0"] * (RETRIES + 1)
