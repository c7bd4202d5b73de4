"""The router as a scorer: real histories in, scores out, and ScoringFailed for all else."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

from statecomp.controller.controller import Controller
from statecomp.controller.spans import Gates
from statecomp.errors import BadInput, ScoringFailed
from statecomp.history.history import History
from statecomp.router.bundle import Bundle
from statecomp.router.calibrate import Raw
from statecomp.router.hidden.spec import Encoder, Spec
from statecomp.router.network import Layer, Network
from statecomp.router.pairs import Features
from statecomp.router.scorer import RouterScorer, since_user
from statecomp.testing.words import OneLiner, history_of, shape
from statecomp.wire.openai_chat.wire import OpenAIChat


def read_letters(history: History) -> tuple[Sequence[str], Features]:
    """One feature: whether the interaction was drawn as ready."""
    rows = [[float(i.calls[0].name == "read")] for i in history.interactions]
    return [i.id for i in history.interactions], np.array(rows, np.float32)


@dataclass(frozen=True)
class Letters:
    """A reader whose answer a test may spoil."""

    NAMES: ClassVar[tuple[str, ...]] = ("read",)
    answer: Callable[[History], tuple[Sequence[str], Features]] = read_letters

    def read(self, history: History) -> tuple[Sequence[str], Features]:
        return self.answer(history)


def bundle_of(encoder: Encoder | None = None) -> Bundle:
    """score = sigmoid(8 * read - 4)."""
    layer = Layer(np.full((1, 1), 8.0, np.float32), np.full(1, -4.0, np.float32))
    reads = Spec("once", evidence=False, encoder=encoder) if encoder else Spec()
    router = Network(np.zeros(1, np.float32), np.ones(1, np.float32), (layer,))
    return Bundle(router, ("read",), 0.6, Raw(), "as drawn", "by hand", reads)


def test_the_controller_replaces_what_the_router_selects() -> None:
    scorer = RouterScorer(Letters(), bundle_of())
    controller = Controller(scorer, OneLiner(), OpenAIChat(), Gates(threshold=0.6))
    assert shape(controller.rewrite(history_of("prrrrkr")).history) == "pskr"


def test_scores_come_by_interaction_id() -> None:
    history = history_of("prk")
    scores = RouterScorer(Letters(), bundle_of()).score(history)
    assert list(scores) == [i.id for i in history.interactions]
    assert list(scores.values()) == pytest.approx([0.982, 0.018], abs=1e-3)
    assert RouterScorer(Letters(), bundle_of()).score(history_of("p")) == {}


def fails(history: History) -> tuple[Sequence[str], Features]:
    raise KeyError("no such field")


BROKEN: list[tuple[Callable[[History], tuple[Sequence[str], Features]], str]] = [
    (fails, "no such field"),
    (
        lambda h: (read_letters(h)[0], read_letters(h)[1] * np.nan),
        "feature read .* is nan in row 1",
    ),
    (
        lambda h: (read_letters(h)[0], read_letters(h)[1] + np.float32("inf")),
        "feature read .* is inf",
    ),
    (
        lambda h: (read_letters(h)[0][:1], read_letters(h)[1]),
        "1 interactions were named, and 2 scored",
    ),
    (lambda h: (read_letters(h)[0], np.ones((2, 4), np.float32)), "the router reads 1 a row"),
]


@pytest.mark.parametrize(("answer", "sentence"), BROKEN)
def test_whatever_goes_wrong_means_no_scores(
    answer: Callable[[History], tuple[Sequence[str], Features]], sentence: str
) -> None:
    with pytest.raises(ScoringFailed, match=sentence):
        RouterScorer(Letters(answer), bundle_of()).score(history_of("prr"))


def test_a_bundle_for_another_reader_is_refused_before_the_first_history() -> None:
    with pytest.raises(BadInput, match="layer 2 of tiny-lm, and no encoder is running"):
        RouterScorer(Letters(), bundle_of(Encoder("tiny-lm", 2)))


def drawn(history: History | None) -> str:
    return "".join(f"{i.number}" for i in history.interactions) if history else "all"


@pytest.mark.parametrize(
    ("word", "latest"),
    [
        ("", "all"),
        ("prrr", "all"),
        ("pprrr", "all"),
        ("prrrpkk", "12"),
        ("prrrppkk", "12"),
        ("prrpkkp", ""),
        ("rr", "all"),
    ],
)
def test_what_came_since_the_user_spoke_is_a_run_of_its_own(word: str, latest: str) -> None:
    assert drawn(since_user(history_of(word))) == latest


def test_in_a_session_the_warier_of_two_readings_counts() -> None:
    """A reader that trusts long histories more, as one that learned from short runs may."""

    def trusting(history: History) -> tuple[Sequence[str], Features]:
        rows = [[float(history.checkpoint > 4)] for _ in history.interactions]
        return [i.id for i in history.interactions], np.array(rows, np.float32)

    scorer = RouterScorer(Letters(trusting), bundle_of())
    history = history_of("prrrprr")
    scores = scorer.score(history)
    early, late = history.interactions[0], history.interactions[-1]
    assert scores[late.id] < scores[early.id]
    alone = scorer.score(history_of("prr"))
    assert scores[late.id] == min(alone.values())
