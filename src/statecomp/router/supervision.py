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
from statecomp.router.pairs import Features, Floats, Numbers, Pairs, ready_flags
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
    without labels are not used; one of no pair here is an error.
    """
    known = [reading for reading in readings if reading.id in labels]
    if not known:
        raise BadInput("none of the runs has a label; were the labels made from other runs?")
    if forecasts is not None:
        must_fit(forecasts, known)
    return tabled(known, [*mapped(FeatureJob(reader), known)], labels, forecasts)


def must_fit(forecasts: Forecasts, readings: Sequence[Reading]) -> None:
    """Refuses forecasts of no run here, and of a step that a run does not have."""
    for reading in readings:
        for k, ready in forecasts.get(reading.id, {}).items():
            if ready and k not in reading.checkpoints:
                problem = (
                    f"name steps of run {reading.id!r} at checkpoint {k}, which it does not have; "
                    "were they made from others?"
                )
                raise BadInput(problem, field="forecasts")
    if not any(forecasts.get(reading.id) for reading in readings):
        raise BadInput("name none of the runs; were they made from others?", field="forecasts")


def tabled(
    readings: Sequence[Reading],
    tables: Sequence[Table],
    labels: Labels,
    forecasts: Forecasts | None = None,
) -> Pairs:
    """One table a run, one behind the other."""
    sizes = [len(x) for x, _, _ in tables]
    x, number, checkpoint = (np.concatenate(column) for column in zip(*tables, strict=True))
    run = np.repeat(np.arange(len(tables), dtype=np.int32), sizes)
    return pairs_at(readings, x, (run, number, checkpoint), labels, forecasts)


def pairs_at(
    readings: Sequence[Reading],
    x: Features,
    places: tuple[Numbers, Numbers, Numbers],
    labels: Labels,
    forecasts: Forecasts | None = None,
) -> Pairs:
    """A row for each place: the run, i and k.  Where nobody forecast, what is foreseen is NaN."""
    names = tuple(reading.id for reading in readings)
    run, number, checkpoint = places
    return Pairs(
        x=x,
        ready=ready_flags(names, run, number, checkpoint, labels),
        run=run,
        number=number,
        checkpoint=checkpoint,
        runs=names,
        groups=tuple(reading.group for reading in readings),
        domains=tuple(reading.domain for reading in readings),
        lengths=tuple(reading.last for reading in readings),
        foreseen=None if forecasts is None else _foreseen(names, places, forecasts),
    )


def _foreseen(
    names: Sequence[str], places: tuple[Numbers, Numbers, Numbers], forecasts: Forecasts
) -> Floats:
    foreseen = np.full(len(places[0]), np.nan)  # (pairs,)
    rows = zip(*(place.tolist() for place in places), strict=True)
    for row, (run, number, checkpoint) in enumerate(rows):
        said = forecasts.get(names[run], {}).get(checkpoint, ())
        if number <= len(said):
            foreseen[row] = said[number - 1]
    return foreseen
