"""From sessions to pairs: labels by rules or by a chat, corrected by what was seen."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from statecomp.annotation.dataflow import Dataflow
from statecomp.annotation.forecasts import Forecasts
from statecomp.annotation.labels import Label, Labels
from statecomp.annotation.pipeline import Annotator, annotate
from statecomp.annotation.records import Reading
from statecomp.features.evidence import EvidenceReader
from statecomp.history.history import History
from statecomp.learning.outcomes import StepOutcome, seen
from statecomp.learning.sessions import Lived
from statecomp.router.bundle import Bundle
from statecomp.router.pairs import Floats, Pairs
from statecomp.router.supervision import Table, prefixes, tabled

CHECKPOINTS = 12
"""Of each session so many moments are learned from: a long one must not outvote all others."""
SURE = 0.98
"""How surely what was seen counts."""
Heard = Callable[[str], None]
"""Hears what is done now."""


def unheard(stage: str) -> None:
    """Says nothing."""


@dataclass(frozen=True)
class Lessons:
    """What a user's sessions teach.

    `pairs.foreseen` is what a chat forecast, else what the shipped router says, and what was seen
    above both.  `corrected` counts the steps where that changed a label, `at_odds` those where it
    contradicted itself; `read_by` says who set the labels.
    """

    pairs: Pairs
    labels: Labels
    corrected: int
    at_odds: int
    read_by: str


def lessons(
    lived: Sequence[Lived],
    shipped: Bundle,
    annotator: Annotator | None = None,
    forecasts: Forecasts | None = None,
    heard: Heard = unheard,
) -> Lessons:
    labels: dict[str, Mapping[int, Label]] = {}
    corrected = at_odds = 0
    for one in lived:
        heard(one.id)
        said = {
            label.number: label for label in annotate(one.reading, annotator or Dataflow()).labels
        }
        by_number = _by_number(one.outcomes)
        labels[one.id] = {n: seen(label, by_number.get(n, ())) for n, label in said.items()}
        corrected += sum(labels[one.id][n].boundary != said[n].boundary for n in said)
        at_odds += sum(_at_odds(found) for found in by_number.values())
    pairs = pairs_of([one.reading for one in lived], labels, CHECKPOINTS, forecasts)
    wanted = _foreseen(pairs, lived, shipped)
    read_by = "a chat" if annotator is not None else "rules over identifiers"
    return Lessons(replace(pairs, foreseen=wanted), labels, corrected, at_odds, read_by)


def _by_number(found: Sequence[StepOutcome]) -> dict[int, list[StepOutcome]]:
    by_number: dict[int, list[StepOutcome]] = {}
    for one in found:
        by_number.setdefault(one.number, []).append(one)
    return by_number


def _at_odds(found: Sequence[StepOutcome]) -> bool:
    """Replaced twice, and of use to nobody once, to somebody the other time."""
    fates = {one.fate for one in found}
    return "quiet" in fates and bool(fates & {"returned", "undone"})


def _foreseen(pairs: Pairs, lived: Sequence[Lived], shipped: Bundle) -> Floats:
    """What a router could have known; of the newest step nobody says anything."""
    said = pairs.foreseen if pairs.foreseen is not None else np.full(len(pairs), np.nan)
    known = np.where(np.isnan(said), shipped.scores(pairs.x), said)  # (pairs,)
    known[pairs.age < 2] = np.nan
    for place, one in enumerate(lived):
        mine = (pairs.run == place) & (pairs.age >= 2)  # (pairs,)
        for outcome in one.outcomes:
            rows = mine & (pairs.number == outcome.number)  # (pairs,)
            if outcome.fate == "quiet":
                known[rows & (pairs.checkpoint >= outcome.since)] = SURE
        for outcome in one.outcomes:
            rows = mine & (pairs.number == outcome.number)  # (pairs,)
            if outcome.fate == "undone":
                known[rows] = 1.0 - SURE
            elif outcome.fate == "returned":
                known[rows & (pairs.checkpoint <= outcome.needed)] = 1.0 - SURE
    return known


def pairs_of(
    readings: Sequence[Reading],
    labels: Labels,
    checkpoints: int,
    forecasts: Forecasts | None = None,
) -> Pairs:
    """Evidence at so many checkpoints of each run, at those that were forecast where some were."""
    told = forecasts or {}
    tables = [
        _table(r, spread(sorted(told.get(r.id) or r.checkpoints), checkpoints)) for r in readings
    ]
    return tabled(readings, tables, labels, told or None)


def spread(places: Sequence[int], count: int) -> frozenset[int]:
    """So many of them, from the first to the last."""
    if len(places) <= count:
        return frozenset(places)
    chosen = np.linspace(0, len(places) - 1, count).round().astype(int)
    return frozenset(places[place] for place in chosen)


def _table(reading: Reading, wanted: frozenset[int]) -> Table:
    reader, rows = EvidenceReader(), [*_rows(reading, wanted)]
    blocks = [reader.read(prefix)[1] for _, prefix, _ in rows]
    x = np.concatenate(blocks) if blocks else np.zeros((0, len(reader.NAMES)), np.float32)
    numbers = [n for _, _, found in rows for n in found]
    checkpoints = [k for k, _, found in rows for _ in found]
    return x, np.array(numbers, np.int32), np.array(checkpoints, np.int32)


def _rows(reading: Reading, wanted: frozenset[int]) -> Iterator[tuple[int, History, list[int]]]:
    for k, prefix in prefixes(reading):
        if k in wanted:
            yield k, prefix, [i.number for i in prefix.interactions]
