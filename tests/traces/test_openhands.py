"""OpenHands event streams, of the app and of the SDK."""

from __future__ import annotations

from typing import Any

from statecomp.traces import openhands
from tests.traces.imported import both, history_of, imported, recorded, texts


def app(event_id: int, source: str, **more: Any) -> dict[str, Any]:
    return {
        "id": event_id,
        "timestamp": f"2025-06-01T00:00:{event_id:02}",
        "source": source,
        **more,
    }


def metadata(call_id: str, *ids: str, response: str = "resp1") -> dict[str, Any]:
    function = {"name": "execute_bash", "arguments": '{"command": "ls"}'}
    calls = [{"id": i, "type": "function", "function": function} for i in ids]
    said = {
        "role": "assistant",
        "content": "I look.",
        "tool_calls": calls,
        "reasoning_content": "Hm.",
    }
    answer = {"id": response, "model": "m-1", "choices": [{"message": said}], "usage": {"t": 1}}
    return {"function_name": "execute_bash", "tool_call_id": call_id, "model_response": answer}


APP = [
    app(0, "agent", action="system", args={"content": "You are OpenHands"}),
    app(
        1,
        "user",
        action="message",
        args={"content": "Fix it", "image_urls": ["data:image/png;base64,iV"]},
    ),
    app(2, "user", action="recall", args={"query": "Fix it"}),
    app(
        3,
        "agent",
        action="run",
        args={"command": "ls"},
        tool_call_metadata=metadata("c1", "c1", "c2"),
        llm_metrics={"accumulated_cost": 0.1},
    ),
    app(
        4,
        "agent",
        observation="run",
        content="one",
        extras={"exit_code": 0},
        cause=3,
        tool_call_metadata=metadata("c1", "c1", "c2"),
    ),
    app(
        5,
        "agent",
        action="run",
        args={"command": "ls"},
        tool_call_metadata=metadata("c2", "c1", "c2"),
    ),
    app(
        6,
        "agent",
        observation="run",
        content="two",
        extras={},
        cause=5,
        tool_call_metadata=metadata("c2", "c1", "c2"),
    ),
    app(
        7, "environment", observation="agent_state_changed", content="", extras={"agent_state": "x"}
    ),
    app(8, "agent", action="message", args={"content": "Fixed."}),
]


def test_app_events_with_parallel_calls_become_chat_messages() -> None:
    (run,) = imported(openhands.FORMAT, APP, "sessions/abc/events")
    first, second = history_of(run).interactions
    assert [o.text for o in first.observations] == ["one", "two"]
    assert (first.reasoning, first.said, second.said) == ("Hm.", "I look.", "Fixed.")
    assert run.about["model"] == "m-1"
    assert (run.id, run.protocol) == ("openhands-abc", "openai-chat")
    assert run.messages[1]["content"][1]["type"] == "image_url"
    about = recorded(run)["messages"][2]
    assert about["llm_metrics"] == {"accumulated_cost": 0.1}
    assert about["timestamp"] == "2025-06-01T00:00:03"
    assert [e["id"] for e in recorded(run)["events"]] == [2, 7]


def test_app_events_without_tool_calls_are_text_actions() -> None:
    events = [
        app(0, "user", action="message", args={"content": "Fix it"}),
        app(1, "agent", action="run", args={"command": "ls -l", "thought": "I look."}),
        app(2, "agent", observation="run", content="a.py", extras={"command": "ls -l"}, cause=1),
    ]
    (run,) = imported(
        openhands.FORMAT, [{"instance_id": "d-1", "history": events, "resolved": True}]
    )
    (step,) = history_of(run).interactions
    assert run.protocol == "text-action"
    assert (step.said, step.observed) == ("I look.\n\n[run]\nls -l", "a.py")
    assert run.about["outcome"] == {"resolved": True}
    (pairs,) = imported(
        openhands.FORMAT, [{"instance_id": "d", "history": [[events[1], events[2]]]}]
    )
    assert len(history_of(pairs).interactions) == 1


def test_app_condensation_and_delegates() -> None:
    args: dict[str, Any] = {"forgotten_events_start_id": 3, "forgotten_events_end_id": 6}
    args |= {"summary": "It was looked at.", "summary_offset": 2}
    more = [
        app(9, "agent", action="condensation", args=args),
        app(
            10,
            "agent",
            action="delegate",
            args={"agent": "Browser"},
            tool_call_metadata=metadata("d1", "d1", response="r2"),
        ),
        app(11, "agent", action="message", args={"content": "browsing"}),
        app(
            12,
            "agent",
            observation="delegate",
            content="found",
            extras={},
            tool_call_metadata=metadata("d1", "d1", response="r2"),
        ),
    ]
    before, after, delegate = imported(openhands.FORMAT, [*APP, *more])
    assert recorded(after)["continues"] == before.id
    assert after.messages[2] == {"role": "user", "content": "It was looked at."}
    assert "found" in texts(after)
    assert "browsing" not in texts(after)
    assert "one" not in [m.get("content") for m in after.messages]
    assert recorded(delegate)["parent"] == before.id
    assert "browsing" in texts(delegate)


