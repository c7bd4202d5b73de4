"""SelfCompact: a rubric or a tool call decides, and then only task and summary are left."""

from __future__ import annotations

import json

import pytest

from statecomp.baselines.selfcompact import ProbeVerdict, RuleJudge
from statecomp.config import Settings, strategy_factory
from statecomp.history.history import History
from statecomp.history.interaction import Call
from statecomp.history.trajectory import Trajectory
from statecomp.strategy import Strategy
from statecomp.testing.chat import Asked, Reply, ScriptedChat
from tests.baselines.steps import WIRE, bulky, growing, history, run_of, step

RECORD = json.dumps({"facts": ["the value is 4711"]})


def verdict(c1: str = "Y", c2: str = "Y", c3: str = "Y", n1: str = "N", last: str = "") -> str:
    answers = {"C1": c1, "C2": c2, "C3": c3, "N1": n1}
    said = {key: {"answer": answer, "evidence": "row"} for key, answer in answers.items()}
    return json.dumps({**said, "verdict": last or "COMPRESS"})


def model(probe: str, summary: str = RECORD) -> ScriptedChat:
    def answer(asked: Asked) -> Reply:
        return probe if "verdict" in (asked.schema or {}).get("properties", {}) else summary

    return ScriptedChat(answer)


def compact(options: str, chat: ScriptedChat | None = None) -> Strategy:
    spec = f"selfcompact:{options}" + (",chat=scripted" if chat else "")
    chats = {"scripted": chat} if chat else {}
    return strategy_factory(spec, Settings(chats=chats))(Trajectory("run", ()), WIRE)


def shapes(strategy: Strategy, requests: list[History]) -> list[str]:
    return [strategy.before_request(request).history.shape() for request in requests]


def test_on_compress_the_context_is_reset_to_task_and_summary() -> None:
    chat = model(verdict())
    strategy = compact("every=3", chat)
    assert shapes(strategy, growing(7)) == ["p", "pi", "pii", "ps", "psi", "psii", "ps", "psi"]
    assert "the value is 4711" in strategy.before_request(growing(7)[7]).history.summaries[0].text
    # The second summary is written from the first one and what came after it.
    assert "the value is 4711" in chat.asked[3].prompt
    assert "output-1" not in chat.asked[3].prompt


def test_on_continue_nothing_changes_but_the_probe_is_paid() -> None:
    chat = model(verdict(last="CONTINUE"))
    strategy = compact("every=2", chat)
    views = [strategy.before_request(request) for request in growing(4)]
    assert [view.history.shape() for view in views] == ["p", "pi", "pii", "piii", "piiii"]
    assert [[c.kind for c in view.side_calls] for view in views] == [
        [],
        [],
        ["probe"],
        [],
        ["probe"],
    ]
    assert all(c.input_tokens > 100 for view in views for c in view.side_calls)


@pytest.mark.parametrize(
    "answers", [{"c1": "N"}, {"c2": "N"}, {"c3": "N"}, {"n1": "Y"}], ids=lambda a: next(iter(a))
)
def test_it_fires_only_if_closed_summarisable_progressing_and_not_stuck(
    answers: dict[str, str],
) -> None:
    strategy = compact("every=1", model(verdict(**answers)))
    assert strategy.before_request(history(run_of(3))).history.shape() == "piii"


def test_growth_brings_a_probe_forward() -> None:
    chat = model(verdict())
    strategy = compact("every=100,growth=900", chat)
    assert shapes(strategy, growing(2)) == ["p", "pi", "ps"]


@pytest.mark.parametrize("mode", ["probe", "tool"])
def test_the_backstop_compacts_past_its_share_of_the_window_whatever_anyone_says(mode: str) -> None:
    chat = model(verdict(last="CONTINUE"))
    strategy = compact(f"mode={mode},every=100,window=5000", chat)
    # 0.30 of the window is 1,500 tokens, which the third step exceeds.
    assert [h.tokens > 1500 for h in growing(3)] == [False, False, False, True]
    assert shapes(strategy, growing(3)) == ["p", "pi", "pii", "ps"]


def test_the_tool_is_offered_with_its_rubric_and_resets_what_led_to_the_call() -> None:
    strategy = compact("mode=tool", model(verdict()))
    (offered,) = strategy.extra_tools()
    assert offered["function"]["name"] == "compact_context"
    assert "closed" in strategy.extra_system_text()
    call = Call("c3", "compact_context", "{}")
    asked = step(3, strategy.handle_tool(call), name="compact_context")
    messages = [*run_of(2), *asked]
    assert strategy.before_request(history(messages)).history.shape() == "ps"
    later = [*messages, *step(4, bulky(4))]
    assert strategy.before_request(history(later)).history.shape() == "psi"


def test_without_a_call_a_recorded_run_stays_whole_in_tool_form() -> None:
    assert shapes(compact("mode=tool"), growing(8))[-1] == "p" + "i" * 8
    assert compact("mode=probe").extra_tools() == ()


def test_a_summary_that_cannot_be_had_leaves_the_context_and_says_so() -> None:
    strategy = compact("every=3", model(verdict(), "no json"))
    view = strategy.before_request(history(run_of(3)))
    assert view.history.shape() == "piii"
    assert "not JSON" in view.refusals[0].reason
    assert [c.kind for c in view.side_calls] == ["probe", "summary"]


def test_the_rules_that_stand_in_answer_the_four_questions() -> None:
    def judged(outputs: list[str]) -> ProbeVerdict:
        read = [f"cat /srv/data/{n}.txt" for n in range(1, len(outputs) + 1)]
        steps = [m for n, o in enumerate(outputs) for m in step(n, o, command=read[n])]
        return RuleJudge().judge("", "", history([*run_of(0), *steps]).interactions)

    found = [f"/srv/data/{n}.txt holds {n * 1111}" for n in range(1, 5)]
    assert judged(found).fires
    assert not judged(found[:2]).summarisable
    assert not judged([*found, "Error: no such file or directory"]).closed
    again = [*found, *["nothing"] * 3]
    assert judged(again).stuck
    assert not judged([*["nothing"] * 4]).progress
