"""Thinking bound to its prefix: when a rewrite must ask for stale blocks to be dropped."""

from __future__ import annotations

from typing import Any

import pytest

from statecomp.errors import InvalidHistory
from statecomp.wire.anthropic.thinking import binds_thinking
from statecomp.wire.anthropic.wire import Anthropic

WIRE = Anthropic()
ADAPTIVE = {"type": "adaptive", "display": "omitted"}
DROP = {"prefix_mismatch_behavior": "drop_block"}
HEADERS = {"anthropic-beta": "thinking-binding-controls-2026-08-01"}
THOUGHT = {"type": "redacted_thinking", "data": "Em8="}
SUMMARY = {"role": "user", "content": [{"type": "text", "text": "past"}]}
CALL = {"type": "tool_use", "id": "a", "name": "bash", "input": {}}
RESULT = {"type": "tool_result", "tool_use_id": "a", "content": "x"}
KEPT: list[dict[str, Any]] = [
    SUMMARY,
    {"role": "assistant", "content": [THOUGHT, CALL]},
    {"role": "user", "content": [RESULT]},
]


@pytest.mark.parametrize(
    ("model", "binds"),
    [
        ("claude-opus-5-5", True),
        ("claude-fable-5.1-20260901", True),
        ("claude-fable-5-1", True),
        ("claude-fable-6", True),
        ("claude-haiku-5-5-20261001", True),
        ("us.anthropic.claude-sonnet-5-5-20261001-v1:0", True),
        ("anthropic/claude-opus-5.5", True),
        ("claude-opus-5-10@20270101", True),
        ("claude-fable-5", False),
        ("claude-fable-5-20260301", False),
        ("claude-opus-5-1", False),
        ("claude-opus-5", False),
        ("claude-opus-4-20250514", False),
        ("claude-3-5-sonnet-20241022", False),
        ("claude-mythos-5-1", False),
        ("gpt-5.6", False),
        ("", False),
    ],
)
def test_the_model_name_tells_whether_thinking_is_bound(model: str, binds: bool) -> None:
    assert binds_thinking(model) is binds


def request(**fields: Any) -> dict[str, Any]:
    return {"model": "claude-fable-5-1", **fields, "messages": [], "stream": True}


def test_stale_thinking_is_dropped_by_request() -> None:
    given = request(thinking=ADAPTIVE)
    adapted = WIRE.adapt(given, KEPT, 0)
    assert adapted.headers == HEADERS
    assert adapted.body["thinking"] == {**ADAPTIVE, "block_binding": DROP}
    assert adapted.body["messages"] == KEPT
    assert list(adapted.body) == list(given)
    assert given == request(thinking={"type": "adaptive", "display": "omitted"})
    again = WIRE.adapt(adapted.body, KEPT, 0)
    assert (again.body, again.headers) == (adapted.body, HEADERS)


def test_a_model_that_was_told_nothing_thinks_adaptively() -> None:
    adapted = WIRE.adapt(request(), KEPT, 0)
    assert adapted.body["thinking"] == {"type": "adaptive", "block_binding": DROP}
    assert adapted.headers == HEADERS


def test_where_stale_thinking_cannot_be_dropped_nothing_is_decided() -> None:
    """A commit that could never be sent would only cost its summary."""
    given = {**request(thinking={"type": "enabled", "budget_tokens": 4096}), "messages": KEPT}
    assert "not adaptive" in WIRE.untouchable(given)
    assert WIRE.untouchable({**given, "messages": KEPT[:1]}) == ""
    assert WIRE.untouchable({**given, "thinking": ADAPTIVE}) == ""


def test_the_users_own_binding_is_respected() -> None:
    same = {**ADAPTIVE, "block_binding": DROP}
    assert WIRE.adapt(request(thinking=same), KEPT, 0).body["thinking"] is same
    refuse = {**ADAPTIVE, "block_binding": {"prefix_mismatch_behavior": "error"}}
    with pytest.raises(InvalidHistory) as caught:
        WIRE.adapt(request(thinking=refuse), KEPT, 0)
    assert caught.value.field == "thinking.block_binding"


@pytest.mark.parametrize(
    "fields",
    [
        {"thinking": {"type": "enabled", "budget_tokens": 4096}},
        {"thinking": {"type": "disabled"}},
    ],
)
def test_without_adaptive_thinking_a_stale_block_forbids_the_rewrite(
    fields: dict[str, Any],
) -> None:
    with pytest.raises(InvalidHistory, match="not adaptive"):
        WIRE.adapt(request(**fields), KEPT, 1)
    # Nothing is stale in front of the change.
    assert WIRE.adapt(request(**fields), KEPT, 2).body == {**request(**fields), "messages": KEPT}


@pytest.mark.parametrize(
    ("model", "messages", "first"),
    [
        ("claude-opus-5", KEPT, 0),
        ("claude-fable-5-1", KEPT, len(KEPT)),
        ("claude-fable-5-1", [SUMMARY], 0),
    ],
)
def test_where_nothing_is_stale_the_body_only_gets_its_messages(
    model: str, messages: list[dict[str, Any]], first: int
) -> None:
    given = {**request(thinking=ADAPTIVE), "model": model}
    adapted = WIRE.adapt(given, messages, first)
    assert adapted.body == {**given, "messages": messages}
    assert adapted.headers == {}
