"""What a return costs a client: learned from the calls it made again, within bounds."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from statecomp.controller.circumstances import JUST_AFTER
from statecomp.controller.economics import REREAD
from statecomp.learning.refetch import RefetchPrice, Reread
from statecomp.learning.watch import watched
from statecomp.ledger.audit import Regret
from statecomp.ledger.ledger import Ledger
from statecomp.ledger.own import account_of
from statecomp.proxy.horizons import Horizons
from statecomp.recipes import recipe_named
from statecomp.testing.words import history_of
from tests.learning.made_up import entry_at, live, opened


def test_few_returns_move_the_assumption_a_little_and_many_far() -> None:
    assert RefetchPrice.of([]) == RefetchPrice(0, REREAD)
    once = RefetchPrice.of([Reread(1000, 100)])
    often = RefetchPrice.of([Reread(1000, 100)] * 200)
    assert 0.5 < once.part < REREAD
    assert often.part == pytest.approx(0.1, abs=0.02)
    assert (often.returns, often.tokens) == (200, 100.0)


@pytest.mark.parametrize("again", [0, 10**9])
def test_what_a_return_reads_again_is_never_less_than_nothing_nor_more_than_all(
    again: int,
) -> None:
    assert 0.0 <= RefetchPrice.of([Reread(10, again)] * 500).part <= 1.0


def came_back(ledger: Ledger, client: str, kind: str = "repeated call") -> None:
    """Six sessions in which step 4, a long output, is read again by step 12, an edit."""
    for seed in range(6):
        name = f"session-{seed:02}"
        detail = 'read_file {"path": "src/m4.py"}'
        back = Regret(name, 12, f"commit-{name}-4", kind, detail)  # type: ignore[arg-type]
        entries = [entry_at(name, 4, 4, 8)]
        live(ledger, seed, steps=30, entries=entries, regrets=[back], client=client)


def test_a_client_that_reads_little_again_is_asked_for_lower_scores(tmp_path: Path) -> None:
    ledger = opened(tmp_path / "ledger.sqlite")
    came_back(ledger, "codex/0.4")
    price = watched(account_of(ledger, "")).prices["codex"]
    assert price.returns == 6
    assert price.part < REREAD
    learned = Horizons(ledger)
    assert learned.reread("codex/9.9") is None  # nobody waits for the first look
    assert learned.watching is not None
    learned.watching.join()
    assert learned.reread("codex/9.9") == price.part
    assert learned.reread("claude-cli/2") is None
    ledger.close()
    rule, history = recipe_named("balanced").rule(), history_of("prrrrr")
    usual = rule.required(history, JUST_AFTER)
    lower = rule.required(history, replace(JUST_AFTER, reread=price.part))
    judged = [name for name, score in usual.items() if score <= 1.0]
    assert judged
    assert all(lower[name] < usual[name] for name in judged)


def test_the_papers_gates_know_no_price(tmp_path: Path) -> None:
    rule, history = recipe_named("paper").rule(), history_of("prrrrr")
    priced = replace(JUST_AFTER, reread=1.0)
    assert rule.required(history, priced) == rule.required(history, JUST_AFTER)


def test_a_name_that_was_only_used_was_not_read_again(tmp_path: Path) -> None:
    ledger = opened(tmp_path / "ledger.sqlite")
    came_back(ledger, "codex/0.4", "lost identifier")
    assert not watched(account_of(ledger, "")).prices
    ledger.close()


def test_a_ledger_that_knows_no_session_leaves_the_assumption(tmp_path: Path) -> None:
    ledger = opened(tmp_path / "ledger.sqlite")
    seen, learned = watched(account_of(ledger, "")), Horizons(ledger)
    assert (seen.prices, seen.reread("codex")) == ({}, None)
    assert learned.reread("codex") is None
    assert learned.watching is not None
    learned.watching.join()
    assert (learned.reread("codex"), learned.caution("codex")) == (None, 1.0)
    ledger.close()


def test_messages_that_are_gone_leave_the_assumption(tmp_path: Path) -> None:
    ledger = opened(tmp_path / "ledger.sqlite")
    came_back(ledger, "codex/0.4")
    account = account_of(ledger, "")

    class Forgot:
        def __getattr__(self, name: str) -> object:
            return (lambda session: ()) if name == "messages" else getattr(account, name)

    assert watched(Forgot()).prices == {}  # type: ignore[arg-type]
    ledger.close()
