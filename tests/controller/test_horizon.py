"""How long a session still goes on: a prior that grows, and what sessions have shown."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from statecomp.controller.horizon import Horizon

LENGTHS = st.lists(st.integers(2, 400), max_size=30)


def test_before_anything_is_known_a_session_lasts_longer_the_longer_it_has_lasted() -> None:
    horizon = Horizon(start=10.0, growth=0.2)
    assert [horizon.remaining(n) for n in (1, 50, 100)] == pytest.approx([10.2, 20.0, 30.0])


def test_sessions_seen_pull_the_prior_towards_what_they_still_had_before_them() -> None:
    horizon = Horizon.of([100] * 5)
    assert horizon.remaining(1) == pytest.approx((5 * 10.2 + 5 * 100) / 10)
    assert horizon.remaining(100) == pytest.approx((5 * 30.0 + 5 * 1) / 10)
    assert horizon.remaining(101) == Horizon().remaining(101)  # none has come so far


def test_single_requests_are_no_sessions() -> None:
    assert Horizon.of([1, 1, 1]) == Horizon()


@given(LENGTHS, st.integers(1, 500))
def test_it_is_the_mean_of_the_prior_and_of_the_sessions_that_reached_this_number(
    lengths: list[int], number: int
) -> None:
    reached = [length - number + 1 for length in lengths if length >= number]
    prior = Horizon().remaining(number)
    expected = (5 * prior + sum(reached)) / (5 + len(reached))
    assert Horizon.of(lengths).remaining(number) == pytest.approx(expected)
