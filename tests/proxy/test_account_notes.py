"""Every request is noted with why it saved nothing, whenever its decision was made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from statecomp.errors import ScoringFailed
from statecomp.explain import kind_of
from statecomp.history.history import History
from statecomp.ledger.audit import LedgerFailed, Told
from statecomp.ledger.open import open_ledger
from statecomp.testing.words import WordScorer, chat_of
from tests.proxy.small_upstream import EAGER, Running, running
from tests.rules import paying

BY_WORD = replace(EAGER, scorer=WordScorer)


def notes(proxy: Running, *words: str) -> list[str]:
    for word in words:
        assert proxy.chat(chat_of(word)).status_code == 200
        proxy.drain()  # a newer request would take the place of a decision that waits
    ledger = proxy.drain()
    return [r.note for s in ledger.sessions() for r in ledger.requests(s.id)]


@pytest.mark.parametrize("commit", ["now", "background"])
@pytest.mark.parametrize("mode", ["compress", "observe"])
def test_a_request_that_saves_nothing_says_why(mode: str, commit: str) -> None:
    with running(method=BY_WORD, mode=mode, commit=commit) as proxy:
        told = notes(proxy, "p", "pkkk", "pkkkrk")
    assert [kind_of(note) for note in told] == ["too short", "nothing ready", "too small a span"]


def test_a_commit_behind_a_request_says_from_when_on_it_holds() -> None:
    with running(method=BY_WORD, commit="background") as proxy:
        (note,) = notes(proxy, "prrk")
    assert note.startswith("committed: steps 1-2 ")
    assert note.endswith(" tokens, from the next request on")
    with running(method=BY_WORD) as proxy:
        (note,) = notes(proxy, "prrk")
    assert note.startswith("committed: ")
    assert note.endswith(" tokens")


def test_the_gate_tells_its_numbers_also_where_nothing_is_committed() -> None:
    with running(method=replace(BY_WORD, rule=paying(ahead=0.0))) as proxy:
        (note,) = notes(proxy, "kkkkprrkkkk")
    assert note.startswith("would not pay yet: costs $")


def test_the_same_request_once_more_says_that_it_was_decided_before_and_how() -> None:
    with running(method=BY_WORD) as proxy:
        first, *again = notes(proxy, "pkkk", "pkkk", "pkkk")
    assert again == [f"decided before: the same state was sent before ({first})"] * 2


class Broken:
    def score(self, history: History) -> Any:
        raise ScoringFailed("no model")


def test_a_scorer_that_fails_is_told() -> None:
    with running(method=replace(EAGER, scorer=Broken)) as proxy:
        assert notes(proxy, "prrr") == ["no scores: no model"]


def test_a_session_shows_the_latest_note() -> None:
    with running(method=BY_WORD) as proxy:
        told = notes(proxy, "p", "pkkk")
        (session,) = proxy.ledger.sessions()
        assert session.note == told[-1]
        found = proxy.ledger.session(session.id)
        assert found is not None
        assert found.note == told[-1]


def test_a_request_that_cannot_be_recorded_takes_no_other_with_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ledger = open_ledger(":memory:")
    tried: list[int] = []
    record_all = ledger.record_all

    def failing(told: Sequence[Told]) -> None:
        tried.append(len(told))
        if any(one.request.number == 2 for one in told):
            raise LedgerFailed("not this one")
        record_all(told)

    monkeypatch.setattr(ledger, "record_all", failing)
    monkeypatch.setattr("statecomp.proxy.account.accountant.GATHER_S", 5.0)
    with running(ledger=ledger) as proxy:
        for word in ("pr", "prr", "prrr"):
            proxy.chat(chat_of(word))
        proxy.drain()
        (session,) = ledger.sessions()
        assert [request.number for request in ledger.requests(session.id)] == [1, 3]
        assert proxy.endpoint.metrics.value("statecomp_ledger_failures_total") == 1
    assert tried == [3, 1, 1, 1]
