"""The real recorded runs and expert labels beside the project; tests skip where they are absent."""

from __future__ import annotations

from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[2] / "shared" / "data"
RUNS = FOLDER / "trajectories.jsonl.gz"
LABELS = FOLDER / "expert_labels.jsonl"

needs_shared_data = pytest.mark.skipif(
    not RUNS.exists(), reason="the recorded runs (shared/data) are not beside this checkout"
)
