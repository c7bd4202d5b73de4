"""OpenAI Responses: what is read from items, where a turn ends, what locks it, what is refused."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from statecomp.errors import InvalidHistory
from statecomp.history.interaction import Call, Observation
from statecomp.wire.assemble import parse
from statecomp.wire.openai_responses.wire import OpenAIResponses
from statecomp.wire.protocol import Placement

WIRE = OpenAIResponses()
BODIES = Path(__file__).parent / "bodies"
USER = {"role": "user", "content": "go on"}
REASONING = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAA"}
APPROVAL = {"type": "mcp_approval_request", "id": "r", "name": "drop", "arguments": "{}"}
APPROVED = {"type": "mcp_approval_response", "approval_request_id": "r", "approve": True}


def body(name: str) -> dict[str, Any]:
    return dict(json.loads((BODIES / f"{name}.json").read_text()))


def said(words: str, **more: Any) -> dict[str, Any]:
    return {"type": "message", "role": "assistant", "content": words, **more}


def call(call_id: str, **more: Any) -> dict[str, Any]:
    return {"type": "function_call", "call_id": call_id, "name": "f", "arguments": "{}", **more}


def output(call_id: str, value: Any = "done", **more: Any) -> dict[str, Any]:
    return {"type": "function_call_output", "call_id": call_id, "output": value, **more}


def turns(*items: dict[str, Any]) -> list[int]:
    """How many items each segment holds."""
    return [len(segment.messages) for segment in parse(items, WIRE).segments]


def locks(*items: dict[str, Any]) -> list[str]:
    return [i.locked for i in parse(items, WIRE).interactions]


def test_a_turn_is_read_as_reasoning_words_calls_and_observations() -> None:
    first, second, third, refused, last = parse(body("openai_responses_agent"), WIRE).interactions
    assert first.reasoning == "Two files to read."
    assert first.said == "I read both."
    assert first.calls[0] == Call("call_01", "shell", '{"command": ["cat", "a.py"]}')
    assert first.observations[1].call_id == "call_01"
    assert first.observations[1].text.startswith("raise SystemExit(3)\n[input_image https://")
    assert (second.reasoning, second.calls[0].name) == ("a.py exits with 3.", "apply_patch")
    assert (third.said, refused.said, last.said) == (
        "Fixed.",
        "I cannot help with that.",
        "Anything else?",
    )


def test_provider_bodies_have_the_shape_and_the_locks_they_should() -> None:
    agent = parse(body("openai_responses_agent"), WIRE)
    assert agent.shape() == "pppiiipiip"
    assert not any(i.locked for i in agent.interactions)
    tools = parse(body("openai_responses_tools"), WIRE)
    assert [i.locked for i in tools.interactions if i.locked] == [
        "the user's own decision stands in it"
    ]
    assert [len(s.messages) for s in tools.segments] == [1, 3, 2, 4, 4, 1, 4, 6, 1]


def test_every_kind_of_call_and_output_can_be_read() -> None:
    interactions = parse(body("openai_responses_tools"), WIRE).interactions
    calls = [call.name for i in interactions for call in i.calls]
    assert calls == [
        *("web_search", "computer", "shell", "apply_patch", "local_shell"),
        *("insert", "insert", "code_interpreter", "teleport", "program", "f", "f"),
    ]
    assert [o for i in interactions for o in i.observations] == [
        Observation("call_01", "[computer_screenshot image/png, 1 KB]"),
        Observation("call_02", "a.txt\n\n[exit 0]\nno\n[timed out]"),
        Observation("call_03", "no such hunk", is_error=True),
        Observation("call_04", "/srv\n"),
        Observation("mcpr_01", "approved: go on"),
        Observation("mcp_01", "1 row"),
        Observation("ci_01", "1"),
        Observation("call_05", "arrived"),
        Observation("call_07", "7"),
        Observation("call_08", "8", is_error=True),
        Observation("call_06", "15"),
    ]


def test_instructions_are_pinned_outside_the_items() -> None:
    history = parse({"instructions": "Be brief.", "input": [USER]}, WIRE)
    assert (history.shape(), history.messages) == ("pp", [USER])


def test_a_turn_ends_where_the_model_begins_again() -> None:
    assert turns(USER, REASONING, said("x"), call("a"), output("a"), said("y")) == [1, 4, 1]
    assert turns(USER, said("x"), REASONING, said("y")) == [1, 1, 2]
    assert turns(USER, said("x"), said("y"), USER, said("z")) == [1, 1, 1, 1, 1]
    assert turns(USER, call("a"), output("a"), call("b"), output("b")) == [1, 2, 2]
    assert turns(USER, said("x"), call("a"), call("b"), output("b"), output("a")) == [1, 5]


def test_a_turn_goes_on_while_a_call_is_open() -> None:
    late = (call("a"), call("b"), output("b"), call("c"), output("c"), output("a"))
    assert turns(USER, *late, said("x")) == [1, 6, 1]
    ran = {"type": "mcp_call", "id": "m", "approval_request_id": "r", "name": "drop"}
    assert turns(USER, APPROVAL, APPROVED, ran, said("x")) == [1, 3, 1]


def test_an_unknown_item_stays_with_its_neighbours() -> None:
    unknown = {"type": "hologram", "payload": 1}
    assert turns(unknown, USER, unknown, call("a"), unknown, output("a")) == [1, 1, 1, 3]
    roles = [getattr(s, "role", "") for s in parse([unknown, USER, call("a")], WIRE).segments]
    assert roles == ["opaque", "user", ""]


def test_an_unknown_item_is_never_part_of_what_is_replaced() -> None:
    unknown = {"type": "hologram", "payload": 1}
    assert turns(call("a"), output("a"), unknown, call("b"), output("b")) == [2, 1, 2]
    inside = parse([call("a"), unknown, output("a")], WIRE).interactions
    assert [i.locked for i in inside] == ["it holds an item of an unknown type"]


@pytest.mark.parametrize(
    ("item", "role"),
    [
        ({"type": "compaction", "encrypted_content": "gAAA"}, "compaction"),
        ({"type": "item_reference", "id": "cmp_1"}, "compaction"),
        ({"type": "additional_tools", "role": "developer", "tools": []}, "additional_tools"),
        ({"type": "message", "role": "developer", "content": "x"}, "developer"),
        ({"role": "system", "content": "x"}, "system"),
    ],
)
def test_what_the_model_did_not_make_is_pinned(item: dict[str, Any], role: str) -> None:
    history = parse([said("x"), item, said("y")], WIRE)
    assert history.shape() == "ipi"
    assert getattr(history.segments[1], "role", "") == role


def test_open_calls_approvals_and_loaded_tools_lock_a_turn() -> None:
    found: dict[str, Any] = {"type": "tool_search_output", "call_id": None, "tools": []}
    search: dict[str, Any] = {"type": "tool_search_call", "call_id": None, "arguments": {}}
    assert locks(USER, call("a"), call("b"), output("b")) == ["the call 'a' has no output yet"]
    assert locks(USER, APPROVAL) == ["the approval 'r' is pending"]
    assert locks(USER, APPROVAL, APPROVED) == ["the user's own decision stands in it"]
    assert locks(USER, search, found, said("x")) == ["it loads tools that later calls need"]
    assert locks(USER, {"type": "web_search_call", "id": "w"}, said("x")) == [""]


def ref(name: str) -> dict[str, Any]:
    return {"type": "item_reference", "id": name}


ELSEWHERE = "part of it lives on the server"


def test_a_reference_belongs_to_the_turn_it_stands_in() -> None:
    assert turns(USER, ref("rs_1"), call("a"), output("a"), ref("rs_2"), ref("msg_1")) == [1, 3, 2]
    assert turns(USER, ref("msg_1"), ref("rs_1"), call("a"), output("a"), USER) == [1, 1, 3, 1]
    assert turns(USER, ref("rs_1"), ref("fc_1"), ref("fc_2"), output("a"), output("b")) == [1, 5]
    assert turns(USER, {"id": "fc_1"}, output("a"), {"id": "fc_2"}, output("b")) == [1, 2, 2]


def test_reasoning_that_the_server_keeps_goes_with_its_turn() -> None:
    """As the Vercel AI SDK sends it with `store` on: calls and outputs are all here."""
    turn = (ref("rs_1"), call("a"), call("b"), output("b"), output("a"))
    assert locks(USER, *turn, ref("rs_2"), call("c"), output("c")) == ["", ""]
    assert WIRE.check([USER, *turn]) == []


def test_a_turn_whose_words_or_calls_the_server_keeps_is_locked_and_no_other() -> None:
    plain = (ref("rs_1"), call("a"), output("a"))
    assert locks(USER, *plain, ref("rs_2"), ref("fc_1"), output("b")) == ["", ELSEWHERE]
    assert locks(
        USER, ref("msg_1"), call("a"), output("a"), *plain[:1], call("b"), output("b")
    ) == [
        ELSEWHERE,
        "",
    ]
    assert locks(USER, ref("ws_1"), ref("msg_1"), USER) == [ELSEWHERE]
    assert locks(USER, ref("mcpr_1"), {**APPROVED, "approval_request_id": "mcpr_1"}) == [ELSEWHERE]


def test_reasoning_here_there_or_dropped_makes_no_other_turn() -> None:
    items = [USER, call("a"), output("a"), USER]
    names = [s.id for s in parse(items, WIRE).segments]
    for thought in (REASONING, ref("rs_1"), ref("rs_9")):
        again = parse([USER, thought, *items[1:]], WIRE)
        assert [s.id for s in again.segments] == names
    hidden = [
        parse([USER, ref(name), output("a")], WIRE).segments[1].id for name in ("fc_1", "fc_2")
    ]
    assert hidden[0] != hidden[1]


def test_an_output_may_answer_what_only_the_server_knows() -> None:
    assert WIRE.check([USER, ref("rs_1"), ref("fc_1"), output("a")]) == []
    orphan = [USER, ref("fc_1"), output("a"), USER, output("b")]
    assert [(v.rule, v.place) for v in WIRE.check(orphan)] == [("orphan-result", "input[4]")]
    alone = [USER, ref("rs_1"), USER]
    assert [(v.rule, v.place) for v in WIRE.check(alone)] == [("reasoning-alone", "input[1]")]
    twice = [USER, ref("rs_1"), call("a"), output("a"), ref("rs_1"), said("x")]
    assert [v.rule for v in WIRE.check(twice)] == ["item-id"]


@pytest.mark.parametrize(
    ("items", "place", "words"),
    [
        ([USER, ref("rs_1"), output("a")], "input[2].call_id", "'a', which no item"),
        ([ref("fc_1"), output("a"), output("a")], "input[2].call_id", "answered already"),
        ([USER, output("a")], "input[1]", "answers no call"),
        ([call("a"), output("a"), output("a")], "input[2].call_id", "answered already"),
        ([call("a"), output("b")], "input[1].call_id", "'b', which no item"),
        ([call("a"), USER, output("a")], "input[2]", "answers no call"),
        ([{"role": "tool", "content": "x"}], "input[0].role", "unknown role 'tool'"),
        ([{"type": "message", "content": "x"}], "input[0].role", "no role"),
        ([USER, "x"], "input[1]", "not a JSON object"),
    ],
)
def test_what_cannot_be_read_is_refused_with_its_place(
    items: list[Any], place: str, words: str
) -> None:
    with pytest.raises(InvalidHistory, match=words) as caught:
        parse({"input": items}, WIRE)
    assert caught.value.field == place


def test_ids_statuses_markers_and_reasoning_do_not_change_what_a_turn_is() -> None:
    text = {"type": "input_text", "text": "x"}
    bare = [{"role": "user", "content": [text]}, call("a"), output("a"), USER]
    full = [
        {"role": "user", "content": [{**text, "prompt_cache_breakpoint": {"mode": "explicit"}}]},
        REASONING,
        call("a", id="fc_1", status="completed"),
        output("a", status="completed"),
        USER,
    ]
    ids = [[s.id for s in parse({"input": i}, WIRE).segments] for i in (bare, full)]
    assert ids[0] == ids[1]
    references = [[{"type": "item_reference", "id": name}] for name in ("a", "b")]
    first, second = (parse(items, WIRE).segments[0].id for items in references)
    assert first != second


@pytest.mark.parametrize(
    ("items", "broken"),
    [
        ([call("a")], ("unanswered-call", "input[0]")),
        ([call("a"), USER], ("unanswered-call", "input[0]")),
        ([output("a")], ("orphan-result", "input[0]")),
        ([call("a"), output("a"), output("a")], ("one-result", "input[2]")),
        ([call("a"), output("a"), output("")], ("result-id", "input[2]")),
        ([call("a"), call("a"), output("a")], ("call-id", "input[1]")),
        ([REASONING], ("reasoning-alone", "input[0]")),
        ([REASONING, USER], ("reasoning-alone", "input[0]")),
        ([said("x", id="m"), said("y", id="m")], ("item-id", "input[1].id")),
        ([{"role": "tool", "content": "x"}], ("role", "input[0].role")),
    ],
)
def test_a_broken_rule_is_named_with_its_place(
    items: list[dict[str, Any]], broken: tuple[str, str]
) -> None:
    assert [(v.rule, v.place) for v in WIRE.check(items)] == [broken]


def test_a_back_end_may_number_its_calls_anew_in_every_turn() -> None:
    items = [USER, call("0"), output("0"), call("0"), output("0")]
    assert WIRE.check(items) == []
    assert turns(*items) == [1, 2, 2]


def test_a_summary_has_the_form_its_role_is_accepted_in() -> None:
    assert WIRE.write_summary("past") == (
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "past"}]},
    )
    assert OpenAIResponses(Placement("assistant")).write_summary("past") == (
        {"type": "message", "role": "assistant", "content": "past"},
    )


def test_editing_observations_keeps_the_structure_each_output_must_have() -> None:
    items = body("openai_responses_tools")["input"]
    before = copy.deepcopy(items)
    edited = WIRE.edit_observations(items, lambda text: f"[{len(text)}]")
    pairs = zip(edited, items, strict=True)
    changed = {new["type"]: new["output"] for new, old in pairs if new is not old}
    assert changed == {
        "shell_call_output": [{"stdout": "[30]", "stderr": "", "outcome": {"type": "timeout"}}],
        "apply_patch_call_output": "[12]",
        "local_shell_call_output": "[5]",
        "teleport_call_output": "[7]",
        "function_call_output": "[1]",
    }
    assert items == before
    parts = [{"type": "input_text", "text": "long"}]
    assert WIRE.edit_observations([output("a", parts)], str.upper) == [output("a", "LONG")]


@pytest.mark.parametrize(
    ("request_body", "words"),
    [
        ({"previous_response_id": "resp_1", "input": []}, "previous_response_id"),
        ({"conversation": {"id": "conv_1"}, "input": []}, "conversation"),
        ({"context_management": [{"type": "compaction"}], "input": []}, "context_management"),
        ({"input": "hello"}, "no history"),
        ({"input": [{"type": "compaction", "encrypted_content": "x"}]}, "compaction item"),
        ({"input": [USER, {"id": "cmp_1"}]}, "compaction item"),
        ({"input": [USER, {"type": "item_reference", "id": "rs_1"}, {"id": "msg_1"}]}, ""),
        ({"input": [USER], "previous_response_id": None, "conversation": None}, ""),
        ({"input": [1, "x"]}, ""),
    ],
)
def test_a_history_that_is_not_all_here_is_not_touched(
    request_body: dict[str, Any], words: str
) -> None:
    reason = WIRE.untouchable(request_body)
    assert words in reason
    assert bool(reason) is bool(words)


def test_the_body_gets_its_items_and_keeps_its_order() -> None:
    given = {"model": "gpt-5.6", "input": [USER], "stream": True}
    adapted = WIRE.adapt(given, [said("x")], 0)
    assert (list(adapted.body), adapted.body["input"]) == (list(given), [said("x")])
    assert adapted.headers == {}
