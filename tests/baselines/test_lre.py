"""LRE: a regression trained on reuse ranks old steps, and a budget decides how many stay."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from statecomp.baselines.lre import (
    FEATURES,
    EvictionWeights,
    features,
    fit,
    labels,
    look,
    open_weights,
    read_weights,
)
from statecomp.config import Settings, strategy_factory
from statecomp.errors import BadInput
from statecomp.history.history import History
from statecomp.history.trajectory import Trajectory
from statecomp.strategy import Strategy
from tests.baselines.steps import WIRE, growing, history, run_of, step


def lre(options: str = "") -> Strategy:
    return strategy_factory(f"lre:{options}", Settings())(Trajectory("run", ()), WIRE)


def kept(strategy: Strategy, request: History) -> list[int]:
    return [i.number for i in strategy.before_request(request).history.interactions]


def test_the_last_five_always_stay_and_older_ones_fill_the_budget_in_order() -> None:
    request = history(run_of(12))
    one = request.interactions[0].tokens
    assert kept(lre("budget=2"), request) == [8, 9, 10, 11, 12]
    shown = kept(lre(f"budget={2 * one + 40}"), request)
    assert shown[-5:] == [8, 9, 10, 11, 12]
    assert len(shown) == 7
    assert shown == sorted(shown)
    assert kept(lre("budget=2,keep=2"), request) == [11, 12]


def test_what_fits_the_budget_is_left_alone() -> None:
    request = history(run_of(6))
    assert lre("budget=100000").before_request(request).history is request
    assert kept(lre(), request) == [1, 2, 3, 4, 5, 6]


def test_a_share_is_one_of_the_older_steps() -> None:
    request = history(run_of(9))
    assert len(kept(lre("budget=0.5"), request)) == 5 + 2
    assert len(kept(lre("budget=1.0"), request)) == 9


def test_the_score_per_token_decides_what_stays(tmp_path: Path) -> None:
    """Weights that like digits keep the step with digits; those that do not drop it."""
    outputs = {2: "one two three " * 40, 1: "12345 67890 11111 " * 40}
    request = history(run_of(8, lambda n: outputs.get(n, "ok")))
    for slope, best in ((5.0, 1), (-5.0, 2)):
        slopes = tuple(slope if name == "digits" else 0.0 for name in FEATURES)
        weights = EvictionWeights((3.0,) * len(FEATURES), (1.0,) * len(FEATURES), slopes, 0.0)
        file = tmp_path / f"weights{best}.json"
        file.write_text(weights.document(), "utf-8")
        room = max(i.tokens for i in request.interactions) + 40
        shown = kept(lre(f"weights={file},budget={room}"), request)
        assert best in shown
        assert 3 - best not in shown


def test_features_look_only_back() -> None:
    requests = growing(6)
    whole = list(features(map(look, requests[6].interactions)))
    for count, request in enumerate(requests):
        assert list(features(map(look, request.interactions))) == whole[:count]
    assert {len(row) for row in whole} == {len(FEATURES)}


def test_a_step_is_positive_if_what_it_introduces_occurs_in_three_later_steps() -> None:
    path = "/srv/build/app.log"
    texts = [f"see {path}", "nothing", path, path, path]
    few = [f"see {path}", "nothing", path, path, "nothing"]
    for outputs, expected in ((texts, True), (few, False)):
        steps = [m for n, o in enumerate(outputs) for m in step(n, o, command="ls")]
        assert labels(history([*run_of(0), *steps]))[0] is expected
    # What the task named is introduced by nobody.
    task = {"role": "user", "content": f"look at {path}"}
    steps = [m for n, o in enumerate(texts) for m in step(n, o, command="ls")]
    assert not any(labels(history([task, *steps])))


def test_the_fit_is_the_balanced_l2_regression_of_scikit_learn() -> None:
    linear = pytest.importorskip("sklearn.linear_model")
    numpy = pytest.importorskip("numpy")
    random = numpy.random.default_rng(0)
    rows = random.normal(size=(400, len(FEATURES))) * 3 + 1
    reused = rows[:, 2] + random.normal(size=400) * 2 > 3
    ours = fit(rows.tolist(), reused.tolist())
    model = linear.LogisticRegression(C=1.0, class_weight="balanced", max_iter=1000, tol=1e-10)
    model.fit((rows - rows.mean(0)) / rows.std(0), reused)
    assert ours.slopes == pytest.approx(model.coef_[0].tolist(), abs=1e-4)
    assert ours.bias == pytest.approx(float(model.intercept_[0]), abs=1e-4)


def test_the_shipped_weights_say_where_they_come_from_and_survive_writing() -> None:
    weights = open_weights()
    assert "80 runs" in weights.created_from
    assert read_weights(weights.document(), "again") == weights


@pytest.mark.parametrize("damage", ["{}", "[]", "no json", json.dumps({"bias": 1})])
def test_a_damaged_weight_file_is_one_clear_sentence(damage: str) -> None:
    with pytest.raises(BadInput, match="not a weight file"):
        read_weights(damage, "w.json")


def test_a_fit_needs_both_kinds_of_steps() -> None:
    with pytest.raises(BadInput, match="used again"):
        fit([[0.0] * len(FEATURES)], [True])
