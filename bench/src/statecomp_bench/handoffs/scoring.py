"""What came of hand-offs: the checker's word, and what the reader had to do for it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import fmean, stdev

from statecomp.errors import StateCompError
from statecomp_bench.handoffs.folder import Handoff, HandoffFolder
from statecomp_bench.handoffs.reading import BROKEN_OFF, case_of, outside_of, workplace
from statecomp_bench.readers.lines import append_line, read_lines
from statecomp_bench.suite import Conditions, checked


@dataclass(frozen=True, slots=True)
class HandoffOutcome:
    """One hand-off, scored as it stands; `read` are tokens of all that its calls brought up."""

    name: str
    reader: str
    reward: float
    parts: Mapping[str, float]
    calls: int
    read: int
    again: int
    reason: str


def outcomes(
    folder: HandoffFolder, conditions: Conditions, *, close: bool = False
) -> Iterator[tuple[Handoff, HandoffOutcome]]:
    """Every hand-off that is finished, or with `close` every one; each is scored once."""
    known = {line["name"]: HandoffOutcome(**line) for line in read_lines(folder.results)}
    for handoff in folder.require():
        if handoff.name not in known and (close or folder.ending(handoff.name) is not None):
            known[handoff.name] = scored(folder, handoff, conditions)
            append_line(folder.results, asdict(known[handoff.name]))
        if handoff.name in known:
            yield handoff, known[handoff.name]


def scored(folder: HandoffFolder, handoff: Handoff, conditions: Conditions) -> HandoffOutcome:
    """The workspace as the reader left it; a reader who did nothing left it as it was."""
    ending, calls = folder.ending(handoff.name), folder.calls(handoff.name)
    reason = ending.reason if ending else BROKEN_OFF
    parts: dict[str, float] = {}
    reward = 0.0
    try:
        with workplace(folder, handoff, conditions) as sandbox:
            asked = outside_of(folder, handoff).calls
            score = checked(case_of(handoff), sandbox, asked)
            reward, parts = score.reward, {part.name: part.value for part in score.parts}
    except StateCompError as error:
        reason = reason or str(error)
    return HandoffOutcome(
        name=handoff.name,
        reader=ending.reader if ending else "",
        reward=round(reward, 6),
        parts=parts,
        calls=len(calls),
        read=sum(call.tokens for call in calls),
        again=sum(call.again for call in calls),
        reason=reason,
    )


@dataclass(frozen=True)
class HandoffLine:
    """One strategy over its hand-offs; each figure is a mean with its standard error."""

    strategy: str
    count: int
    tokens: float
    share: float
    reward: tuple[float, float]
    calls: tuple[float, float]
    read: tuple[float, float]
    again: tuple[float, float]
    whole: int
    ended: int


def lines(found: Sequence[tuple[Handoff, HandoffOutcome]]) -> list[HandoffLine]:
    """Strategies in the order they were prepared."""
    groups: dict[str, list[tuple[Handoff, HandoffOutcome]]] = {}
    for handoff, outcome in found:
        groups.setdefault(handoff.strategy, []).append((handoff, outcome))
    return [_line(strategy, group) for strategy, group in groups.items()]


def _line(strategy: str, group: Sequence[tuple[Handoff, HandoffOutcome]]) -> HandoffLine:
    results = [outcome for _, outcome in group]
    raw = sum(handoff.raw for handoff, _ in group)
    return HandoffLine(
        strategy,
        len(group),
        fmean(handoff.tokens for handoff, _ in group),
        sum(handoff.tokens for handoff, _ in group) / raw if raw else 0.0,
        spread([100 * r.reward for r in results]),
        spread([r.calls for r in results]),
        spread([r.read for r in results]),
        spread([r.again for r in results]),
        sum(r.reward > 0.999 for r in results),
        sum(bool(r.reason) for r in results),
    )


def spread(values: Sequence[float]) -> tuple[float, float]:
    """The mean, and its standard error."""
    error = stdev(values) / len(values) ** 0.5 if len(values) > 1 else 0.0
    return fmean(values), error
