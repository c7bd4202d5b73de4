"""The providers there are, and which of them a body, a message list or a path is of.

A new one is a file that makes a `Provider`, and a line in `PROVIDERS`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from statecomp.errors import BadInput
from statecomp.tokens.usage import Usage
from statecomp.wire.anthropic.provider import ANTHROPIC
from statecomp.wire.openai_chat.provider import OPENAI_CHAT
from statecomp.wire.openai_responses.provider import OPENAI_RESPONSES
from statecomp.wire.protocol import Placement, Wire
from statecomp.wire.provider import Provider
from statecomp.wire.text_action import TEXT_ACTION

# Asked in this order; the first is taken where nothing tells.
PROVIDERS = (OPENAI_CHAT, ANTHROPIC, OPENAI_RESPONSES, TEXT_ACTION)
BY_NAME: Mapping[str, Provider] = {provider.name: provider for provider in PROVIDERS}
AS_USER = Placement()


def provider_named(name: str) -> Provider:
    if name not in BY_NAME:
        known = ", ".join(BY_NAME)
        raise BadInput(f"there is no protocol named {name!r}; the known ones are {known}")
    return BY_NAME[name]


def wire_named(name: str, placement: Placement = AS_USER) -> Wire:
    return provider_named(name).wire(placement)


def provider_at(path: str) -> Provider | None:
    """Whose requests with a history, or for its token count, go to this path."""
    return next((provider for provider in PROVIDERS if provider.serves(path)), None)


def provider_by(headers: Mapping[bytes, bytes]) -> Provider:
    """Whose client sends these headers, where the path does not tell."""
    known = (provider for provider in PROVIDERS if not provider.known_by.isdisjoint(headers))
    return next(known, PROVIDERS[0])


def detect(source: Mapping[str, Any] | Sequence[Any]) -> str:
    """The protocol's name, by content; the first provider's where nothing tells.

    Never text-action: its user messages are tool output, which only the caller can know.
    """
    body = source if isinstance(source, Mapping) else {"messages": source}
    messages = body.get("messages")
    for message in messages if isinstance(messages, list | tuple) else ():
        if isinstance(message, Mapping):
            for provider in PROVIDERS:
                if provider.tells(message):
                    return provider.name
    return next((each.name for each in PROVIDERS if each.asks(body)), PROVIDERS[0].name)


def usage_in(found: Mapping[str, Any]) -> Usage:
    """What a `usage` object says; gateways may answer in another shape than they were asked in."""
    read = (usage for provider in PROVIDERS if (usage := provider.usage(found)) is not None)
    return next(read, Usage())
