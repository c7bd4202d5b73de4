"""SWE-agent and mini-swe-agent trajectories of several versions."""

from __future__ import annotations

import json
from typing import Any

from statecomp.traces import mini_swe_agent, swe_agent
from tests.traces.imported import both, history_of, imported, recorded, texts


def told(role: str, content: Any, **more: Any) -> dict[str, Any]:
    return {"role": role, "content": content, "agent": "main", **more}


def made(*ids: str) -> list[dict[str, Any]]:
    function = {"name": "bash", "arguments": '{"command": "ls"}'}
    return [{"id": call_id, "type": "function", "function": function} for call_id in ids]


STEP = {
    "action": "ls",
    "observation": "a.py",
    "response": "I look.\n```\nls\n```",
    "thought": "I look.",
}
INFO = {
    "exit_status": "submitted",
    "submission": "diff --git",
    "model_stats": {"instance_cost": 0.2},
}
TEXT_RUN = {
    "environment": "swe_main",
    "trajectory": [{**STEP, "state": '{"open_file": "n/a"}', "execution_time": 0.5}],
    "history": [
        told("system", "SETTING"),
        told("user", "Here is a demonstration", is_demo=True),
        told("user", "ISSUE: it breaks"),
        told("assistant", "I look.\n```\nls\n```", thought="I look.", action="ls"),
        told("user", "a.py"),
    ],
    "info": INFO,
}
TOOL_RUN = {
    "trajectory": [{**STEP, "query": [{"role": "user", "content": "huge" * 9}]}],
    "history": [
        told("system", "SETTING", message_type="system_prompt"),
        told("user", [{"type": "text", "text": "ISSUE", "cache_control": {"type": "ephemeral"}}]),
        told(
            "assistant",
            "I look.",
            tool_calls=made("c1"),
            thinking_blocks=[{"type": "thinking", "thinking": "Hm.", "signature": "s"}],
        ),
        told("tool", "a.py", tool_call_ids=["c1"], message_type="observation"),
        told("assistant", "", tool_calls=made("c2")),
    ],
    "info": INFO,
    "replay_config": json.dumps(
        {"agent": {"model": {"name": "claude-x"}}, "problem_statement": {"id": "django-1"}}
    ),
}


def test_text_actions_of_the_first_versions() -> None:
    (run,) = imported(swe_agent.FORMAT, [TEXT_RUN], "runs/django__django-1.traj")
    (step,) = history_of(run).interactions
    assert (run.protocol, run.about["style"]) == ("text-action", "text-action")
    assert step.observed == "a.py"
    assert run.group == "swe-agent-django__django-1"
    assert run.about["outcome"] == {"exit_status": "submitted", "submission": "diff --git"}
    assert recorded(run)["steps"][0]["execution_time"] == 0.5
    assert recorded(run)["info"]["model_stats"] == {"instance_cost": 0.2}
    assert recorded(run)["messages"][1]["is_demo"]


def test_tool_calls_thinking_and_an_open_last_call() -> None:
    (run,) = imported(swe_agent.FORMAT, [TOOL_RUN])
    first, last = history_of(run).interactions
    assert run.protocol == "openai-chat"
    assert (first.reasoning, first.observed) == ("Hm.", "a.py")
    assert last.locked
    assert run.about["model"] == "claude-x"
    assert run.group == "swe-agent-django-1"
    assert "huge" not in json.dumps(run.about)


def test_attempts_and_agents_are_runs_of_one_group() -> None:
    retried = {"attempts": [TOOL_RUN, TEXT_RUN], **TEXT_RUN}
    first, second = imported(swe_agent.FORMAT, [retried], "x.traj")
    assert [recorded(run)["attempt"] for run in (first, second)] == [1, 2]
    helper = [{**told("assistant", "sub"), "agent": "helper"}]
    main, sub = imported(
        swe_agent.FORMAT, [{**TEXT_RUN, "history": [*TEXT_RUN["history"], *helper]}]
    )
    assert recorded(sub)["parent"] == main.id
    assert main.group == sub.group


