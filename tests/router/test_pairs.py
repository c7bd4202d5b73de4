"""Pairs are cut by runs, and refuse what cannot be learned from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from statecomp.annotation.labels import Label
from statecomp.errors import BadInput
from statecomp.router.pairs import Pairs, ready_flags
from tests.router.synthetic import pairs_of


def test_a_part_holds_the_rows_of_its_runs_and_no_other() -> None:
    pairs = pairs_of(6)
    part = pairs.of_runs(["run-004", "run-001"])
    assert part.runs == ("run-001", "run-004")
    rows = np.isin(pairs.run, (1, 4))
    np.testing.assert_array_equal(part.x, pairs.x[rows])
    np.testing.assert_array_equal(part.ready, pairs.ready[rows])
    np.testing.assert_array_equal(part.run, np.where(pairs.run[rows] == 1, 0, 1))
    assert part.lengths == (pairs.lengths[1], pairs.lengths[4])
    assert part.domains == (pairs.domains[1], pairs.domains[4])


def test_settled_pairs_leave_out_the_newest_interaction() -> None:
    pairs = pairs_of(4)
    settled = pairs.settled()
    assert int(settled.age.min()) == 2
    assert len(settled) == len(pairs) - int((pairs.age == 1).sum())
    assert settled.runs == pairs.runs


def test_an_unknown_run_is_named() -> None:
    with pytest.raises(BadInput, match="no pairs of run 'elsewhere'"):
        pairs_of(2).of_runs(["elsewhere"])


def with_nan(pairs: Pairs) -> Pairs:
    x = pairs.x.copy()
    x[3, 2] = np.nan
    return replace(pairs, x=x)


BROKEN: list[tuple[Callable[[Pairs], Pairs], str]] = [
    (with_nan, "feature number 3 of the pairs is nan in row 4"),
    (lambda p: replace(p, x=p.x[:-1]), "differ in length"),
    (lambda p: replace(p, x=p.x[:, 0]), "not a table"),
    (lambda p: replace(p, ready=np.ones_like(p.ready)), "hold READY only"),
    (lambda p: replace(p, ready=np.zeros_like(p.ready)), "hold KEEP only"),
    (lambda p: replace(p, lengths=p.lengths[:-1]), "a group, a domain and a length"),
    (lambda p: replace(p, runs=("one",) * len(p.runs)), "name a run twice"),
    (lambda p: replace(p, run=p.run + 1), "a run that is not listed"),
    (lambda p: replace(p, checkpoint=p.number), "not after its interaction"),
    (lambda p: p.where(np.zeros(len(p), np.bool_)), "hold no rows"),
]


@pytest.mark.parametrize(("spoil", "sentence"), BROKEN)
def test_what_cannot_be_learned_from_is_refused(
    spoil: Callable[[Pairs], Pairs], sentence: str
) -> None:
    pairs = pairs_of(3)
    assert pairs.checked() is pairs
    with pytest.raises(BadInput, match=sentence):
        spoil(pairs).checked()


def test_labels_become_flags_and_a_missing_label_is_no_keep() -> None:
    runs, run = ("a", "b"), np.array([0, 0, 1], np.int32)
    number, checkpoint = np.array([1, 1, 2], np.int32), np.array([2, 3, 3], np.int32)
    labels = {"a": {1: Label("a", 1, boundary=3)}, "b": {2: Label("b", 2, boundary=None)}}
    assert ready_flags(runs, run, number, checkpoint, labels).tolist() == [False, True, False]
    with pytest.raises(BadInput, match="labels: hold none for interaction 2 of run 'b'"):
        ready_flags(runs, run, number, checkpoint, {"a": labels["a"]})
