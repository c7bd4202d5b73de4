"""What became of what was replaced, and what a label becomes of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from statecomp.annotation.labels import Label
from statecomp.learning.outcomes import SessionAccount, StepOutcome, outcomes, seen
from statecomp.learning.sessions import sessions_of
from statecomp.ledger.audit import Regret
from statecomp.ledger.own import account_of
from tests.learning.made_up import entry_at, live, opened, request_at

NAME = "session-00"
STEPS = [request_at(NAME, step) for step in range(1, 31)]


def back_for(commit: int, step: int, detail: str = "read_file") -> Regret:
    return Regret(NAME, step, f"commit-{NAME}-{commit}", "repeated call", detail)


def fates(told: SessionAccount) -> dict[int, str]:
    return {one.number: one.fate for one in outcomes(told)}


def test_each_replaced_step_has_one_fate() -> None:
    told = SessionAccount(
        STEPS,
        [
            entry_at(NAME, 1, 1, 4),
            entry_at(NAME, 2, 2, 5),
            entry_at(NAME, 3, 3, 6, "undone"),
            entry_at(NAME, 4, 4, 7, "suspect"),
            entry_at(NAME, 5, 5, 25),
            entry_at(NAME, 6, 6, 8, "observed"),
        ],
        [back_for(2, 9)],
    )
    assert fates(told) == {1: "quiet", 2: "returned", 3: "undone", 5: "open", 6: "open"}
    returned = next(one for one in outcomes(told) if one.fate == "returned")
    assert (returned.since, returned.needed, returned.score) == (6, 9, 0.95)
    assert returned.router == "shipped"


def test_a_return_is_put_down_to_the_step_it_was_for(tmp_path: Path) -> None:
    detail = 'read_file {"path": "src/m2.py"}'
    with_entry = [entry_at(NAME, 1, 2, 6)]
    ledger = opened(tmp_path / "ledger.sqlite")
    live(ledger, 0, steps=30, entries=with_entry, regrets=[back_for(1, 12, detail)])
    (lived,) = sessions_of(account_of(ledger, "")).lived
    assert {one.number: one.fate for one in lived.outcomes} == {1: "quiet", 2: "returned"}
    ledger.close()


def test_a_return_of_which_nobody_knows_what_for_counts_for_the_whole_span() -> None:
    told = SessionAccount(STEPS, [entry_at(NAME, 1, 2, 6)], [back_for(1, 12, "something else")])
    assert fates(told) == {1: "returned", 2: "returned"}


@pytest.mark.parametrize(
    ("boundary", "found", "now"),
    [
        (5, [], 5),
        (5, [StepOutcome(2, 6, "returned", needed=9)], 10),
        (None, [StepOutcome(2, 6, "returned", needed=9)], None),
        (12, [StepOutcome(2, 6, "returned", needed=9)], 12),
        (None, [StepOutcome(2, 6, "quiet")], 6),
        (9, [StepOutcome(2, 6, "quiet")], 6),
        (4, [StepOutcome(2, 6, "quiet")], 4),
        (4, [StepOutcome(2, 6, "undone")], None),
        (9, [StepOutcome(2, 6, "quiet"), StepOutcome(2, 6, "returned", needed=8)], 9),
        (4, [StepOutcome(2, 6, "open")], 4),
    ],
)
def test_what_was_seen_moves_the_boundary_and_keeps_in_doubt(
    boundary: int | None, found: list[StepOutcome], now: int | None
) -> None:
    label = seen(Label("r", 2, boundary), found)
    assert label.boundary == now
    assert (label.annotator == "outcome") is (now != boundary)
