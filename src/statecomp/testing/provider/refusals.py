"""What all three readings of the wire rules share: how strict to be, and how to refuse."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any


@dataclass(frozen=True, slots=True)
class Strictness:
    """`alternate`: no two user messages in a row and no system message but the first, as chat
    templates of open models demand.  `max_bytes`: a larger body is answered with 413."""

    alternate: bool = False
    max_bytes: int = 32_000_000


STRICT = Strictness()


class Refused(Exception):
    """A rule is broken; the text is the provider's sentence."""

    def __init__(self, message: str, status: int = 400, param: str = "") -> None:
        super().__init__(message)
        self.status = status
        self.param = param


def insist(holds: bool, message: str, param: str = "") -> None:
    if not holds:
        raise Refused(message, param=param)


def parts_of(content: Any) -> list[Mapping[str, Any]]:
    """Content as typed parts; a plain string is one text part."""
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [part for part in content or () if isinstance(part, Mapping)]


def bare(value: Any) -> Any:
    """A value without cache markers, which may move between requests."""
    if isinstance(value, Mapping):
        return {k: bare(v) for k, v in value.items() if k != "cache_control"}
    return [bare(item) for item in value] if isinstance(value, list | tuple) else value


def digest(*values: Any) -> str:
    text = json.dumps(values, sort_keys=True, separators=(",", ":"))
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:24]


def chain(head: Any, messages: list[Any]) -> Iterator[str]:
    """One digest for each prefix: of the head alone, then with each further message."""
    name = digest(bare(head))
    yield name
    for message in messages:
        name = digest(name, _plain(message))
        yield name


def _plain(message: Any) -> Any:
    """A message with its text in one form: to a provider both forms are the same tokens."""
    if isinstance(message, Mapping) and isinstance(message.get("content"), str):
        return bare({**message, "content": [{"type": "text", "text": message["content"]}]})
    return bare(message)