def test_steps_alone_are_enough() -> None:
    (run,) = imported(swe_agent.FORMAT, [{"trajectory": [STEP, STEP]}])
    assert len(history_of(run).interactions) == 2
    runs, problems = both(swe_agent.runs([{"history": [told("user", "hi")]}, 3], "x"))
    assert not runs
    assert problems == ["x: holds no message of a model", "x: is no SWE-agent trajectory"]


def mini(messages: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
    info = {**INFO, "config": {"model": {"model_name": "m"}}, "mini_version": "2.4.6"}
    return {"messages": messages, "info": info, "trajectory_format": "mini-swe-agent-1.1", **more}


OPENING = [{"role": "system", "content": "You"}, {"role": "user", "content": "Fix it"}]
EXIT = {"role": "exit", "content": "", "extra": {"exit_status": "Submitted", "submission": "d"}}


def test_mini_text_actions_with_the_reasoning_of_the_raw_response() -> None:
    raw: dict[str, Any] = {"id": "r", "usage": {"total_tokens": 3}}
    raw |= {"choices": [{"message": {"content": "ls", "reasoning_content": "Hm."}}]}
    answer = {"role": "assistant", "content": "```bash\nls\n```", "extra": {"response": raw}}
    document = mini([*OPENING, answer, {"role": "user", "content": "a.py"}])
    (run,) = imported(
        mini_swe_agent.FORMAT, [{**document, "trajectory_format": "mini-swe-agent-1"}]
    )
    (step,) = history_of(run).interactions
    assert (run.protocol, step.reasoning, step.observed) == ("text-action", "Hm.", "a.py")
    assert recorded(run)["messages"][2]["response"]["usage"] == {"total_tokens": 3}


def test_mini_tool_calls_in_parallel_and_how_the_run_ended() -> None:
    answer: dict[str, Any] = {
        "role": "assistant",
        "content": None,
        "tool_calls": made("c1", "c2"),
        "function_call": None,
    }
    answer["extra"] = {"cost": 0.1, "timestamp": 1.5}
    results: list[dict[str, Any]] = [
        {"role": "tool", "tool_call_id": "c2", "content": "two", "extra": {"returncode": 0}},
        {"role": "tool", "tool_call_id": "c1", "content": "one"},
    ]
    (run,) = imported(
        mini_swe_agent.FORMAT, [mini([*OPENING, answer, *results, EXIT])], "t/x-1.traj.json"
    )
    (step,) = history_of(run).interactions
    assert [o.text for o in step.observations] == ["one", "two"]
    assert recorded(run)["messages"][2] == {"cost": 0.1, "timestamp": 1.5}
    assert recorded(run)["exit"] == [EXIT]
    assert run.about["outcome"]["exit_status"] == "submitted"
    assert run.id.startswith("mini-swe-agent-x-1-")
    assert run.about["model"] == "m"


def test_mini_responses_objects_are_flattened_into_items() -> None:
    output = [
        {"type": "reasoning", "id": "rs", "summary": [{"type": "summary_text", "text": "Hm."}]},
        {"type": "function_call", "name": "bash", "arguments": "{}", "call_id": "c1", "id": None},
    ]
    answer = {"object": "response", "id": "r", "output": output, "usage": {"input_tokens": 5}}
    result = {"type": "function_call_output", "call_id": "c1", "output": "a.py", "extra": {}}
    (run,) = imported(mini_swe_agent.FORMAT, [mini([*OPENING, answer, result, EXIT])])
    (step,) = history_of(run).interactions
    assert (run.protocol, step.reasoning, step.observed) == ("openai-responses", "Hm.", "a.py")
    assert recorded(run)["messages"][2]["usage"] == {"input_tokens": 5}


def test_mini_documents_without_an_answer_are_said() -> None:
    runs, problems = both(mini_swe_agent.runs([mini([*OPENING, "x", EXIT])], "x"))  # type: ignore[list-item]
    assert not runs
    assert problems == ["x, messages: is not only JSON objects", "x: holds no message of a model"]
    assert "Fix it" in texts(
        imported(mini_swe_agent.FORMAT, [mini([*OPENING, {"role": "assistant"}])])[0]
    )
