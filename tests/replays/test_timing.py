"""When a strategy replaced, against labels that say when it could."""

from __future__ import annotations

import pytest

from statecomp.annotation.labels import Label, Labels, read_labels
from statecomp.baselines.rewriting import edited
from statecomp.config import Settings, strategy_factory
from statecomp.controller.prices import shipped_prices
from statecomp.errors import BadInput
from statecomp.history.history import History
from statecomp.history.trajectory import Trajectory
from statecomp.replays.run import RunReplay, replay_run
from statecomp.replays.sessions import session_of
from statecomp.replays.table import rows
from statecomp.replays.timing import Timing
from statecomp.strategy import Strategy, StrategyFactory, View
from statecomp.testing.words import chat_of
from statecomp.tokens import ESTIMATE
from statecomp.traces.jsonl import read_runs
from statecomp.wire.protocol import Wire
from tests.shared_data import LABELS, RUNS, needs_shared_data


def drawn(word: str, name: str = "run") -> Trajectory:
    return Trajectory(name, tuple(chat_of(word)))


def labelled(boundaries: dict[int, int | None], run: str = "run", *must_keep: str) -> Labels:
    return {run: {i: Label(run, i, k, must_keep=must_keep) for i, k in boundaries.items()}}


def played(run: Trajectory, labels: Labels, *specs: str) -> RunReplay:
    factories = {spec: strategy_factory(spec, Settings()) for spec in specs}
    return replay_run(run, factories, frozenset(), labels=labels)


def timing(run: Trajectory, labels: Labels, spec: str) -> Timing:
    (replay,) = played(run, labels, spec).replays
    return replay.timing


FIVE = drawn("prrrrr")
SOME = labelled({1: 4, 2: None, 3: 5})


def test_pairs_are_judged_from_two_interactions_later_on() -> None:
    """A window of two sends (1, 2) at checkpoint 3, (2, 3) at 4 and (3, 4) at 5.

    KEEP: (1,3) and (2,4) stand, (2,5) is gone.  READY: (1,4) and (1,5) are gone, (3,5) stands.
    """
    found = timing(FIVE, SOME, "window:keep=2")
    assert (found.keep, found.premature, found.ready, found.taken) == (3, 1, 3, 2)
    assert found.premature_share == pytest.approx(1 / 3)
    assert found.taken_share == pytest.approx(2 / 3)


def test_who_replaces_nothing_is_never_premature_and_takes_nothing() -> None:
    found = timing(FIVE, SOME, "none")
    assert (found.keep, found.premature, found.ready, found.taken) == (3, 0, 3, 0)


def test_a_masked_interaction_counts_as_replaced() -> None:
    masked, cut = (timing(FIVE, SOME, f"{name}:keep=2") for name in ("mask", "window"))
    assert (masked.premature, masked.taken) == (cut.premature, cut.taken) == (1, 2)


def test_an_observation_too_short_to_mask_is_not_replaced() -> None:
    short = Trajectory("run", tuple(chat_of("prrrrr", "ok")))
    result = played(short, SOME, "mask:keep=2")
    assert result.replays[0].timing == timing(short, SOME, "none")
    assert [step.first_change for step in result.replays[0].steps] == [None] * 4


def test_strategies_that_name_their_edits_alike_are_judged_apart() -> None:
    """The same mark on the same interaction, and another text behind it."""

    class Edits(Strategy):
        def __init__(self, text: str, wire: Wire) -> None:
            self.text, self.wire = text, wire

        def before_request(self, history: History) -> View:
            changed = (
                edited(i, lambda _: self.text, self.wire, ESTIMATE, "cut")
                for i in history.interactions
            )
            return View(History(tuple(changed)))

    def factory(text: str) -> StrategyFactory:
        return lambda run, wire: Edits(text, wire)

    labels = labelled({1: 3}, "run", "lazy dog")
    factories = {"with": factory("the lazy dog"), "without": factory("cut")}
    kept, lost = replay_run(FIVE, factories, frozenset(), labels=labels).replays
    assert (kept.timing.found, lost.timing.found, kept.timing.wanted) == (4, 0, 4)


def test_interactions_without_a_label_are_not_judged() -> None:
    found = timing(FIVE, labelled({1: 3}), "window:keep=2")
    assert (found.keep, found.ready, found.taken) == (0, 3, 2)
    assert found.premature_share is None


