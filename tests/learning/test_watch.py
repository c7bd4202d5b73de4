"""Scores against what came back: shares with intervals, drift, and stricter gates."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from time import time

import pytest

from statecomp.controller.circumstances import JUST_AFTER
from statecomp.learning.watch import Settled, interval, share_of, summed, watched
from statecomp.ledger.audit import Regret
from statecomp.ledger.own import account_of
from statecomp.proxy.horizons import Horizons
from statecomp.recipes import recipe_named
from statecomp.testing.words import history_of
from tests.learning.made_up import YESTERDAY, entry_at, live, opened


def steps(count: int, wanted: int, score: float = 0.95, client: str = "codex") -> list[Settled]:
    return [Settled(client, "read", score, n < wanted) for n in range(count)]


@pytest.mark.parametrize(
    ("count", "wanted", "drifts"),
    [(200, 10, False), (200, 16, False), (200, 40, True), (9, 9, False), (20, 5, True)],
)
def test_a_drift_is_more_than_chance_and_more_than_a_few(
    count: int, wanted: int, drifts: bool
) -> None:
    share = share_of("codex", steps(count, wanted))
    assert share.expected == pytest.approx(0.05)
    assert share.drifts is drifts
    assert (share.caution > 1.0) is drifts
    assert share.caution <= 4.0


def test_the_interval_stays_between_nothing_and_all() -> None:
    assert interval(0, 10)[0] == 0.0
    assert interval(10, 10)[1] == pytest.approx(1.0)
    low, high = interval(5, 100)
    assert 0.02 < low < 0.05 < high < 0.12


def test_shares_are_by_client_kind_score_and_router() -> None:
    found = [*steps(30, 3, 0.85), *steps(50, 0, 1.0, "claude-cli")]
    seen = summed([*found, replace(found[0], router="2026-01-01")])
    assert {*seen.clients} == {"codex", "claude-cli"}
    assert [share.name for share in seen.kinds] == ["claude-cli · read", "codex · read"]
    assert [(share.name, share.steps) for share in seen.curve] == [
        ("claude-cli · 0.99 to 1", 50),
        ("codex · 0.8 to 0.9", 30),
    ]
    assert [share.name for share in seen.routers] == ["2026-01-01"]
    assert seen.caution("claude-cli/3.1") == 1.0
    assert seen.caution("unheard") == 1.0


def test_a_ledger_in_which_much_comes_back_makes_its_clients_gates_stricter(
    tmp_path: Path,
) -> None:
    ledger = opened(tmp_path / "ledger.sqlite")
    for seed in range(12):
        name = f"session-{seed:02}"
        entries = [entry_at(name, first, first, 4, score=0.97) for first in (1, 2, 3, 4)]
        regrets = [
            Regret(name, 9, f"commit-{name}-{n}", "repeated call", "read_file") for n in (1, 2)
        ]
        client = "codex/0.4" if seed < 9 else "claude-cli/2"
        wanted = regrets if client.startswith("codex") else []
        live(ledger, seed, steps=30, entries=entries, regrets=wanted, client=client)
    seen = watched(account_of(ledger, ""))
    assert seen.clients["codex"].steps == 36
    assert seen.clients["codex"].drifts
    assert not seen.clients["claude-cli"].drifts
    clients = ("codex", "claude-cli")
    kinds = {f"{client} · {kind}" for client in clients for kind in ("read", "edit")}
    assert {share.name for share in seen.kinds} == kinds
    learned = Horizons(ledger)
    assert learned.caution("codex/9.9") == 1.0  # nobody waits for the first look
    assert learned.watching is not None
    learned.watching.join()
    assert learned.caution("codex/9.9") == pytest.approx(seen.caution("codex"))
    assert learned.caution("codex/9.9") > 2.0
    assert learned.caution("claude-cli/2") == 1.0
    ledger.close()


@pytest.mark.parametrize(
    ("over", "last", "counted"),
    [
        (True, 12, True),  # who has not come back will not
        (False, 12, False),  # there was hardly time to come back
        (False, 30, True),
    ],
)
def test_who_came_back_is_counted_with_who_had_as_long_and_did_not(
    tmp_path: Path, over: bool, last: int, counted: bool
) -> None:
    ledger = opened(tmp_path / "ledger.sqlite")
    for seed in range(12):
        name = f"session-{seed:02}"
        entries = [entry_at(name, first, first, 4) for first in (1, 2, 3, 4)]
        back = [Regret(name, 9, f"commit-{name}-1", "repeated call", "read_file")]
        when = YESTERDAY if over else time()
        live(ledger, seed, steps=last, entries=entries, regrets=back, client="codex", at_s=when)
    found = [(s.steps, s.wanted) for s in watched(account_of(ledger, "")).clients.values()]
    assert found == ([(48, 12)] if counted else [])
    ledger.close()


def test_what_was_only_observed_says_nothing(tmp_path: Path) -> None:
    ledger = opened(tmp_path / "ledger.sqlite")
    entries = [entry_at("session-00", 1, 1, 4, state="observed"), entry_at("session-00", 2, 2, 4)]
    back = [Regret("session-00", 9, "commit-session-00-1", "repeated call", "read_file")]
    live(ledger, 0, steps=30, entries=entries, regrets=back, client="codex")
    share = watched(account_of(ledger, "")).clients["codex"]
    assert (share.steps, share.wanted) == (1, 0)
    ledger.close()


def test_another_router_answers_for_its_own_scores_alone() -> None:
    before = [replace(one, router="shipped") for one in steps(100, 60)]
    after = [replace(one, router="mine") for one in steps(5, 0)]
    assert summed(before).caution("codex") > 2.0
    both = summed([*after, *before])
    assert both.caution("codex") == 1.0
    assert [(share.name, share.steps) for share in both.routers] == [("mine", 5), ("shipped", 100)]


@pytest.mark.parametrize("recipe", ["balanced", "paper"])
def test_caution_asks_for_higher_scores(recipe: str) -> None:
    rule, history = recipe_named(recipe).rule(), history_of("prrrrr")
    usual = rule.required(history, JUST_AFTER)
    wary = rule.required(history, replace(JUST_AFTER, caution=3.0))
    judged = [name for name, score in usual.items() if score <= 1.0]
    assert judged
    assert all(wary[name] > usual[name] for name in judged)
