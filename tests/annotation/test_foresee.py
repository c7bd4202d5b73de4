"""Forecasts by a chat: what it is shown, what is made of its answers, and asking once."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from statecomp.annotation.asking import Asker
from statecomp.annotation.forecasts import read_forecasts
from statecomp.annotation.foresee import (
    Foreseen,
    checkpoints_of,
    expected,
    forecast_question,
    foresee,
    read_forecast,
)
from statecomp.annotation.journal import Journal
from statecomp.annotation.judge import JudgeAnswer
from statecomp.annotation.records import Reading
from statecomp.history.trajectory import Trajectory
from statecomp.llm.chat import ChatFailed, ChatUsage
from statecomp.testing.chat import Asked, ScriptedChat
from statecomp.wire.chats import open_chat
from tests.annotation.test_records import READING, reading_of
from tests.model_server import model_server

WINDOW = 50_000


def said(*ready: float) -> str:
    steps = [{"i": i, "p": p} for i, p in enumerate(ready, start=1)]
    return json.dumps({"still_asked": "apples", "ready": steps})


def steps_asked(asked: Asked) -> int:
    return int(asked.prompt.rsplit("steps 1 to ", 1)[1].split()[0])


def foretold(answer: str, tmp_path: Path, reading: Reading = READING) -> list[Foreseen]:
    with Journal(tmp_path / "j") as journal:
        asker = Asker(ScriptedChat(lambda asked: answer), journal)
        return [*foresee(reading, checkpoints_of(reading, 9), asker, WINDOW)]


def test_the_question_holds_the_past_and_nothing_of_what_comes() -> None:
    reading = reading_of("one apple", "two pears", "three plums", "four figs")
    prompt = forecast_question(reading, 3, WINDOW).prompt
    assert "one apple" in prompt
    assert "two pears" in prompt
    assert "plums" not in prompt
    assert "figs" not in prompt


def test_what_the_user_says_later_is_not_shown_as_the_task() -> None:
    messages: list[dict[str, Any]] = [{"role": "user", "content": "count the fruit"}]
    for n in range(1, 5):
        call = {"id": f"c{n}", "type": "function", "function": {"name": "look", "arguments": "{}"}}
        messages += [
            {"role": "assistant", "content": f"step {n}", "tool_calls": [call]},
            {"role": "tool", "tool_call_id": f"c{n}", "content": f"fruit {n}"},
            *([{"role": "user", "content": "and now the bread"}] if n == 3 else []),
        ]
    reading = Reading.of(Trajectory("r", tuple(messages)))
    assert "bread" not in forecast_question(reading, 3, WINDOW).prompt
    assert "bread" in forecast_question(reading, 4, WINDOW).prompt


def test_answers_become_lines_that_training_reads(tmp_path: Path) -> None:
    def answer(asked: Asked) -> str:
        return said(*[0.25] * steps_asked(asked))

    with Journal(tmp_path / "j") as journal:
        asker = Asker(ScriptedChat(answer), journal)
        found = [*foresee(READING, checkpoints_of(READING, 9), asker, WINDOW)]
    file = tmp_path / "forecasts.jsonl"
    file.write_text("".join(json.dumps(one.as_json()) + "\n" for one in found))
    assert read_forecasts(file) == {READING.id: {3: (0.25,), 4: (0.25, 0.25)}}


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        (said(1.7), "the probability of step 1 is 1.7, not between 0 and 1"),
        (said(float("nan")), "the probability of step 1 is nan, not between 0 and 1"),
        ('{"ready": [{"i": 1, "p": "high"}]}', "the probability of step 1 is no number"),
        ('{"ready": [{"i": 1, "p": true}]}', "the probability of step 1 is no number"),
        ('{"ready": [0.5]}', "an entry names no step, or no probability"),
        ('{"ready": []}', "nothing is said of step 1"),
        ('{"ready": 1}', "the answer holds no list of probabilities"),
        ("sure", "the answer is not JSON"),
    ],
)
def test_an_answer_that_is_none_is_left_out_with_a_sentence(
    answer: str, problem: str, tmp_path: Path
) -> None:
    first = foretold(answer, tmp_path)[0]
    assert (first.ready, first.problem) == ((), problem)
    with pytest.raises(ValueError, match=re.escape(problem)):
        read_forecast(JudgeAnswer(answer), 3)


def test_nothing_is_asked_twice_also_not_what_was_no_use(tmp_path: Path) -> None:
    foretold("nonsense", tmp_path)
    again = foretold("asked again", tmp_path)
    assert {one.problem for one in again} == {"the answer is not JSON"}


def test_a_chat_that_fails_ends_the_run_and_what_was_answered_stays(tmp_path: Path) -> None:
    def fails_late(asked: Asked) -> str:
        if steps_asked(asked) == 2:
            raise ChatFailed("429 storm", retryable=True)
        return said(0.5)

    with Journal(tmp_path / "j") as journal:
        asker = Asker(ScriptedChat(fails_late), journal, concurrency=1)
        with pytest.raises(ChatFailed):
            [*foresee(READING, [3, 4], asker, WINDOW)]
        assert len(journal) == 1


def test_a_refusal_that_was_billed_is_kept(tmp_path: Path) -> None:
    def cut_off(asked: Asked) -> str:
        raise ChatFailed("the answer was cut off", usage=ChatUsage(5, 5))

    with Journal(tmp_path / "j") as journal:
        asker = Asker(ScriptedChat(cut_off), journal)
        found = [*foresee(READING, [3], asker, WINDOW)]
        assert asker.spending.calls == 1
    assert found[0].problem == "the answer was cut off"


def test_checkpoints_are_spread_and_end_with_the_last() -> None:
    long = reading_of(*(f"thing {n}" for n in range(20)))
    assert checkpoints_of(long, 3) == [8, 14, 20]
    assert checkpoints_of(long, 99) == [*range(3, 21)]
    assert checkpoints_of(reading_of("one", "two"), 3) == []


def test_long_runs_fit_the_window_and_the_cost_is_known_before() -> None:
    long = reading_of(*(f"start {n} " + "data " * 20_000 for n in range(1, 9)))
    question = forecast_question(long, 8, 8_000)
    assert len(question.prompt) / 3 + question.max_tokens <= 8_000
    cost = expected([long], 3, 8_000)
    assert cost.calls == 3
    assert 3 * 4_000 < cost.input_tokens < 3 * 9_000


def test_a_real_model_is_asked_and_whatever_it_says_is_a_probability_or_a_sentence(
    tmp_path: Path,
) -> None:
    reading = reading_of("there are 12 apples", "twelve apples", "done")
    with model_server() as url, Journal(tmp_path / "j") as journal:
        chat = open_chat(f"openai:smollm2@{url}", environ={})
        (found,) = foresee(reading, [3], Asker(chat, journal, 1), 6_000)
    assert bool(found.problem) != bool(found.ready)
    assert all(0 <= p <= 1 for p in found.ready)
