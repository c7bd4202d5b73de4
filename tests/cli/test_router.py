"""`statecomp train`, `evaluate`, `score`, and replay with a router of one's own."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from tests.command import ROOT, statecomp

# The session is longer than all others together, and nothing here asks for that.
SAMPLES = sorted(p for p in (ROOT / "samples").glob("*.jsonl") if p.stem != "session")


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Halves and thirds of the samples, as ten tasks: folds need five."""
    path = tmp_path_factory.mktemp("router") / "runs.jsonl"
    records = []
    for number, sample in enumerate(SAMPLES):
        run = json.loads(sample.read_text())
        for part, name in ((2, "half"), (3, "third")):
            stop = len(run["messages"]) // part
            while run["messages"][stop]["role"] != "assistant":
                stop += 1
            own = {"id": f"{name} {number}", "group": f"{name} {number}"}
            records.append({**run, **own, "messages": run["messages"][:stop]})
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


@pytest.fixture(scope="module")
def labels(runs: Path) -> Path:
    out = runs.with_name("labels.jsonl")
    assert statecomp("annotate", runs, "-o", out).returncode == 0
    return out


@pytest.fixture(scope="module")
def router(runs: Path, labels: Path) -> Path:
    out = runs.with_name("router")
    done = statecomp("train", runs, "--labels", labels, "-o", out, "--precision", "0.9")
    assert done.returncode == 0, done.stderr
    assert "committee on" in done.stdout
    return out


def test_two_commands_make_a_router_and_replay_uses_it(router: Path, tmp_path: Path) -> None:
    spec = f"statecomp:scorer=router:{router},threshold=0.5"
    numbers = tmp_path / "numbers.json"
    done = statecomp("replay", SAMPLES[0], "--strategy", spec, "--json", numbers)
    assert done.returncode == 0, done.stderr
    assert json.loads(numbers.read_text())["strategies"][0]["checkpoints"] > 30


def test_training_again_gives_the_same_bytes(
    runs: Path, labels: Path, router: Path, tmp_path: Path
) -> None:
    again = tmp_path / "router"
    statecomp("train", runs, "--labels", labels, "-o", again, "--precision", "0.9", "--jobs", "2")
    for name in ("weights.safetensors", "spec.json"):
        assert (again / name).read_bytes() == (router / name).read_bytes()


def test_evaluate_prints_the_settled_pairs_apart(runs: Path, labels: Path, tmp_path: Path) -> None:
    numbers = tmp_path / "numbers.json"
    done = statecomp(
        "evaluate", runs, "--labels", labels, "--json", numbers, "--unsafe-cost", "9",
        "--miss-cost", "1", "--learner", "linear",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "settled" in done.stdout
    pooled = json.loads(numbers.read_text())["pooled"]
    assert pooled["settled"]["pairs"] < pooled["all"]["pairs"]


def test_labels_trusted_less_are_learned_from_and_not_judged_on(
    runs: Path, labels: Path, tmp_path: Path
) -> None:
    lines = labels.read_text().splitlines(keepends=True)
    trusted, more = tmp_path / "trusted.jsonl", tmp_path / "more.jsonl"
    trusted.write_text("".join(line for line in lines if '"third ' not in line))
    more.write_text("".join(lines))
    numbers = tmp_path / "numbers.json"
    done = statecomp(
        "evaluate", runs, "--labels", trusted, "--more-labels", more, "--json", numbers,
        "--save-folds", tmp_path / "folds", "--learner", "linear",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    unseen = json.loads((tmp_path / "folds" / "folds.json").read_text())["unseen"]
    assert len(unseen) == 2 * len(SAMPLES)
    spec = f"statecomp:scorer=folds:{tmp_path / 'folds'}"
    done = statecomp("replay", runs, "--strategy", spec, "--limit", "2")
    assert done.returncode == 0, done.stderr
    lengths = Counter(json.loads(line)["id"] for line in trusted.read_text().splitlines())
    judged = json.loads(numbers.read_text())["pooled"]["all"]["pairs"]
    assert judged == sum(length * (length - 1) // 2 for length in lengths.values())


def test_forecasts_are_learned_from(runs: Path, labels: Path, router: Path, tmp_path: Path) -> None:
    records = map(json.loads, labels.read_text().splitlines())
    lengths = Counter(record["id"] for record in records)
    lines = [{"id": name, "k": k, "ready": [0.9] * (k - 2)} for name in lengths for k in (6, 9)]
    forecasts = tmp_path / "forecasts.jsonl"
    forecasts.write_text("".join(json.dumps(line) + "\n" for line in lines))
    out = tmp_path / "router"
    given = ("train", runs, "--labels", labels, "-o", out, "--precision", "0.9")
    done = statecomp(*given, "--forecasts", forecasts)
    assert done.returncode == 0, done.stderr
    weights = "weights.safetensors"
    assert (out / weights).read_bytes() != (router / weights).read_bytes()
    assert "forecasts.jsonl" in (out / "spec.json").read_text()
    forecasts.write_text(json.dumps({**lines[0], "k": 900}) + "\n")
    done = statecomp(*given, "--forecasts", forecasts)
    assert done.returncode != 0
    assert done.stderr.count("which it does not have; were they made from others?") == 1
    assert "at checkpoint 900, which it does not have" in done.stderr
    forecasts.write_text(json.dumps({**lines[0], "id": "another run"}) + "\n")
    done = statecomp(*given, "--forecasts", forecasts)
    assert done.returncode != 0
    assert "name none of the runs; were they made from others?" in done.stderr
    done = statecomp(*given, "--forecasts", forecasts, "--learner", "trees")
    assert done.returncode != 0
    assert "only the committee learns from --forecasts" in done.stderr


def test_a_folder_without_folds_says_what_writes_them(tmp_path: Path) -> None:
    done = statecomp("replay", SAMPLES[0], "--strategy", f"statecomp:scorer=folds:{tmp_path}")
    assert done.returncode != 0
    assert "statecomp evaluate --save-folds" in done.stderr


def test_score_names_a_score_a_verdict_and_reasons() -> None:
    done = statecomp("score", SAMPLES[0], "--checkpoint", "12")
    assert done.returncode == 0, done.stderr
    assert "before interaction 12" in done.stdout
    assert done.stdout.count("READY") + done.stdout.count("KEEP") == 11


def test_pairs_are_written_one_a_line_for_every_pair(tmp_path: Path) -> None:
    out = tmp_path / "pairs.jsonl"
    assert statecomp("score", SAMPLES[0], "--pairs", out).returncode == 0
    lines = [json.loads(line) for line in out.read_text().splitlines()]
    last = max(line["k"] for line in lines)
    assert len(lines) == last * (last - 1) // 2
    assert list(lines[0]) == ["id", "i", "k", "score"]
    assert all(0 <= line["score"] <= 1 for line in lines)


def test_bad_input_is_one_sentence(tmp_path: Path) -> None:
    other = tmp_path / "other.jsonl"
    other.write_text('{"id": "nobody", "i": 1, "boundary": null}\n')
    wrong = statecomp("train", SAMPLES[0], "--labels", other, "-o", tmp_path / "r")
    assert wrong.returncode == 2
    assert "none of the runs has a label" in wrong.stderr
    missing = statecomp("score", SAMPLES[0], "--router", tmp_path / "nowhere")
    assert missing.returncode == 2
    assert "is this the folder of a router?" in missing.stderr
    late = statecomp("score", SAMPLES[0], "--checkpoint", "999")
    assert late.returncode == 2
    assert "no checkpoint 999" in late.stderr
