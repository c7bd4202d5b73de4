"""A checkpoint that saves nothing says why, in one sentence whose beginning can be counted."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest

from statecomp.compressor import StateComp
from statecomp.controller.holds import CAME_BACK
from statecomp.controller.spans import Gates
from statecomp.explain import explain, kind_of
from statecomp.history.history import History
from statecomp.strategy import View
from statecomp.testing.words import OneLiner, WordScorer, chat_of, history_of
from tests.rules import paying

GATES = Gates(longer_than=1, min_source_tokens=300)


def why(word: str, **settings: Any) -> str:
    given = {"summarizer": OneLiner(), "rule": GATES, **settings}
    return StateComp(WordScorer(), **given).checkpoint(chat_of(word)).why


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("p", "too short: 0 old steps so far, and at least 2 are needed"),
        ("pkk", "too short: 1 old step so far, and at least 2 are needed"),
        (
            "pkkk",
            "nothing ready: the best of 2 old steps is step 1 with a score of 0.00, and 0.60 is"
            " needed",
        ),
        ("prkkk", "too small a span: step 1, 1 interaction; more than 1 are needed"),
        ("ppoook", "all locked: 3 steps locked (the call … has no result yet)"),
        ("prrk", "committed: steps 1-2 (552 tokens) became"),
    ],
)
def test_each_reason_has_its_sentence(word: str, said: str) -> None:
    assert why(word).startswith(said)


def test_a_rewrite_that_does_not_pay_is_told_with_its_numbers_and_from_when_on_it_would() -> None:
    said = why("kkkkkkprrkkkkkk", rule=paying(ahead=0.0))
    assert said.startswith("would not pay yet: costs $")
    assert re.search(r"would pay from about request \d+ on$", said)


def test_a_summary_that_was_refused_is_told_with_its_reason() -> None:
    class Inventive(OneLiner):
        def summarize(self, span: Any, rest: Any) -> Any:
            return replace(super().summarize(span, rest), facts=("see /no/such/file.py",))

    said = why("prrk", summarizer=Inventive())
    assert said.startswith("no summary: steps 1-2, the summary names '/no/such/file.py'")
    # Also of the first old step there is, and beside what was replaced.
    alone = Gates(longer_than=0, min_source_tokens=100)
    assert why("prk", summarizer=Inventive(), rule=alone).startswith("no summary: step 1, ")

    class Sometimes(Inventive):
        def summarize(self, span: Any, rest: Any) -> Any:
            inventive = Inventive if span[0].number == 1 else OneLiner
            return inventive.summarize(self, span, rest)

    said = why("prrkrrk", summarizer=Sometimes())
    assert re.search(r"committed: steps 4-5 .*; steps 1-2 not replaced, the summary names", said)


def test_a_history_that_is_not_ours_to_touch_says_whose_it_is() -> None:
    comp = StateComp(WordScorer(), protocol="openai-responses")
    checkpoint = comp.checkpoint({"input": [], "previous_response_id": "r1"})
    assert kind_of(checkpoint.why) == "left as it came"
    assert "lives on the server" in checkpoint.why


def test_a_wary_gate_says_what_made_it_wary() -> None:
    past = history_of("pkkkk")
    came_back = replace(past.interactions[0], locked=CAME_BACK)
    history = History((past.segments[0], came_back, *past.segments[2:]))
    scores = {i.id: 0.9 for i in past.interactions}
    required = {i.id: 0.95 for i in past.interactions}
    said = explain(View(history, scores, required), past)
    assert "0.95 is needed" in said
    assert "the agent came back once for what was replaced" in said
    assert "1 step locked (the agent came back for it)" in said


def test_what_nobody_has_decided_is_not_called_unready() -> None:
    checkpoint = StateComp(WordScorer()).checkpoint(chat_of("prrrr"), decide=False)
    assert checkpoint.why == "not decided: no step was scored"


def test_a_failed_decision_says_so_itself() -> None:
    assert explain(View(history_of("prr"), note="no scores: x"), history_of("prr")) == (
        "no scores: x"
    )
    assert kind_of("no scores: x: y") == "no scores"
    assert kind_of("the upstream broke off") == "the upstream broke off"
