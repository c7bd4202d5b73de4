"""System messages amid an Anthropic conversation: how long one is read, and what must follow it.

They are accepted only behind a message of the user and before one of the assistant, or last.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from statecomp.history.interaction import JsonObject
from statecomp.wire.content import text_of

LEAD_IN = "(What I did next is in the record that follows.)"
# What Claude Code writes behind every message of the user for models that ask for it.
_TOKENS_LEFT = re.compile(r"\s*<total_tokens>[^<]*</total_tokens>\s*")


def newest_user(messages: Sequence[JsonObject]) -> int:
    users = (n for n, message in enumerate(messages) if message.get("role") == "user")
    return max(users, default=-1)


def lasts_one_turn(message: JsonObject) -> bool:
    """Whether a system message tells the model nothing once the user has spoken again.

    Either it is not even shown from then on, or it counts the tokens that were left.  It then goes
    with the turn it stands behind.
    """
    if message.get("role") != "system" or message.get("output_config"):
        return False
    if message.get("clear_at") == "next_user_message":
        return True
    return _TOKENS_LEFT.fullmatch(text_of(message.get("content"))) is not None


def lead_in(before: JsonObject) -> tuple[JsonObject, ...]:
    """Where a span stood behind a system message, something of the assistant's must still stand."""
    if before.get("role") != "system":
        return ()
    return ({"role": "assistant", "content": [{"type": "text", "text": LEAD_IN}]},)
