"""A program of its own that works on a Ray cluster: Ray takes over the process it is used in."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

from statecomp.errors import BadInput
from statecomp.history.trajectory import Trajectory
from statecomp.pipelines.annotating import DataflowJob
from statecomp.router.cross import DEFAULT
from statecomp.router.metrics import length_edges
from statecomp.router.pipeline import FoldJob
from statecomp.traces.jsonl import read_all
from statecomp.workers.engine import Engine, Spared, WorkersLost
from statecomp.workers.ray import RayEngine
from tests.router.test_cross import FOLDS, LEARNERS, PAIRS
from tests.workers.jobs import Arriving, Dying, Halting, counting, only_even

ROOT = Path(__file__).resolve().parents[2]
SAMPLES = sorted(p for p in (ROOT / "samples").glob("*.jsonl") if p.stem != "session")


def sample_runs() -> list[Trajectory]:
    return [run for run in read_all(SAMPLES) if isinstance(run, Trajectory)]


def labelled(engine: Engine, job: Callable[[Trajectory], Any]) -> bytes:
    lines = [
        json.dumps(label.as_json())
        for run in engine.map(job, sample_runs())
        for label in run.labels
    ]
    return "\n".join(lines).encode()


def halted(engine: Engine, folder: Path) -> None:
    """The samples labelled while a worker is killed from outside."""
    job = Halting(DataflowJob(judgments=False), sample_runs()[2].id, folder)
    (folder / "labels").write_bytes(labelled(engine, job))


def told(engine: Engine, folder: Path) -> None:
    """What errors, arrivals, progress, laziness and folds look like from here."""
    seen: dict[str, Any] = {}
    try:
        list(engine.map(only_even, range(6)))
    except BadInput as problem:
        seen["error"] = [type(problem).__name__, problem.problem, problem.file, problem.line]
    spared = engine.map(Spared(only_even), range(4))
    seen["spared"] = [str(found) for found in spared]
    taken: list[int] = []
    done: list[int] = []
    results = engine.map(Arriving(folder / "arrivals"), counting(taken, 100), watch=done.append)
    seen["first"], seen["taken"] = next(results), len(taken)
    seen["rest"], seen["done"] = list(results), done
    job = FoldJob(PAIRS, {"trees": LEARNERS["trees"]}, DEFAULT, length_edges(PAIRS))
    seen["folds"] = [judged.scores.tobytes().hex() for judged in engine.map(job, FOLDS[:2])]
    try:
        list(engine.map(Dying(1, folder / "deaths", once=False), range(3)))
    except WorkersLost as lost:
        seen["lost"] = str(lost)
    (folder / "told").write_text(json.dumps(seen))


if __name__ == "__main__":
    address, scene, folder = sys.argv[1:]
    scenes = {"halted": halted, "told": told}
    with closing(RayEngine(address, workers=2)) as ray_engine:
        scenes[scene](ray_engine, Path(folder))
