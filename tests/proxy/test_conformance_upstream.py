"""The scripted upstream itself: real clients run against it, and it refuses what providers do."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from statecomp.testing.provider.dialects import CHAT, MESSAGES, RESPONSES, Dialect
from statecomp.testing.provider.refusals import Refused, Strictness
from statecomp.testing.provider.serving import serving
from statecomp.testing.provider.signing import sign_items, sign_messages
from statecomp.wire.providers import wire_named
from tests.proxy.upstream import (
    KEY,
    anthropic_client,
    ask_chat,
    ask_messages,
    ask_responses,
    chat_agent,
    drive,
    messages_agent,
    openai_client,
    responses_agent,
    upstream,
)
from tests.wire import histories

HEADERS = {"anthropic-version": "2023-06-01", "authorization": f"Bearer {KEY}"}
LOOSE, ALTERNATE = Strictness(), Strictness(alternate=True)


def refusal(
    dialect: Dialect, body: Any, rules: Strictness = LOOSE, headers: Mapping[str, str] | None = None
) -> str:
    """Why the upstream would refuse the body, or nothing."""
    try:
        dialect.check(body, {**HEADERS, **(headers or {})}, rules)
    except Refused as refused:
        return str(refused)
    return ""


@pytest.fixture(scope="module")
def direct() -> Iterator[str]:
    with serving(upstream(12).app) as url:
        yield url


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
def test_each_sdk_runs_the_script_to_its_end(direct: str, stream: bool) -> None:
    client, claude = openai_client(direct), anthropic_client(direct)
    adaptive = {"type": "adaptive"}
    runs = [
        drive(chat_agent(), ask_chat(client, "gpt-5", stream=stream)),
        drive(responses_agent(), ask_responses(client, "gpt-5", stream=stream)),
        drive(messages_agent(), ask_messages(claude, "claude-sonnet-5", stream=stream)),
        drive(messages_agent(adaptive), ask_messages(claude, "claude-fable-5-1", stream=stream)),
    ]
    assert [(run.steps, run.final) for run in runs] == [(13, "All 12 steps are done.")] * 4


def test_usage_counts_the_unchanged_prefix_as_cached() -> None:
    model = upstream(6)
    with serving(model.app) as url:
        drive(chat_agent(), ask_chat(openai_client(url), "gpt-5"))
    spent = [received.spent for received in model.requests()]
    for before, after in pairwise(spent):
        assert before is not None
        assert after is not None
        assert after.cached == before.input < after.input


def test_without_a_key_the_answer_is_401_in_the_providers_shape(direct: str) -> None:
    answer = httpx.post(f"{direct}/v1/messages", json={})
    assert (answer.status_code, answer.json()["error"]["type"]) == (401, "authentication_error")
    answer = httpx.post(f"{direct}/v1/chat/completions", json={})
    assert answer.status_code == 401
    assert set(answer.json()["error"]) == {"message", "type", "param", "code"}


CALL = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
USER = {"role": "user", "content": "do it"}
ACT = {"role": "assistant", "content": None, "tool_calls": [CALL]}
DONE = {"role": "tool", "tool_call_id": "c1", "content": "done"}
CHAT_WRONG: dict[str, tuple[list[Any], str]] = {
    "call without result": ([USER, ACT], "did not have response messages"),
    "user between": ([USER, ACT, USER, DONE], "did not have response messages"),
    "result alone": ([USER, DONE], "must be a response"),
    "two results": ([USER, ACT, DONE, DONE], "must be a response"),
    "no content": ([USER, {"role": "assistant", "content": None}], "got null"),
    "no calls": ([USER, {"role": "assistant", "content": "x", "tool_calls": []}], "empty array"),
    "unknown role": ([{"role": "robot", "content": "x"}], "Invalid value"),
}


@pytest.mark.parametrize(("messages", "words"), CHAT_WRONG.values(), ids=CHAT_WRONG)
def test_chat_refuses(messages: list[Any], words: str) -> None:
    assert words in refusal(CHAT, {"messages": messages})


def test_strict_templates_refuse_two_user_messages_and_a_late_system_message() -> None:
    assert not refusal(CHAT, {"messages": [USER, USER]})
    assert "alternate" in refusal(CHAT, {"messages": [USER, USER]}, ALTERNATE)
    late = {"messages": [USER, ACT, DONE, {"role": "system", "content": "x"}]}
    assert "beginning" in refusal(CHAT, late, ALTERNATE)


USE = {"type": "tool_use", "id": "t1", "name": "f", "input": {}}
RESULT = {"type": "tool_result", "tool_use_id": "t1", "content": "done"}
TEXT = {"type": "text", "text": "hello"}
MARKED = {**TEXT, "cache_control": {"type": "ephemeral"}}
LONG = {**TEXT, "cache_control": {"type": "ephemeral", "ttl": "1h"}}
ASKED = {"role": "assistant", "content": [USE]}


def says(*blocks: Any) -> dict[str, Any]:
    return {"role": "user", "content": list(blocks)}


MESSAGES_WRONG: dict[str, tuple[list[Any], str]] = {
    "no result": ([says(TEXT), ASKED, says(TEXT)], "without `tool_result`"),
    "no next message": ([says(TEXT), ASKED], "without `tool_result`"),
    "text first": ([says(TEXT), ASKED, says(TEXT, RESULT)], "come first"),
    "two results": ([says(TEXT), ASKED, says(RESULT, RESULT)], "single result"),
    "result alone": ([says(TEXT), says(RESULT)], "unexpected `tool_use_id`"),
    "result opens": ([says(RESULT)], "unexpected `tool_use_id`"),
    "assistant opens": ([{"role": "assistant", "content": "x"}, says(TEXT)], "first message"),
    "empty text": ([says({"type": "text", "text": " "})], "non-whitespace"),
    "no content": ([says(), says(TEXT)], "non-empty content"),
    "thinking of a user": ([says({"type": "thinking", "thinking": "x"})], "only be in assistant"),
    "five markers": ([says(*[MARKED] * 5)], "maximum of 4"),
    "1h behind 5m": ([says(MARKED, LONG)], "must not come after"),
    "system first": ([{"role": "system", "content": "x"}, says(TEXT)], "first message"),
    "user behind system": (
        [says(TEXT), {"role": "system", "content": "x"}, says(TEXT)],
        "precede an assistant",
    ),
}


@pytest.mark.parametrize(("messages", "words"), MESSAGES_WRONG.values(), ids=MESSAGES_WRONG)
def test_messages_refuses(messages: list[Any], words: str) -> None:
    assert words in refusal(MESSAGES, {"messages": messages})


def thoughtful(model: str, **body: Any) -> dict[str, Any]:
    thought = {"type": "thinking", "thinking": "hm", "signature": ""}
    turn = {"role": "assistant", "content": [thought, USE]}
    messages = [says(TEXT), turn, says(RESULT)]
    return sign_messages({"model": model, "messages": messages, **body})


def test_thinking_is_accepted_only_as_it_was_signed() -> None:
    for model in ("claude-sonnet-5", "claude-fable-5-1"):
        body = thoughtful(model)
        assert not refusal(MESSAGES, body)
        edited = copy.deepcopy(body)
        edited["messages"][1]["content"][0]["thinking"] = "other"
        assert "Invalid `signature`" in refusal(MESSAGES, edited)


def test_newer_models_refuse_thinking_behind_a_changed_prefix_unless_asked_to_drop_it() -> None:
    for model, words in (("claude-sonnet-5", ""), ("claude-fable-5-1", "different conversation")):
        changed = thoughtful(model)
        changed["messages"][0] = says({"type": "text", "text": "something else"})
        said = refusal(MESSAGES, changed)
        assert words in said
        assert bool(words) == bool(said)
    binding = {"prefix_mismatch_behavior": "drop_block"}
    changed["thinking"] = {"type": "adaptive", "block_binding": binding}
    assert "Extra inputs" in refusal(MESSAGES, changed)
    beta = {"anthropic-beta": "x-1, thinking-binding-controls-2026-08-01"}
    assert not refusal(MESSAGES, changed, headers=beta)
    changed["thinking"]["type"] = "enabled"
    assert "Extra inputs" in refusal(MESSAGES, changed, headers=beta)


def test_extended_thinking_must_open_the_turn_that_is_being_answered() -> None:
    body = {"messages": [says(TEXT), ASKED, says(RESULT)], "thinking": {"type": "enabled"}}
    assert "Expected `thinking`" in refusal(MESSAGES, body)


FUNCTION = {"type": "function_call", "call_id": "c1", "name": "f", "arguments": "{}"}
OUTPUT = {"type": "function_call_output", "call_id": "c1", "output": "x"}
THOUGHT = {"type": "reasoning", "id": "rs_0001", "summary": []}
RESPONSES_WRONG: dict[str, tuple[list[Any], str]] = {
    "no output": ([USER, FUNCTION], "No tool output found for function call c1"),
    "user between": ([USER, FUNCTION, USER, OUTPUT], "No tool output found"),
    "output alone": ([USER, OUTPUT], "No tool call found"),
    "two outputs": ([USER, FUNCTION, OUTPUT, OUTPUT], "No tool call found"),
    "reasoning last": ([USER, THOUGHT], "required following item"),
    "reasoning alone": ([USER, THOUGHT, USER], "required following item"),
    "foreign reasoning": (
        [USER, {**THOUGHT, "encrypted_content": "gAAA"}, FUNCTION, OUTPUT],
        "could not be verified",
    ),
    "reasoning left out": ([USER, {**FUNCTION, "id": "fc_r0001_0"}, OUTPUT], "'reasoning' item"),
    "same id twice": (
        [{**USER, "id": "m1", "type": "message"}] * 2,
        "Duplicate item found with id m1",
    ),
    "wrong part": (
        [{"role": "assistant", "content": [{"type": "input_text", "text": "x"}]}],
        "Supported values are: 'output_text'",
    ),
}


@pytest.mark.parametrize(("items", "words"), RESPONSES_WRONG.values(), ids=RESPONSES_WRONG)
def test_responses_refuses(items: list[Any], words: str) -> None:
    assert words in refusal(RESPONSES, {"input": items})


def test_reasoning_may_lead_to_what_is_stored() -> None:
    items: list[Any] = [USER, THOUGHT, {"type": "item_reference", "id": "msg_1"}]
    assert not refusal(RESPONSES, {"input": items})
    assert not wire_named("openai-responses").check(items)


@settings(max_examples=60)
@given(
    chat=histories.chat_messages(open_end=True),
    claude=histories.anthropic_messages(open_end=True),
    items=histories.responses_items(open_end=True),
)
def test_two_independent_readings_of_the_rules_agree_on_random_histories(
    chat: list[Any], claude: list[Any], items: list[Any]
) -> None:
    """`open_end` leaves calls unanswered in some: both must accept and refuse the same ones."""
    cases = [
        (CHAT, "openai-chat", {"messages": chat}),
        (MESSAGES, "anthropic", sign_messages({"messages": claude})),
        (RESPONSES, "openai-responses", {"input": sign_items(items)}),
    ]
    for dialect, protocol, body in cases:
        ours = wire_named(protocol).check(body[dialect.key])
        assert bool(ours) == bool(refusal(dialect, body)), (ours, refusal(dialect, body))


@st.composite
def broken(draw: st.DrawFn, lists: st.SearchStrategy[list[Any]]) -> list[Any]:
    """A valid list with one message lost, told twice, or moved."""
    messages = draw(lists)
    place = draw(st.integers(0, len(messages) - 1))
    change = draw(st.sampled_from(["lose", "repeat", "move"]))
    message = messages[place]
    if change == "repeat":
        return [*messages[:place], message, *messages[place:]]
    rest = [*messages[:place], *messages[place + 1 :]]
    if change == "lose":
        return rest or messages
    to = draw(st.integers(0, len(rest)))
    return [*rest[:to], message, *rest[to:]]


@settings(max_examples=60)
@given(data=st.data())
def test_our_validator_accepts_nothing_that_the_upstream_refuses(data: st.DataObject) -> None:
    """The other way round it may: what came in wrong is passed on, and answered by the provider."""
    chat = data.draw(broken(histories.chat_messages()))
    claude = data.draw(broken(histories.anthropic_messages()))
    items = data.draw(broken(histories.responses_items()))
    cases = [
        (CHAT, "openai-chat", {"messages": chat}),
        (MESSAGES, "anthropic", sign_messages({"messages": claude})),
        (RESPONSES, "openai-responses", {"input": sign_items(items)}),
    ]
    for dialect, protocol, body in cases:
        ours = wire_named(protocol).check(body[dialect.key])
        assert ours or not refusal(dialect, body), refusal(dialect, body)
