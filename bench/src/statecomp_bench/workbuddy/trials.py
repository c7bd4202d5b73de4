"""One trial's folder, read: which task it was, what it scored, what it cost, when it ran."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from statecomp.errors import BadInput
from statecomp_bench.workbuddy.tasks import whole_name
from statecomp_bench.workbuddy.usage import (
    Report,
    Tokens,
    logged_tokens,
    reported_tokens,
    whole,
)

# In the order the framework's own metrics take them.  Those also take the largest `tests_total`
# among a task's attempts for all of them; here each attempt counts as it was scored.
SCORES = ("reward", "overall", "test_pass_rate")


@dataclass(frozen=True)
class Trial:
    """One attempt at a task.  Without a score the reward is 0, and `failed` says why."""

    task: str
    folder: str
    reward: float = 0.0
    failed: str = ""
    tokens: Tokens | None = None
    started_s: float | None = None
    finished_s: float | None = None

    def under_way(self, when_s: float) -> bool:
        if self.started_s is None or self.finished_s is None:
            return False
        return self.started_s <= when_s <= self.finished_s


def read_trial(folder: Path, report: Report) -> Trial:
    """Whatever is damaged is reported and counts as not there."""
    result_file = folder / "result.json"
    result = _object(result_file, report)
    if result is None:
        report(BadInput("has no readable result.json", file=str(folder)))
        result = {}
    reward, failed = _scored(folder / "verifier", result, report)
    tokens = logged_tokens(folder / "agent" / "requests.jsonl", report)
    if tokens is None:
        tokens = reported_tokens(result, result_file, report)
    return Trial(
        task=_task(folder.name, result),
        folder=str(folder),
        reward=reward,
        failed=failed,
        tokens=tokens,
        started_s=_seconds(result.get("started_at")),
        finished_s=_seconds(result.get("finished_at")),
    )


def _task(folder: str, result: Mapping[str, Any]) -> str:
    given = result.get("task_name")
    if isinstance(given, str) and given.strip("/"):
        return whole_name(given.strip("/").rsplit("/", 1)[-1])
    return whole_name(folder.rsplit("__", 1)[0])


def _scored(verifier: Path, result: Mapping[str, Any], report: Report) -> tuple[float, str]:
    for name in ("score.json", "reward.json"):
        found = _object(verifier / name, report)
        if found is None:
            continue
        if found.get("test_status") == "build_error":
            return 0.0, "build error"
        reward = _reward_in(found)
        if reward is not None:
            return reward, ""
        report(BadInput("holds no reward between 0 and 1", file=str(verifier / name)))
    told = result.get("verifier_result")
    rewards = told.get("rewards") if isinstance(told, Mapping) else None
    reward = _reward_in(rewards) if isinstance(rewards, Mapping) else None
    if reward is not None:
        return reward, ""
    return 0.0, _exception(result) or "no score"


def _reward_in(payload: Mapping[str, Any]) -> float | None:
    for key in SCORES:
        value = payload.get(key)
        if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1:
            return float(value)
    passed, total = payload.get("tests_passed"), whole(payload.get("tests_total"))
    return min(whole(passed) / total, 1.0) if total and isinstance(passed, int) else None


def _exception(result: Mapping[str, Any]) -> str:
    info = result.get("exception_info")
    kind = info.get("exception_type") if isinstance(info, Mapping) else None
    return kind if isinstance(kind, str) else ""


def _seconds(text: Any) -> float | None:
    """Without a zone it is the time of the machine that wrote it, taken to be this one's."""
    try:
        found = datetime.fromisoformat(text).timestamp() if isinstance(text, str) else None
    except (ValueError, OverflowError):
        return None
    return found if found is None or math.isfinite(found) else None


def _object(path: Path, report: Report) -> Mapping[str, Any] | None:
    """None where there is no such file; a damaged one is reported too."""
    try:
        found = json.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        return None
    except OSError as error:
        report(BadInput(f"cannot be read: {error.strerror}", file=str(path)))
        return None
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        report(BadInput("is damaged: it holds no JSON object", file=str(path)))
        return None
    return found
