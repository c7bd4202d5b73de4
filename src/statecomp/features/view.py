"""What a frozen model is given to read: token views of a history, as pure functions.

A bounded view is the state first and the target behind it (appendix C.1 of the paper,
V_ik = B_M(S_i, H_k; K_ctx), at most M tokens).  The leading `shared` tokens are the same for every
target of a checkpoint, so whoever reads the views may compute them once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from statecomp.history.history import History
from statecomp.history.interaction import Interaction, Pinned, Segment, Summary

Ids: TypeAlias = Sequence[int]
Tokenize: TypeAlias = Callable[[str], Ids]

BASE_TOKENS: Final = 4_096
TARGET_TOKENS: Final = 1_024
VIEW_BUDGET: Final = BASE_TOKENS + TARGET_TOKENS


@dataclass(frozen=True, slots=True)
class TokenView:
    """Tokens to read; `ends` is the place of each interaction's last token, by interaction id.

    `truncated` counts the tokens left out to keep the budget.
    """

    ids: tuple[int, ...]
    ends: Mapping[str, int] = field(default_factory=dict)
    shared: int = 0
    truncated: int = 0


def serialize(segment: Segment) -> str:
    """A segment as the frozen model reads it, the same for every protocol.

    Reasoning is left out: clients drop it from later requests, and one interaction must have one
    vector whenever it is read.
    """
    match segment:
        case Pinned():
            return f"[{segment.role}]\n{segment.text}\n"
        case Summary():
            return f"[summary]\n{segment.text}\n"
        case Interaction():
            return f"[assistant]\n{segment.action}\n[result]\n{segment.observed}\n"


def full(history: History, tokenize: Tokenize) -> TokenView:
    """The whole history: h_i at the last token of each interaction, q_k at the last of all."""
    return _joined(history.segments, tokenize)


def local(target: Interaction, tokenize: Tokenize, target_tokens: int | None = None) -> TokenView:
    """The target alone."""
    return _behind(TokenView(()), target, tokenize, target_tokens)


def recent(target: Interaction, history: History, tokenize: Tokenize, count: int) -> TokenView:
    """The target behind the last `count` interactions, nothing cut (Recent2, Recent4)."""
    return _behind(state(history, tokenize, count), target, tokenize, None)


def capped_recent(
    target: Interaction,
    history: History,
    tokenize: Tokenize,
    count: int = 4,
    base_tokens: int = BASE_TOKENS,
    target_tokens: int = TARGET_TOKENS,
) -> TokenView:
    """The same within `base_tokens + target_tokens`, whatever the history holds."""
    return _behind(state(history, tokenize, count, base_tokens), target, tokenize, target_tokens)


def state(
    history: History, tokenize: Tokenize, count: int, base_tokens: int | None = None
) -> TokenView:
    """The current state: the latest user request, then the last `count` interactions.

    Where it is too long its beginning goes, because what happened last says where the agent is.
    """
    requests = [s for s in history.segments if isinstance(s, Pinned) and s.role == "user"]
    view = _joined((*requests[-1:], *history.interactions[-count:]), tokenize)
    cut = max(0, len(view.ids) - base_tokens) if base_tokens is not None else 0
    ends = {name: end - cut for name, end in view.ends.items() if end >= cut}
    return TokenView(view.ids[cut:], ends, len(view.ids) - cut, cut)


def _joined(segments: Sequence[Segment], tokenize: Tokenize) -> TokenView:
    # Each segment is tokenized alone, so that its tokens do not depend on its neighbours.
    ids: list[int] = []
    ends: dict[str, int] = {}
    for segment in segments:
        ids.extend(tokenize(serialize(segment)))
        if isinstance(segment, Interaction):
            ends[segment.id] = len(ids) - 1
    return TokenView(tuple(ids), ends, len(ids))


def _behind(
    base: TokenView, target: Interaction, tokenize: Tokenize, limit: int | None
) -> TokenView:
    tokens = tokenize(serialize(target))
    kept = both_ends(tokens, limit) if limit is not None else tuple(tokens)
    ids = (*base.ids, *kept)
    truncated = base.truncated + len(tokens) - len(kept)
    return TokenView(ids, {**base.ends, target.id: len(ids) - 1}, len(base.ids), truncated)


def both_ends(tokens: Ids, limit: int) -> tuple[int, ...]:
    """Head and tail: what the agent did stands first, what came of it stands last."""
    if len(tokens) <= limit:
        return tuple(tokens)
    tail = limit // 2
    return (*tokens[: limit - tail], *tokens[len(tokens) - tail :])
