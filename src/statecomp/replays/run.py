"""Strategies over recordings: what would have been sent at every checkpoint of a recorded run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from statecomp.annotation.labels import Labels
from statecomp.annotation.records import Reading
from statecomp.history.history import History
from statecomp.history.interaction import Interaction, JsonObject
from statecomp.history.trajectory import Trajectory
from statecomp.replays.accounting import Bill, common_prefix
from statecomp.replays.safety import Dependencies, action_identifiers
from statecomp.replays.sessions import JoinedRuns
from statecomp.replays.timing import UNJUDGED, LabelJudge, Timing
from statecomp.strategy import Refusal, Ruling, Strategy, StrategyFactory, View
from statecomp.tokens import ESTIMATE, TokenCounter, count_message
from statecomp.wire.assemble import parse
from statecomp.wire.placement import render
from statecomp.wire.protocol import Wire
from statecomp.wire.providers import wire_named

NO_LABELS: Labels = {}


@dataclass(frozen=True, slots=True)
class Standing:
    """What became of each interaction at a checkpoint, by interaction number."""

    kept: frozenset[int]
    edited: frozenset[int]
    summaries: tuple[tuple[int, int, str], ...]  # first, last, text
    scores: Mapping[int, float]


@dataclass(frozen=True)
class ReplayStep:
    """One checkpoint under one strategy.

    `checkpoint` is k, `message` the index of the recorded assistant message.  `segments` counts
    the raw prefix; `first_change` is the first of them that came out differently, or None.
    `rewrote` says that something the previous request had sent came out differently, which ends
    prompt caching there.
    """

    checkpoint: int
    message: int
    bill: Bill
    segments: int
    first_change: int | None
    rewrote: bool
    standing: Standing
    missing: tuple[str, ...] = ()
    refusals: tuple[Refusal, ...] = ()
    commits: int = 0
    ruling: Ruling | None = None
    note: str = ""
    messages: tuple[JsonObject, ...] = ()
    timing: Timing = UNJUDGED


@dataclass(frozen=True)
class Replay:
    """One run under one strategy."""

    strategy: str
    steps: tuple[ReplayStep, ...]

    @property
    def bill(self) -> Bill:
        return sum((step.bill for step in self.steps), Bill())

    @property
    def broken(self) -> tuple[ReplayStep, ...]:
        return tuple(step for step in self.steps if step.missing)

    @property
    def timing(self) -> Timing:
        return sum((step.timing for step in self.steps), UNJUDGED)


@dataclass(frozen=True)
class RunReplay:
    """One run under every strategy, with what is common to them."""

    id: str
    domain: str
    group: str
    interactions: int
    raw_bills: tuple[Bill, ...]  # each checkpoint, uncompressed
    hindsight_tokens: int
    labels: tuple[str, ...]  # one line for each interaction, for people
    replays: tuple[Replay, ...]
    recorded: int = 1  # runs it is made of
    labelled: int = 0  # how many of those have labels

    @property
    def raw(self) -> Bill:
        return sum(self.raw_bills, Bill())

    @property
    def raw_tokens(self) -> tuple[int, ...]:
        return tuple(bill.input for bill in self.raw_bills)


def checkpoints(history: History) -> list[tuple[int, int, Interaction]]:
    """(segment position, message index, interaction) before every assistant message but the first.

    Each is a request the agent really made: the segments before the position were its prefix.
    """
    found, message = [], 0
    for place, segment in enumerate(history.segments):
        if isinstance(segment, Interaction) and segment.number > 1:
            found.append((place, message, segment))
        message += len(segment.messages)
    return found


@dataclass(frozen=True, slots=True)
class Survey:
    """What must be known of all runs before the first is played; `names` its actions use."""

    id: str
    protocol: str
    domain: str
    group: str
    interactions: int
    names: frozenset[str]


def survey(run: Trajectory) -> Survey:
    history = Reading.of(run).history
    names = frozenset[str]().union(*map(action_identifiers, history.interactions))
    return Survey(run.id, run.protocol, run.domain, run.group, len(history.interactions), names)


def used_identifiers(run: Trajectory) -> tuple[str, frozenset[str]]:
    """The run's group and what its actions use, to tell the common from the telling."""
    found = survey(run)
    return found.group, found.names


