"""The scripted acting model knows no value, only what it is shown."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from bench.tests.running import run_case, scripted, small_case
from statecomp.baselines.none import NoCompression
from statecomp.baselines.tools import Use
from statecomp.baselines.window import SlidingWindow
from statecomp.errors import BadInput
from statecomp.history.history import History
from statecomp.history.interaction import Interaction
from statecomp.strategy import Strategy, View
from statecomp.tokens import ESTIMATE
from statecomp.wire.assemble import parse
from statecomp.wire.openai_chat.wire import OpenAIChat
from statecomp_bench.acting import ScriptedModel
from statecomp_bench.environment import TOOLS
from statecomp_bench.habits import VARIANTS, Habits
from statecomp_bench.plan import Fact, Norm, Plan, Step
from statecomp_bench.tasks import task_named

SILENT = Habits(restate=0, quote=0, trust=1, recheck=0, reread=0, parallel=0)


def said(run_messages: list[Any]) -> list[str]:
    return [str(m["content"]) for m in run_messages if m["role"] == "assistant"]


def written(run_messages: list[Any]) -> str:
    """What went into the file in the end."""
    call = run_messages[-3]["tool_calls"][0]["function"]
    return str(json.loads(call["arguments"])["content"])


def test_with_the_whole_history_it_follows_the_plan() -> None:
    case = small_case()
    run, score = run_case(case, ScriptedModel(case.plan, SILENT, 0))
    assert score.reward == 1.0
    assert len(run.requests) == len(case.plan.steps) + 1


def test_its_reply_is_a_function_of_what_it_is_given() -> None:
    case = small_case()
    run, _ = run_case(case, scripted(case))
    for stop, message in enumerate(run.messages):
        if message["role"] == "assistant":
            fresh = scripted(case).reply(run.messages[:stop], TOOLS).message
            assert fresh == message


def test_what_is_missing_is_fetched_again() -> None:
    case = small_case()
    run, score = run_case(case, ScriptedModel(case.plan, SILENT, 0), SlidingWindow(3))
    assert any("do not see the service port. So again" in text for text in said(run.messages))
    assert {part.name: part.value for part in score.parts}["port"] == 1.0


def test_a_rule_out_of_sight_is_broken_and_a_careful_agent_reads_it_again() -> None:
    case = small_case()
    _, broken = run_case(case, ScriptedModel(case.plan, SILENT, 0), SlidingWindow(3))
    assert {part.name: part.value for part in broken.parts}["unit"] == 0.0
    careful = replace(SILENT, recheck=1.0)
    _, kept = run_case(case, ScriptedModel(case.plan, careful, 0), SlidingWindow(3))
    assert kept.reward == 1.0


class Rewriting(Strategy):
    """Changes the text of every older observation, as a bad summary would."""

    def __init__(self, old: str, new: str) -> None:
        self._old, self._new = old, new

    def before_request(self, history: History) -> View:
        wire = OpenAIChat()
        messages = wire.edit_observations(
            history.messages, lambda text: text.replace(self._old, self._new)
        )
        return View(parse(messages, wire, ESTIMATE))


def test_a_distorted_value_is_used_as_it_stands() -> None:
    case = small_case()
    run, score = run_case(case, scripted(case), Rewriting("port = 7042", "port = 70"))
    assert score.reward < 1
    assert written(run.messages) == "70 (tcp)"


def test_a_value_that_cannot_be_found_is_made_up_in_the_end() -> None:
    case = small_case()
    run, score = run_case(case, scripted(case), Rewriting("port = 7042", ""))
    attempts = [text for text in said(run.messages) if "So again: I look up the port" in text]
    assert len(attempts) == VARIANTS[""].patience
    assert written(run.messages).startswith("unknown")
    assert score.reward < 1


class Forgetting(Strategy):
    """Shows the task and nothing else."""

    def before_request(self, history: History) -> View:
        return View(History(tuple(s for s in history.segments if not isinstance(s, Interaction))))


def test_without_any_trace_it_begins_again_and_again() -> None:
    case = small_case()
    run, _ = run_case(case, scripted(case), Forgetting())
    assert set(said(run.messages)) == {"Now I read the guide."}
    assert len(run.requests) == case.max_steps


class Remembering(Forgetting):
    """Shows only a record of what was done, and a tool that knows the rest."""

    policy = (Use("recall", "missing", {"query": "$need"}),)

    def before_request(self, history: History) -> View:
        kept = [s for s in history.segments if not isinstance(s, Interaction)]
        lines = "".join(
            f"- {c.name} {c.arguments}\n" for i in history.interactions for c in i.calls
        )
        record = [{"role": "user", "content": f"Done so far:\n{lines}"}]
        shown = [*kept, *parse(record, OpenAIChat()).segments]
        return View(History((*shown, *history.interactions[-1:])))

    def extra_tools(self) -> Any:
        parameters = {"type": "object", "properties": {"query": {"type": "string"}}}
        function = {"name": "recall", "description": "Ask.", "parameters": parameters}
        return [{"type": "function", "function": function}]

    def handle_tool(self, call: Any) -> str:
        assert "service port" in call.arguments
        return "service port: 7042;"


def test_a_memory_tool_is_asked_before_a_step_is_taken_again() -> None:
    case = small_case()
    strategy = Remembering()
    model = ScriptedModel(case.plan, SILENT, 0, strategy.policy)
    run, score = run_case(case, model, strategy)
    assert any("I ask recall for the service port." in text for text in said(run.messages))
    assert not any("So again" in text for text in said(run.messages))
    assert {part.name: part.value for part in score.parts}["port"] == 1.0


def nested_plan() -> Plan:
    """A file that needs a port, from a place that only another file tells."""
    return Plan(
        facts=(
            Fact("host", "host name", r"^host (\w+)$", "hosts"),
            Fact("port", "service port", r"^port (\d+)$", "config"),
        ),
        rules=(),
        steps=(
            Step("hosts", "read_file", {"path": "hosts"}, "read the hosts"),
            Step("config", "read_file", {"path": "etc/{host}.conf"}, "look up the port"),
            Step("write", "write_file", {"path": "out", "content": "{port}"}, "note it down"),
        ),
    )


def answered(reply: Any, text: str) -> list[Any]:
    """An assistant message and the answer to its only call."""
    return [reply, {"role": "tool", "tool_call_id": reply["tool_calls"][0]["id"], "content": text}]


def test_what_it_wanted_first_stays_its_goal_through_nested_fetches() -> None:
    model = ScriptedModel(nested_plan(), SILENT, 0)
    aim = "I want to note it down and do not see the service port. So again: I look up the port."
    call = {"id": "call_0007", "type": "function"}
    lost = {**call, "function": {"name": "read_file", "arguments": '{"path": "hosts"}'}}
    words = "I want to note it down, so I want to look up the port and do not see the host name."
    task: list[Any] = [{"role": "user", "content": "go"}]
    shown = [
        *task,
        *answered(
            {
                "role": "assistant",
                "content": f"{words} So again: I read the hosts.",
                "tool_calls": [lost],
            },
            "host ember",
        ),
    ]
    reply = model.reply(shown, TOOLS).message
    assert str(reply["content"]).endswith(aim)
    # Only the newest turn is in sight, and still it is the file that it is after.
    last = model.reply([*task, *answered(reply, "port 7042")], TOOLS).message
    assert last["content"] == "Now I note it down."
    assert "7042" in last["tool_calls"][0]["function"]["arguments"]


def test_an_artefact_that_is_not_trusted_is_made_again_at_most_once() -> None:
    names = [f"n{place}" for place in range(12)]
    steps = (
        Step("early", "write_file", {"path": "early", "content": "x"}, "write it early"),
        *(Step(n, "list_files", {"path": f"{n}/"}, f"look for {n}/") for n in names),
    )
    case = replace(small_case(), plan=Plan((), (), steps))
    times = set()
    for seed in range(6):
        model = ScriptedModel(case.plan, replace(SILENT, trust=0), seed)
        run, _ = run_case(case, model, SlidingWindow(2))
        assert run.ended == ""
        times.add(sum("Now I write it early." in text for text in said(run.messages)))
        whole, _ = run_case(case, model)
        assert sum("Now I write it early." in text for text in said(whole.messages)) == 1
    assert times == {1, 2}


@pytest.mark.parametrize("name", ["code-flags", "web-forms"])
def test_a_small_window_costs_steps_and_not_for_ever(name: str) -> None:
    case = task_named(name).case()
    run, _ = run_case(case, scripted(case, variant="literal"), SlidingWindow(5))
    assert run.ended == ""
    assert len(case.plan.steps) + 1 < len(run.requests) < case.max_steps
    reader, _ = run_case(case, scripted(case), SlidingWindow(5))
    assert len(reader.requests) < len(run.requests)  # in batches


def test_seeds_shuffle_only_neighbours_of_a_group() -> None:
    names = [f"n{place}" for place in range(8)]
    steps = (
        Step("first", "list_files", {}, "begin"),
        *(Step(n, "read_file", {"path": n}, f"look at {n}.", group="g") for n in names),
        Step("last", "shell", {"command": "true"}, "finish it"),
    )
    plan = Plan((), (), steps)
    orders = set()
    for seed in range(5):
        model = ScriptedModel(plan, SILENT, seed)
        messages: list[Any] = [{"role": "user", "content": "go"}]
        taken = []
        while "tool_calls" in (reply := model.reply(messages, TOOLS).message):
            taken.append(reply["content"])
            answer = {"tool_call_id": reply["tool_calls"][0]["id"], "content": "ok"}
            messages += [reply, {"role": "tool", **answer}]
        assert taken[0] == "Now I begin."
        assert taken[-1] == "Now I finish it."
        assert len(taken) == 10
        orders.add(tuple(taken))
    assert len(orders) > 1


def test_variants_take_different_ways_to_the_same_end() -> None:
    case = small_case()
    lengths = set()
    for variant in VARIANTS:
        run, score = run_case(case, scripted(case, 3, variant), NoCompression())
        assert score.reward == 1.0
        lengths.add(sum(len(text) for text in said(run.messages)))
    assert len(lengths) > 1


STEP = Step("a", "list_files", {}, "look around")


@pytest.mark.parametrize(
    ("facts", "rules", "steps", "problem"),
    [
        ((), (), (STEP, STEP), "twice"),
        ((), (), (STEP, Step("b", "list_files", {}, "look around once")), "part of another"),
        ((Fact("x", "the x", "x", "a"),), (), (STEP,), "exactly one group"),
        ((Fact("x", "the x", "(x)", "z"),), (), (STEP,), "which is no step"),
        ((Fact("x", "the: x", "(x)", "a"),), (), (STEP,), "punctuation"),
        ((), (Norm("r", "a rule", "r", "", "", "z"),), (STEP,), "which is no step"),
        (
            (Fact("x", "the x", "(x)", "a"),),
            (),
            (Step("u", "shell", {"command": "{x}"}, "use it"), STEP),
            "before its source",
        ),
    ],
)
def test_a_plan_that_cannot_work_is_refused(
    facts: tuple[Fact, ...], rules: tuple[Norm, ...], steps: tuple[Step, ...], problem: str
) -> None:
    with pytest.raises(BadInput, match=problem):
        Plan(facts, rules, steps)
