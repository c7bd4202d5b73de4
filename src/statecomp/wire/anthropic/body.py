"""What an Anthropic request says beside its messages: whether its history is ours to shorten."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

CLEARS_THINKING = "clear_thinking_"
EVERYTHING = ("all", {"type": "all"})


def kept_elsewhere(body: Mapping[str, Any]) -> str:
    """Why the provider, and not the client, says what this history is; or nothing."""
    return next(_reasons(body), "")


def _reasons(body: Mapping[str, Any]) -> Iterator[str]:
    thread = body.get("thread")
    if isinstance(thread, Mapping) and thread.get("type") != "create":
        yield (
            "the history lives on the server (thread is set), "
            "so this request holds only its newest part"
        )
    if not _edits_nothing(body.get("context_management")):
        yield "the client has the provider clear parts of this history itself (context_management)"
    if body.get("compaction"):
        yield "the client has the provider summarise this history itself (compaction)"


def _edits_nothing(management: Any) -> bool:
    """Whether every edit keeps all there is, as clients ask by default to save the cache."""
    if not management:
        return True
    if not isinstance(management, Mapping) or any(
        management[k] for k in management.keys() - {"edits"}
    ):
        return False
    edits = management.get("edits") or ()
    return isinstance(edits, list | tuple) and all(map(_keeps_everything, edits))


def _keeps_everything(edit: Any) -> bool:
    # Left out, `keep` is the model's default, which may be the last turn alone.
    return (
        isinstance(edit, Mapping)
        and str(edit.get("type")).startswith(CLEARS_THINKING)
        and edit.get("keep") in EVERYTHING
    )
