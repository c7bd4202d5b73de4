"""Observation masking: actions stay, observations older than the last K are blanked."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from statecomp.errors import BadInput
from statecomp.history.history import History
from statecomp.history.interaction import Interaction, Segment
from statecomp.strategy import Strategy, View
from statecomp.tokens import ESTIMATE, TokenCounter, count_message
from statecomp.wire.assemble import digest
from statecomp.wire.protocol import Wire


def blank(text: str) -> str:
    """What stands where an observation stood; a shorter observation stays as it is."""
    lines = text.count("\n") + 1
    note = f"[old observation left out: {lines} lines]"
    return note if len(note) < len(text) else text


@dataclass(frozen=True)
class ObservationMasking(Strategy):
    wire: Wire
    keep: int = 10
    count: TokenCounter = ESTIMATE
    _masked: dict[str, Interaction] = field(default_factory=dict, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.keep < 0:
            raise BadInput(f"must not be negative, not {self.keep}", field="keep")

    def before_request(self, history: History) -> View:
        newest = history.checkpoint - 1
        return View(
            History(tuple(self._seen(segment, newest) for segment in history.segments)),
        )

    def _seen(self, segment: Segment, newest: int) -> Segment:
        if not isinstance(segment, Interaction) or segment.locked:
            return segment
        if newest - segment.number < self.keep:
            return segment
        if segment.id not in self._masked:
            self._masked[segment.id] = self._mask(segment)
        return self._masked[segment.id]

    def _mask(self, interaction: Interaction) -> Interaction:
        messages = tuple(self.wire.edit_observations(interaction.messages, blank))
        return replace(
            interaction,
            id=digest(interaction.id, "masked"),
            messages=messages,
            tokens=sum(count_message(message, self.count) for message in messages),
            observations=tuple(replace(o, text=blank(o.text)) for o in interaction.observations),
        )
