"""`statecomp-bench ablate` as a person meets it."""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result

from statecomp.errors import BadInput
from statecomp_bench.cli.ablate import ablate
from tests.vectors.made_up import labels_of, runs_of, vectors_of

store = pytest.importorskip("statecomp.features.store", reason="needs statecomp[learn]")
shelf = pytest.importorskip("statecomp.vectors.shelf", reason="needs statecomp[encoder,learn]")
sample = pytest.importorskip("statecomp.vectors.sample", reason="needs statecomp[encoder,learn]")

RUNS = runs_of(10)
LABELS = labels_of(RUNS)
SAMPLE = sample.Sample(4, None)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Runs, labels, and a folder of made-up vectors as `statecomp extract` would leave it."""
    path = tmp_path_factory.mktemp("ablate")
    lines: list[dict[str, Any]] = [
        {"id": run.id, "domain": run.domain, "group": run.group, "protocol": run.protocol,
         "messages": list(run.messages)}
        for run in RUNS
    ]  # fmt: skip
    write(path / "runs.jsonl", lines)
    write(
        path / "labels.jsonl",
        [one.as_json() for known in LABELS.values() for one in known.values()],
    )
    for construction, layer in (("once", 2), ("once", 4), ("capped-recent4", 4)):
        recipe = store.StoreRecipe("made-up", layer, f"{construction} last {SAMPLE}")
        made = store.FeatureStore(path / "features", recipe)
        for run in RUNS:
            made.write(run, arrays_of(run, layer))
        names = tuple(run.id for run in RUNS)
        shelf.put_card(
            path / "features", shelf.StudyCard(construction, "last", recipe, SAMPLE, names)
        )
    return path


def write(path: Path, lines: list[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))


def arrays_of(run: Any, layer: int) -> dict[str, Any]:
    found = vectors_of([run], LABELS, SAMPLE, seed=layer)
    states = np.unique(found.state, return_index=True)[1]
    return {
        "number": found.number,
        "checkpoint": found.checkpoint,
        "checkpoints": found.checkpoint[states],
        "candidates": found.candidate,
        "current": found.current[states],
        "cost": np.array([900, 300, 50]),
        "tokens_read": np.array(100),
        "seconds": np.array(0.5),
    }


def invoke(place: Path, verb: str, *more: str | Path) -> Result:
    data = ["--runs", place / "runs.jsonl", "--labels", place / "labels.jsonl"]
    return CliRunner().invoke(ablate, [verb, *map(str, (*more, *data))])


def test_representations_are_judged_printed_and_written(place: Path, tmp_path: Path) -> None:
    done = invoke(place, "representations", place / "features", "-o", tmp_path / "tables")
    assert done.exit_code == 0, done.output
    assert "10 labelled runs (Code 5, Web 5)" in done.stdout
    assert "Capped Recent4 + Hybrid" in done.stdout
    written = json.loads((tmp_path / "tables" / "representations.json").read_text())
    rows = {row["name"]: row for row in written["rows"]}
    assert rows["Once"]["numbers"]["auroc"]["mean"] > 0.6
    assert rows["Once"]["notes"]["read here"] == "1,000"
    assert "Full Context" not in rows
    assert "| Once |" in (tmp_path / "tables" / "representations.md").read_text()
    assert r"\bottomrule" in (tmp_path / "tables" / "representations.tex").read_text()


def test_what_was_judged_is_kept_and_found_again(place: Path, tmp_path: Path) -> None:
    rows = tmp_path / "rows"
    what = ("representations", place / "features", "--row", "Age alone", "--keep", rows)
    first, again = (invoke(place, *what) for _ in range(2))
    assert "Age alone ..." in first.stderr
    assert again.stderr == ""
    assert again.stdout == first.stdout
    assert len([*rows.iterdir()]) == 1
    other = invoke(place, *what, "--seed", "1")
    assert "Age alone ..." in other.stderr


def test_shares_are_of_the_rows_that_others_are_held_against(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tables = pytest.importorskip("statecomp_bench.study.tables")
    asked: list[Any] = []

    def heard(known: Any, wanted: Any, how: Any) -> Any:
        asked.append((known, wanted, how))
        return table.StudyTable("Shares", "a caption", ())

    table = pytest.importorskip("statecomp_bench.study.rows")
    monkeypatch.setattr(tables, "share_table", heard)
    what = ("--readout", "mean", "--layer", "4", "--seed", "3", "-o", tmp_path / "tables")
    done = invoke(place, "shares", place / "features", *what)
    assert done.exit_code == 0, done.output
    ((known, wanted, how),) = asked
    assert len(known.runs) == len(known.labels) == 10
    assert wanted == tables.Wanted((place / "features",), 4, "mean")
    assert how.seed == 3
    assert json.loads((tmp_path / "tables" / "shares.json").read_text())["title"] == "Shares"


def test_layers_are_compared_on_once(place: Path) -> None:
    done = invoke(place, "layers", place / "features")
    assert done.exit_code == 0, done.output
    assert "layer 2, last" in done.stdout
    assert "layer 4, last" in done.stdout


def test_a_run_that_a_stopped_extraction_left_out_is_left_out_of_the_table(
    place: Path, tmp_path: Path
) -> None:
    recipe = store.StoreRecipe("made-up", 4, f"once last {SAMPLE}")
    features = tmp_path / "features"
    made = store.FeatureStore(features, recipe)
    for run in RUNS[:-1]:
        made.write(run, arrays_of(run, 4))
    names = tuple(run.id for run in RUNS)
    shelf.put_card(features, shelf.StudyCard("once", "last", recipe, SAMPLE, names))
    done = invoke(place, "layers", features)
    assert done.exit_code == 0, done.output
    assert "9 labelled runs" in done.stdout


def test_bad_input_is_one_sentence(place: Path, tmp_path: Path) -> None:
    problem = invoke(place, "representations", tmp_path).exception
    assert isinstance(problem, BadInput)
    assert "holds no features; make them by statecomp extract" in str(problem)
    problem = invoke(place, "representations", place / "features", "--layer", "9").exception
    assert isinstance(problem, BadInput)
    assert "no features of this layer and readout" in str(problem)
    problem = invoke(place, "routers", place / "features", "--construction", "x").exception
    assert isinstance(problem, BadInput)
    assert "there are no features of x, last; extract them" in str(problem)
    # Vectors at the last token must not stand in for means.
    problem = invoke(place, "routers", place / "features", "--readout", "mean").exception
    assert isinstance(problem, BadInput)
    assert "no features of this layer and readout" in str(problem)
    assert "name a folder" in invoke(place, "layers").output


@pytest.mark.skipif(find_spec("matplotlib") is None, reason="needs statecomp[figures]")
def test_router_figures_are_drawn_from_labels_alone(place: Path, tmp_path: Path) -> None:
    arguments = [place / "labels.jsonl", "--runs", place / "runs.jsonl", "-o", tmp_path / "figures"]
    done = CliRunner().invoke(ablate, ["figures", *map(str, arguments), "--share", "1.0"])
    assert done.exit_code == 0, done.output
    drawn = sorted(path.name for path in (tmp_path / "figures").iterdir())
    assert len(drawn) == 8
    assert "calibration.png" in drawn
