"""Vectors of recorded runs, by one construction, kept in a content-addressed store.

A shard holds one run at one layer: a candidate vector for each sampled pair (i, k), a current-state
vector for each sampled checkpoint, and what they cost.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from time import process_time
from typing import Any, Final, TypeAlias, get_args

import numpy as np
import torch

from statecomp.annotation.records import Reading
from statecomp.errors import BadInput
from statecomp.features import presets, view
from statecomp.features.constructions import CONSTRUCTIONS, GROWING, ROOM_FOR_TARGET, budget_of
from statecomp.features.encoder import EncoderSettings, Floats, FrozenEncoder, Readout
from statecomp.features.states import ReaderSettings, StateReader
from statecomp.features.store import Arrays, FeatureStore, StoreRecipe
from statecomp.history.trajectory import Trajectory
from statecomp.router.supervision import prefixes
from statecomp.vectors.cost import cost_of
from statecomp.vectors.sample import ALL, Sample
from statecomp.vectors.taps import TappedEncoder, open_tapped

Wanted: TypeAlias = Mapping[int, tuple[int, ...]]
Place: TypeAlias = tuple[int, Readout]
"""A layer, and how it was read out."""
State: TypeAlias = tuple[int, Floats, Floats]
"""A checkpoint k, its candidates (n, d) in the order of the sample, and its current state (d,)."""


@dataclass(frozen=True, slots=True)
class Extraction:
    """What to read of each run, and how; `layers` () takes the preset's.

    `scale` divides the limits of every construction; then no text is read beyond the room that a
    target would have, both its ends, so that a run stays within what the model takes.
    """

    construction: str = "once"
    layers: tuple[int, ...] = ()
    readout: Readout = "last"
    encoder: str = presets.DEFAULT
    sample: Sample = ALL
    scale: int = 1
    dtype: str = "auto"

    def __post_init__(self) -> None:
        for name, value, known in (
            ("construction", self.construction, CONSTRUCTIONS),
            ("readout", self.readout, get_args(Readout)),
        ):
            if value not in known:
                raise BadInput(f"is {value!r}, none of {', '.join(known)}", field=name)

    @property
    def readouts(self) -> tuple[Readout, ...]:
        return ("last", "mean") if self.readout == "both" else (self.readout,)

    @property
    def longest(self) -> int | None:
        return ROOM_FOR_TARGET // self.scale if self.scale > 1 else None

    def recipe(self, layer: int, readout: Readout | None = None) -> StoreRecipe:
        words = [self.construction, readout or self.readout, str(self.sample)]
        words += [f"scale=1/{self.scale}"] if self.scale > 1 else []
        words += [self.dtype] if self.dtype != "auto" else []
        return StoreRecipe(self.encoder, layer, " ".join(words))

    def stores(self, folder: Path, layers: tuple[int, ...]) -> dict[Place, FeatureStore]:
        return {
            (layer, readout): FeatureStore(folder, self.recipe(layer, readout))
            for layer in layers
            for readout in self.readouts
        }


@dataclass(frozen=True, slots=True)
class Done:
    """One run, read now or found; seconds are of the processor, so others at work do not count."""

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
        started, before = process_time(), encoder.tokens_read
        arrays = read_run(encoder, run, self.extraction)
        seconds, tokens = process_time() - started, encoder.tokens_read - before
        spent = {"tokens_read": np.array(tokens), "seconds": np.array(seconds)}
        made_by = {"weights": np.array(encoder.weights), "dtype": np.array(encoder.dtype)}
        for place, store in stores.items():
            store.write(run, {**arrays[place], **spent, **made_by})
        return Done(run.id, found=False, tokens_read=tokens, seconds=seconds)


@dataclass(frozen=True, slots=True)
class ExtractAll:
    """One run by several constructions, one behind the other: their texts are the same."""

    each: tuple[ExtractOne, ...]

    def __call__(self, run: Trajectory) -> tuple[Done, ...]:
        return tuple(work(run) for work in self.each)


def encoder_for(extraction: Extraction) -> TappedEncoder:
    settings = EncoderSettings(
        model=extraction.encoder, readout=extraction.readout, dtype=extraction.dtype
    )
    return _opened(settings, extraction.layers, extraction.longest)


@lru_cache(maxsize=1)
def _opened(
    settings: EncoderSettings, layers: tuple[int, ...], longest: int | None
) -> TappedEncoder:
    """One encoder a process: many runs, one loading."""
    # Another number of threads may round in another way; `--jobs` is how to use more cores.
    torch.set_num_threads(1)
    return open_tapped(settings, layers, longest)


def read_run(
    encoder: TappedEncoder, run: Trajectory, extraction: Extraction
) -> dict[Place, Arrays]:
    """The arrays of one shard for each layer and readout."""
    reading = Reading.of(run)
    wanted = extraction.sample.of(run, reading.last)
    states = [*READERS[extraction.construction](encoder, reading, wanted, extraction.scale)]
    candidates = np.array([row for _, c, _ in states for row in c], np.float32)  # (pairs, d)
    current = np.array([q for _, _, q in states], np.float32)  # (states, d)
    tokenize = cache(encoder.tokenize)
    cost = cost_of(
        reading.history,
        extraction.construction,
        lambda text: len(tokenize(text)),
        encoder.context,
        extraction.scale,
    )
    common: dict[str, Any] = {
        "checkpoints": np.array([k for k, _, _ in states], np.int32),  # (states,)
        "number": np.array([i for k, _, _ in states for i in wanted[k]], np.int32),  # (pairs,)
        "checkpoint": np.array([k for k, _, _ in states for _ in wanted[k]], np.int32),
        "cost": np.array([cost.apart, cost.shared, cost.peak], np.int64),
    }
    read, now = (_apart(encoder, vectors, extraction) for vectors in (candidates, current))
    return {place: {**common, "candidates": read[place], "current": now[place]} for place in read}


def _apart(encoder: TappedEncoder, vectors: Floats, extraction: Extraction) -> dict[Place, Floats]:
    """The vectors of each layer and readout; a state that was read at its end has but one."""
    count = max(1, vectors.size // max(1, len(vectors)) // encoder.width)
    by_readout = np.split(vectors.reshape(-1, count * encoder.width), count, axis=1)
    return {
        (layer, readout): part
        for place, readout in enumerate(extraction.readouts)
        for layer, part in encoder.split(by_readout[min(place, count - 1)]).items()
    }


def _growing(construction: str) -> _Read:
    """One pass over the growing run.

    For `full` it gives what a fresh pass at each checkpoint would (causal prefix invariance); the
    cost that is counted is that of fresh passes.
    """

    def read(
        encoder: FrozenEncoder, reading: Reading, wanted: Wanted, scale: int
    ) -> Iterator[State]:
        budget = budget_of(construction, encoder.context, scale)
        reader = StateReader(encoder, ReaderSettings(budget.window, budget.overlap))
        for k, prefix in prefixes(reading):
            if k in wanted:
                found = reader.read(prefix)
                rows = [number - 1 for number in wanted[k]]
                yield k, found.candidates[rows], found.current

    return read


def _local(encoder: FrozenEncoder, reading: Reading, wanted: Wanted, scale: int) -> Iterator[State]:
    """Each target alone, so its vector holds for every checkpoint."""
    limit = budget_of("local", encoder.context, scale).target
    interactions = reading.interactions[: max(wanted, default=1) - 1]
    views = [view.local(target, encoder.tokenize, limit).ids for target in interactions]
    vectors = encoder.encode(views)  # (interactions, d)
    for k, numbers in wanted.items():
        # Nothing but targets was read: the latest of them says where the agent is.
        yield k, vectors[[number - 1 for number in numbers]], vectors[k - 2]


def _recent(construction: str) -> _Read:
    def read(
        encoder: FrozenEncoder, reading: Reading, wanted: Wanted, scale: int
    ) -> Iterator[State]:
        budget = budget_of(construction, encoder.context, scale)
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


_Read: TypeAlias = Callable[[FrozenEncoder, Reading, Wanted, int], Iterator[State]]
READERS: Final[Mapping[str, _Read]] = {
    **{construction: _growing(construction) for construction in GROWING},
    "local": _local,
    **{name: _recent(name) for name in ("recent2", "recent4", "capped-recent4")},
}
