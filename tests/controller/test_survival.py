"""How long a run still goes on."""

from __future__ import annotations

from statistics import mean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from statecomp.controller.survival import (
    LEAST_RUNS,
    Survival,
    fit,
    parse_survival,
    shipped_survival,
    survival_toml,
)
from statecomp.errors import BadInput
from statecomp.traces.jsonl import read_runs
from tests.shared_data import RUNS, needs_shared_data


def test_a_constant_hazard_has_no_memory() -> None:
    survival = Survival((1,), (0.1,))
    assert [survival.remaining(k) for k in (1, 7, 500)] == pytest.approx([10, 10, 10])


@given(
    st.lists(st.floats(0.01, 1.0), min_size=1, max_size=4),
    st.lists(st.integers(1, 20), min_size=3, max_size=3),
    st.integers(1, 60),
)
def test_the_expectation_is_the_sum_of_the_chances_to_get_there(
    hazards: list[float], gaps: list[int], number: int
) -> None:
    starts = [1, 1 + gaps[0], 1 + sum(gaps[:2]), 1 + sum(gaps)][: len(hazards)]
    survival = Survival(tuple(starts), tuple(hazards))
    expected, reached, at = 0.0, 1.0, number
    while reached > 1e-12:
        expected += reached
        reached *= 1 - hazards[sum(start <= at for start in starts) - 1]
        at += 1
    assert survival.remaining(number) == pytest.approx(expected, rel=1e-6)


def test_the_estimate_of_the_first_request_is_the_mean_of_what_was_recorded() -> None:
    """Where runs are plenty, ranges lose nothing: the mean length comes back."""
    lengths = [1 + (7 * n) % 40 for n in range(4000)]
    assert fit(lengths).remaining(1) == pytest.approx(mean(lengths), rel=0.02)


def test_recordings_picked_for_their_length_say_nothing_about_shorter_runs() -> None:
    lengths = [13 + n % 15 for n in range(300)]
    picked = fit(lengths, known_from=13)
    assert picked.starts[0] == 1
    assert picked.remaining(1) < mean(lengths)
    assert fit(lengths).remaining(1) == pytest.approx(mean(lengths), rel=0.1)


def test_where_hardly_a_run_is_left_the_hazard_over_all_is_used() -> None:
    survival = fit([10 + n % 10 for n in range(200)] + [400])
    assert survival.remaining(300) == pytest.approx(1 / survival.hazards[-1])
    assert 5 < survival.remaining(300) < 40


def test_too_few_runs_are_refused() -> None:
    with pytest.raises(BadInput, match="are needed"):
        fit([20] * (LEAST_RUNS - 1))


def test_an_estimate_can_be_written_and_read_again() -> None:
    survival = fit([5 + n % 30 for n in range(500)])
    again = parse_survival(survival_toml(survival))
    assert again.starts == survival.starts
    assert again.hazards == pytest.approx(survival.hazards, abs=1e-4)
    assert again.about == survival.about


@pytest.mark.parametrize(
    "text",
    [
        "",
        "starts = [1]\nhazards = []",
        "starts = [2, 1]\nhazards = [0.1, 0.1]",
        "starts = [1]\nhazards = [0.0]",
        "starts = [1]\nhazards = ['x']",
    ],
)
def test_an_estimate_that_cannot_be_used_is_refused(text: str) -> None:
    with pytest.raises(BadInput, match=r"survival\.toml"):
        parse_survival(text)


def test_long_runs_are_expected_to_go_on() -> None:
    survival = shipped_survival()
    assert all(8 < survival.remaining(k) < 30 for k in (*range(1, 60), 200, 2000))


@needs_shared_data
def test_the_shipped_estimate_is_the_one_the_recorded_runs_give() -> None:
    lengths = [
        sum(message.get("role") == "assistant" for message in run.messages)
        for run in read_runs(RUNS)
        if not isinstance(run, BadInput)
    ]
    shipped, again = shipped_survival(), fit(lengths, known_from=min(lengths))
    assert shipped.starts == again.starts
    assert shipped.hazards == pytest.approx(again.hazards, abs=1e-4)
    assert dict(shipped.about) == dict(again.about)
