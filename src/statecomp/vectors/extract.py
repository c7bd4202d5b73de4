"""Vectors of recorded runs, by one construction, kept in a content-addressed store.

A shard holds one run at one layer: a candidate vector for each sampled pair (i, k), a current-state
vector for each sampled checkpoint, and what they cost.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from time import perf_counter
from typing import Any, Final, TypeAlias, get_args

import numpy as np
import torch

from statecomp.annotate.records import Reading
from statecomp.errors import BadInput
from statecomp.features import presets, view
from statecomp.features.constructions import CONSTRUCTIONS, GROWING, budget_of
from statecomp.features.encoder import EncoderSettings, Floats, FrozenEncoder, Readout
from statecomp.features.states import ReaderSettings, StateReader
from statecomp.features.store import Arrays, FeatureStore, Recipe
from statecomp.history.trajectory import Trajectory
from statecomp.router.supervision import prefixes
from statecomp.vectors.cost import cost_of
from statecomp.vectors.sample import ALL, Sample
from statecomp.vectors.taps import TappedEncoder, open_tapped

Wanted: TypeAlias = Mapping[int, tuple[int, ...]]
State: TypeAlias = tuple[int, Floats, Floats]
"""A checkpoint k, its candidates (n, d) in the order of the sample, and its current state (d,)."""


@dataclass(frozen=True, slots=True)
class Extraction:
    """What to read of each run, and how; `layers` () takes the preset's."""

    construction: str = "once"
    layers: tuple[int, ...] = ()
    readout: Readout = "last"
    encoder: str = presets.DEFAULT
    sample: Sample = ALL

    def __post_init__(self) -> None:
        for name, value, known in (
            ("construction", self.construction, CONSTRUCTIONS),
            ("readout", self.readout, get_args(Readout)),
        ):
            if value not in known:
                raise BadInput(f"is {value!r}, none of {', '.join(known)}", field=name)

    def recipe(self, layer: int) -> Recipe:
        return Recipe(self.encoder, layer, f"{self.construction} {self.readout} {self.sample}")

    def stores(self, folder: Path, layers: tuple[int, ...]) -> dict[int, FeatureStore]:
        return {layer: FeatureStore(folder, self.recipe(layer)) for layer in layers}


@dataclass(frozen=True, slots=True)
class Done:
    """One run, read now or found."""

    run: str
    found: bool
    tokens_read: int = 0
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class ExtractOne:
    """The work on one run; a value, so that another process can do it."""

    extraction: Extraction
    folder: Path

    def __call__(self, run: Trajectory) -> Done:
        encoder = encoder_for(self.extraction)
        stores = self.extraction.stores(self.folder, encoder.layers)
        if not any(store.missing([run]) for store in stores.values()):
            return Done(run.id, found=True)
        started, before = perf_counter(), encoder.tokens_read
        arrays = read_run(encoder, run, self.extraction)
        seconds, tokens = perf_counter() - started, encoder.tokens_read - before
        spent = {"tokens_read": np.array(tokens), "seconds": np.array(seconds)}
        made_by = {"weights": np.array(encoder.weights), "dtype": np.array(encoder.dtype)}
        for layer, store in stores.items():
            store.write(run, {**arrays[layer], **spent, **made_by})
        return Done(run.id, found=False, tokens_read=tokens, seconds=seconds)


def encoder_for(extraction: Extraction) -> TappedEncoder:
    return _opened(extraction.encoder, extraction.readout, extraction.layers)


@lru_cache(maxsize=1)
def _opened(model: str, readout: Readout, layers: tuple[int, ...]) -> TappedEncoder:
    """One encoder a process: many runs, one loading."""
    # Another number of threads may round in another way; `--jobs` is how to use more cores.
    torch.set_num_threads(1)
    return open_tapped(EncoderSettings(model=model, readout=readout), layers)


def read_run(encoder: TappedEncoder, run: Trajectory, extraction: Extraction) -> dict[int, Arrays]:
    """The arrays of one shard for each layer."""
    reading = Reading.of(run)
    wanted = extraction.sample.of(run, reading.last)
    states = [*READERS[extraction.construction](encoder, reading, wanted)]
    width = encoder.width
    candidates = np.concatenate([np.zeros((0, width), np.float32), *(c for _, c, _ in states)])
    current = np.array([q for _, _, q in states], np.float32).reshape(-1, width)  # (states, d)
    tokenize = cache(encoder.tokenize)
    cost = cost_of(
        reading.history, extraction.construction, lambda t: len(tokenize(t)), encoder.context
    )
    common: dict[str, Any] = {
        "checkpoints": np.array([k for k, _, _ in states], np.int32),  # (states,)
        "number": np.array([i for k, _, _ in states for i in wanted[k]], np.int32),  # (pairs,)
        "checkpoint": np.array([k for k, _, _ in states for _ in wanted[k]], np.int32),
        "cost": np.array([cost.apart, cost.shared, cost.peak], np.int64),
    }
    by_layer, now = encoder.split(candidates), encoder.split(current)
    return {
        layer: {**common, "candidates": by_layer[layer], "current": now[layer]}
        for layer in encoder.layers
    }


def _growing(construction: str) -> _Read:
    """One pass over the growing run.

    For `full` it gives what a fresh pass at each checkpoint would (causal prefix invariance); the
    cost that is counted is that of fresh passes.
    """

    def read(encoder: FrozenEncoder, reading: Reading, wanted: Wanted) -> Iterator[State]:
        budget = budget_of(construction, encoder.context)
        reader = StateReader(encoder, ReaderSettings(budget.window, budget.overlap))
        for k, prefix in prefixes(reading):
            if k in wanted:
                found = reader.read(prefix)
                rows = [number - 1 for number in wanted[k]]
                yield k, found.candidates[rows], found.current

    return read


def _local(encoder: FrozenEncoder, reading: Reading, wanted: Wanted) -> Iterator[State]:
    """Each target alone, so its vector holds for every checkpoint."""
    limit = budget_of("local", encoder.context).target
    interactions = reading.interactions[: max(wanted, default=1) - 1]
    views = [view.local(target, encoder.tokenize, limit).ids for target in interactions]
    vectors = encoder.encode(views)  # (interactions, d)
    for k, numbers in wanted.items():
        # Nothing but targets was read: the latest of them says where the agent is.
        yield k, vectors[[number - 1 for number in numbers]], vectors[k - 2]


def _recent(construction: str) -> _Read:
    def read(encoder: FrozenEncoder, reading: Reading, wanted: Wanted) -> Iterator[State]:
        budget = budget_of(construction, encoder.context)
        tokenize = cache(encoder.tokenize)
        for k, prefix in prefixes(reading):
            if k not in wanted:
                continue
            views = [
                view.capped_recent(
                    prefix.interactions[number - 1],
                    prefix,
                    tokenize,
                    budget.recent,
                    budget.base,
                    budget.target,
                )
                for number in wanted[k]
            ]
            shared = views[0].shared
            base, targets = views[0].ids[:shared], [v.ids[shared:] for v in views]
            yield k, *encoder.encode_behind(base, targets)

    return read


_Read: TypeAlias = Callable[[FrozenEncoder, Reading, Wanted], Iterator[State]]
READERS: Final[Mapping[str, _Read]] = {
    **{construction: _growing(construction) for construction in GROWING},
    "local": _local,
    **{name: _recent(name) for name in ("recent2", "recent4", "capped-recent4")},
}
