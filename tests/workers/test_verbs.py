"""The verbs on engines: options, complaints, folds."""

from __future__ import annotations

import json
import subprocess
import sys
from itertools import product
from pathlib import Path

from statecomp.router.cross import DEFAULT, cross_validate
from statecomp.router.metrics import length_edges
from statecomp.router.pipeline import FoldJob
from statecomp.workers.local import LocalEngine
from tests.command import ROOT, statecomp
from tests.router.test_cross import FOLDS, LEARNERS, PAIRS

SAMPLE = ROOT / "samples" / "code.jsonl"


def test_without_ray_installed_the_engine_says_what_to_install(tmp_path: Path) -> None:
    arguments = ["statecomp", "annotate", str(SAMPLE), "-o", str(tmp_path / "x"), "--engine", "ray"]
    code = (
        "import sys; sys.modules['ray'] = None\n"  # as if it were not there
        f"sys.argv = {arguments!r}\n"
        "from statecomp.cli import main; main()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "install statecomp[ray]" in done.stderr
    assert "Traceback" not in done.stderr


def test_an_address_without_the_engine_it_belongs_to_is_refused(tmp_path: Path) -> None:
    done = statecomp("annotate", SAMPLE, "-o", tmp_path / "x", "--address", "127.0.0.1:1")
    assert done.returncode == 2
    assert "--address goes with --engine ray" in done.stderr


def test_engines_load_no_ray_before_it_is_asked_for() -> None:
    code = "import sys, statecomp.cli.engine; print('ray' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_the_first_complaint_is_the_same_on_every_number_of_processes(tmp_path: Path) -> None:
    runs = tmp_path / "runs.jsonl"
    orphan = {"id": "bad", "messages": [{"role": "tool", "tool_call_id": "x", "content": ""}]}
    runs.write_text(SAMPLE.read_text() + json.dumps(orphan) + "\nnot JSON\n")
    said = set()
    for verb, jobs in product((("annotate", "-o", tmp_path / "x"), ("replay",)), ("1", "2")):
        done = statecomp(verb[0], runs, *verb[1:], "--jobs", jobs)
        assert done.returncode == 2
        said.add((verb[0], done.stderr))
    assert len(said) == 2
    left_out = statecomp("annotate", runs, "-o", tmp_path / "x", "--skip-bad", "--jobs", "2")
    assert left_out.returncode == 0
    assert "1 run," in left_out.stdout
    assert left_out.stderr.count("left out") == 2


def test_folds_learned_in_two_processes_are_those_learned_in_one() -> None:
    job = FoldJob(PAIRS, {"trees": LEARNERS["trees"]}, DEFAULT, length_edges(PAIRS))
    one, two = ([*LocalEngine(jobs).map(job, FOLDS[:2])] for jobs in (1, 2))
    known = cross_validate(PAIRS, FOLDS[:2], {"trees": LEARNERS["trees"]}).folds
    for here, there, before in zip(one, two, known, strict=True):
        assert here.scores.tobytes() == there.scores.tobytes() == before.scores.tobytes()
        assert here.metrics == there.metrics == before.metrics