def replay_run(
    run: Trajectory,
    factories: Mapping[str, StrategyFactory],
    common: frozenset[str],
    *,
    labels: Labels = NO_LABELS,
    count: TokenCounter = ESTIMATE,
    breaks: bool = False,
    keep_messages: bool = False,
) -> RunReplay:
    """Play a recorded run through each strategy.  Messages are parsed and counted once.

    With `breaks`, each later part of a session finds the provider's cache run out.
    """
    wire = wire_named(run.protocol)
    history = parse(run.messages, wire, count)
    begins = _beginnings(run)
    stage = _Stage(
        history,
        checkpoints(history),
        Dependencies.of(history, common, begins),
        LabelJudge.of(run, history, labels),
        wire,
        count,
        begins if breaks else frozenset(),
    )
    raw = _play(_Raw(), stage, keep_messages=False)
    return RunReplay(
        id=run.id,
        domain=run.domain,
        group=run.group,
        interactions=len(history.interactions),
        raw_bills=tuple(step.bill for step in raw),
        hindsight_tokens=sum(stage.dependencies.hindsight(place) for place, _, _ in stage.stops),
        labels=tuple(_label(i) for i in history.interactions),
        replays=tuple(
            Replay(name, _play(factory(run, wire), stage, keep_messages=keep_messages))
            for name, factory in factories.items()
        ),
        recorded=len(run.parts) if isinstance(run, JoinedRuns) else 1,
        labelled=stage.judge.runs,
    )


@dataclass(frozen=True)
class _Stage:
    """What is the same for every strategy that plays a run."""

    history: History
    stops: Sequence[tuple[int, int, Interaction]]
    dependencies: Dependencies
    judge: LabelJudge
    wire: Wire
    count: TokenCounter
    cold: frozenset[int]  # interactions whose request finds the cache run out

    @cached_property
    def outputs(self) -> list[int]:
        return [_output_tokens(interaction, self.count) for _, _, interaction in self.stops]


class _Raw(Strategy):
    def before_request(self, history: History) -> View:
        return View(history)


def _play(strategy: Strategy, stage: _Stage, *, keep_messages: bool) -> tuple[ReplayStep, ...]:
    steps = []
    previous, judge = History(()), stage.judge.anew()
    for (place, message, interaction), output in zip(stage.stops, stage.outputs, strict=True):
        prefix = History(stage.history.segments[:place])
        number = interaction.number
        cold = number in stage.cold
        view = strategy.after_break(prefix) if cold else strategy.before_request(prefix)
        standing = _standing(view, prefix)
        same, unchanged = common_prefix(previous, view.history)
        changed, _ = common_prefix(prefix, view.history)
        whole = changed == len(prefix.segments) == len(view.history.segments)
        steps.append(
            ReplayStep(
                checkpoint=number,
                message=message,
                bill=_bill(view, 0 if cold else unchanged, output),
                segments=len(prefix.segments),
                first_change=None if whole else changed,
                rewrote=same < len(previous.segments),
                missing=() if whole else stage.dependencies.missing(number, view.history),
                refusals=view.refusals,
                commits=len(view.commits),
                ruling=view.ruling,
                standing=standing,
                note=view.note,
                messages=tuple(render(view.history, stage.wire)) if keep_messages else (),
                timing=judge.at(number, view.history, standing.kept),
            )
        )
        previous = view.history
    return tuple(steps)


def _beginnings(run: Trajectory) -> frozenset[int]:
    """Where somebody comes back with the next task."""
    parts = run.parts if isinstance(run, JoinedRuns) else ()
    return frozenset(part.before + 1 for part in parts[1:])


def _bill(view: View, cached: int, output: int) -> Bill:
    return Bill(view.history.tokens, cached, output).with_side(view.side_calls)


def _standing(view: View, prefix: History) -> Standing:
    numbers = {i.id: i.number for i in prefix.interactions}
    survivors = view.history.interactions
    return Standing(
        kept=frozenset(i.number for i in survivors if i.id in numbers),
        edited=frozenset(i.number for i in survivors if i.id not in numbers),
        summaries=tuple((s.first, s.last, s.text) for s in view.history.summaries),
        scores={numbers[name]: score for name, score in view.scores.items() if name in numbers},
    )


def _output_tokens(interaction: Interaction, count: TokenCounter) -> int:
    """What the model wrote: everything in the interaction before the first answer to it."""
    tokens = 0
    for message in interaction.messages:
        if message.get("role") in ("tool", "function", "user") or str(
            message.get("type", "")
        ).endswith(("_output", "_response")):
            break
        tokens += count_message(message, count)
    return tokens


def _label(interaction: Interaction) -> str:
    """One line that lets a person recognise an interaction."""
    line = " ".join(interaction.action.split())
    return line[:117] + "..." if len(line) > 120 else line
