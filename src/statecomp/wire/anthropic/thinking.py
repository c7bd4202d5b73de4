"""Thinking that is bound to its prefix: what a rewrite before it must say to be accepted.

Newer Claude models sign each thinking block over everything that stood before it.  Behind a
rewrite every such signature is stale, and the request is refused unless it asks for stale blocks
to be dropped.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from statecomp.errors import InvalidHistory
from statecomp.history.interaction import JsonObject
from statecomp.wire.content import blocks
from statecomp.wire.protocol import Adapted

THINKING = ("thinking", "redacted_thinking")
HEADERS = {"anthropic-beta": "thinking-binding-controls-2026-08-01"}
DROP = "drop_block"
REFUSED = {
    "thinking": (
        "the thinking setting of the client is not adaptive, "
        "and this model then refuses its own thinking behind any change"
    ),
    "thinking.block_binding": (
        "the client wants its request refused if anything before a thinking block has changed "
        "(thinking.block_binding)"
    ),
}
"""The fields that forbid a rewrite, in words for a person."""

# The first version of each family that checks what stands before a thinking block.
_BINDING_SINCE = {"fable": (5, 1), "opus": (5, 5), "sonnet": (5, 5), "haiku": (5, 5)}
# A release date may follow the version, so a minor version has at most two digits.
_MODEL = re.compile(r"claude-(fable|opus|sonnet|haiku)-(\d{1,2})(?:[-.](\d{1,2}))?(?!\d)")


def binds_thinking(model: str) -> bool:
    """Whether this model refuses thinking whose prefix has changed."""
    found = _MODEL.search(model.lower())
    if found is None:
        return False
    family, major, minor = found.groups()
    return (int(major), int(minor or 0)) >= _BINDING_SINCE[family]


def has_thinking(message: JsonObject) -> bool:
    return any(
        isinstance(block, Mapping) and block.get("type") in THINKING
        for block in blocks(message.get("content"))
    )


def allow_stale_thinking(
    body: Mapping[str, Any], messages: Sequence[JsonObject], first: int
) -> Adapted:
    """The body, asking for thinking behind the change at `first` to be dropped where it must be.

    What the user set is never overruled: where it forbids the rewrite, InvalidHistory is raised.
    """
    stale = binds_thinking(str(body.get("model", ""))) and any(map(has_thinking, messages[first:]))
    if not stale:
        return Adapted(body)
    # These models think adaptively unless told otherwise, so saying it changes nothing else.
    thinking = body.get("thinking") or {"type": "adaptive"}
    if not isinstance(thinking, Mapping) or thinking.get("type") != "adaptive":
        raise InvalidHistory(
            "is not adaptive, so stale thinking behind a summary cannot be dropped",
            field="thinking",
        )
    binding = thinking.get("block_binding")
    if binding is None:
        thinking = {**thinking, "block_binding": {"prefix_mismatch_behavior": DROP}}
        return Adapted({**body, "thinking": thinking}, HEADERS)
    if not isinstance(binding, Mapping) or binding.get("prefix_mismatch_behavior") != DROP:
        raise InvalidHistory(
            "asks for stale thinking to be refused, so nothing before it may change",
            field="thinking.block_binding",
        )
    return Adapted(body, HEADERS)


def forbids_rewriting(body: Mapping[str, Any], messages: Sequence[JsonObject]) -> str:
    """Why no message may change, where thinking that would go stale could not be dropped."""
    readable = [message for message in messages if isinstance(message, Mapping)]
    try:
        allow_stale_thinking(body, readable, 0)
    except InvalidHistory as error:
        return REFUSED[error.field]
    return ""
