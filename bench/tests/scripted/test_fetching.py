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


def test_who_knows_what_is_missing_searches_for_it_first_and_reads_then() -> None:
    facts = tuple(
        replace(fact, pattern=f"figure for {fact.name} is " + r"(\d+)") for fact in PLAN.facts
    )
    model = ScriptedModel(replace(PLAN, facts=facts), replace(READER, selects=True, ahead=0), 0)
    told = "\n".join(f"read file {f}" for f in FILES)
    messages: list[Any] = [{"role": "user", "content": told}]
    first = model.reply(messages, TOOLS).message
    (call,) = first["tool_calls"]
    command = json.loads(call["function"]["arguments"])["command"]
    assert command == "grep -hF -e 'figure for a is' -e 'figure for b is' -- a.txt b.txt"
    messages += [first, {"role": "tool", "tool_call_id": call["id"], "content": "nothing"}]
    second = model.reply(messages, TOOLS).message
    assert [c["function"]["name"] for c in second["tool_calls"]] == ["read_file"] * 2


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
