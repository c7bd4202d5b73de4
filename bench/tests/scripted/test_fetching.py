"""What is out of sight comes back, several sources in one turn."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from bench.tests.running import run_case, scripted, small_case
from statecomp.baselines.window import SlidingWindow
from statecomp_bench.acting import ScriptedModel
from statecomp_bench.environment import TOOLS
from statecomp_bench.habits import Habits
from statecomp_bench.plan import Fact, Plan, Step
from statecomp_bench.scripted.loops import unrolled

READER = Habits(restate=0, quote=0, reread=0, parallel=0, selects=False)
FILES = ("a", "b", "c", "d")
PLAN = Plan(
    facts=tuple(Fact(f, f"figure of {f}", rf"{f} is (\d+)", f"read_{f}") for f in FILES),
    rules=(),
    steps=(
        *(Step(f"read_{f}", "read_file", {"path": f"{f}.txt"}, f"read file {f}") for f in FILES),
        Step("ab", "write_file", {"path": "ab", "content": "{a}{b}"}, "write the first sum"),
        Step("c", "write_file", {"path": "c", "content": "{c}"}, "write the second sum"),
        Step("d", "write_file", {"path": "d", "content": "{d}"}, "write the third sum"),
    ),
)


def paths(habits: Habits) -> list[str]:
    """What is asked for where all four files were read and none is in sight."""
    told = "\n".join(f"read file {f}" for f in FILES)
    messages: list[Any] = [{"role": "user", "content": told}]
    message = ScriptedModel(PLAN, habits, 0).reply(messages, TOOLS).message
    return [call["function"]["arguments"][10:15] for call in message.get("tool_calls", ())]


def test_what_is_missing_comes_in_one_batch_with_what_comes_next() -> None:
    assert paths(replace(READER, batch=1, ahead=0)) == ["a.txt"]
    assert paths(replace(READER, batch=8, ahead=0)) == ["a.txt", "b.txt"]
    assert paths(replace(READER, batch=8, ahead=1)) == ["a.txt", "b.txt", "c.txt"]
    assert paths(replace(READER, batch=3, ahead=2)) == ["a.txt", "b.txt", "c.txt"]


def test_fetching_for_a_later_step_does_not_make_it_the_goal() -> None:
    told = "\n".join(f"read file {f}" for f in FILES)
    messages: list[Any] = [{"role": "user", "content": told}]
    model = ScriptedModel(PLAN, READER, 0)
    first = model.reply(messages, TOOLS).message
    shown = {f: f"{f} is {n}" for n, f in enumerate(FILES)}
    messages.append(first)
    for call in first["tool_calls"]:
        name = call["function"]["arguments"][10]
        messages.append({"role": "tool", "tool_call_id": call["id"], "content": shown[name]})
    second = model.reply(messages, TOOLS).message
    assert "Now I write the first sum." in second["content"]


def test_who_knows_what_is_missing_has_a_program_print_it_and_reads_then() -> None:
    told = "\n".join(f"read file {f}" for f in FILES)
    messages: list[Any] = [{"role": "user", "content": told}]
    model = ScriptedModel(PLAN, replace(READER, selects=True, ahead=1), 0)
    first = model.reply(messages, TOOLS).message
    (call,) = first["tool_calls"]
    code = unrolled(json.loads(call["function"]["arguments"])["code"])
    assert all(f"look(os.popen('cat {f}.txt').read(), '{f} is (" in code for f in "abc")
    assert "d.txt" not in code
    messages += [first, {"role": "tool", "tool_call_id": call["id"], "content": "nothing"}]
    second = model.reply(messages, TOOLS).message
    # The patterns in the program are no values; what it did not print is read whole.
    assert [c["function"]["name"] for c in second["tool_calls"]][:2] == ["read_file"] * 2


def test_what_happens_once_is_tried_again_by_few_and_by_nobody_twice() -> None:
    steps = (replace(PLAN.steps[0], once=True), *PLAN.steps[1:])
    messages: list[Any] = [{"role": "user", "content": "\n".join(f"read file {f}" for f in FILES)}]
    plan = replace(PLAN, steps=steps)
    for insists, wanted in ((0.0, ["b.txt"]), (1.0, ["a.txt", "b.txt"])):
        habits = replace(READER, insists=insists, ahead=0)
        message = ScriptedModel(plan, habits, 0).reply(messages, TOOLS).message
        asked = [call["function"]["arguments"][10:15] for call in message["tool_calls"]]
        assert asked == wanted
    answers = [
        {"role": "tool", "tool_call_id": call["id"], "content": "gone"}
        for call in message["tool_calls"]
    ]
    again = ScriptedModel(plan, habits, 0).reply([*messages, message, *answers], TOOLS).message
    assert "a.txt" not in json.dumps(again["tool_calls"])


def test_several_steps_are_taken_at_once_where_all_is_known() -> None:
    values = "; ".join(f"figure of {f}: {n}" for n, f in enumerate(FILES))
    told = "\n".join(f"read file {f}" for f in FILES) + f"\n{values};"
    messages: list[Any] = [{"role": "user", "content": told}]
    one = ScriptedModel(PLAN, READER, 0).reply(messages, TOOLS).message
    all_of_it = ScriptedModel(PLAN, replace(READER, stride=9), 0).reply(messages, TOOLS).message
    assert len(one["tool_calls"]) == 1
    assert len(all_of_it["tool_calls"]) == 3


def test_a_reader_rereads_the_rules_that_a_literal_agent_breaks() -> None:
    case = small_case()
    rewards: dict[str, list[float]] = {"literal": [], "": []}
    for variant, found in rewards.items():
        for seed in range(5):
            model = scripted(case, seed, variant)
            found.append(run_case(case, model, SlidingWindow(3))[1].reward)
    assert min(rewards["literal"]) < 1.0
    assert min(rewards[""]) == 1.0
