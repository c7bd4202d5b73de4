"""What a token counter is."""

from __future__ import annotations

from typing import Protocol


class TokenCounter(Protocol):
    """Counts the tokens of a text; `exact` is True only for the model's own tokenizer."""

    @property
    def name(self) -> str: ...

    @property
    def exact(self) -> bool: ...

    def __call__(self, text: str) -> int: ...
