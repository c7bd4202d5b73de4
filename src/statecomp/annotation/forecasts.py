"""Forecast files: how surely each interaction is READY, said by a reader who knew the past alone.

A label says from which checkpoint a text was safe to replace in the run as it went on.  A forecast
says, before interaction k, how probable that is for interactions 1, 2, ...: a line a checkpoint.

    {"id": "run-1", "k": 9, "ready": [0.99, 0.4, 0.97]}
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeAlias

from statecomp.annotation.labels import parsing
from statecomp.errors import BadInput

Forecasts: TypeAlias = Mapping[str, Mapping[int, tuple[float, ...]]]
"""By run and checkpoint, P(READY) of interactions 1, 2, ...; those not named were not judged."""


def read_forecasts(path: Path) -> dict[str, dict[int, tuple[float, ...]]]:
    """Forecasts by run and checkpoint; a checkpoint that is said twice is an error."""
    found: dict[str, dict[int, tuple[float, ...]]] = {}
    try:
        with path.open(encoding="utf-8") as file:
            for line, text in enumerate(file, start=1):
                if text.strip():
                    run, k, ready = _forecast(text, str(path), line)
                    if k in found.setdefault(run, {}):
                        problem = f"{k} of run {run!r} is there twice"
                        raise BadInput(problem, file=str(path), line=line, field="k")
                    found[run][k] = ready
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"cannot be read as forecasts: {error}", file=str(path)) from error
    return found


def _forecast(text: str, file: str, line: int) -> tuple[str, int, tuple[float, ...]]:
    with parsing("forecast", file, line):
        record: dict[str, Any] = json.loads(text)
        run, k, ready = str(record["id"]), record["k"], tuple(map(float, record["ready"]))
    if not isinstance(k, int) or isinstance(k, bool) or len(ready) >= k:
        problem = f"must be a whole number greater than the {len(ready)} interactions judged"
        raise BadInput(problem, file=file, line=line, field="k")
    if not all(0.0 <= p <= 1.0 for p in ready):  # NaN lies nowhere
        raise BadInput("must lie between 0 and 1", file=file, line=line, field="ready")
    return run, k, ready
