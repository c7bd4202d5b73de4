"""Server-sent events, as bytes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any


def event(data: Any, name: str = "") -> bytes:
    head = f"event: {name}\n" if name else ""
    return f"{head}data: {json.dumps(data, separators=(',', ':'))}\n\n".encode()


def pieces(text: str, size: int = 24) -> Iterator[str]:
    """A text in the small parts a model streams it in."""
    for start in range(0, len(text), size):
        yield text[start : start + size]
