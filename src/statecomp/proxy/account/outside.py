"""What is sent beside the history: tool definitions, long and nearly always the same."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from statecomp.history.identity import digest
from statecomp.history.patient_json import dumps
from statecomp.recent import LruCache
from statecomp.tokens import ESTIMATE, TokenCounter

KNOWN = 64


@dataclass(frozen=True, slots=True)
class Outside:
    """Tokens, and a name for what they are."""

    tokens: int = 0
    name: str = ""


NOTHING = Outside()


@dataclass
class Definitions:
    """Counted once; known by a name, for the definitions themselves may be of any length."""

    count: TokenCounter = ESTIMATE
    _known: LruCache[str, Outside] = field(default_factory=lambda: LruCache(KNOWN))

    def of(self, tools: Any) -> Outside:
        if not tools:
            return NOTHING
        text = dumps(tools, default=str)
        name = digest(text)
        return self._known.get(name) or self._known.put(name, Outside(self.count(text), name))