def test_strings_to_keep_are_looked_for_in_all_that_is_sent_at_every_later_checkpoint() -> None:
    """Interaction 1 reads number 1, named in its arguments; a window of two loses it at 4."""
    labels = labelled({1: 3}, "run", '"n": 1', "not in it")
    found = timing(FIVE, labels, "window:keep=2")
    assert (found.wanted, found.found) == (4, 2)
    assert timing(FIVE, labels, "none").found_share == 1


def test_a_string_to_keep_may_stand_in_a_record_or_in_another_interaction() -> None:
    run = Trajectory("run", (*FIVE.messages, {"role": "user", "content": 'and "n":\n1?'}))
    run = Trajectory("run", (*run.messages, *chat_of("xxxxxxrr")[-4:]))
    labels = labelled({1: 3}, "run", '"n": 1')
    found = timing(run, labels, "window:keep=2")
    assert (found.wanted, found.found) == (6, 4)


def test_labels_of_another_run_are_refused_with_the_number_that_does_not_fit() -> None:
    with pytest.raises(BadInput, match="i: is 6 in run 'run', which holds 5 interactions"):
        timing(FIVE, labelled({6: 8}), "none")
    session = session_of([FIVE, drawn("prr", "two")])
    with pytest.raises(BadInput, match="i: is 6 in run 'run', which holds 5 interactions"):
        timing(session, labelled({6: 8}), "none")


def test_in_a_session_labels_stand_at_their_new_numbers_and_keep_to_the_end_of_their_run() -> None:
    """Interactions 1-5 and 6-8; the second run's 1 is 6 and its boundary 3 is 8.

    A window of two, by checkpoint k = 3, 4, ..., 8.  KEEP: (1,3), (2,4) stand, (2,5) is gone; what
    the first run kept to its end is not judged from 6 on.  READY: (1,4) to (1,8) are gone, of
    (3,5) to (3,8) the last three are, (6,8) stands.
    """
    session = session_of([FIVE, drawn("prrr", "two")])
    labels = {**SOME, **labelled({1: 3}, "two")}
    found = timing(session, labels, "window:keep=2")
    assert (found.keep, found.premature) == (3, 1)
    assert (found.ready, found.taken) == (5 + 4 + 1, 5 + 3 + 0)


def test_strings_are_wanted_to_the_end_of_the_run_that_uses_them() -> None:
    session = session_of([drawn("prrr"), drawn("prrrr", "two")])
    found = timing(session, labelled({1: 3}, "run", '"n": 1'), "none")
    assert (found.wanted, found.found) == (2, 2)


def test_the_table_counts_labelled_runs_and_leaves_the_others_out() -> None:
    results = [played(run, SOME, "window:keep=2") for run in (FIVE, drawn("prrrrr", "two"))]
    (row,) = rows(results, shipped_prices().of())
    assert (row.recorded, row.labelled, row.runs) == (2, 1, 2)
    assert row.timing == timing(FIVE, SOME, "window:keep=2")
    assert row.as_json()["timing"]["premature"] == pytest.approx(1 / 3)
    (bare,) = rows(results[1:], shipped_prices().of())
    assert bare.as_json()["timing"] is None


def test_the_worst_run_may_still_have_saved() -> None:
    run = drawn("prrrrrrrr")
    (row,) = rows([played(run, {}, "none")], shipped_prices().of())
    assert (row.worst, row.dearer_share) == (0, 0)
    (row,) = rows([played(run, {}, "window:keep=1")], shipped_prices().of("uncached"))
    assert row.worst == pytest.approx(-row.dollars_saved)
    assert (row.worst < 0, row.dearer_share) == (True, 0)


@needs_shared_data
def test_on_recorded_runs_nothing_sent_whole_is_premature_and_labels_as_scores_never_are() -> None:
    labels = read_labels(LABELS)
    runs = (run for run in read_runs(RUNS) if isinstance(run, Trajectory) and run.id in labels)
    chosen = [run for _, run in zip(range(8), runs, strict=False)]
    specs = ("none", "window:keep=3", f"statecomp:scorer=labels:{LABELS},holds=off")
    results = [played(run, labels, *specs) for run in chosen]
    none, window, perfect = rows(results, shipped_prices().of())
    assert (none.timing.premature, none.timing.taken, none.timing.found_share) == (0, 0, 1)
    assert none.timing.keep > 100
    assert window.timing.premature > 0.3 * window.timing.keep
    assert perfect.timing.premature == 0
    assert perfect.timing.taken > 0.2 * perfect.timing.ready
    assert none.timing.keep == window.timing.keep == perfect.timing.keep
