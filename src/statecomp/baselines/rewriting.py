"""Histories rewritten by the baselines: parts edited, left out or replaced by a text, always valid.

A strategy is given the raw history each time.  What it decided earlier it finds again by `Marks`,
so that a request sent twice, or a run that forks, gets the answer that belongs to it.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Generic, TypeVar

from statecomp.baselines.writing import Writer
from statecomp.controller.controller import summary_of
from statecomp.controller.states import tip
from statecomp.errors import BadInput, SummaryFailed
from statecomp.history.facts import FactIndex
from statecomp.history.history import History
from statecomp.history.identity import digest
from statecomp.history.interaction import Interaction, Pinned, Segment, Summary
from statecomp.options import Options
from statecomp.records.record import frame
from statecomp.strategy import Refusal
from statecomp.tokens import ESTIMATE, TokenCounter, count_message
from statecomp.wire.placement import render
from statecomp.wire.protocol import Wire

WINDOW = 200_000
"""The context window a share of it is taken of, unless another is given."""

Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class Budget:
    """Tokens, or, up to 1, a share of a whole that the method names."""

    amount: float

    def __post_init__(self) -> None:
        if not self.amount > 0:
            problem = f"must be a number of tokens or a share up to 1, not {self.amount}"
            raise BadInput(problem, field="budget")

    @property
    def is_share(self) -> bool:
        return self.amount <= 1

    def of(self, whole: int) -> int:
        return round(self.amount * whole) if self.is_share else int(self.amount)


class Marks(Generic[Value]):
    """Values left at states of a run, found again in every history that went through them."""

    def __init__(self) -> None:
        self._values: dict[str, Value] = {}

    def put(self, history: History, value: Value) -> Value:
        self._values[tip(history)] = value
        return value

    def here(self, history: History) -> Value | None:
        """What was left at exactly this state."""
        return self._values.get(tip(history))

    def along(self, history: History) -> Iterator[Value]:
        """What was left on the way to this state, the latest first."""
        for segment in reversed(history.segments):
            if segment.id in self._values:
                yield self._values[segment.id]

    def latest(self, history: History) -> Value | None:
        return next(self.along(history), None)


def edited(
    interaction: Interaction,
    edit: Callable[[str], str],
    wire: Wire,
    count: TokenCounter,
    mark: str,
) -> Interaction:
    """The interaction with its observations passed through `edit`; `mark` names what was done.

    Where nothing changes it is the very interaction, which is still whole and still cached.
    """
    messages = tuple(wire.edit_observations(interaction.messages, edit))
    if all(new is old for new, old in zip(messages, interaction.messages, strict=True)):
        return interaction
    return replace(
        interaction,
        id=digest(interaction.id, mark),
        messages=messages,
        tokens=sum(count_message(message, count) for message in messages),
        observations=tuple(replace(o, text=edit(o.text)) for o in interaction.observations),
    )


def may_go(segment: Segment) -> bool:
    """Whether a baseline may touch it: the user's words and open calls stay whatever happens."""
    return isinstance(segment, Interaction) and not segment.locked


def older(history: History, keep: int) -> tuple[Interaction, ...]:
    """The interactions that may go, without the last `keep` of all."""
    whole = history.interactions
    return tuple(i for i in whole[: len(whole) - keep if keep else None] if not i.locked)


def collapsed(history: History, gone: Container[str], stand: Sequence[Segment] = ()) -> History:
    """The history without some interactions; `stand` stands where the last of them stood.

    Messages of the user that lie between them stay, before what stands for the interactions.
    """
    segments = history.segments
    places = [p for p, s in enumerate(segments) if s.id in gone and may_go(s)]
    if not places:
        return history
    dropped, last = set(places), places[-1]
    before = (s for p, s in enumerate(segments[:last]) if p not in dropped)
    return History((*before, *stand, *segments[last + 1 :]))


def text_for(text: str, members: Sequence[Interaction], wire: Wire, count: TokenCounter) -> Summary:
    """A text as the segment that stands for these interactions."""
    first, last = members[0].number, members[-1].number
    return summary_of(text, tuple(member.id for member in members), first, last, wire, count)


