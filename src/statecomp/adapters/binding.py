"""Thinking that Claude binds to what stands before it: what a shortened request must say.

Behind a change the newer models refuse their own thinking, unless they are told to drop it.  The
proxy says so in the body; an adapter can where its framework passes such a setting on.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from statecomp.errors import InvalidHistory
from statecomp.history.interaction import JsonObject
from statecomp.wire.anthropic.thinking import (
    REFUSED,
    allow_stale_thinking,
    binds_thinking,
    has_thinking,
)
from statecomp.wire.protocol import Adapted

SIGNED = "this model refuses its own thinking behind any change, so nothing was changed"
BETA = "anthropic-beta"
_A_THOUGHT: JsonObject = {"content": [{"type": "thinking"}]}


def dropping(model: str, thinking: object, messages: Iterable[JsonObject]) -> Adapted | None:
    """The setting with which thinking behind a change is dropped, and the header it needs.

    None where this model checks nothing, or these messages hold no thinking.  Raises
    InvalidHistory where the user's own setting forbids it.
    """
    if not binds_thinking(model) or not any(map(_thinks, messages)):
        return None
    return allow_stale_thinking({"model": model, "thinking": thinking}, [_A_THOUGHT], 0)


def refusal(body: Mapping[str, Any], messages: Iterable[JsonObject], *, tells: bool) -> str:
    """Why nothing may change before thinking; empty where it may.

    `tells` says that whoever asks passes on what `dropping` gives.
    """
    try:
        told = dropping(str(body.get("model") or ""), body.get("thinking"), messages)
    except InvalidHistory as error:
        return REFUSED[error.field]
    return SIGNED if told is not None and not tells else ""


def with_beta(given: Mapping[str, str], added: Mapping[str, str]) -> dict[str, str]:
    """Headers of both; names of betas stand in one, with commas between."""
    own = {name.lower(): value for name, value in given.items()}
    both = {name: f"{own[name]},{value}" for name, value in added.items() if name in own}
    return {**own, **added, **both}


def _thinks(message: JsonObject) -> bool:
    """In any protocol: one that speaks Responses to Claude writes thinking as reasoning."""
    if message.get("type") == "reasoning":
        return True
    beside = (message.get("reasoning_details"), message.get("thinking_blocks"))
    return has_thinking(message) or any(has_thinking({"content": held}) for held in beside)
