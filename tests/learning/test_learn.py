"""From a ledger to a router of one's own, with the real learner at a small size."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from statecomp.errors import BadInput
from statecomp.learning import learn as learning
from statecomp.learning.compare import compare, judged_on, replayed
from statecomp.learning.habits import habits_of
from statecomp.learning.lessons import lessons, spread
from statecomp.learning.page import page_of
from statecomp.learning.sessions import UsableSessions, sessions_of
from statecomp.ledger.audit import Regret
from statecomp.ledger.ledger import Ledger
from statecomp.ledger.own import account_of
from statecomp.method import Method
from statecomp.recipes import RECIPES
from statecomp.router.calibrate import Platt
from statecomp.router.committee import Committee
from statecomp.router.shipped import open_bundle
from tests.learning.made_up import entry_at, live, opened

pytest.importorskip("sklearn", reason="learning needs statecomp[learn]")
pytest.importorskip("torch", reason="learning needs statecomp[learn]")
SMALL = Committee(parts=2)
SMALL = replace(
    SMALL,
    network=replace(SMALL.network, epochs=1),
    trees=replace(SMALL.trees, trees=20),
)


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    made = opened(tmp_path / "ledger.sqlite")
    yield made
    made.close()


def filled(ledger: Ledger, count: int = 7, steps: int = 26) -> UsableSessions:
    for seed in range(count):
        name = f"session-{seed:02}"
        back = Regret(
            name, 12, f"commit-{name}-4", "repeated call", 'read_file {"path": "src/m4.py"}'
        )
        entries = [entry_at(name, 1, 2, 4), entry_at(name, 4, 4, 8)]
        live(ledger, seed, steps=steps, entries=entries, regrets=[back])
    return sessions_of(account_of(ledger, ""))


def test_sessions_come_oldest_first_and_short_ones_are_counted(ledger: Ledger) -> None:
    live(ledger, 20, steps=3)
    found = filled(ledger, 3, 8)
    assert [one.id for one in found.lived] == ["session-00", "session-01", "session-02"]
    assert found.left_out == {"it has fewer than 6 steps": 1}


def test_what_was_seen_counts_more_than_rules_and_forecasts(ledger: Ledger) -> None:
    lived = filled(ledger, 1).lived
    taught = lessons(lived, open_bundle())
    pairs = taught.pairs
    assert pairs.foreseen is not None
    back = (pairs.number == 4) & (pairs.checkpoint <= 12) & (pairs.age >= 2)
    quiet = (pairs.number == 1) & (pairs.checkpoint >= 5) & (pairs.age >= 2)
    assert np.allclose(pairs.foreseen[back], 0.02)
    assert np.allclose(pairs.foreseen[quiet], 0.98)
    assert not pairs.ready[back].any()
    assert pairs.ready[quiet].all()
    assert np.isnan(pairs.foreseen[pairs.age == 1]).all()
    assert taught.read_by == "rules over identifiers"


def test_outcomes_that_contradict_each_other_are_counted_and_the_step_stays(ledger: Ledger) -> None:
    name = "session-00"
    twice = [entry_at(name, 2, 2, 4), replace(entry_at(name, 2, 2, 5), state="undone")]
    second = replace(twice[1], commit=replace(twice[1].commit, id=f"{twice[1].commit.id}-again"))
    live(ledger, 0, steps=26, entries=[twice[0], second], regrets=[])
    taught = lessons(sessions_of(account_of(ledger, "")).lived, open_bundle())
    assert taught.at_odds == 1
    assert taught.labels[name][2].boundary is None


def test_a_chats_forecasts_stand_where_nothing_was_seen(ledger: Ledger) -> None:
    lived = filled(ledger, 1).lived
    told = {lived[0].id: {10: tuple([0.4] * 8), 20: tuple([0.4] * 18)}}
    pairs = lessons(lived, open_bundle(), forecasts=told).pairs
    assert pairs.foreseen is not None
    assert {*pairs.checkpoint.tolist()} == {10, 20}
    assert np.allclose(pairs.foreseen[(pairs.number == 6) & (pairs.age >= 2)], 0.4)


def test_three_sessions_are_too_few_and_that_is_said(ledger: Ledger) -> None:
    with pytest.raises(BadInput, match="can be learned from: 3, and 6 are needed"):
        learning.learn(filled(ledger, 3, 8).lived)


def test_sessions_of_one_task_are_one_and_stay_together(ledger: Ledger) -> None:
    lived = filled(ledger, 8, 8).lived
    same = [
        replace(one, run=replace(one.run, group=f"task {n // 2}")) for n, one in enumerate(lived)
    ]
    with pytest.raises(BadInput, match="can be learned from: 4, and 6 are needed"):
        learning.parted(same)
    older, newer = learning.parted(lived)
    assert [one.id for one in newer] == ["session-05", "session-06", "session-07"]
    assert len(older) == 5


def test_one_class_only_is_one_sentence(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    lived = filled(ledger, 6, 8).lived
    found = lessons(lived, open_bundle())
    ready = replace(found, pairs=replace(found.pairs, ready=np.ones(len(found.pairs), np.bool_)))
    monkeypatch.setattr(learning, "lessons", lambda *given: ready)
    with pytest.raises(BadInput, match="hold READY only"):
        learning.learn(lived)


def test_newer_sessions_of_one_class_are_said_before_anything_is_learned(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    lived = filled(ledger, 6, 8).lived
    found = lessons(lived, open_bundle())
    newest = np.isin(found.pairs.run, [4, 5])  # (pairs,)
    ready = replace(found, pairs=replace(found.pairs, ready=found.pairs.ready | newest))
    monkeypatch.setattr(learning, "lessons", lambda *given: ready)
    stages: list[str] = []
    with pytest.raises(BadInput, match=r"the 2 newest sessions hold READY only, .* use it longer"):
        learning.learn(lived, heard=stages.append)
    assert stages == ["labelling 6 sessions"]


def test_a_router_is_learned_compared_and_shown(ledger: Ledger) -> None:
    stages: list[str] = []
    lived = filled(ledger).lived
    done = learning.learn(lived, learner=SMALL, heard=stages.append)
    assert (done.sessions, done.held_out) == (7, 2)
    comparison = done.comparison
    held = lessons(lived[-2:], open_bundle()).pairs.settled()
    assert comparison.pairs == len(held)
    assert comparison.shipped.measures["pairs"] == comparison.yours.measures["pairs"]
    assert comparison.better is (not comparison.against)
    # Only a router that was found better is made again, of all sessions.
    wanted = 7 if comparison.better else 5
    assert done.bundle.created_from.startswith(f"{wanted} own sessions")
    scores = done.bundle.scores(held.x)
    assert ((scores > 0) & (scores < 1)).all()
    page = page_of(done)
    assert "{{" not in page
    assert "<script" not in page
    assert ("Better on sessions" in page) is comparison.better
    (claude, codex) = (habit.as_json() for habit in done.habits)
    assert (claude["client"], codex["client"]) == ("claude-cli", "codex")
    assert claude["sessions"] == 4
    assert claude["returns"] == 4
    assert claude["still_to_come"]["10"] > 5
    # What a return costs is learned in the same pass.
    assert 0.0 < claude["reread"] <= 1.0
    assert claude["refetch_tokens"] >= 0


def test_a_habit_counts_every_step_that_was_replaced(ledger: Ledger) -> None:
    (habit,) = habits_of(filled(ledger, 1, 14).lived)
    assert (habit.replaced, habit.returns) == (3, 1)


def test_both_routers_are_replayed_by_the_method_that_was_asked_for(ledger: Ledger) -> None:
    lived = filled(ledger, 1, 60).lived
    labels = lessons(lived, open_bundle()).labels
    both = {"shipped": open_bundle()}
    (bold,) = replayed(both, lived, labels, Method(rule=RECIPES["bold"].rule()))
    (careful,) = replayed(both, lived, labels, Method(rule=RECIPES["careful"].rule()))
    assert bold.saved > careful.saved


def test_a_router_that_learned_nonsense_is_refused(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    lived = filled(ledger).lived
    honest = lessons(lived, open_bundle())
    wrong = np.where(np.isnan(honest.pairs.foreseen), np.nan, 0.5)  # type: ignore[arg-type]
    shuffled = np.random.default_rng(0).permutation(honest.pairs.x)
    upside = replace(honest.pairs, x=shuffled, foreseen=wrong)
    trained = learning.trained

    def badly(own: object, learner: Committee, *, trusted: bool) -> object:
        return trained(replace(upside, ready=~upside.ready), learner, trusted=trusted)

    monkeypatch.setattr(learning, "trained", badly)
    done = learning.learn(lived, learner=SMALL)
    assert not done.comparison.better
    assert done.comparison.against
    assert "Not better, so nothing is switched" in page_of(done)


def test_a_router_whose_scores_say_less_of_what_comes_true_is_refused(ledger: Ledger) -> None:
    lived = filled(ledger).lived
    taught = lessons(lived, open_bundle())
    newest = lived[-2:]
    too_sure = replace(open_bundle(), calibration=Platt(0.01, 6.0))
    held = judged_on(taught.pairs, newest)
    found = compare(open_bundle(), too_sure, newest, held, taught.labels)
    said = [reason for reason in found.against if "log loss" in reason]
    assert len(said) == 1, found.against
    assert not [
        r
        for r in compare(open_bundle(), open_bundle(), newest, held, taught.labels).against
        if "log loss" in r
    ]


def test_checkpoints_are_spread_over_the_whole_session() -> None:
    assert spread(range(2, 102), 4) == {2, 35, 68, 101}
    assert spread([3, 9], 5) == {3, 9}
