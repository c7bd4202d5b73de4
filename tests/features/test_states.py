"""Every token is read once, and what is read that way is what a fresh pass would give."""

from __future__ import annotations

from typing import Any, get_args

import numpy as np
import pytest

from statecomp.errors import BadInput
from statecomp.features import view
from statecomp.history.history import History, Span
from statecomp.history.interaction import Interaction, Observation, Pinned, Summary
from tests.features.small_model import frozen, needs_model

pytestmark = needs_model
states = pytest.importorskip(
    "statecomp.features.states", reason="the frozen model needs statecomp[encoder]"
)

TASK = Pinned("p", (), 9, "user", "Find out why the nightly import of orders fails, and fix it.")


def step(number: int, lines: int = 2) -> Interaction:
    log = "\n".join(f"{number}:{line} order {number * 37 + line} refused" for line in range(lines))
    seen = (Observation("", log),)
    return Interaction(f"i{number}", number, (), 40, said=f"grep {number}", observations=seen)


def run_of(count: int, lines: int = 2) -> History:
    return History((TASK, *(step(number, lines) for number in range(1, count + 1))))


def prefixes(run: History) -> list[History]:
    return [History(run.segments[:stop]) for stop in range(1, len(run.segments) + 1)]


def length(history: History) -> int:
    return len(view.full(history, frozen().tokenize).ids)


def committed(run: History, start: int, stop: int) -> History:
    sources = tuple(segment.id for segment in run.segments[start:stop])
    text = f"Interactions {start} to {stop - 1} found refused orders."
    summary = Summary(f"s{start}-{stop}", (), 12, text, sources, start, stop - 1)
    return run.replace(Span(start, stop), summary)


def close(one: Any, other: Any, tolerance: float = 1e-3) -> bool:
    scale = float(np.abs(other).max()) or 1.0
    return bool(np.abs(one - other).max() <= tolerance * scale)


def test_a_growing_run_gives_the_vectors_of_fresh_full_passes_and_reads_each_token_once() -> None:
    run = run_of(6)
    reader = states.StateReader(frozen())
    for history in prefixes(run):
        found = reader.read(history)
        fresh = states.read_views(frozen(), history, "full")
        assert found.ids == fresh.ids
        assert found.candidates.shape == fresh.candidates.shape
        assert close(found.current, fresh.current)
        assert not len(found.ids) or close(found.candidates, fresh.candidates)
    assert reader.tokens_read == length(run)
    assert reader.restarts == 0


def test_a_long_run_in_a_small_window_reads_at_most_a_tenth_more() -> None:
    run = run_of(24, lines=4)
    reader = states.StateReader(frozen(), states.ReaderSettings(window=512, overlap=32))
    for history in prefixes(run):
        assert reader.read(history).candidates.shape == (len(history.interactions), 576)
    assert reader.restarts >= 2
    assert length(run) < reader.tokens_read <= 1.1 * length(run)


def test_an_interaction_longer_than_the_window_is_read_in_pieces() -> None:
    run = run_of(2, lines=30)
    for readout in ("last", "mean"):
        encoder = frozen(readout=readout)
        reader = states.StateReader(encoder, states.ReaderSettings(window=128, overlap=8))
        found = reader.read(run)
        assert np.isfinite(found.candidates).all()
        assert found.tokens_read <= 1.1 * length(run)


def test_the_same_state_again_and_a_retry_of_an_earlier_one_cost_nothing() -> None:
    run = run_of(5)
    reader = states.StateReader(frozen())
    first = reader.read(run)
    again = reader.read(run)
    assert again.tokens_read == 0
    assert np.array_equal(first.candidates, again.candidates)
    earlier = History(run.segments[:3])
    back = reader.read(earlier)
    assert back.tokens_read == 0
    assert close(back.current, states.read_views(frozen(), earlier, "full").current)


def test_a_fork_reads_only_its_own_tokens() -> None:
    run = run_of(5)
    reader = states.StateReader(frozen())
    reader.read(run)
    fork = History((*run.segments[:4], step(77)))
    found = reader.read(fork)
    assert found.tokens_read == length(History((step(77),)))
    fresh = states.read_views(frozen(), fork, "full")
    assert close(found.current, fresh.current)
    assert close(found.candidates, fresh.candidates)


