"""What one checkpoint hands back: the messages to send, every decision, and what was saved."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from statecomp.errors import BadInput
from statecomp.explain import UNTOUCHABLE, explain
from statecomp.history.history import History
from statecomp.history.interaction import Interaction, JsonObject
from statecomp.ledger.commits import Commit
from statecomp.strategy import View


@dataclass(frozen=True, slots=True)
class Pins:
    """What the user wants kept whatever the scores say, beside all user and system messages."""

    tools: frozenset[str] = frozenset()
    pattern: str = ""
    ids: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        try:
            re.compile(self.pattern)
        except re.error as error:
            raise BadInput(f"is not a regular expression: {error}", field="pattern") from error

    def hold(self, interaction: Interaction) -> bool:
        """Whether this interaction is pinned."""
        return (
            interaction.id in self.ids
            or any(call.name in self.tools for call in interaction.calls)
            or bool(self.pattern and re.search(self.pattern, interaction.text))
        )


@dataclass(frozen=True, slots=True)
class Decision:
    """What was decided about one surviving interaction, and why."""

    id: str
    number: int
    score: float
    ready: bool
    reason: str


@dataclass(frozen=True)
class Checkpoint:
    """What goes out at one checkpoint, and how it came to that.

    `body` and `headers` are what a proxy forwards; unless `rewritten`, the body is the very one
    that came in.  `note` says what stood in the way of a decision: the messages then hold what was
    committed before or, without a `view`, are those that came in.  `raw` is the history as it was
    read, `applied` are the commits that stand in the view, `decided` says that nothing is left to
    be decided at this state, `sent` that this history went out before, as it does now.
    """

    messages: list[JsonObject]
    raw_tokens: int
    sent_tokens: int
    view: View | None = None
    note: str = ""
    body: Mapping[str, Any] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    rewritten: bool = False
    raw: History | None = None
    applied: tuple[Commit, ...] = ()
    decided: bool = False
    sent: bool = False

    @property
    def saved_tokens(self) -> int:
        """What does not go out, by our own count."""
        return self.raw_tokens - self.sent_tokens

    @property
    def commits(self) -> tuple[Commit, ...]:
        """Replacements made at this checkpoint; earlier ones are in the messages too."""
        return self.view.commits if self.view else ()

    @property
    def why(self) -> str:
        """One sentence: what was done here, or what stood in the way of sending less."""
        if self.view is None or self.raw is None:
            return f"{UNTOUCHABLE}: {self.note}"
        return explain(self.view, self.raw)

    @property
    def decisions(self) -> tuple[Decision, ...]:
        """One for every interaction that still stands in full."""
        if self.view is None:
            return ()
        return tuple(self._decision(i, self.view) for i in self.view.history.interactions)

    def _decision(self, interaction: Interaction, view: View) -> Decision:
        number = interaction.number
        score = view.scores.get(interaction.id, 0.0)
        required = view.required.get(interaction.id, 1.0)
        ready = not interaction.locked and score >= required
        waits = (r.reason for r in view.refusals if r.first <= number <= r.last)
        if interaction.locked:
            reason = interaction.locked
        elif ready:
            reason = next(waits, "ready")
        elif required > 1.0:
            reason = "too new to be judged"
        else:
            reason = f"score {score:.2f} is below {required:.2f}"
        return Decision(interaction.id, number, score, ready, reason)


def as_it_came(
    body: Mapping[str, Any], key: str, note: str, raw: History | None = None
) -> Checkpoint:
    """A request that is left alone, and why; `key` is where its protocol has the messages."""
    messages = body.get(key)
    tokens = raw.tokens if raw is not None else 0
    return Checkpoint(
        messages=list(messages) if isinstance(messages, list | tuple) else [],
        raw_tokens=tokens,
        sent_tokens=tokens,
        note=note,
        body=body,
        raw=raw,
    )


def first_change(before: Sequence[JsonObject], after: Sequence[JsonObject]) -> int:
    """The position of the first message that is not the one that came in."""
    for place, (old, new) in enumerate(zip(before, after, strict=False)):
        if old is not new:
            return place
    return min(len(before), len(after))
