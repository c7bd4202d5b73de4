"""The metrics equal their definitions, scikit-learn's values, and none where there is none."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics as theirs

from statecomp.router import metrics
from statecomp.router.metrics import THIRDS, length_edges, report
from statecomp.router.pairs import Flags, Floats
from tests.router.synthetic import DOMAINS, pairs_of

Drawn = tuple[Floats, Flags]


@st.composite
def scored(draw: st.DrawFn, *, both: bool = True) -> Drawn:
    """Scores with many ties, in [0, 1]."""
    rows = draw(st.lists(st.tuples(st.integers(0, 20), st.booleans()), min_size=1, max_size=40))
    if both:
        rows += [(draw(st.integers(0, 20)), True), (draw(st.integers(0, 20)), False)]
    scores, ready = zip(*rows, strict=True)
    return np.array(scores) / 20, np.array(ready, np.bool_)


def known(value: float | None) -> float:
    assert value is not None
    return value


@given(scored())
def test_auroc_counts_pairs_and_half_of_ties(drawn: Drawn) -> None:
    scores, ready = drawn
    duels = list(itertools.product(scores[ready], scores[~ready]))
    won = sum(1.0 if up > down else 0.5 if up == down else 0.0 for up, down in duels)
    assert metrics.auroc(scores, ready) == pytest.approx(won / len(duels))


@given(scored())
def test_ranking_metrics_equal_those_of_scikit_learn(drawn: Drawn) -> None:
    scores, ready = drawn
    assert known(metrics.auroc(scores, ready)) == pytest.approx(theirs.roc_auc_score(ready, scores))
    ready_area = theirs.average_precision_score(ready, scores)
    keep_area = theirs.average_precision_score(~ready, -scores)
    assert known(metrics.ready_pr_auc(scores, ready)) == pytest.approx(ready_area)
    assert known(metrics.keep_pr_auc(scores, ready)) == pytest.approx(keep_area)
    assert known(metrics.log_loss((scores + 0.1) / 1.2, ready)) == pytest.approx(
        theirs.log_loss(ready, (scores + 0.1) / 1.2)
    )


@given(scored(), st.integers(0, 20))
def test_an_operating_point_equals_that_of_scikit_learn(drawn: Drawn, cut: int) -> None:
    scores, ready = drawn
    selected = scores >= cut / 20
    point = metrics.operating(scores, ready, cut / 20)
    assert point.coverage == pytest.approx(selected.mean())
    assert point.recall == pytest.approx(theirs.recall_score(ready, selected))
    assert point.f1 == pytest.approx(theirs.f1_score(ready, selected))
    balanced = theirs.balanced_accuracy_score(ready, selected)
    assert point.balanced_accuracy == pytest.approx(balanced)
    assert point.unsafe_rate == pytest.approx(selected[~ready].mean())
    if selected.any():
        assert point.precision == pytest.approx(theirs.precision_score(ready, selected))
    else:
        assert point.precision is None


@given(scored(), st.integers(0, 20))
def test_precision_follows_from_prevalence_and_the_two_rates(drawn: Drawn, cut: int) -> None:
    """The precision-prevalence identity of appendix D.3."""
    scores, ready = drawn
    point = metrics.operating(scores, ready, cut / 20)
    prevalence, recall, false = ready.mean(), known(point.recall), known(point.unsafe_rate)
    if point.precision is not None:
        selected = prevalence * recall + (1 - prevalence) * false
        assert point.precision == pytest.approx(prevalence * recall / selected)


@given(scored(), st.integers(0, 20), st.integers(0, 20))
def test_raising_the_threshold_raises_neither_coverage_nor_the_unsafe_rate(
    drawn: Drawn, one: int, other: int
) -> None:
    low, high = (metrics.operating(*drawn, cut / 20) for cut in sorted((one, other)))
    assert known(high.coverage) <= known(low.coverage)
    assert known(high.unsafe_rate) <= known(low.unsafe_rate)


@given(scored(), st.sampled_from([0.5, 0.75, 0.9, 0.98, 1.0]))
def test_coverage_at_a_precision_is_the_largest_there_is(drawn: Drawn, target: float) -> None:
    scores, ready = drawn
    points = [metrics.operating(scores, ready, float(cut)) for cut in np.unique(scores)]
    reached = [known(p.coverage) for p in points if known(p.precision) >= target]
    assert metrics.coverage_at_precision(scores, ready, target) == max(reached, default=0.0)


def test_forty_nine_of_fifty_are_98_percent() -> None:
    scores, ready = np.full(50, 0.7), np.arange(50) > 0
    assert metrics.threshold_at_precision(scores, ready, 0.98) == 0.7
    assert metrics.threshold_at_precision(scores[:49], ready[:49], 0.98) is None


@given(scored(), st.integers(1, 12))
def test_ece_equals_its_definition(drawn: Drawn, bins: int) -> None:
    scores, ready = drawn
    place = np.array([max(b for b in range(bins) if b / bins <= score) for score in scores])
    gaps = [
        (place == b).mean() * abs(ready[place == b].mean() - scores[place == b].mean())
        for b in np.unique(place)
    ]
    assert metrics.ece(scores, ready, bins) == pytest.approx(sum(gaps))
    assert sum(b.count for b in metrics.reliability(scores, ready, bins)) == len(scores)


@given(scored(both=False), st.booleans())
def test_one_class_has_no_ranking_and_does_not_crash(drawn: Drawn, ready: bool) -> None:
    scores = drawn[0]
    numbers = metrics.measures(scores, np.full(len(scores), ready), 0.5)
    assert numbers["auroc"] is numbers["ready_pr_auc"] is numbers["keep_pr_auc"] is None
    assert numbers["balanced_accuracy"] is None
    assert numbers["coverage"] is not None


def test_nothing_has_no_numbers() -> None:
    numbers = metrics.measures(np.zeros(0), np.zeros(0, np.bool_), 0.5)
    assert numbers.pop("pairs") == numbers.pop("ready") == 0
    assert set(numbers.values()) == {None}


def test_a_report_parts_the_pairs_in_every_way_without_losing_one() -> None:
    pairs = pairs_of(30, seed=3)
    scores = np.linspace(0.0, 1.0, len(pairs))
    found = report(scores, pairs, 0.5)
    assert set(found["domain"]) == set(DOMAINS)
    assert set(found["length"]) == set(THIRDS)
    for way in ("domain", "length", "age"):
        assert sum(part["pairs"] for part in found[way].values()) == len(pairs)
    assert found["settled"]["pairs"] == len(pairs.settled())
    assert found["age"]["1"]["pairs"] == int((pairs.age == 1).sum())
    assert found["all"] == metrics.measures(scores, pairs.ready, 0.5)


def test_thirds_are_those_of_the_whole_collection_where_a_part_is_reported() -> None:
    pairs = pairs_of(30, seed=4)
    longest = pairs.of_runs([pairs.runs[int(np.argmax(pairs.lengths))]])
    scores = np.full(len(longest), 0.5)
    assert set(report(scores, longest, 0.5, edges=length_edges(pairs))["length"]) == {"long"}


def test_rows_may_have_thresholds_of_their_own() -> None:
    scores, ready = np.array([0.4, 0.4]), np.array([True, False])
    assert metrics.operating(scores, ready, np.array([0.3, 0.5])).precision == 1.0
