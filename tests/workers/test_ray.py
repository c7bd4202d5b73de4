"""Work on a real Ray on loopback: the bytes of local work, whatever dies in between."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from time import sleep
from uuid import uuid4

import pytest

from statecomp.pipelines.annotating import DataflowJob
from statecomp.router.cross import cross_validate
from statecomp.workers.engine import AHEAD, RETRIES
from statecomp.workers.local import LocalEngine
from tests.command import Done
from tests.command import statecomp as here
from tests.features.small_model import needs_model, tiny
from tests.router.test_cross import FOLDS, LEARNERS, PAIRS
from tests.vectors.made_up import labels_of, runs_of, written
from tests.workers.ray_driver import ROOT, SAMPLES, labelled, sample_runs

pytest.importorskip("ray", reason="the extra `ray` is not installed")

ENVIRON = {
    **os.environ,
    "RAY_USAGE_STATS_ENABLED": "0",
    # Ray would take 127.0.0.1 to mean this machine's other address.
    "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",
    # A token of its own: nobody else on this machine gets in, and nobody's token is looked for.
    "RAY_AUTH_MODE": "token",
    "RAY_AUTH_TOKEN": uuid4().hex,
    "OMP_NUM_THREADS": "1",
}
START = [
    sys.executable, "-m", "ray.scripts.scripts", "start", "--head", "--block", "--port=0",
    "--node-ip-address=127.0.0.1", "--num-cpus=2", "--object-store-memory=100000000",
    "--include-dashboard=false", "--include-log-monitor=false", "--disable-usage-stats",
]  # fmt: skip
PATIENCE_S = 120


def until_written(path: Path, process: subprocess.Popen[bytes]) -> str:
    for _ in range(PATIENCE_S * 10):
        if path.exists() and (text := path.read_text()):
            return text
        assert process.poll() is None, f"ended before {path.name} was written"
        sleep(0.1)
    raise AssertionError(f"{path.name} was never written")


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """A head with two workers, stopped at the end; its folder is short, for its sockets' sake."""
    folder = Path(tempfile.mkdtemp(prefix="ray"))
    with (folder / "log").open("wb") as log:
        head = subprocess.Popen(
            [*START, f"--temp-dir={folder}"], env=ENVIRON, stdout=log, stderr=log
        )
    try:
        yield until_written(folder / "ray_current_cluster", head).strip()
    finally:
        head.send_signal(signal.SIGTERM)
        try:
            head.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            head.kill()
            head.wait()
        shutil.rmtree(folder, ignore_errors=True)