def test_a_commit_keeps_the_survivors_vectors_and_reads_a_bounded_rest_again() -> None:
    run = run_of(12)
    reader = states.StateReader(frozen(), states.ReaderSettings(window=1024, overlap=40))
    before = reader.read(run)
    after = reader.read(committed(run, 2, 6))
    assert after.ids == ("i1", *(f"i{n}" for n in range(6, 13)))
    rows = [before.ids.index(name) for name in after.ids]
    assert np.array_equal(after.candidates, before.candidates[rows])
    assert after.tokens_read <= 40
    assert reader.restarts == 1


def test_a_commit_near_the_end_is_read_in_place_and_leaves_no_trace_of_what_it_replaced() -> None:
    run = run_of(6)
    reader = states.StateReader(frozen())
    reader.read(run)
    short = committed(run, 2, 6)
    found = reader.read(short)
    fresh = states.read_views(frozen(), short, "full")
    assert close(found.current, fresh.current)
    assert reader.restarts == 0


def test_a_run_with_commits_on_the_way_still_reads_at_most_a_tenth_more() -> None:
    settings = states.ReaderSettings(window=512, overlap=24)
    reader = states.StateReader(frozen(), settings)
    history, read = History((TASK,)), length(History((TASK,)))
    for number in range(1, 25):
        history = History((*history.segments, step(number, lines=4)))
        read += length(History((step(number, lines=4),)))
        reader.read(history)
        if number % 12 == 0:
            start = len(history.segments) - 10
            history = committed(history, start, start + 6)
            reader.read(history)
    assert reader.tokens_read <= 1.1 * read


def test_a_forgetful_memory_reads_again_instead_of_failing() -> None:
    run = run_of(5)
    reader = states.StateReader(frozen(), states.ReaderSettings(remember=2))
    assert reader.read(run).candidates.shape == reader.read(run).candidates.shape == (5, 576)


def test_a_failure_midway_loses_the_tape_but_no_truth(monkeypatch: pytest.MonkeyPatch) -> None:
    run = run_of(3)
    reader = states.StateReader(frozen())
    reader.read(History(run.segments[:2]))
    with monkeypatch.context() as patch:
        patch.setattr(reader._tape, "extend", lambda ids: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            reader.read(run)
    found, fresh = reader.read(run), states.read_views(frozen(), run, "full")
    assert close(found.current, fresh.current)
    assert close(found.candidates, fresh.candidates)


def test_an_empty_history_has_no_candidates() -> None:
    reader = states.StateReader(frozen())
    found = reader.read(History(()))
    assert found.candidates.shape == (0, 576)
    assert not found.current.any()


def test_an_overlap_must_fit() -> None:
    with pytest.raises(BadInput, match="does not fit"):
        states.StateReader(frozen(), states.ReaderSettings(window=64, overlap=64))


@pytest.mark.parametrize("construction", ["local", "recent2", "recent4", "capped-recent4"])
def test_a_shared_base_gives_the_same_vectors_for_fewer_tokens(construction: str) -> None:
    run = run_of(5)
    apart = states.read_views(frozen(), run, construction, share=False)
    shared = states.read_views(frozen(), run, construction)
    assert shared.candidates.shape == (5, 576)
    assert close(shared.candidates, apart.candidates)
    assert close(shared.current, apart.current)
    assert construction == "local" or shared.tokens_read < apart.tokens_read / 2


def test_state_dependence_comes_from_the_view_that_holds_both_target_and_state() -> None:
    early, late = run_of(4), run_of(8)
    alone = [states.read_views(frozen(), run, "full").candidates[0] for run in (early, late)]
    assert close(alone[0], alone[1], 1e-4)
    viewed = [states.read_views(frozen(), run, "recent2").candidates[0] for run in (early, late)]
    # Far more than rounding: ten times what counts as unchanged above.
    assert not close(viewed[0], viewed[1], 1e-3)


def test_every_construction_takes_a_history_without_interactions() -> None:
    for construction in get_args(states.Construction):
        assert states.read_views(frozen(), run_of(0), construction).candidates.shape == (0, 576)
