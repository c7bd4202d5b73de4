"""From labelled runs to pairs: the features of every interaction at every checkpoint."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

import numpy as np

from statecomp.annotation.forecasts import Forecasts
from statecomp.annotation.labels import Labels
from statecomp.annotation.records import Reading
from statecomp.errors import BadInput
from statecomp.history.history import History
from statecomp.history.interaction import Interaction
from statecomp.router.pairs import Features, Flags, Floats, Numbers, Pairs, ready_flags
from statecomp.router.scorer import Reader

Table: TypeAlias = tuple[Features, Numbers, Numbers]
"""Features, i and k of every pair of one run."""


class Mapped(Protocol):
    """As `map`: wherever the job runs, its results come in the order of the runs."""

    def __call__(
        self, job: Callable[[Reading], Table], readings: Iterable[Reading], /
    ) -> Iterable[Table]: ...


def prefixes(reading: Reading) -> Iterator[tuple[int, History]]:
    """(k, P_k) for every checkpoint: what stood before interaction k, uncompressed."""
    for place, segment in enumerate(reading.history.segments):
        if isinstance(segment, Interaction) and segment.number > 1:
            yield segment.number, History(reading.history.segments[:place])


def features_of(reading: Reading, reader: Reader) -> Table:
    blocks: list[Features] = []
    numbers: list[int] = []
    checkpoints: list[int] = []
    for checkpoint, prefix in prefixes(reading):
        ids, x = reader.read(prefix)  # (interactions, width)
        number = {i.id: i.number for i in prefix.interactions}
        blocks.append(x)
        numbers += [number[name] for name in ids]
        checkpoints += [checkpoint] * len(ids)
    width = len(reader.NAMES)
    x = np.concatenate(blocks) if blocks else np.zeros((0, width), np.float32)  # (pairs, width)
    return x, np.array(numbers, np.int32), np.array(checkpoints, np.int32)


@dataclass(frozen=True)
class FeatureJob:
    """The features of one run, by a reader of its own."""

    reader: Callable[[], Reader]

    def __call__(self, reading: Reading) -> Table:
        return features_of(reading, self.reader())


def supervised_pairs(
    readings: Sequence[Reading],
    labels: Labels,
    reader: Callable[[], Reader],
    mapped: Mapped = map,
    forecasts: Forecasts | None = None,
) -> Pairs:
    """The pairs of every run that has labels; a run with none is left out, half a run is an error.

    `mapped` may read the runs elsewhere, such as on the workers of an engine.  Forecasts of runs
    without labels are not used.
    """
    known = [reading for reading in readings if reading.id in labels]
    if not known:
        raise BadInput("none of the runs has a label; were the labels made from other runs?")
    tables = [*mapped(FeatureJob(reader), known)]
    run = np.repeat(np.arange(len(known), dtype=np.int32), [len(x) for x, _, _ in tables])
    number = np.concatenate([numbers for _, numbers, _ in tables])  # (pairs,)
    checkpoint = np.concatenate([checkpoints for _, _, checkpoints in tables])  # (pairs,)
    names = tuple(reading.id for reading in known)
    ready: Flags = ready_flags(names, run, number, checkpoint, labels)
    return Pairs(
        x=np.concatenate([x for x, _, _ in tables]),  # (pairs, width)
        ready=ready,
        run=run,
        number=number,
        checkpoint=checkpoint,
        runs=names,
        groups=tuple(reading.group for reading in known),
        domains=tuple(reading.domain for reading in known),
        lengths=tuple(reading.last for reading in known),
        foreseen=None
        if forecasts is None
        else _foreseen(names, run, number, checkpoint, forecasts),
    )


def _foreseen(
    runs: Sequence[str], run: Numbers, number: Numbers, checkpoint: Numbers, forecasts: Forecasts
) -> Floats:
    """What was forecast of every pair, NaN where nobody did; one of no pair here is an error."""
    foreseen = np.full(len(run), np.nan)  # (pairs,)
    rows = zip(run, number, checkpoint, strict=True)
    places = {(int(r), int(i), int(k)): row for row, (r, i, k) in enumerate(rows)}
    for place, name in enumerate(runs):
        for k, ready in forecasts.get(name, {}).items():
            for i, probability in enumerate(ready, start=1):
                row = places.get((place, i, k))
                if row is None:
                    problem = f"name interaction {i} of run {name!r} at checkpoint {k}, which it"
                    raise BadInput(f"{problem} does not have", field="forecasts")
                foreseen[row] = probability
    if len(run) and bool(np.isnan(foreseen).all()):
        problem = "name none of the labelled runs; were they made from others?"
        raise BadInput(problem, field="forecasts")
    return foreseen
