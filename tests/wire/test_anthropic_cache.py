"""A free cache breakpoint goes to a record, so that what stands before it is found."""

from __future__ import annotations

from typing import Any

import pytest

from statecomp.compressor import StateComp
from statecomp.controller.spans import Gates
from statecomp.testing.words import OneLiner
from statecomp.wire.anthropic.cache import anchored
from statecomp.wire.anthropic.wire import Anthropic
from statecomp.wire.content import markers

SHORT, HOUR = {"type": "ephemeral"}, {"type": "ephemeral", "ttl": "1h"}


def said(role: str, text: str, **more: Any) -> dict[str, Any]:
    return {"role": role, "content": [{"type": "text", "text": text, **more}]}


RECORD = said("user", "record")


def placed(messages: list[dict[str, Any]], **body: Any) -> list[int]:
    """Where breakpoints stand once the message at position 1 is ours."""
    sent = anchored(body, messages, messages[1])
    return [place for place, message in enumerate(sent) for _ in markers(message)]


def test_the_record_gets_a_breakpoint_that_the_client_left_free() -> None:
    messages = [said("user", "go"), RECORD, said("user", "now", cache_control=SHORT)]
    assert placed(messages) == [1, 2]
    assert placed([said("user", "go"), RECORD], system=[{"text": "x", "cache_control": SHORT}]) == [
        1
    ]


def test_it_lives_as_long_as_the_clients_next_one() -> None:
    messages = [said("user", "go"), RECORD, said("user", "now", cache_control=HOUR)]
    assert next(markers(anchored({}, messages, RECORD)[1])) == ("cache_control", HOUR)


@pytest.mark.parametrize(
    ("messages", "body"),
    [
        ([said("user", "go"), RECORD], {}),
        (
            [said("user", "go"), RECORD, said("user", "now", cache_control=SHORT)],
            {"tools": [{"cache_control": SHORT}] * 3},
        ),
        ([said("user", "go"), said("user", "record", cache_control=SHORT)], {}),
        ([said("user", "go", cache_control=SHORT), {"role": "user", "content": "text"}], {}),
    ],
    ids=["no breakpoints", "none free", "has one", "not a block of ours"],
)
def test_else_the_messages_stay_as_they_are(
    messages: list[dict[str, Any]], body: dict[str, Any]
) -> None:
    assert anchored(body, messages, messages[1]) is messages


def test_a_record_that_was_merged_into_another_message_gets_none() -> None:
    messages = [said("user", "go", cache_control=SHORT), said("user", "record and more")]
    assert anchored({}, messages, RECORD) is messages


def test_a_rewritten_request_is_valid_and_kept_messages_are_the_very_objects() -> None:
    class All:
        def score(self, history: Any) -> dict[str, float]:
            return {i.id: 1.0 for i in history.interactions[:-1]}

    messages: list[dict[str, Any]] = [said("user", "go")]
    for n in range(6):
        call = {"type": "tool_use", "id": f"c{n}", "name": "read", "input": {"n": n}}
        seen = {"type": "tool_result", "tool_use_id": f"c{n}", "content": "word " * 300}
        messages += [{"role": "assistant", "content": [call]}, {"role": "user", "content": [seen]}]
    messages[-1]["content"][0]["cache_control"] = SHORT
    comp = StateComp(All(), rule=Gates(), summarizer=OneLiner(), protocol="anthropic")
    checkpoint = comp.checkpoint({"messages": messages})
    sent = checkpoint.body["messages"]
    assert checkpoint.rewritten
    assert Anthropic().check(sent) == []
    assert [place for place, m in enumerate(sent) for _ in markers(m)] == [1, len(sent) - 1]
    assert sent[0] is messages[0]
    assert sent[-1] is messages[-1]
