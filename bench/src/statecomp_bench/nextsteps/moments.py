"""Hard moments: a recorded step uses something old that the labels still keep."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from random import Random

from statecomp.annotation.labels import Labels
from statecomp.errors import BadInput
from statecomp.history.history import History
from statecomp.history.trajectory import Trajectory
from statecomp.wire.assemble import parse
from statecomp.wire.providers import wire_named
from statecomp_bench.readers.views import before

OLDEST_KEPT = 5


@dataclass(frozen=True)
class Moment:
    """Before step `number` of a run, which uses what `uses` names: (interaction, what of it)."""

    run: Trajectory
    history: History
    number: int
    uses: tuple[tuple[int, str], ...]


@dataclass(frozen=True, slots=True)
class Bounds:
    """How old the thing used must be, and how long the history may be in tokens."""

    age: int = OLDEST_KEPT
    shortest: int = 3_000
    longest: int = 40_000


def moments(
    runs: Iterable[Trajectory],
    labels: Labels,
    bounds: Bounds,
    seed: int = 0,
) -> list[Moment]:
    """One moment of each task, drawn from the seed; domains take turns."""
    domains: dict[str, list[Moment]] = {}
    groups: set[str] = set()
    for run in runs:
        found = [] if (run.group or run.id) in groups else [*_of(run, labels, bounds)]
        if found:
            groups.add(run.group or run.id)
            chosen = Random(f"{seed}/{run.id}").choice(found)
            domains.setdefault(run.domain, []).append(chosen)
    for name, group in domains.items():
        Random(f"{seed}/{name}").shuffle(group)
    return [*_in_turn([domains[name] for name in sorted(domains)])]


def _of(run: Trajectory, labels: Labels, bounds: Bounds) -> Iterator[Moment]:
    uses: dict[int, list[tuple[int, str]]] = {}
    for number, label in labels.get(run.id, {}).items():
        for veto in label.veto:
            if veto.at - number >= bounds.age and not label.ready(veto.at):
                uses.setdefault(veto.at, []).append((number, veto.what))
    if not uses:
        return
    try:
        history = parse(run.messages, wire_named(run.protocol))
    except BadInput:
        return  # labels were set on other messages than these
    for number in sorted(uses):
        if number <= len(history.interactions):
            prefix, step = before(history, number)
            if step.action.strip() and bounds.shortest <= prefix.tokens <= bounds.longest:
                yield Moment(run, history, number, tuple(sorted(uses[number])))


def _in_turn(groups: Sequence[Sequence[Moment]]) -> Iterator[Moment]:
    for turn in range(max(map(len, groups), default=0)):
        yield from (group[turn] for group in groups if turn < len(group))
