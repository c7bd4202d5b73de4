"""Request logs: whatever wraps the bodies, each conversation is one run, with its last answer."""

from __future__ import annotations

import json
from typing import Any

import pytest

from statecomp.traces import requests
from tests.traces.imported import both, history_of, imported, recorded, texts

SYSTEM = {"role": "system", "content": "You help."}
TASK = {"role": "user", "content": "Fix it"}
CALL = {
    "role": "assistant",
    "content": None,
    "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "ls", "arguments": "{}"}}],
}
RESULT = {"role": "tool", "tool_call_id": "c1", "content": "a.py"}
DONE = {"role": "assistant", "content": "Fixed."}


def chat(*messages: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"model": "gpt-x", "messages": list(messages), "temperature": 0, **more}


def choice(message: dict[str, Any]) -> dict[str, Any]:
    return {"choices": [{"message": message}], "usage": {"total_tokens": 9}, "model": "gpt-x-1"}


@pytest.mark.parametrize(
    "wrap",
    [
        lambda body, answer: {"request": body, "response": answer, "timestamp": 5},
        lambda body, answer: {"body": body, "response": {"status": 200, "body": answer}},
        lambda body, answer: {"kwargs": body, "output": answer},
        lambda body, answer: {
            "request_body": json.dumps(body),
            "response_body": json.dumps(answer),
        },
    ],
)
def test_requests_that_extend_one_another_are_one_run(wrap: Any) -> None:
    log = [
        wrap(chat(SYSTEM, TASK), choice(CALL)),
        wrap(chat({"role": "user", "content": "Something else"}), choice(DONE)),
        wrap(chat({**SYSTEM, "content": "Now 10:01."}, TASK, CALL, RESULT), choice(DONE)),
    ]
    run, other = imported(requests.FORMAT, log)
    assert [m["role"] for m in run.messages] == ["system", "user", "assistant", "tool", "assistant"]
    assert len(history_of(run).interactions) == 2
    assert len(other.messages) == 2
    assert [r["messages"] for r in recorded(run)["requests"]] == [2, 4]
    assert recorded(run)["requests"][1]["usage"] == {"total_tokens": 9}
    assert recorded(run)["parameters"] == {"temperature": 0}
    assert run.about["model"] == "gpt-x"


def test_bare_bodies_out_of_order_and_repeated_are_one_run_too() -> None:
    log = [chat(TASK, CALL, RESULT), chat(TASK), chat(TASK, CALL, RESULT)]
    (run,) = imported(requests.FORMAT, log)
    assert len(run.messages) == 3
    assert len(recorded(run)["requests"]) == 3


def test_anthropic_bodies_with_moving_markers_and_dropped_thinking() -> None:
    thought = {"type": "thinking", "thinking": "Hm.", "signature": "s"}
    use = {"type": "tool_use", "id": "t1", "name": "ls", "input": {}}
    marked = {"type": "text", "text": "Fix it", "cache_control": {"type": "ephemeral"}}
    result = {"type": "tool_result", "tool_use_id": "t1", "content": "a.py"}
    first = {
        "model": "claude-x",
        "system": "You",
        "messages": [{"role": "user", "content": [marked]}],
    }
    spoken = {"role": "assistant", "content": [use]}
    second = {**first, "messages": [TASK, spoken, {"role": "user", "content": [result]}]}
    answer = {"type": "message", "role": "assistant", "content": [thought, use], "usage": {"o": 1}}
    last = {**answer, "content": [{"type": "text", "text": "Fixed."}]}
    log = [{"request": first, "response": answer}, {"request": second, "response": last}]
    (run,) = imported(requests.FORMAT, log)
    assert run.protocol == "anthropic"
    assert run.about["system"] == "You"
    assert len(history_of(run).interactions) == 2
    assert "Fixed." in texts(run)


def test_responses_bodies_append_their_output() -> None:
    call = {"type": "function_call", "call_id": "c1", "name": "ls", "arguments": "{}", "id": "fc1"}
    output = {"type": "function_call_output", "call_id": "c1", "output": "a.py"}
    body = {"model": "gpt-x", "instructions": "You", "input": "Fix it"}
    said = {
        "type": "message",
        "role": "assistant",
        "content": [{"type": "output_text", "text": "Ok"}],
    }
    ask = {"type": "message", "role": "user", "content": "Fix it"}
    log = [
        {"request": body, "response": {"output": [call], "usage": {"input_tokens": 3}}},
        {"request": {**body, "input": [ask, call, output]}, "response": {"output": [said]}},
    ]
    (run,) = imported(requests.FORMAT, log)
    assert (run.protocol, run.about["instructions"]) == ("openai-responses", "You")
    assert len(history_of(run).interactions) == 2


def test_streams_and_strangers_are_counted() -> None:
    log = [
        {"request": chat(TASK), "response": "data: {}\n\ndata: [DONE]"},
        {"level": "info"},
        {"request": {"model": "m", "messages": [TASK, 5]}},
    ]
    runs, problems = both(requests.runs(log, "log.jsonl"))
    assert len(runs) == 1
    assert problems == [
        "log.jsonl: an answer is a stream or plain text and was left out (request 1)",
        "log.jsonl: holds a record that is no request (number 2)",
        "log.jsonl: a request has no list of messages (request 3)",
    ]
