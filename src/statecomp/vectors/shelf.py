"""What lies in a folder of features: a card for each recipe, and the vectors it leads to."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from statecomp.annotation.records import Reading
from statecomp.errors import BadInput
from statecomp.features.store import FeatureStore, StoreRecipe
from statecomp.history.trajectory import Trajectory
from statecomp.router.pairs import Features, Flags, Numbers
from statecomp.vectors.cost import Cost
from statecomp.vectors.sample import Sample

FORMAT = 1
PREFIX = "recipe-"


@dataclass(frozen=True)
class StudyCard:
    """One recipe, in words that a table can use, and the runs that were asked of it."""

    construction: str
    readout: str
    recipe: StoreRecipe
    sample: Sample
    runs: tuple[str, ...]

    @property
    def layer(self) -> int:
        return self.recipe.layer

    def path(self, folder: Path) -> Path:
        digest = sha256(json.dumps(asdict(self.recipe), sort_keys=True).encode()).hexdigest()
        return folder / f"{PREFIX}{digest[:16]}.json"


def put_card(folder: Path, card: StudyCard) -> None:
    """Adds these runs to the recipe's card."""
    path = card.path(folder)
    known = _read(path).runs if path.exists() else ()
    card = replace(card, runs=tuple(dict.fromkeys((*known, *card.runs))))
    text = json.dumps({"format": FORMAT, **asdict(card)}, indent=1) + "\n"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    except OSError as error:
        raise BadInput(f"cannot be written: {error.strerror}", file=str(path)) from error


def cards(folders: Iterable[Path]) -> list[tuple[Path, StudyCard]]:
    """Every recipe of these folders; raises BadInput where a folder holds none."""
    found: list[tuple[Path, StudyCard]] = []
    for folder in folders:
        here = [(folder, _read(path)) for path in sorted(folder.glob(f"{PREFIX}*.json"))]
        if not here:
            raise BadInput("holds no features; make them by statecomp extract", file=str(folder))
        found += here
    return found


