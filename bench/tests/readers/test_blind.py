"""Readers who must not know what they are shown."""

from __future__ import annotations

from collections import Counter

import pytest

from statecomp_bench.readers.blind import dealt, opaque


@pytest.mark.parametrize("most", [1, 3, 10])
def test_no_hand_holds_a_subject_twice_and_every_page_is_dealt(most: int) -> None:
    pages = {f"{subject}{view}": subject for subject in "abcde" for view in range(6)}
    hands = dealt(pages, most)
    assert sorted(name for hand in hands for name in hand) == sorted(pages)
    for hand in hands:
        assert 0 < len(hand) <= most
        assert len({pages[name] for name in hand}) == len(hand)


def test_hands_do_not_hold_one_kind_of_page() -> None:
    pages = {f"{subject}{view}": subject for subject in "abcdefgh" for view in range(4)}
    for hand in dealt(pages, 10):
        assert len({name[1] for name in hand}) > 1


def test_every_hand_holds_as_many_pages_of_one_kind_as_of_another() -> None:
    pages = {f"{subject}{view}": subject for subject in "abcdefgh" for view in range(4)}
    for hand in dealt(pages, 10, {name: name[1] for name in pages}):
        assert Counter(name[1] for name in hand) == dict.fromkeys("0123", 2)


def test_nothing_is_dealt_from_nothing() -> None:
    assert dealt({}, 10) == []


def test_names_say_nothing_and_differ() -> None:
    assert len({opaque() for _ in range(100)}) == 100