def no_worse(rewritten: History, before: History, wire: Wire) -> bool:
    """Whether a rewrite breaks no more protocol rules than the history it was made from."""
    if rewritten is before:
        return True
    after = len(wire.check(render(rewritten, wire)))
    return not after or after <= len(wire.check(render(before, wire)))


def sound(rewritten: History, before: History, wire: Wire) -> History:
    """The rewrite, or what it was made from where it would break a protocol rule."""
    return rewritten if no_worse(rewritten, before, wire) else before


def changed(history: History, change: Callable[[Interaction], Interaction]) -> History:
    """Each interaction that may go passed through `change`; all else as it was."""
    return History(
        tuple(
            change(segment) if isinstance(segment, Interaction) and not segment.locked else segment
            for segment in history.segments
        )
    )


def at_least(least: int, **given: int) -> None:
    """Options that count something, held to the least they can be."""
    for name, value in given.items():
        if value < least:
            raise BadInput(f"must be at least {least}, not {value}", field=name)


def task_of(history: History) -> str:
    """What the user asked first."""
    users = (s.text for s in history.segments if isinstance(s, Pinned) and s.role == "user")
    return next(users, "")


@dataclass(frozen=True)
class Compaction:
    """Texts, and the interactions they stand for."""

    text: str
    summaries: tuple[Summary, ...]
    gone: frozenset[str]
    checkpoint: int

    def applied(self, history: History) -> History:
        return collapsed(history, self.gone, self.summaries)


@dataclass(frozen=True)
class Compactor:
    """Has stretches of a run replaced by a text, trying once at each state; else all stays.

    With `accumulate` each stretch keeps a text of its own beside the earlier ones; without, one
    text stands for all of them and the earlier one is read again.
    """

    wire: Wire
    writer: Writer
    count: TokenCounter = ESTIMATE
    accumulate: bool = False
    _made: Marks[Compaction] = field(default_factory=Marks, repr=False, compare=False)
    _refused: Marks[Refusal] = field(default_factory=Marks, repr=False, compare=False)

    def latest(self, history: History) -> Compaction | None:
        return self._made.latest(history)

    def applied(self, history: History) -> History:
        """The history with what was replaced on the way to this state; raw where that breaks it."""
        made = self.latest(history)
        if made is None:
            return history
        rewritten = made.applied(history)
        return sound(rewritten, history, self.wire)

    def tried(self, history: History) -> bool:
        return bool(self._made.here(history) or self._refused.here(history))

    def compact(self, history: History, span: Sequence[Interaction]) -> tuple[Refusal, ...]:
        """Have `span` replaced from this state on, or say why not."""
        if not span or self._made.here(history):
            return ()
        refusal = self._refused.here(history)
        if refusal is None:
            try:
                self._made.put(history, self._written(history, span))
            except SummaryFailed as error:
                refusal = Refusal(span[0].number, span[-1].number, str(error))
                self._refused.put(history, refusal)
        return (refusal,) if refusal else ()

    def _written(self, history: History, span: Sequence[Interaction]) -> Compaction:
        before = self.latest(history)
        gone = frozenset(i.id for i in span) | (before.gone if before else frozenset())
        rest = FactIndex(s for s in history.segments if s.id not in gone)
        text = self.writer.write(task_of(history), before.text if before else "", span, rest)
        if before and self.accumulate:
            stretch, earlier, whole = span, before.summaries, f"{before.text}\n\n{text}"
        else:
            stretch = tuple(i for i in history.interactions if i.id in gone)
            earlier, whole = (), text
        framed = frame(text, stretch[0].number, stretch[-1].number)
        summary = text_for(framed, stretch, self.wire, self.count)
        made = Compaction(whole, (*earlier, summary), gone, history.checkpoint)
        if not no_worse(made.applied(history), history, self.wire):
            raise SummaryFailed("the replacement would break a protocol rule")
        return made


def budget_of(options: Options, default: float) -> Budget:
    """`budget=`: tokens, or a share up to 1.

    A share is one of the text that is compressed for methods with a rate (llmlingua2, lre), and of
    the window (`window=`, 200,000) for methods with a trigger (pace, selfcompact, acon, selfgc).
    """
    return Budget(options.real("budget", default))
