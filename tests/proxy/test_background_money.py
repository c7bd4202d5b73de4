"""What a decision is judged by: the cache it will meet, the window, the summary it has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from threading import Event
from time import thread_time

import pytest

from statecomp.compressor import StateComp
from statecomp.controller.circumstances import Circumstances
from statecomp.controller.prices import PriceBook, shipped_prices
from statecomp.history.interaction import Interaction
from statecomp.history.situation import Situation
from statecomp.ledger.audit import Entry
from statecomp.proxy.background import Background, Wanted
from statecomp.proxy.settings import Limits, window_of
from statecomp.records.record import Record
from statecomp.testing.words import BULK, WordScorer, chat_of, history_of
from tests.proxy.small_upstream import EAGER, Running, running
from tests.proxy.test_background import Gated
from tests.rules import paying

USUAL = shipped_prices().of()
FORGETFUL = PriceBook({USUAL.model: replace(USUAL, ttl_s=0)}, USUAL.model)
COLD = Circumstances(now_s=10_000.0, last_s=0.0)


def entries(proxy: Running) -> list[Entry]:
    ledger = proxy.drain()
    return [entry for session in ledger.sessions() for entry in ledger.entries(session.id)]


@pytest.mark.parametrize(("cold_s", "cache"), [(0.0, "warm"), (30.0, "cold")])
def test_a_decision_behind_a_request_expects_the_cache_that_this_one_fills(
    cold_s: float, cache: str
) -> None:
    method = replace(EAGER, rule=paying(FORGETFUL))
    limits = Limits(cold_s=cold_s)
    with running(method=method, prices=FORGETFUL, commit="background", limits=limits) as proxy:
        for place in range(1, 30):
            proxy.chat(chat_of("p" + "r" * place, bulk=BULK * 4))
            proxy.drain()
        found = entries(proxy)
    assert found
    assert {entry.ruling["cache"] for entry in found} == {cache}


def test_what_was_judged_for_a_cold_cache_is_not_committed_for_a_warm_one() -> None:
    scorer = Gated()
    method = replace(EAGER, scorer=lambda: scorer)
    limits = Limits(cold_s=1.0)
    with running(method=method, commit="background", prices=FORGETFUL, limits=limits) as proxy:
        proxy.chat(chat_of("p"))
        proxy.chat(chat_of("prrrr"))  # its decision takes too long to be waited for
        scorer.go.set()
        assert proxy.drain().totals().commits == 0
        proxy.chat(chat_of("prrrrr"))
        assert proxy.drain().totals().commits == 1


def test_a_window_that_is_nearly_full_forces_a_commit_that_would_not_pay() -> None:
    for window, forced in ((1000, [True]), (1_000_000, [])):
        method = replace(EAGER, rule=paying(), window=window)
        with running(method=method) as proxy:
            proxy.chat(chat_of("prrrr", bulk=BULK * 4))
            assert [entry.ruling["forced"] for entry in entries(proxy)] == forced


@pytest.mark.parametrize(
    ("model", "window"),
    [
        ("gpt-5-mini", 272_000),
        ("openai/gpt-4o-2024-11-20", 128_000),
        ("o4-mini", 200_000),
        ("claude-haiku-4-5", 200_000),
        ("gpt-5.9", None),
        ("solo3", None),
        ("", None),
    ],
)
def test_a_window_is_known_where_the_name_tells(model: str, window: int | None) -> None:
    assert window_of(model) == window


class Costly:
    """A summariser that counts how often it was asked, and writes at length."""

    def __init__(self) -> None:
        self.asked = 0

    def summarize(self, span: Sequence[Interaction], situation: Situation) -> Record:
        self.asked += 1
        return Record(facts=(BULK * 3,))


def test_a_summary_that_does_not_pay_yet_is_not_bought_again_and_pays_later() -> None:
    summarizer = Costly()
    # Short summaries are expected, so that one is asked for; a long one comes.
    rule = paying(ratio=0.01, frame_tokens=1)
    engine = StateComp(WordScorer(), summarizer=summarizer, rule=rule)
    for word in ("prrrrk", "prrrrkk", "prrrrkkk"):
        view = engine.prepare(history_of(word))
        assert [refusal.kind for refusal in view.refusals] == ["economics"]
    assert summarizer.asked == 1
    assert engine.prepare(history_of("prrrrkkkk"), COLD).commits
    assert summarizer.asked == 1


def worked(wanted: Wanted) -> float:
    """Some processor time, and how much it was."""
    begun = thread_time()
    while thread_time() - begun < 0.05:
        pass
    return thread_time() - begun


@pytest.mark.parametrize(
    ("busy", "awaited", "asked_least", "asked_most"),
    [(True, False, 4, 1000), (False, False, 3, 3), (True, True, 2, 2)],
    ids=["busy", "idle", "awaited"],
)
def test_who_decides_rests_as_long_as_it_worked_unless_nobody_comes_or_somebody_waits(
    busy: bool, awaited: bool, asked_least: int, asked_most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("statecomp.proxy.background.MAKE_WAY_S", 0.0)
    asked: list[int] = []

    def is_busy() -> bool:
        asked.append(1)
        return busy

    back: Background[float] = Background(threads=1, waiting=8, deadline_s=60.0, busy=is_busy)
    began = Event()

    def work(wanted: Wanted) -> float:
        began.set()
        return worked(wanted)

    back.submit("a", work, awaited_s=30.0 * awaited)
    assert began.wait(30)
    begun = back.submit("b", lambda wanted: len(asked), awaited_s=30.0)
    # Once before each of the two, and between them for as long as it rests.
    assert asked_least <= (begun.result(30) or 0) <= asked_most