def sdk(kind: str, event_id: str, source: str, **more: Any) -> dict[str, Any]:
    return {
        "kind": kind,
        "id": event_id,
        "timestamp": "2026-05-01T00:00:00",
        "source": source,
        **more,
    }


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words, "cache_prompt": False}


def action(event_id: str, call_id: str, response: str, **more: Any) -> dict[str, Any]:
    call = {
        "id": call_id,
        "name": "terminal",
        "arguments": '{"command": "ls"}',
        "origin": "completion",
    }
    return sdk(
        "ActionEvent",
        event_id,
        "agent",
        thought=[],
        tool_name="terminal",
        tool_call_id=call_id,
        tool_call=call,
        llm_response_id=response,
        action={"kind": "TerminalAction"},
        **more,
    )


def observed(event_id: str, call_id: str, *parts: dict[str, Any]) -> dict[str, Any]:
    seen = {"kind": "TerminalObservation", "content": list(parts), "exit_code": 0}
    return sdk("ObservationEvent", event_id, "environment", tool_call_id=call_id, observation=seen)


SDK = [
    sdk(
        "SystemPromptEvent",
        "e0",
        "agent",
        system_prompt=text("You"),
        dynamic_context=text("Repo"),
        tools=[],
    ),
    sdk("MessageEvent", "e1", "user", llm_message={"role": "user", "content": [text("Fix it")]}),
    {**action("e2", "c1", "r1", reasoning_content="Hm."), "thought": [text("I look.")]},
    action("e3", "c2", "r1"),
    observed("e4", "c1", text("one"), {"type": "image", "image_urls": ["http://x/y.png"]}),
    sdk(
        "AgentErrorEvent",
        "e5",
        "agent",
        tool_call_id="c2",
        tool_name="terminal",
        error="no such tool",
    ),
    sdk("ConversationStateUpdateEvent", "e6", "environment", key="stats", value={"cost": 1}),
    sdk("WonderEvent", "e7", "environment", x=1),
    sdk(
        "MessageEvent",
        "e8",
        "agent",
        llm_message={"role": "assistant", "content": [text("Fixed.")]},
    ),
]


def test_sdk_events_of_one_answer_are_one_message() -> None:
    (run,) = imported(openhands.FORMAT, SDK)
    first, second = history_of(run).interactions
    assert [c.id for c in first.calls] == ["c1", "c2"]
    assert (first.reasoning, first.said, second.said) == ("Hm.", "I look.", "Fixed.")
    assert "no such tool" in first.observed
    assert "http://x/y.png" in texts(run)
    assert run.messages[0] == {"role": "system", "content": "You\nRepo"}
    assert recorded(run)["unknown"] == {"WonderEvent": 1}
    assert recorded(run)["messages"][3]["observation"]["exit_code"] == 0
    assert recorded(run)["messages"][2]["also"][0]["id"] == "e3"


def test_sdk_events_that_kept_no_call_are_linked_by_their_own_ids() -> None:
    bare = sdk("ActionEvent", "e2", "agent", action={"kind": "TerminalAction", "command": "ls"})
    seen = {"content": [text("one")]}
    back = sdk("ObservationEvent", "e3", "environment", action_id="e2", observation=seen)
    (run,) = imported(openhands.FORMAT, [SDK[1], bare, back])
    (step,) = history_of(run).interactions
    assert (step.calls[0].arguments, step.observed) == ('{"command": "ls"}', "one")


def test_sdk_condensation_begins_a_run_with_what_it_left() -> None:
    more = [
        sdk(
            "Condensation",
            "k1",
            "environment",
            forgotten_event_ids=["e2", "e3", "e4", "e5"],
            summary="It was looked at.",
            summary_offset=2,
            llm_response_id="r9",
        ),
        action("e9", "c3", "r2"),
        sdk(
            "UserRejectObservation", "e10", "environment", tool_call_id="c3", rejection_reason="no"
        ),
    ]
    before, after = imported(openhands.FORMAT, [*SDK, *more])
    assert recorded(after)["continues"] == before.id
    roles = [m["role"] for m in after.messages]
    assert roles == ["system", "user", "user", "assistant", "assistant", "tool"]
    assert after.messages[2]["content"] == "It was looked at."
    assert after.messages[-1]["content"] == "Action rejected: no"


def test_sdk_branches_follow_the_last_event() -> None:
    away = sdk(
        "MessageEvent", "x", "user", llm_message={"role": "user", "content": "No!"}, parent_id="e8"
    )
    back = sdk(
        "MessageEvent", "y", "user", llm_message={"role": "user", "content": "Yes"}, parent_id="e8"
    )
    (run,) = imported(openhands.FORMAT, [*SDK, away, back])
    assert "No!" not in texts(run)
    assert "No!" in str(recorded(run)["abandoned"])


def test_the_saved_state_names_the_model_and_the_conversation() -> None:
    state = {"id": "conv1", "agent": {"kind": "Agent", "llm": {"model": "m-2"}}}
    (run,) = both(openhands.runs([state, *SDK], "c/events"))[0]
    assert (run.id, run.about["model"]) == ("openhands-conv1", "m-2")


def test_events_in_which_no_model_spoke_are_said() -> None:
    assert both(openhands.runs([4, SDK[1]], "x"))[1] == [
        "x: holds a record that is no JSON object",
        "x: holds no message of a model",
    ]
