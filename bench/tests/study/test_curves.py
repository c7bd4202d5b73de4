"""The router's curves and figures: every pair out of fold, nested shares of data, same bytes."""

from __future__ import annotations

from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from statecomp.router.trees import TreeSettings
from tests.router.synthetic import pairs_of

curves = pytest.importorskip("statecomp_bench.study.curves", reason="needs statecomp[learn]")
rows = pytest.importorskip("statecomp_bench.study.rows", reason="needs statecomp[learn]")
kept = pytest.importorskip("statecomp_bench.study.kept", reason="needs statecomp[learn]")
PAIRS = pairs_of(25, tasks=20)
FRACTIONS = (0.5, 1.0)
TREES = {"trees": TreeSettings(trees=8, leaves=4)}


@pytest.fixture(scope="module")
def study() -> object:
    return curves.study_router(PAIRS, TREES, fractions=FRACTIONS)


def test_every_settled_pair_is_scored_once_out_of_fold(study: object) -> None:
    assert isinstance(study, curves.RouterStudy)
    assert len(study.scores) == int((PAIRS.age >= 2).sum())
    assert np.isfinite(study.scores).all()
    assert set(study.fold) == {0, 1, 2, 3, 4}
    assert set(study.calibrated) == {"raw", "temperature", "platt", "beta"}
    np.testing.assert_array_equal(study.calibrated["platt"], study.scores)


def test_curves_have_a_line_a_fold_and_a_place_a_share(study: object) -> None:
    assert isinstance(study, curves.RouterStudy)
    assert study.fractions.places == ("50%", "100%")
    assert study.lengths.places == ("short", "medium", "long")
    for shown in (study.fractions, study.lengths):
        assert {len(folds) for folds in shown.folds.values()} == {5}


def test_runs_that_are_only_learned_from_are_not_judged() -> None:
    less = frozenset(PAIRS.runs[:5])
    study = curves.study_router(PAIRS, TREES, fractions=(1.0,), only_learned=less)
    kept = (PAIRS.age >= 2) & ~np.isin(np.array(PAIRS.runs)[PAIRS.run], [*less])
    np.testing.assert_array_equal(study.ready, PAIRS.ready[kept])
    assert np.isfinite(study.scores).all()
    assert study.lengths.places == ("short", "medium", "long")


def test_what_was_judged_before_is_drawn_again_without_learning(
    tmp_path: Path, study: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A figure is looked at and mended; half an hour of learning must not come with each look."""
    for learns in (True, False):
        if not learns:
            monkeypatch.setattr(curves, "cross_validate", None)
        how = rows.Judging(kept=kept.Kept(tmp_path / "rows"))
        again = curves.study_router(PAIRS, TREES, how, FRACTIONS)
        assert isinstance(study, curves.RouterStudy)
        np.testing.assert_array_equal(again.scores, study.scores)
        np.testing.assert_array_equal(again.fold, study.fold)
        for kind, scores in study.calibrated.items():
            np.testing.assert_array_equal(again.calibrated[kind], scores)
        assert (again.fractions, again.lengths) == (study.fractions, study.lengths)


def test_smaller_shares_lie_within_larger_ones_and_part_no_task() -> None:
    fold = curves.rotations(PAIRS.catalogue())[0]
    group = dict(zip(PAIRS.runs, PAIRS.groups, strict=True))
    parts = [set(curves._with_less(fold, PAIRS, share, 0).train) for share in (0.2, 0.6, 1.0)]
    assert parts[0] < parts[1] < parts[2] == set(fold.train)
    for part in parts:
        assert not {group[name] for name in part} & {group[name] for name in parts[2] - part}


@pytest.mark.skipif(find_spec("matplotlib") is None, reason="needs statecomp[figures]")
def test_the_same_study_draws_the_same_four_figures(study: object) -> None:
    figures = pytest.importorskip("statecomp_bench.study.figures")
    one, two = (figures.router_figures(study, "a note with $5") for _ in range(2))
    assert {name.partition(".")[0] for name in one} == {
        "score_distributions",
        "precision_coverage",
        "calibration",
        "training_and_length",
    }
    for name, content in one.items():
        if name.endswith(".svg"):
            assert content == two[name]
            assert ElementTree.fromstring(content).tag.endswith("svg")
        else:
            assert content.startswith(b"\x89PNG")


@pytest.mark.skipif(find_spec("matplotlib") is None, reason="needs statecomp[figures]")
def test_titles_say_what_is_seen(study: object) -> None:
    figures = pytest.importorskip("statecomp_bench.study.figures")
    assert isinstance(study, curves.RouterStudy)
    ready = np.arange(200) >= 100
    # All READY pairs score above all KEEP pairs but two, which stand among them.
    scores = np.where(ready, 0.9, 0.1) + np.linspace(0.0, 0.05, 200)
    scores[:2] = 0.9601
    fold = np.zeros(200, np.int32)
    made = replace(study, scores=scores, ready=ready, fold=fold, calibrated={"platt": scores})
    assert title(figures.score_distributions(made)) == (
        "Router scores: READY above KEEP 98 times in 100"
    )
    taken = title(figures.precision_coverage(made))
    assert taken == "98% of what scores 0.925 or more is READY: 51% of all pairs"
    hopeless = title(figures.precision_coverage(replace(made, ready=ready & False)))
    assert hopeless == "No threshold above which 98% is READY"
    assert title(figures.calibration(made)).startswith("Scores as used (Platt) are off by 0.0")
    whole = np.mean(study.fractions.folds["auroc"], axis=0)[-1]
    assert title(figures.training_and_length(study)).endswith(f"{whole:.3f} with 100%")


def title(figure: Any) -> str:
    return str(figure.axes[0].get_title())
