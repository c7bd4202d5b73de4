"""Both stages by a chat model that lies, stammers, fails, and is sometimes right."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from statecomp.annotation.chat import ChatAnnotator, expected
from statecomp.annotation.journal import Journal
from statecomp.annotation.judge import judge_question
from statecomp.annotation.pipeline import Annotated, annotate
from statecomp.annotation.records import Reading
from statecomp.controller.prices import shipped_prices
from statecomp.llm.chat import ChatFailed, ChatUsage
from statecomp.testing.chat import Asked, ScriptedChat
from statecomp.wire.chats import open_chat
from tests.annotation.test_records import READING, reading_of
from tests.model_server import model_server

Answer = Callable[[Asked], str]


def one(**more: Any) -> str:
    """An answer with one record about step 1."""
    return json.dumps({"records": [{"i": 1, "decision": "READY", **more}]})


def record(number: int, decision: str, **more: Any) -> dict[str, Any]:
    texts = dict.fromkeys(("progress", "complexity", "next_needs", "utility"), ".")
    return {"i": number, **texts, "decision": decision, "evidence": [], "veto": [], **more}


def checkpoint_of(asked: Asked) -> int:
    return int(asked.prompt.rsplit("before step ", 1)[1].rstrip("."))


def annotated(answer: Answer, tmp_path: Path, reading: Reading = READING) -> Annotated:
    with Journal(tmp_path / "j") as journal:
        return annotate(reading, ChatAnnotator(ScriptedChat(answer), journal, concurrency=2))


def judges_well(asked: Asked) -> str:
    """Step 1 is READY once step 2 has said the number again; the review agrees."""
    if "Judge steps" not in asked.prompt:
        return json.dumps({"boundary": 3, "reason": "said again", "must_keep": ["12", "nowhere"]})
    k = checkpoint_of(asked)
    evidence = [{"at": 2, "quote": "apples indeed"}]
    first = record(1, "READY", evidence=evidence) if k >= 3 else record(1, "KEEP")
    return json.dumps({"records": [first, *(record(n, "KEEP") for n in range(2, k))]})


def test_supported_judgments_become_a_boundary_with_its_evidence(tmp_path: Path) -> None:
    result = annotated(judges_well, tmp_path)
    first, *others = result.labels
    assert (first.boundary, first.must_keep, first.reason) == (3, ("12",), "said again")
    assert first.evidence[0].quote == "apples indeed"
    assert first.annotator == "chat:scripted"
    assert [label.boundary for label in others] == [None, None, None]
    assert result.problems == {}


@pytest.mark.parametrize(
    ("records", "problem"),
    [
        ("nonsense", "the answer is not JSON"),
        ('{"records": [{"i": 1, "decis', "the answer is not JSON"),
        ("[1, 2]", "the answer is JSON, but no object"),
        ('{"judgments": []}', "the answer holds no list of records"),
        ('{"records": []}', "no judgment was given"),
        (one(i=99), "no judgment was given"),
        (one(decision="MAYBE"), "the record is malformed"),
        (one(evidence="yes"), "the record is malformed"),
        (one(), "no evidence was given"),
        (
            one(evidence=[{"at": 1, "quote": "lies"}]),
            "the quote does not occur in interaction N",
        ),
        (one(evidence=[{"at": 4, "quote": "done"}]), "evidence at N lies outside the prefix"),
    ],
)
def test_whatever_a_model_answers_what_is_not_supported_is_keep(
    tmp_path: Path, records: str, problem: str
) -> None:
    result = annotated(lambda asked: records, tmp_path)
    assert all(label.boundary is None for label in result.labels)
    assert problem in result.problems


@pytest.mark.parametrize("review", ["?", '{"boundary": "soon"}', '{"boundary": 2}', "{}"])
def test_a_review_that_is_no_answer_leaves_the_interaction_keep(
    tmp_path: Path, review: str
) -> None:
    def answer(asked: Asked) -> str:
        return judges_well(asked) if "Judge steps" in asked.prompt else review

    assert annotated(answer, tmp_path).labels[0].boundary is None


def test_a_veto_from_the_future_holds_whatever_the_reviewer_says(tmp_path: Path) -> None:
    def answer(asked: Asked) -> str:
        if "Judge steps" not in asked.prompt:
            return '{"boundary": 3, "reason": "fine", "must_keep": []}'
        k = checkpoint_of(asked)
        evidence = [{"at": 2, "quote": "apples indeed"}]
        veto = [{"at": 4, "what": "the count"}] if k == 4 else []
        first = record(1, "READY", evidence=evidence if k > 2 else [], veto=veto)
        return json.dumps({"records": [first, *(record(n, "KEEP") for n in range(2, k))]})

    label = annotated(answer, tmp_path).labels[0]
    assert label.boundary is None
    assert label.veto[0].what == "the count"


def test_a_run_that_fails_in_the_middle_is_resumed_and_nothing_is_asked_twice(
    tmp_path: Path,
) -> None:
    asked_before: list[str] = []

    def fails_at_four(asked: Asked) -> str:
        if "Judge steps" in asked.prompt and checkpoint_of(asked) == 4:
            raise ChatFailed("429 storm", retryable=True)
        asked_before.append(asked.prompt)
        return judges_well(asked)

    with pytest.raises(ChatFailed), Journal(tmp_path / "j") as journal:
        annotate(READING, ChatAnnotator(ScriptedChat(fails_at_four), journal, concurrency=1))

    def asks_only_news(asked: Asked) -> str:
        assert asked.prompt not in asked_before
        return judges_well(asked)

    with Journal(tmp_path / "j") as journal:
        annotator = ChatAnnotator(ScriptedChat(asks_only_news), journal, concurrency=1)
        assert annotate(READING, annotator).labels[0].boundary == 3
        assert annotator.spending.calls == 2  # checkpoint 4 and one review


def test_an_answer_that_was_paid_for_and_is_no_use_is_kept_and_not_asked_again(
    tmp_path: Path,
) -> None:
    def cut_off(asked: Asked) -> str:
        raise ChatFailed("the answer was cut off", usage=ChatUsage(10, 20))

    result = annotated(cut_off, tmp_path)
    assert result.problems == {"the answer was cut off": 6}
    again = annotated(lambda asked: pytest.fail("asked twice"), tmp_path)
    assert again == result


def test_long_runs_fit_the_window_and_every_cut_is_said() -> None:
    long = reading_of(*(f"start {n} " + "data " * 20_000 + f" end {n}" for n in range(1, 9)))
    question = judge_question(long, 6, window_tokens=8_000)
    assert len(question.prompt) / 3 + question.max_tokens <= 8_000
    for n in range(1, 6):
        assert f"start {n}" in question.prompt
        assert f"end {n}" in question.prompt
    assert question.prompt.count("characters left out") >= 5


def test_the_prefix_never_shows_what_comes_later_as_past() -> None:
    prompt = judge_question(READING, 3, 50_000).prompt
    prefix, future = prompt.split("FUTURE: steps 3 to 4")
    assert "basket full" not in prefix
    assert "basket full" in future


def test_the_cost_is_known_before_anything_is_asked() -> None:
    cost = expected([READING], 50_000)
    assert cost.calls == 3 + 3
    assert cost.input_tokens > 1_000
    assert cost.dollars(shipped_prices().of()) > 0


def test_a_real_model_goes_through_both_stages_and_the_rules_hold(tmp_path: Path) -> None:
    """SmolLM2 judges poorly; whatever it says, no label breaks a rule."""
    reading = reading_of("there are 12 apples", "twelve apples")
    with model_server() as url, Journal(tmp_path / "j") as journal:
        chat = open_chat(f"openai:smollm2@{url}", environ={})
        annotator = ChatAnnotator(chat, journal, concurrency=1, window_tokens=6_000)
        result = annotate(reading, annotator)
    assert len(result.labels) == 2
    assert annotator.spending.output_tokens > 0
    for label in result.labels:
        assert label.boundary is None or label.number < label.boundary <= 2
        assert all(reading.holds(e.at, e.quote) for e in label.evidence)
        assert label.boundary is None or all(e.at < label.boundary for e in label.evidence)
