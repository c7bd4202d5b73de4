"""Claude Code sessions: split answers, parallel calls, sub-agents, compactions, rewinds."""

from __future__ import annotations

from typing import Any

from statecomp.traces import claude_code
from tests.traces.imported import both, history_of, imported, recorded, texts

IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBO"}}


def line(kind: str, uuid: str, parent: str | None, content: Any, **more: Any) -> dict[str, Any]:
    message = {"role": kind, "content": content, **more.pop("message", {})}
    return {
        "type": kind,
        "uuid": uuid,
        "parentUuid": parent,
        "sessionId": "s1",
        "isSidechain": False,
        "cwd": "/repo",
        "gitBranch": "main",
        "version": "2.1.45",
        "timestamp": f"2026-02-01T10:00:{len(uuid):02}Z",
        "message": message,
        **more,
    }


def said(uuid: str, parent: str | None, block: dict[str, Any], answer: str, **more: Any) -> Any:
    message = {"id": answer, "model": "claude-opus-4-5", "usage": {"output_tokens": 7}}
    return line("assistant", uuid, parent, [block], message=message, **more)


def call(call_id: str, **given: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": call_id, "name": "Bash", "input": given}


def result(call_id: str, text: str) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": call_id, "content": text}


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


THOUGHT = {"type": "thinking", "thinking": "I look first.", "signature": "c2ln"}
SESSION = [
    {"type": "file-history-snapshot", "messageId": "u1", "snapshot": {}},
    line("user", "u1", None, [text("Fix the bug in app.py"), IMAGE]),
    said("a1", "u1", THOUGHT, "msg1"),
    said("a2", "a1", call("t1", command="cat app.py"), "msg1"),
    said("a3", "a2", call("t2", command="cat test.py"), "msg1"),
    line("user", "r1", "a2", [result("t1", "app text")], toolUseResult={"stdout": "app text"}),
    line("user", "r2", "a3", [result("t2", "test text")]),
    {"type": "novelty", "uuid": "x1", "parentUuid": "r2", "sessionId": "s1"},
    said("a4", "x1", text("Done."), "msg2"),
]


def test_lines_of_one_answer_and_its_parallel_results_are_one_interaction() -> None:
    (run,) = imported(claude_code.FORMAT, SESSION)
    first, second = history_of(run).interactions
    assert [c.id for c in first.calls] == ["t1", "t2"]
    assert [o.text for o in first.observations] == ["app text", "test text"]
    assert (first.reasoning, second.said) == ("I look first.", "Done.")
    assert '"signature": "c2ln"' in texts(run)
    assert IMAGE in run.messages[0]["content"]
    assert (run.id, run.group, run.protocol) == ("claude-code-s1", "claude-code-s1", "anthropic")
    assert run.about["model"] == "claude-opus-4-5"
    assert run.about["task"].startswith("Fix the bug")


def test_times_usage_and_unknown_records_are_kept_beside_the_messages() -> None:
    (run,) = imported(claude_code.FORMAT, SESSION)
    kept = recorded(run)
    assert len(kept["messages"]) == len(run.messages)
    assert kept["messages"][1]["usage"] == {"output_tokens": 7}
    assert kept["messages"][1]["timestamp"]
    assert {"stdout": "app text"} in [
        m.get("toolUseResult") for m in kept["messages"][2]["results"]
    ]
    assert (kept["cwd"], kept["gitBranch"], kept["version"]) == ("/repo", "main", "2.1.45")
    assert kept["unknown"] == {"novelty": 1}
    assert [e["type"] for e in kept["events"]] == ["file-history-snapshot", "novelty"]


def attached(uuid: str, parent: str, *words: str, role: str = "system") -> dict[str, Any]:
    wrapped = [{"content": f"<system-reminder>\n{text}\n</system-reminder>"} for text in words]
    about = {"type": "attachment", "attachment": {"type": "reminder"}, "renderedRole": role}
    return {**about, "uuid": uuid, "parentUuid": parent, "sessionId": "s1", "rendered": wrapped}


def test_what_was_sent_as_the_system_is_a_message_in_its_place() -> None:
    """As 2.1.326 writes it down; the words of a reminder stood in no tags when they were sent."""
    session = [
        line("user", "u1", None, "Fix the bug"),
        attached("x1", "u1", "The date is 1 May."),
        line("user", "u2", "x1", "In app.py, that is"),
        attached("x2", "u2", "You may use tools."),
        attached("x3", "x2", "Only for people.", role="user"),
        said("a1", "x3", call("t1", command="cat app.py"), "msg1"),
        said("a2", "a1", call("t2", command="cat test.py"), "msg1"),
        line("user", "r1", "a1", [result("t1", "app text")]),
        line("user", "r2", "a2", [result("t2", "test text")]),
        attached("x4", "r2", "12 tokens left", "Be brief."),
        {"type": "attachment", "uuid": "x5", "parentUuid": "x4", "renderedRole": "system"},
        said("a3", "x5", text("Done."), "msg2"),
    ]
    (run,) = imported(claude_code.FORMAT, session)
    assert [m["role"] for m in run.messages] == [
        *("user", "user", "system", "assistant", "user", "system", "assistant"),
    ]
    told = [m["content"] for m in run.messages if m["role"] == "system"]
    assert told == ["The date is 1 May.\n\nYou may use tools.", "12 tokens left\n\nBe brief."]
    assert not any(i.locked for i in history_of(run).interactions)
    without = imported(claude_code.FORMAT, [r for r in session if r["type"] != "attachment"])
    assert [i.id for i in history_of(without[0]).interactions] == [
        i.id for i in history_of(run).interactions
    ]


def test_requests_written_down_a_second_time_are_left_out() -> None:
    blob = {"type": "api-request-blob", "hash": "h", "message": {"role": "user", "content": "big"}}
    (run,) = imported(
        claude_code.FORMAT, [*SESSION, blob, {"type": "api-request-shape", "shape": {}}]
    )
    assert "big" not in str(recorded(run))
    assert recorded(run)["unknown"] == {"novelty": 1}


def test_a_compaction_ends_a_run_and_its_summary_begins_the_next() -> None:
    boundary = {
        "type": "system",
        "subtype": "compact_boundary",
        "uuid": "b1",
        "parentUuid": None,
        "logicalParentUuid": "a4",
        "compactMetadata": {
            "trigger": "auto",
            "preTokens": 160_000,
            "preservedSegment": {"headUuid": "a4", "anchorUuid": "u3", "tailUuid": "a4"},
        },
    }
    more = [
        boundary,
        line(
            "user", "u3", "b1", "This session is continued: all was fixed.", isCompactSummary=True
        ),
        line("user", "u4", "u3", "Now add a test"),
        said("a5", "u4", text("Added."), "msg3"),
    ]
    before, after = imported(claude_code.FORMAT, [*SESSION, *more])
    assert (before.id, after.id) == ("claude-code-s1", "claude-code-s1.2")
    assert recorded(after)["continues"] == before.id
    assert recorded(after)["compaction"]["trigger"] == "auto"
    assert after.group == before.group
    assert "continued" in texts(after)
    assert "app text" not in texts(after)
    # The compaction kept the last answer word for word, behind its summary.
    assert [m["role"] for m in after.messages] == ["user", "assistant", "user", "assistant"]


def test_an_older_compaction_is_a_summary_with_no_parent() -> None:
    more = [
        line(
            "user", "u3", None, "This session is continued: all was fixed.", isCompactSummary=True
        ),
        said("a5", "u3", text("Good."), "msg3"),
    ]
    before, after = imported(claude_code.FORMAT, [*SESSION, *more])
    assert recorded(after)["continues"] == before.id
    unasked = imported(claude_code.FORMAT, [*SESSION, more[0]])
    assert len(unasked) == 1
    assert "all was fixed" in str(recorded(unasked[0])["unasked"])


def test_sub_agents_are_runs_of_their_own_in_a_file_or_inside_the_session() -> None:
    inside = [
        line("user", "s1", None, "Search for X", isSidechain=True),
        said("s2", "s1", text("X is in y.py"), "msg9", isSidechain=True),
    ]
    main, side = imported(claude_code.FORMAT, [*SESSION, *inside])
    assert recorded(side)["parent"] == main.id
    assert side.group == main.group
    own = [{**record, "agentId": "abc"} for record in inside]
    (agent,) = imported(claude_code.FORMAT, own)
    assert agent.id == "claude-code-s1-agent-abc"
    assert recorded(agent)["parent"] == main.id


def test_a_rewound_conversation_is_a_run_for_each_way_it_went() -> None:
    more = [
        line("user", "u5", "u1", "Rather rewrite it"),
        said("a6", "u5", text("Rewritten."), "msg4"),
        line("user", "u6", "a6", "typed and taken back"),
        line("user", "u7", "a6", "Thanks"),
        said("a7", "u7", text("Welcome."), "msg5"),
    ]
    now, before = imported(claude_code.FORMAT, [*SESSION, *more])
    assert "Welcome." in texts(now)
    assert "app text" not in texts(now)
    assert "app text" in texts(before)
    assert recorded(before)["branch_of"] == now.id
    assert "typed and taken back" in str(recorded(now)["abandoned"])


def test_missing_late_and_lonely_results_leave_an_acceptable_history() -> None:
    broken = [
        said("a0", None, call("t9", command="ls"), "msg0"),
        line("user", "i1", "a0", "[Request interrupted by user]"),
        line("user", "o1", "i1", [result("lost", "of an earlier file")]),
        line("user", "e1", "o1", [text("  ")]),
        said("a1", "e1", text("Going on."), "msg1"),
        said("a2", "a1", call("t1", command="sleep"), "msg2"),
    ]
    (run,) = imported(claude_code.FORMAT, broken)
    assert run.messages[0]["content"] == "[the beginning was not recorded]"
    assert "[no result recorded]" in texts(run)
    assert "of an earlier file" in texts(run)
    assert history_of(run).interactions[-1].locked


def test_a_session_in_which_no_model_spoke_is_said() -> None:
    runs, problems = both(claude_code.runs([line("user", "u1", None, "hi"), 5], "s.jsonl"))
    assert not runs
    assert problems == [
        "s.jsonl: holds a record that is no JSON object",
        "s.jsonl: holds no message of a model",
    ]
