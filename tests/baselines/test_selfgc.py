"""Self-GC: planned per object, committed when worth it, folds come back byte for byte."""

from __future__ import annotations

import json

import pytest

from statecomp.baselines.selfgc import masked, pointer
from statecomp.baselines.selfgc_plan import is_log
from statecomp.config import Settings, strategy_factory
from statecomp.history.interaction import Call
from statecomp.history.trajectory import Trajectory
from statecomp.llm.chat import ChatFailed, ChatUsage
from statecomp.strategy import Strategy
from statecomp.testing.chat import ScriptedChat
from tests.baselines.steps import WIRE, bulky, growing, history, run_of, step


def gc(options: str, chat: ScriptedChat | None = None) -> Strategy:
    spec = f"selfgc:{options}" + (",chat=scripted" if chat else "")
    chats = {"scripted": chat} if chat else {}
    return strategy_factory(spec, Settings(chats=chats))(Trajectory("run", ()), WIRE)


def plan(*actions: tuple[str, str]) -> str:
    return "".join(("<plan>", *(f'<{what} id="{name}"/>' for what, name in actions), "</plan>"))


def folding(*numbers: int) -> str:
    return plan(*(("fold", f"function:tool:{number}") for number in numbers))


def recovered(strategy: Strategy, name: str) -> str:
    return strategy.handle_tool(Call("r", "recover", json.dumps({"object_id": name})))


def test_nothing_is_planned_before_the_pressure() -> None:
    chat = ScriptedChat([])
    strategy = gc("", chat)
    assert all(strategy.before_request(h).history is h for h in growing(6))


def test_a_folded_result_leaves_a_pointer_and_comes_back_byte_for_byte() -> None:
    strategy = gc("budget=1000", ScriptedChat([folding(1, 2)]))
    request = history(run_of(4))
    sent = strategy.before_request(request).history
    assert sent.shape() == "piiii"
    first, original = sent.interactions[0], request.interactions[0]
    assert "function:tool:1" in first.observed
    assert sent.tokens < request.tokens * 0.7
    assert first.calls == original.calls
    assert recovered(strategy, "function:tool:1") == original.observed
    assert "Nothing is folded" in recovered(strategy, "function:tool:3")


def test_mask_keeps_head_and_tail_and_prune_removes_the_whole_step() -> None:
    answer = plan(("mask", "function:tool:1"), ("prune", "function:tool:2"))
    strategy = gc("budget=1000", ScriptedChat([answer]))
    sent = strategy.before_request(history(run_of(4))).history
    assert [i.number for i in sent.interactions] == [1, 3, 4]
    lines = sent.interactions[0].observed.splitlines()
    assert lines[0] == "row 0 of output-1: value 1000"
    assert lines[-1] == "row 39 of output-1: value 1039"
    assert "20 lines masked" in lines[10]
    assert "Nothing is folded" in recovered(strategy, "function:tool:2")


def test_a_conversation_object_stands_for_the_steps_below_a_user_message() -> None:
    again = [{"role": "user", "content": "now the tests"}]
    messages = [*run_of(2), *again, *(m for n in (3, 4, 5) for m in step(n, bulky(n)))]
    strategy = gc("budget=1000", ScriptedChat([plan(("prune", "conversation:user:1"))]))
    assert strategy.before_request(history(messages)).history.shape() == "ppiii"


def test_the_last_two_steps_and_unknown_ids_are_out_of_reach() -> None:
    strategy = gc("budget=1000", ScriptedChat([folding(1, 2, 3, 4, 99)]))
    request = history(run_of(4))
    sent = strategy.before_request(request).history
    assert [a is b for a, b in zip(sent.segments, request.segments, strict=True)] == [
        True,
        False,
        False,
        True,
        True,
    ]


def test_a_plan_below_thirty_percent_is_not_committed_and_not_asked_for_again() -> None:
    chat = ScriptedChat([folding(1)])
    strategy = gc("budget=1000", chat)
    request = history(run_of(6))
    view = strategy.before_request(request)
    assert view.history is request
    assert "of 1" in view.note or "of 2" in view.note
    assert len(view.side_calls) == 1
    assert strategy.before_request(request).side_calls == ()


def test_what_was_collected_stays_collected_and_the_next_time_waits_for_new_growth() -> None:
    chat = ScriptedChat([folding(1, 2, 3), folding(4, 5, 6)])
    strategy = gc("budget=2400", chat)
    folded = []
    for request in growing(11):
        sent = strategy.before_request(request).history
        folded.append(sum("[folded" in i.observed for i in sent.interactions))
    assert folded == sorted(folded)
    assert folded[-1] == 6
    assert len(chat.asked) == 2
    # What was folded is not offered again.
    assert 'id="function:tool:1"' not in chat.asked[1].prompt


@pytest.mark.parametrize(
    "reply", ["I would rather not.", "<plan></plan>", ChatFailed("busy", usage=ChatUsage(9, 1))]
)
def test_a_planner_without_a_plan_changes_nothing_and_is_charged(reply: str | Exception) -> None:
    strategy = gc("budget=1000", ScriptedChat([reply]))
    request = history(run_of(4))
    view = strategy.before_request(request)
    assert view.history is request
    assert [c.kind for c in view.side_calls] == ["planner"]


def test_the_planner_sees_an_index_or_in_prefix_mode_everything() -> None:
    seen = {}
    for index in ("objects", "prefix"):
        chat = ScriptedChat([folding(1, 2)])
        gc(f"budget=1000,index={index}", chat).before_request(history(run_of(4)))
        seen[index] = chat.asked[0]
    assert "row 7 of output-1" not in seen["objects"].prompt
    assert "row 7 of output-1" in seen["prefix"].prompt
    assert seen["objects"].max_tokens == 1500
    assert 'id="function:tool:3"' not in seen["objects"].prompt


def test_the_rules_that_stand_in_prune_retried_failures_mask_logs_and_fold_the_rest() -> None:
    text = "\n".join(f"{word} stands alone in line" for word in ["alpha", "beta", "gamma"] * 60)
    page = "A page about rivers. " * 150
    outputs = ["Error: no such file or directory " + "x" * 400, text, page, "ok", "ok", "ok"]
    steps = [m for n, o in enumerate(outputs, start=1) for m in step(n, o)]
    sent = gc("budget=500").before_request(history([*run_of(0), *steps])).history
    assert [i.number for i in sent.interactions] == [2, 3, 4, 5, 6]
    assert "lines masked" in sent.interactions[0].observed
    assert sent.interactions[1].observed.startswith("[folded function:tool:3")


def test_short_texts_are_never_made_longer() -> None:
    assert pointer("function:tool:1", "ok") == "ok"
    assert masked("one\ntwo") == "one\ntwo"
    assert is_log(bulky(1))
    assert not is_log("one\ntwo")
