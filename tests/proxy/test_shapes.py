"""No shape of text or body costs more than in proportion to its size, on its way in or behind it.

Each of forty is read, looked at, masked for the ledger and decided about, at a size and at ten
times that size: up to SHAPES megabytes, a fifth of one unless that is set.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from typing import Any

import pytest

from statecomp.compressor import StateComp
from statecomp.controller.age import AgeScorer
from statecomp.features.evidence import EvidenceReader
from statecomp.history import facts
from statecomp.history.history import History
from statecomp.ledger.pages import Pages
from statecomp.proxy.bodies.documents import Unreadable
from statecomp.proxy.bodies.remembered import Documents
from statecomp.proxy.sessions import title_of
from statecomp.recent import MemoryBudget, Weighed
from statecomp.router.scorer import RouterScorer
from statecomp.router.shipped import open_bundle
from statecomp.traces.secrets import Masker
from tests.growth import growth
from tests.shapes import conversation, shapes

LARGEST_MB = float(os.environ.get("SHAPES", "0.2"))
BUNDLE = open_bundle()
TIMES = 10
WORSE = 6.0
"""Ten would be the square.  Caches that are full, words that are new, and an extract, which only a
text of some length is worth, cost some more; on a busy machine four times as much was seen."""
SMALL_S = 0.01
"""What costs less is as good as nothing, and too little to compare."""


def body(shape: str, size: int) -> bytes:
    return json.dumps({"model": "gpt-5", "messages": conversation(shape, size)}).encode()


def looked_at(given: bytes) -> History | None:
    try:
        document = Documents().read("tenant", "messages", given)
    except Unreadable:
        return None  # it goes out as it came
    raw = StateComp(AgeScorer(2)).checkpoint(document.body, decide=False).raw
    if raw is not None:
        title_of(raw)
    return raw


def stored(given: bytes) -> None:
    Pages(Masker().masked).of_history("session", json.loads(given)["messages"])


def decided(given: bytes) -> None:
    engine = StateComp(RouterScorer(EvidenceReader(), BUNDLE))
    raw = engine.checkpoint(json.loads(given), decide=False).raw
    if raw is not None:
        engine.prepare(raw)


@pytest.fixture(autouse=True)
def nothing_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is read twice must cost twice here."""
    nothing: Weighed[Any, Any] = Weighed(1, lambda value: 1, MemoryBudget(0))
    monkeypatch.setattr(facts, "_memory", nothing)


def grown(work: Callable[[bytes], object], shape: str, large: float) -> float:
    small, big = body(shape, int(large) // TIMES), body(shape, int(large))
    times = len(big) / len(small)
    return growth(work, small, big, times, enough=WORSE, nothing_s=SMALL_S)


@pytest.mark.parametrize("shape", shapes())
def test_looking_costs_in_proportion(shape: str) -> None:
    assert grown(looked_at, shape, LARGEST_MB * 1_000_000) < WORSE


@pytest.mark.parametrize("shape", shapes())
def test_storing_costs_in_proportion(shape: str) -> None:
    assert grown(stored, shape, LARGEST_MB * 1_000_000) < WORSE


@pytest.mark.parametrize("shape", shapes())
def test_deciding_costs_in_proportion(shape: str) -> None:
    assert grown(decided, shape, LARGEST_MB * 200_000) < WORSE


def test_a_body_nested_without_end_is_refused_at_once() -> None:
    with pytest.raises(Unreadable):
        Documents().read("t", "messages", b'{"messages":' + b"[" * 10_000_000)
