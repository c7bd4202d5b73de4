"""The runs of one framework against the scripted provider, in the framework's own environment."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import statecomp
from statecomp.testing.provider.app import ScriptedUpstream
from statecomp.testing.provider.serving import serving
from tests.adapters.frameworks import Proof
from tests.adapters.gemini import beside
from tests.adapters.provider import Drill, Sent

PATIENCE_S = 3600
DRIVERS = Path(__file__).parent / "drivers"
BROKEN = ("scorer", "converter")


@dataclass(frozen=True)
class Run:
    """One conversation: what its driver told, and what the provider was sent."""

    told: Mapping[str, Any]
    sent: Sent
    ledger: Path


@dataclass(frozen=True)
class Outcome:
    """All runs of a framework: each variant without and with its adapter, one with broken parts."""

    proof: Proof
    runs: Mapping[str, Run]

    def raw(self, variant: str) -> Run:
        return self.runs[f"{variant} raw"]

    def adapted(self, variant: str) -> Run:
        return self.runs[f"{variant} adapted"]

    def broken(self, part: str) -> Run:
        return self.runs[f"{self.proof.variants[0]} {part}"]


class DriverFailed(Exception):
    """The framework's process did not come to its end; the text is what it said last."""


def run(proof: Proof, folder: Path) -> Outcome:
    python = proof.environment.make()
    wishes = {_key(name): wish for name, wish in _wishes(proof)}
    provider = ScriptedUpstream(Drill())
    with serving(beside(provider)) as url:
        done = subprocess.run(
            [str(python), str(DRIVERS / proof.driver), url, str(folder)],
            input=json.dumps([{"key": key, **wish} for key, wish in wishes.items()]),
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
            env=_environment(folder),
            check=False,
        )
    if done.returncode:
        raise DriverFailed(f"exit code {done.returncode}: {done.stderr[-4000:]}")
    runs = {}
    for line in done.stdout.splitlines():
        told = json.loads(line)
        key = told["key"]
        runs[_name(key)] = Run(told, Sent.by(provider, key), folder / key / "ledger.sqlite")
    return Outcome(proof, runs)


def _wishes(proof: Proof) -> Iterator[tuple[str, dict[str, Any]]]:
    for variant in (*proof.variants, *proof.untouched, *proof.doubled):
        yield f"{variant} raw", {"variant": variant, "adapted": False, "broken": ""}
        yield f"{variant} adapted", {"variant": variant, "adapted": True, "broken": ""}
    first = proof.variants[0]
    for part in BROKEN:
        yield f"{first} {part}", {"variant": first, "adapted": True, "broken": part}


def _key(name: str) -> str:
    """A credential that says whose run it is."""
    return f"sk-test-{name.replace(' ', '.')}"


def _name(key: str) -> str:
    return key.removeprefix("sk-test-").replace(".", " ")


def _environment(folder: Path) -> dict[str, str]:
    """Nothing of the user's but the path; nobody is told, and nothing is fetched."""
    kept = {name: os.environ[name] for name in ("PATH", "LANG", "TMPDIR") if name in os.environ}
    quiet = {
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",
        "DO_NOT_TRACK": "1",
        "CREWAI_DISABLE_TELEMETRY": "true",
        "OTEL_SDK_DISABLED": "true",
        "OPENAI_AGENTS_DISABLE_TRACING": "1",
        "PYTHONWARNINGS": "ignore",
    }
    source = str(Path(statecomp.__file__).parents[1])
    return {**kept, **quiet, "HOME": str(folder), "PYTHONPATH": source}
