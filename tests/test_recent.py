"""Memories share one budget: what was used longest ago goes first, whosever it is."""

from __future__ import annotations

import gc

from statecomp.recent import MemoryBudget, Weighed


def memories(most: int, number: int = 2) -> tuple[MemoryBudget, list[Weighed[str, bytes]]]:
    budget = MemoryBudget(most)
    return budget, [Weighed(100, len, budget) for _ in range(number)]


def test_what_was_used_longest_ago_goes_first_whosever_it_is() -> None:
    budget, (one, other) = memories(300)
    one.put("a", b"." * 100)
    other.put("b", b"." * 100)
    one.put("c", b"." * 100)
    one.get("a")
    other.put("d", b"." * 100)
    assert other.get("b") is None
    assert set(one.get_all("abcd")) | set(other.get_all("abcd")) == set("acd")
    assert budget.bytes == 300


def test_what_grows_in_its_place_is_weighed_again() -> None:
    budget, (one, other) = memories(300)
    one.put("old", b"." * 100)
    other.put("grows", b"." * 100)
    other.put("grows", b"." * 250)
    assert one.get("old") is None
    assert budget.bytes == other.bytes == 250


def test_a_memory_that_is_gone_weighs_nothing() -> None:
    budget, members = memories(300)
    members.pop().put("a", b"." * 200)
    gc.collect()
    assert budget.bytes == 0


def test_a_memory_keeps_no_more_entries_than_its_own_bound() -> None:
    budget = MemoryBudget(1000)
    memory: Weighed[int, bytes] = Weighed(3, len, budget)
    for number in range(5):
        memory.put(number, b"..")
    assert (len(memory), memory.bytes) == (3, 6)


def test_something_larger_than_the_budget_is_not_kept() -> None:
    budget, (one, _) = memories(300)
    one.put("huge", b"." * 1000)
    assert len(one) == 0
    assert budget.bytes == 0


def test_many_small_things_stay_within_the_budget() -> None:
    budget = MemoryBudget(1000)
    memory: Weighed[int, bytes] = Weighed(10_000, len, budget)
    for number in range(10_000):
        memory.put(number, b"." * 10)
    assert len(memory) <= 100


def test_room_is_made_of_many_small_things_without_asking_every_memory_for_each() -> None:
    asked = 0

    class Counting(Weighed[int, bytes]):
        def oldest(self) -> int | None:
            nonlocal asked
            asked += 1
            return super().oldest()

    budget = MemoryBudget(2000)
    members = [Counting(100, len, budget) for _ in range(100)]
    for place, member in enumerate(members):
        member.put(place, b"." * 20)
    huge: Weighed[str, bytes] = Weighed(1, len, budget)
    huge.put("huge", b"." * 1900)
    assert budget.bytes <= 2000
    assert asked <= 2 * len(members)
