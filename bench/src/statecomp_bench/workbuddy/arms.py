"""A folder of results, read: for each arm its tasks, each with its attempts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path

from statecomp.errors import BadInput
from statecomp_bench.workbuddy.tasks import DOMAINS, eval40_domains
from statecomp_bench.workbuddy.trials import Trial, read_trial
from statecomp_bench.workbuddy.usage import Report

_STAMP = re.compile(r"\d{4}-\d\d-\d\d__\d\d-\d\d-\d\d.*")
_DATASET = re.compile(r"wb-bench-(code|office|sec|web)\b")
_BY_SUBSET = {domain.subset: domain.name for domain in DOMAINS}


@dataclass(frozen=True)
class ArmOutcome:
    """One task: rewards and tokens are the mean over its attempts."""

    task: str
    domain: str
    trials: tuple[Trial, ...]

    @property
    def reward(self) -> float:
        return sum(trial.reward for trial in self.trials) / len(self.trials)

    @property
    def failed(self) -> bool:
        """No attempt was scored."""
        return all(trial.failed for trial in self.trials)

    @property
    def tokens(self) -> float | None:
        """Of an attempt whose tokens are known; None where none is."""
        known = [trial.tokens.total for trial in self.trials if trial.tokens]
        return sum(known) / len(known) if known else None


@dataclass(frozen=True)
class ArmResults:
    """An arm as it was found; no outcome, no run."""

    outcomes: Mapping[str, ArmOutcome] = field(default_factory=dict)

    @property
    def trials(self) -> list[Trial]:
        return [trial for outcome in self.outcomes.values() for trial in outcome.trials]


def read_arm(results: Path, jobs: str, report: Report) -> ArmResults:
    """Every trial of the jobs whose folder is like `jobs`; several runs of a job are attempts."""
    found: dict[str, tuple[str, list[Trial]]] = {}
    for job in _folders(results):
        if not fnmatchcase(job.name, jobs):
            continue
        for folder in _trial_folders(job):
            trial = read_trial(folder, report)
            domain = _domain(trial.task, job, folder)
            if not domain:
                report(BadInput("is of no known domain; left out", file=str(folder)))
                continue
            found.setdefault(trial.task, (domain, []))[1].append(trial)
    return ArmResults(
        {task: ArmOutcome(task, domain, tuple(trials)) for task, (domain, trials) in found.items()}
    )


def _trial_folders(job: Path) -> Iterator[Path]:
    """Under each run, or under the job itself; a trial linked from an earlier run counts once."""
    seen = set()
    for run in (job, *_folders(job)):
        if run is not job and not _STAMP.fullmatch(run.name) and "__" in run.name:
            continue
        for folder in _folders(run):
            trial = "__" in folder.name and not _STAMP.fullmatch(folder.name)
            if trial and folder.name not in seen:
                seen.add(folder.name)
                yield folder


def _folders(path: Path) -> list[Path]:
    try:
        return sorted(p for p in path.iterdir() if p.is_dir() and not p.name.startswith("."))
    except OSError as error:
        raise BadInput(f"cannot be read: {error.strerror}", file=str(path)) from error


def _domain(task: str, job: Path, folder: Path) -> str:
    """By the task, else by the end of the job's name, else by the dataset in a config.json."""
    if task in eval40_domains():
        return eval40_domains()[task]
    if named := _BY_SUBSET.get(job.name.rsplit("-", 1)[-1]):
        return named
    for config in (folder / "config.json", folder.parent / "config.json"):
        try:
            found = _DATASET.search(config.read_text("utf-8", "replace"))
        except OSError:
            continue
        if found:
            return _BY_SUBSET[found[1]]
    return ""