def _read(path: Path) -> StudyCard:
    try:
        record: Any = json.loads(path.read_text("utf-8"))
        if record.pop("format") != FORMAT:
            raise ValueError
        return StudyCard(
            construction=str(record["construction"]),
            readout=str(record["readout"]),
            recipe=StoreRecipe(**record["recipe"]),
            sample=Sample(**record["sample"]),
            runs=tuple(map(str, record["runs"])),
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        problem = "is no card of features that this version writes; extract them again"
        raise BadInput(problem, file=str(path)) from error


@dataclass(frozen=True)
class Vectors:
    """All sampled pairs of several runs, as one recipe read them; rows by run, k and i."""

    candidate: Features  # (pairs, d)
    current: Features  # (pairs, d)
    run: Numbers  # (pairs,)
    number: Numbers  # (pairs,)
    checkpoint: Numbers  # (pairs,)
    readings: tuple[Reading, ...]
    cost: Cost
    tokens_read: int
    seconds: float
    weights: str = ""  # of the model that read them
    dtype: str = ""

    @property
    def state(self) -> Numbers:
        """Which (run, k) a row belongs to, counted from zero."""
        keys = np.stack([self.run, self.checkpoint], axis=1)  # (pairs, 2)
        _, place = np.unique(keys, axis=0, return_inverse=True)
        return place.reshape(-1).astype(np.int32)  # (pairs,)

    def pairs_key(self) -> bytes:
        """Two recipes may stand in one table only where this is the same."""
        names = "\n".join(reading.id for reading in self.readings).encode()
        rows = np.stack([self.run, self.number, self.checkpoint])  # (3, pairs)
        return names + rows.astype(np.int64).tobytes()

    def where(self, rows: Flags) -> Vectors:
        return replace(
            self,
            candidate=self.candidate[rows],
            current=self.current[rows],
            run=self.run[rows],
            number=self.number[rows],
            checkpoint=self.checkpoint[rows],
        )


def bare(runs: Sequence[Trajectory], sample: Sample) -> Vectors:
    """Sampled pairs of runs that no model has read: evidence alone can be put beside them."""
    readings = tuple(Reading.of(run) for run in runs)
    rows = [
        (place, number, k)
        for place, (run, reading) in enumerate(zip(runs, readings, strict=True))
        for k, numbers in sample.of(run, reading.last).items()
        for number in numbers
    ]
    run, number, checkpoint = np.array(rows, np.int32).reshape(-1, 3).T
    nothing = np.zeros((len(rows), 0), np.float32)  # (pairs, 0)
    return Vectors(nothing, nothing, run, number, checkpoint, readings, Cost(0, 0, 0), 0, 0.0)


def finished(folder: Path, card: StudyCard, runs: Mapping[str, Trajectory]) -> list[str]:
    """The runs of the card whose shards are there; each must be among `runs`."""
    if unknown := [name for name in card.runs if name not in runs]:
        problem = f"holds features of run {unknown[0]!r}, which is not among the runs given"
        raise BadInput(problem, file=str(folder))
    store = FeatureStore(folder, card.recipe)
    missing = {run.id for run in store.missing(runs[name] for name in card.runs)}
    return [name for name in card.runs if name not in missing]


def load(
    folder: Path, card: StudyCard, runs: Mapping[str, Trajectory], names: Sequence[str] = ()
) -> Vectors:
    """The vectors of these runs, or of every run on the card; `runs` says what each is."""
    store = FeatureStore(folder, card.recipe)
    names = names or card.runs
    if unknown := [name for name in names if name not in runs]:
        problem = f"holds features of run {unknown[0]!r}, which is not among the runs given"
        raise BadInput(problem, file=str(folder))
    shards = [_checked(store, runs[name]) for name in names]
    sizes = [len(shard["number"]) for shard in shards]
    return Vectors(
        candidate=np.concatenate([shard["candidates"] for shard in shards]),
        current=np.concatenate([_current(shard) for shard in shards]),
        run=np.repeat(np.arange(len(shards), dtype=np.int32), sizes),
        number=np.concatenate([shard["number"] for shard in shards]).astype(np.int32),
        checkpoint=np.concatenate([shard["checkpoint"] for shard in shards]).astype(np.int32),
        readings=tuple(Reading.of(runs[name]) for name in names),
        cost=_summed([shard["cost"] for shard in shards]),
        tokens_read=sum(int(shard["tokens_read"]) for shard in shards),
        seconds=sum(float(shard["seconds"]) for shard in shards),
        weights=_one(folder, shards, "weights"),
        dtype=_one(folder, shards, "dtype"),
    )


def _checked(store: FeatureStore, run: Trajectory) -> dict[str, Any]:
    shard = store.read(run)
    for name in ("candidates", "current"):
        if name not in shard or not np.isfinite(shard[name]).all():
            problem = f"the {name} of run {run.id} are not all numbers; delete this, extract again"
            raise BadInput(problem, file=str(store.path(run)))
    return shard


def _one(folder: Path, shards: Sequence[Mapping[str, Any]], name: str) -> str:
    """What all shards say of the model; those of earlier versions say nothing."""
    found = {str(shard[name]) for shard in shards if name in shard}
    if len(found) > 1:
        problem = f"holds vectors of models with different {name}; extract them again"
        raise BadInput(problem, file=str(folder))
    return next(iter(found), "")


def _current(shard: Mapping[str, Any]) -> Features:
    """One row a pair, from one a checkpoint."""
    place = np.searchsorted(shard["checkpoints"], shard["checkpoint"])  # (pairs,)
    rows: Features = shard["current"][place]  # (pairs, d)
    return rows


def _summed(costs: Sequence[Any]) -> Cost:
    """Tokens of all runs together; the longest input of any."""
    table = np.stack(costs)  # (runs, 3)
    return Cost(int(table[:, 0].sum()), int(table[:, 1].sum()), int(table[:, 2].max()))