def statecomp(*arguments: str | Path, **environ: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-W", "error", "-m", "statecomp", *map(str, arguments)]
    return subprocess.run(
        command, capture_output=True, text=True, check=False, cwd=ROOT, env=ENVIRON | environ
    )


Run = Callable[..., Done | subprocess.CompletedProcess[str]]


def driver(address: str, scene: str, folder: Path) -> list[str]:
    return [sys.executable, "-m", "tests.workers.ray_driver", address, scene, str(folder)]


@pytest.fixture
def ray(address: str) -> list[str]:
    """The options that send work there."""
    return ["--engine", "ray", "--address", address, "--jobs", "2"]


def test_annotate_writes_the_same_bytes_as_local_work(ray: list[str], tmp_path: Path) -> None:
    def written(name: str, run: Run, *options: str) -> tuple[bytes, bytes]:
        out, records = tmp_path / f"{name}.labels", tmp_path / f"{name}.records"
        done = run("annotate", *SAMPLES, "-o", out, "--records", records, *options)
        assert done.returncode == 0, done.stderr
        assert "labelling: 5 done" in done.stderr
        return out.read_bytes(), records.read_bytes()

    local = written("local", here)
    assert min(map(len, local)) > 10_000
    assert written("ray", statecomp, *ray) == local


def test_replay_writes_the_same_bytes_as_local_work(ray: list[str], tmp_path: Path) -> None:
    def written(name: str, run: Run, *options: str) -> tuple[bytes, bytes, str]:
        numbers, views = tmp_path / f"{name}.json", tmp_path / f"{name}.views"
        done = run(
            "replay", *SAMPLES, "--strategy",
            "statecomp:scorer=age:after=3", "--json", numbers, "--views", views, *options,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return numbers.read_bytes(), views.read_bytes(), done.stdout

    assert written("ray", statecomp, *ray) == written("local", here)


@needs_model
def test_a_router_that_reads_a_model_is_the_same_bytes_here_and_there(
    ray: list[str], tmp_path: Path
) -> None:
    runs = runs_of(8, steps=4)
    paths = written(runs, labels_of(runs), tmp_path)
    model = tiny("qwen2.5-7b", tmp_path / "model")
    # As in the workers, which OMP_NUM_THREADS tells so.
    import_module("torch").set_num_threads(1)
    bundles = {}
    # Processes of this machine are given the same jobs; a library this large is loaded by few.
    engines: dict[str, tuple[Run, list[str]]] = {"here": (here, []), "ray": (statecomp, ray)}
    for name, (run, options) in engines.items():
        out = tmp_path / name
        done = run(
            "train", paths[0], "--labels", paths[1], "-o", out, "--vectors", tmp_path / f"{name}.v",
            "--representation", "local", "--learner", "linear", "--encoder", model,
            "--sample-checkpoints", "2", *options,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        assert "reading local: 8 done" in done.stderr
        bundles[name] = [(out / file).read_bytes() for file in ("weights.safetensors", "spec.json")]
    assert bundles["here"] == bundles["ray"]


def test_a_worker_killed_in_the_middle_costs_its_run_and_nothing_else(
    address: str, tmp_path: Path
) -> None:
    with subprocess.Popen(driver(address, "halted", tmp_path), cwd=ROOT, env=ENVIRON) as working:
        victim = int(until_written(tmp_path / "victim", working))
        os.kill(victim, signal.SIGKILL)
        assert working.wait(PATIENCE_S) == 0
    expected = labelled(LocalEngine(1), DataflowJob(judgments=False))
    assert (tmp_path / "labels").read_bytes() == expected
    calls = [line.split(maxsplit=1) for line in (tmp_path / "calls").read_text().splitlines()]
    runs = [run.id for run in sample_runs()]
    assert sorted(run for _, run in calls) == sorted([*runs, runs[2]])
    again = [process for process, run in calls if run == runs[2]]
    assert again[0] == str(victim) != again[1]


def test_errors_order_laziness_folds_and_lost_items_are_those_of_local_work(
    address: str, tmp_path: Path
) -> None:
    command = driver(address, "told", tmp_path)
    done = subprocess.run(
        command, cwd=ROOT, env=ENVIRON, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    seen = json.loads((tmp_path / "told").read_text())
    assert seen["error"] == ["BadInput", "is odd", "numbers", 1]
    assert seen["spared"] == ["0", "numbers, line 1: is odd", "2", "numbers, line 3: is odd"]
    assert (seen["first"], seen["taken"]) == (0, AHEAD * 2)
    assert seen["rest"] == [number * number for number in range(1, 100)]
    assert seen["done"] == [*range(1, 101)]
    arrivals = (tmp_path / "arrivals").read_text().split()
    # Once in each worker; pickling here is not an arrival.
    assert len(arrivals) == len(set(arrivals)) <= 2
    folds = cross_validate(PAIRS, FOLDS[:2], {"trees": LEARNERS["trees"]}).folds
    assert seen["folds"] == [judged.scores.tobytes().hex() for judged in folds]
    assert "lost" in seen["lost"]
    assert (tmp_path / "deaths").read_text().split().count("1") == RETRIES + 1


def test_an_address_where_nothing_answers_is_said_at_once(tmp_path: Path) -> None:
    out = tmp_path / "labels.jsonl"
    done = statecomp(
        "annotate", SAMPLES[0], "-o", out, "--engine", "ray", "--address", "127.0.0.1:1"
    )
    assert (done.returncode, out.exists()) == (2, False)
    assert "no Ray answers at 127.0.0.1:1; start one" in done.stderr
    assert "Traceback" not in done.stderr
