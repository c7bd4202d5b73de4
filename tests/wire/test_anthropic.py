"""Anthropic messages: what is read from a turn, what locks it, what is refused, what is sent."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from statecomp.errors import InvalidHistory
from statecomp.history.history import History, Span
from statecomp.history.interaction import Interaction, Observation, Pinned, Summary
from statecomp.wire.anthropic.wire import Anthropic
from statecomp.wire.assemble import parse
from statecomp.wire.content import markers
from statecomp.wire.placement import rehome_markers, render
from statecomp.wire.protocol import Placement

WIRE = Anthropic()
BODIES = Path(__file__).parent / "bodies"
EPHEMERAL = {"type": "ephemeral"}
THOUGHT = {"type": "thinking", "thinking": "hm", "signature": "EpQB"}


def body(name: str) -> dict[str, Any]:
    return dict(json.loads((BODIES / f"{name}.json").read_text()))


def user(*content: Any) -> dict[str, Any]:
    return {"role": "user", "content": list(content) or "go on"}


def assistant(*content: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": list(content)}


def text(words: str, **more: Any) -> dict[str, Any]:
    return {"type": "text", "text": words, **more}


def call(call_id: str, **more: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": call_id, "name": "bash", "input": {"cmd": "ls"}, **more}


def result(call_id: str, content: Any = "a.txt", **more: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": call_id, "content": content, **more}


def server(call_id: str) -> dict[str, Any]:
    return {"type": "server_tool_use", "id": call_id, "name": "web_search", "input": {}}


def found(call_id: str) -> dict[str, Any]:
    return {"type": "web_search_tool_result", "tool_use_id": call_id, "content": []}


def locks(*messages: dict[str, Any], wire: Anthropic = WIRE) -> list[str]:
    return [i.locked for i in parse([user(), *messages], wire).interactions]


def rules(*messages: dict[str, Any]) -> list[tuple[str, str]]:
    return [(v.rule, v.place) for v in WIRE.check([user(), *messages])]


def test_a_turn_is_read_as_reasoning_words_calls_and_observations() -> None:
    first = parse(body("anthropic_agent"), WIRE).interactions[0]
    assert first.reasoning == "Two things to look at.\n[redacted thinking]"
    assert first.said == "I look at the log and the screen."
    assert [(c.id, c.name) for c in first.calls] == [
        ("toolu_01", "bash"),
        ("toolu_02", "screenshot"),
    ]
    assert first.calls[0].arguments == '{"command":"tail -5 build.log","timeout":30}'
    reminder = "<system-reminder>\nbuild.log was modified\n</system-reminder>"
    assert first.observations == (
        Observation("toolu_02", "[image image/png, 1 KB]\n1280x720"),
        Observation("toolu_01", "error: port 8443 is taken", is_error=True),
        Observation("", reminder),
    )


def test_provider_bodies_have_the_shape_and_the_locks_they_should() -> None:
    agent = parse(body("anthropic_agent"), WIRE)
    assert agent.shape() == "ppiiipipi"
    assert [i.locked for i in agent.interactions] == [
        "",
        "the user's own words stand in its result message",
        "",
        "",
        "its thinking belongs to the live tool loop",
    ]
    tools = parse(body("anthropic_server_tools"), WIRE)
    assert tools.shape() == "piiiipii"
    assert [i.locked for i in tools.interactions] == [
        "",
        "",
        "the server call 'srvtoolu_02' has no result yet",
        "it goes on with a server call of an earlier message",
        "it loads tools that later calls need",
        "the server call 'srvtoolu_03' has no result yet",
    ]


def test_what_the_server_found_can_be_read() -> None:
    searched, queried, *_ = parse(body("anthropic_server_tools"), WIRE).interactions
    assert searched.calls[0].name == "web_search"
    assert "https://widget.example/news" in searched.observed
    assert "EqgfCioIARgBIiQ3" not in searched.observed
    assert queried.observations[0] == Observation("mcptoolu_01", "4.1.0")


def test_system_text_outside_the_messages_is_pinned() -> None:
    for system in ("Be brief.", [text("Be brief.", cache_control=EPHEMERAL)]):
        history = parse({"system": system, "messages": [user()]}, WIRE)
        assert isinstance(history.segments[0], Pinned)
        assert (history.segments[0].role, history.segments[0].text) == ("system", "Be brief.")
        assert render(history, WIRE) == [user()]


@pytest.mark.parametrize(
    ("beside", "locked"),
    [
        (text("<system-reminder>a</system-reminder>"), False),
        (
            text(" <system-reminder>a</system-reminder>\n<system-reminder>b</system-reminder>"),
            False,
        ),
        (
            text("<system-reminder>a</system-reminder> stop <system-reminder>b</system-reminder>"),
            True,
        ),
        (text("<system-reminder>never closed"), True),
        (text("please stop"), True),
        ({"type": "image", "source": {"type": "url", "url": "https://a.b/c.png"}}, True),
        ({"type": "mid_conv_system", "content": [text("Be brief.")]}, True),
        ({"type": "hologram"}, False),
    ],
)
def test_only_what_the_harness_wrote_may_go_with_a_result(
    beside: dict[str, Any], locked: bool
) -> None:
    turn = (assistant(call("a")), user(result("a"), beside))
    assert bool(locks(*turn, user())[0]) is locked


def test_a_turn_with_an_open_call_is_locked() -> None:
    assert locks(assistant(call("a"))) == ["the call 'a' has no result yet"]
    assert locks(assistant(call("a"), call("b")), user(result("b"))) == [
        "the call 'a' has no result yet"
    ]
    assert locks(assistant(call("a")), user(text("wait"))) == ["the call 'a' has no result yet"]
    assert parse([assistant(call("a")), user(text("wait"))], WIRE).shape() == "ip"
    assert locks(assistant(server("s")), user()) == ["the server call 's' has no result yet"]


def test_a_pause_makes_two_turns_that_stand_or_fall_together() -> None:
    paused = locks(assistant(text("I search"), server("s")), assistant(found("s")), user())
    assert len(paused) == 2
    assert all(paused)


def test_only_the_thinking_of_the_live_tool_loop_is_locked() -> None:
    turn = (assistant(THOUGHT, call("a")), user(result("a")))
    later = (assistant(THOUGHT, call("b")), user(result("b")))
    live = "its thinking belongs to the live tool loop"
    assert locks(*turn) == [live]
    assert locks(*turn, *later) == ["", live]
    assert locks(*turn, user()) == [""]
    assert locks(*turn, {"role": "system", "content": "x"}) == [live]
    assert locks(assistant(call("a")), user(result("a"))) == [""]


def test_a_system_message_locks_only_a_turn_whose_record_could_not_stand_before_it() -> None:
    before = (assistant(call("a")), user(result("a")))
    behind = (assistant(call("b")), user(result("b")))
    messages = (*before, {"role": "system", "content": "x"}, *behind, user())
    assert locks(*messages) == ["", ""]
    reason = "the system message behind it must follow a message of the user"
    assert locks(*messages, wire=Anthropic(Placement("assistant"))) == [reason, ""]


def test_compaction_is_pinned_with_the_results_of_its_turn() -> None:
    compacted = assistant({"type": "compaction", "content": "so far"}, call("a"))
    history = parse([user(), compacted, user(result("a")), assistant(text("x"))], WIRE)
    assert [getattr(s, "role", "") for s in history.segments] == ["user", "compaction", ""]
    assert history.segments[1].messages[0] is compacted


@pytest.mark.parametrize(
    ("messages", "place", "words"),
    [
        ([user(result("a"))], "messages[0].content[0]", "answers no call"),
        ([assistant(text("x")), user(result("a"))], "messages[1].content[0]", "answers no call"),
        (
            [assistant(call("a")), user(result("a"), result("a"))],
            "messages[1].content[1].tool_use_id",
            "answered already",
        ),
        (
            [assistant(call("a")), user(result("b"))],
            "messages[1].content[0].tool_use_id",
            "does not make",
        ),
        ([assistant(call("a")), user(), user(result("a"))], "messages[2].content[0]", "no call"),
        ([{"role": "tool", "content": "x"}], "messages[0].role", "unknown role 'tool'"),
        ([{"content": "x"}], "messages[0].role", "no role"),
    ],
)
def test_what_cannot_be_read_is_refused_with_its_place(
    messages: list[dict[str, Any]], place: str, words: str
) -> None:
    with pytest.raises(InvalidHistory, match=words) as caught:
        parse(messages, WIRE)
    assert caught.value.field == place


def test_markers_thinking_and_string_form_do_not_change_what_a_turn_is() -> None:
    as_string = [user(), {"role": "assistant", "content": "done"}, user(text("more"))]
    as_blocks = [
        {"role": "user", "content": [text("go on", cache_control=EPHEMERAL)]},
        assistant(THOUGHT, text("done", cache_control=EPHEMERAL)),
        {"role": "user", "content": "more"},
    ]
    ids = [[s.id for s in parse(m, WIRE).segments] for m in (as_string, as_blocks)]
    assert ids[0] == ids[1]
    other = [*as_string[:1], {"role": "assistant", "content": "done!"}, as_string[2]]
    assert [s.id for s in parse(other, WIRE).segments][1:] != ids[0][1:]


@pytest.mark.parametrize(
    ("messages", "broken"),
    [
        ([assistant(call("a"))], ("unanswered-call", "messages[1].content[0]")),
        ([assistant(call("a")), user(text("x"))], ("unanswered-call", "messages[1].content[0]")),
        (
            [assistant(call("a")), user(result("a"), result("a"))],
            ("one-result", "messages[2].content[1]"),
        ),
        (
            [assistant(call("a")), user(text("x"), result("a"))],
            ("results-first", "messages[2].content[1]"),
        ),
        ([user(result("a"))], ("orphan-result", "messages[1].content[0]")),
        ([assistant(call("")), user(result(""))], ("call-id", "messages[1].content[0]")),
        (
            [assistant(call("a"), call("a")), user(result("a"))],
            ("call-id", "messages[1].content[1]"),
        ),
        ([assistant(result("a"))], ("result-role", "messages[1].content[0]")),
        ([user(call("a"))], ("call-role", "messages[1].content[0]")),
        ([user(THOUGHT)], ("thinking-role", "messages[1].content[0]")),
        ([user(text(" \n"))], ("empty-text", "messages[1].content[0]")),
        ([{"role": "user", "content": ""}], ("empty-text", "messages[1].content")),
        ([{"role": "tool", "content": "x"}], ("role", "messages[1].role")),
        ([assistant(found("s"))], ("orphan-server-result", "messages[1].content[0]")),
        (
            [assistant(text("x")), {"role": "system", "content": "x"}],
            ("system-place", "messages[2].role"),
        ),
        ([{"role": "system", "content": "x"}, user()], ("system-place", "messages[1].role")),
        ([user(*[text("x", cache_control=EPHEMERAL)] * 5)], ("breakpoints", "messages")),
    ],
)
def test_a_broken_rule_is_named_with_its_place(
    messages: list[dict[str, Any]], broken: tuple[str, str]
) -> None:
    assert rules(*messages) == [broken]


def test_what_may_stand_is_not_reported() -> None:
    system = {"role": "system", "content": "x"}
    assert rules(assistant(call("a"), server("s")), user(result("a")), assistant(found("s"))) == []
    assert rules(assistant(server("s"), found("s")), system, assistant(text("x"))) == []
    assert rules(system) == []
    assert rules({"role": "assistant", "content": ""}) == []


def test_only_an_opening_must_start_with_the_user() -> None:
    window = [assistant(found("s")), user()]
    assert WIRE.check(window, opening=False) == []
    assert {v.rule for v in WIRE.check(window)} == {"first-user", "orphan-server-result"}


def test_editing_observations_touches_nothing_else() -> None:
    head, answer = assistant(THOUGHT, call("a")), user(result("a", [text("long")]), text("x"))
    before = copy.deepcopy([head, answer])
    edited = WIRE.edit_observations([head, answer], str.upper)
    assert edited[0] is head
    assert edited[1]["content"][0] == result("a", "LONG")
    assert edited[1]["content"][1] is answer["content"][1]
    assert [head, answer] == before


@pytest.mark.parametrize(
    ("request_body", "words"),
    [
        ({"compaction": {"type": "auto"}, "messages": []}, "(compaction)"),
        ({"thread": {"type": "continue", "previous_message_id": "m"}, "messages": []}, "newest"),
        ({"thread": {"type": "create"}, "messages": []}, ""),
        ({"messages": [assistant({"type": "compaction"})]}, "compaction block"),
        ({"container": "c_1", "messages": [user(), assistant(text("compaction"))]}, ""),
        ({"messages": "nonsense"}, ""),
    ],
)
def test_a_history_the_provider_edits_is_not_touched(
    request_body: dict[str, Any], words: str
) -> None:
    reason = WIRE.untouchable(request_body)
    assert words in reason
    assert bool(reason) is bool(words)


KEEP_ALL = {"type": "clear_thinking_20251015", "keep": "all"}
KEEP_TWO = {**KEEP_ALL, "keep": {"type": "thinking_turns", "value": 2}}


@pytest.mark.parametrize(
    "management",
    [
        None,
        {},
        {"edits": None},
        {"edits": []},
        {"edits": [KEEP_ALL]},
        {"edits": [{**KEEP_ALL, "keep": {"type": "all"}}]},
        {"edits": [KEEP_ALL, KEEP_ALL]},
    ],
)
def test_an_edit_list_that_keeps_everything_is_not_in_the_way(management: Any) -> None:
    assert WIRE.untouchable({"context_management": management, "messages": [user()]}) == ""


@pytest.mark.parametrize(
    "management",
    [
        {"edits": [{"type": "clear_thinking_20251015"}]},  # how much is kept is the model's default
        {"edits": [KEEP_TWO]},
        {"edits": [{"type": "clear_tool_uses_20250919"}]},
        {"edits": [{"type": "clear_tool_uses_20250919", "keep": "all"}]},
        {"edits": [{"type": "compact_20260112"}]},
        {"edits": [KEEP_ALL, {"type": "clear_tool_uses_20250919"}]},
        {"edits": [KEEP_ALL, "?"]},
        {"edits": "all"},
        {"edits": [KEEP_ALL], "budget": 5},
        ["?"],
    ],
)
def test_an_edit_that_clears_anything_is_the_providers_to_make(management: Any) -> None:
    reason = WIRE.untouchable({"context_management": management, "messages": [user()]})
    assert reason == (
        "the client has the provider clear parts of this history itself (context_management)"
    )


def summarised(history: History, position: int) -> History:
    source = history.segments[position]
    assert isinstance(source, Interaction)
    summary = Summary("s", WIRE.write_summary("past"), 1, "past", (source.id,), 1, 1)
    return history.replace(Span(position, position + 1), summary)


def test_a_cache_marker_moves_to_the_summary_that_replaced_it() -> None:
    hour = {"type": "ephemeral", "ttl": "1h"}
    answer = user(result("a", cache_control=EPHEMERAL), result("b", cache_control=hour))
    messages = [user(), assistant(call("a"), call("b")), answer, assistant(text("done"))]
    raw = parse(messages, WIRE)
    effective = rehome_markers(summarised(raw, 1), raw)
    sent = render(effective, WIRE)
    assert sent[1]["content"] == [text("past", cache_control=hour)]
    assert [marker for message in sent for marker in markers(message)] == [("cache_control", hour)]
