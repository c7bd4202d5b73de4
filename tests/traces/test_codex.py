"""Codex rollouts, old and new: compactions, rollbacks, sub-threads, interrupted turns."""

from __future__ import annotations

from typing import Any

from statecomp.traces import codex
from tests.traces.imported import both, history_of, imported, recorded, texts


def line(kind: str, **payload: Any) -> dict[str, Any]:
    return {"timestamp": "2026-03-01T00:00:00Z", "type": kind, "payload": payload}


def item(**payload: Any) -> dict[str, Any]:
    return line("response_item", **payload)


def message(role: str, words: str, **more: Any) -> dict[str, Any]:
    kind = "output_text" if role == "assistant" else "input_text"
    return {"type": "message", "role": role, "content": [{"type": kind, "text": words}], **more}


META = line(
    "session_meta",
    id="th1",
    session_id="se1",
    cwd="/repo",
    cli_version="0.9",
    source="cli",
    base_instructions={"text": "You are Codex."},
    git={"repository_url": "https://example.com/r.git", "branch": "main"},
)
TURN = [
    line("turn_context", model="gpt-5-codex", cwd="/repo"),
    item(**message("user", "<environment_context>cwd</environment_context>")),
    item(**message("user", "Fix it")),
    line("event_msg", type="user_message", message="Fix it"),
    item(type="reasoning", id="rs1", summary=[{"type": "summary_text", "text": "Look."}]),
    item(type="function_call", name="shell", arguments='{"command":["ls"]}', call_id="c1"),
    item(type="custom_tool_call", name="apply_patch", input="*** Begin", call_id="c2"),
    item(type="function_call_output", call_id="c1", output="a.py"),
    item(type="custom_tool_call_output", call_id="c2", output="Success"),
    line("event_msg", type="token_count", info={"last_token_usage": {"input_tokens": 9}}),
    item(**message("assistant", "Fixed.", id="m1")),
    line("event_msg", type="task_complete", turn_id="t", last_agent_message="Fixed."),
]


def test_items_stand_as_they_were_with_their_usage_and_context() -> None:
    (run,) = imported(codex.FORMAT, [META, *TURN])
    assert (run.id, run.group, run.protocol) == ("codex-th1", "codex-se1", "openai-responses")
    first, second = history_of(run).interactions
    assert [c.id for c in first.calls] == ["c1", "c2"]
    assert (first.reasoning, second.said) == ("Look.", "Fixed.")
    assert run.about["instructions"] == "You are Codex."
    assert run.about["model"] == "gpt-5-codex"
    assert run.about["task"] == "Fix it"
    assert run.about["outcome"] == {"ended": "task_complete"}
    assert run.about["source_repo"] == "https://example.com/r.git"
    assert any(m.get("usage") == {"input_tokens": 9} for m in recorded(run)["messages"])
    assert recorded(run)["session"]["cwd"] == "/repo"


def test_a_compaction_begins_a_run_with_its_replacement_history() -> None:
    kept = [message("user", "Fix it"), {"type": "compaction", "encrypted_content": "zzz"}]
    compacted = line("compacted", message="", replacement_history=kept, window_id="w2")
    more = [compacted, item(**message("user", "More")), item(**message("assistant", "Yes."))]
    before, after = imported(codex.FORMAT, [META, *TURN, *more])
    assert after.id == "codex-th1.2"
    assert recorded(after)["continues"] == before.id
    assert recorded(after)["compaction"]["window_id"] == "w2"
    assert [m.get("type") for m in after.messages] == [
        "message",
        "compaction",
        "message",
        "message",
    ]


def test_an_older_compaction_leaves_the_users_words_and_a_summary() -> None:
    more = [line("compacted", message="All is fixed."), item(**message("assistant", "Yes."))]
    _, after = imported(codex.FORMAT, [META, *TURN, *more])
    words = [m["content"][0]["text"] for m in after.messages]
    assert words == ["Fix it", "All is fixed.", "Yes."]
    (only,) = imported(codex.FORMAT, [META, *TURN, more[0]])
    assert "All is fixed." in str(recorded(only)["unasked"])


def test_a_sub_thread_names_its_parent_and_shares_the_session() -> None:
    spawn = {"subagent": {"thread_spawn": {"parent_thread_id": "th1", "depth": 1}}}
    meta = line("session_meta", id="th2", session_id="se1", source=spawn)
    told = line("inter_agent_communication", author="/", recipient="/a", content="Look at b.py")
    (run,) = imported(codex.FORMAT, [meta, told, item(**message("assistant", "Done."))])
    assert (run.id, run.group) == ("codex-th2", "codex-se1")
    assert recorded(run)["parent"] == "codex-th1"
    assert "Look at b.py" in texts(run)


def test_rolled_back_turns_are_kept_aside() -> None:
    more = [
        item(**message("user", "Wrong idea")),
        item(**message("assistant", "Doing the wrong thing.")),
        line("event_msg", type="thread_rolled_back", num_turns=1),
        item(**message("user", "Right idea")),
        item(**message("assistant", "Right.")),
    ]
    (run,) = imported(codex.FORMAT, [META, *TURN, *more])
    assert "wrong thing" not in texts(run)
    assert "wrong thing" in str(recorded(run)["abandoned"])


def test_interrupted_turns_and_late_outputs_leave_an_acceptable_history() -> None:
    broken = [
        item(type="function_call", name="shell", arguments="{}", call_id="c1"),
        item(**message("user", "stop")),
        item(type="function_call_output", call_id="c1", output="late"),
        item(type="function_call", name="shell", arguments="{}", call_id="c2"),
        item(**message("user", "stop again")),
        item(type="reasoning", id="r", summary=[], encrypted_content="q"),
        item(**message("user", "go on")),
        item(type="function_call_output", call_id="never", output="lonely"),
        item(**message("assistant", "ok", id="m")),
        item(**message("assistant", "twice", id="m")),
        line("brand_new", x=1),
        item(type="ghost_snapshot", ghost_commit={}),
    ]
    (run,) = imported(codex.FORMAT, [META, *broken])
    assert run.messages[1]["output"] == "late"
    assert "[no result recorded]" in texts(run)
    assert "lonely" in texts(run)
    assert recorded(run)["unknown"] == {"brand_new": 1}


def test_the_bare_lines_and_the_document_of_earlier_versions_are_read() -> None:
    items = [message("user", "Hi"), message("assistant", "Hello")]
    header = {"id": "old", "timestamp": "2025-05-01T00:00:00Z", "instructions": "Be brief."}
    (bare,) = imported(codex.FORMAT, [header, items[0], {"record_type": "state"}, items[1]])
    (whole,) = imported(codex.FORMAT, [{"session": {"id": "old"}, "items": items}])
    assert bare.id == whole.id == "codex-old"
    assert bare.messages == whole.messages
    assert recorded(bare)["session"]["instructions"] == "Be brief."


def test_a_rollout_in_which_no_model_spoke_is_said() -> None:
    runs, problems = both(codex.runs([META, [], item(**message("user", "hi"))], "r.jsonl"))
    assert not runs
    assert problems == [
        "r.jsonl: holds a record that is no JSON object",
        "r.jsonl: holds no message of a model",
    ]
