"""The sample: the same for every construction, drawn by content, even over domains."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from statecomp.errors import BadInput
from statecomp.vectors.sample import ALL, FIRST, Sample, deal, shorter_than
from tests.vectors.made_up import run_of, runs_of

RUN = run_of("one")


@given(
    last=st.integers(1, 40),
    checkpoints=st.none() | st.integers(1, 8),
    targets=st.none() | st.integers(1, 8),
    seed=st.integers(0, 5),
)
def test_a_sample_holds_only_real_pairs_and_no_more_than_asked(
    last: int, checkpoints: int | None, targets: int | None, seed: int
) -> None:
    found = Sample(checkpoints, targets, seed).of(RUN, last)
    assert list(found) == sorted(found)
    assert all(2 <= k <= last for k in found)
    assert checkpoints is None or len(found) <= checkpoints
    for k, numbers in found.items():
        assert list(numbers) == sorted(set(numbers))
        assert numbers[0] >= 1
        assert numbers[-1] < k
        assert len(numbers) == min(k - 1, targets or k - 1)
    assert found == Sample(checkpoints, targets, seed).of(replace(RUN, id="renamed"), last)


def test_all_is_every_pair_and_a_sample_has_a_pair_to_report_at_each_checkpoint() -> None:
    assert ALL.of(RUN, 4) == {2: (1,), 3: (1, 2), 4: (1, 2, 3)}
    for seed in range(9):
        assert min(Sample(2, None, seed).of(RUN, 9)) >= FIRST


def test_runs_are_dealt_evenly_over_domains_whatever_their_order() -> None:
    runs = runs_of(12)
    dealt = deal(runs, 6, seed=1)
    assert sorted(run.domain for run in dealt) == ["Code"] * 3 + ["Web"] * 3
    assert {run.id for run in deal(runs[::-1], 6, seed=1)} == {run.id for run in dealt}
    assert deal(runs, None) == runs


def test_a_limit_no_run_meets_is_one_sentence() -> None:
    with pytest.raises(BadInput, match="no run has 1 tokens or fewer"):
        shorter_than([RUN], 1)
    with pytest.raises(BadInput, match="sampled targets: must be at least 1"):
        Sample(targets=0)
