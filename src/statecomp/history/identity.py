"""Names for content: the same bytes have the same name, on every machine and in every version."""

from __future__ import annotations

from hashlib import blake2b
from typing import Any

from statecomp.history.patient_json import dumps


def digest(*parts: str) -> str:
    """A stable name for content; 128 bits, so that strangers' contents never meet."""
    state = blake2b(digest_size=16)
    for part in parts:
        # Lone surrogates occur in recorded tool output and must still hash.
        state.update(part.encode("utf-8", "surrogatepass"))
        state.update(b"\0")
    return state.hexdigest()


def canonical(value: Any) -> str:
    return dumps(value, sort_keys=True, ensure_ascii=True, separators=(",", ":"), default=str)
