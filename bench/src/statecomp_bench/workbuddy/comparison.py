"""Baseline against StateComp by the paper's accounting (appendix F): rewards and tokens by domain.

Mean reward is over the whole fixed set: a task that failed or is missing counts 0.  Tokens are sums
over the tasks whose tokens are known in both arms, so that a missing run never looks like a saving;
in a complete comparison these are all tasks.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from statecomp_bench.workbuddy.arms import ArmOutcome, ArmResults
from statecomp_bench.workbuddy.tasks import DOMAINS, eval40, eval40_domains

TOTAL = "Total"


@dataclass(frozen=True)
class ArmScore:
    """One arm in one domain; `reward` is None where nothing of the arm was found at all."""

    reward: float | None
    failed: int
    missing: int


@dataclass(frozen=True)
class ArmSpent:
    """Tokens of the tasks measured in both arms; `summary` is None without a ledger."""

    measured: int
    baseline: int | None
    agent: int | None
    summary: int | None

    @property
    def combined(self) -> int | None:
        return None if self.agent is None else self.agent + (self.summary or 0)

    @property
    def reduction(self) -> float | None:
        if not self.baseline or self.combined is None:
            return None
        return 1 - self.combined / self.baseline


@dataclass(frozen=True)
class ArmRow:
    """A domain, or the total."""

    domain: str
    tasks: int
    baseline: ArmScore
    statecomp: ArmScore
    spent: ArmSpent

    @property
    def difference(self) -> float | None:
        if self.baseline.reward is None or self.statecomp.reward is None:
            return None
        return self.statecomp.reward - self.baseline.reward


@dataclass(frozen=True)
class ArmComparison:
    """Two arms on one task set."""

    name: str
    rows: tuple[ArmRow, ...]


@dataclass(frozen=True)
class Arms:
    """Both arms, and the summary tokens of StateComp's trials where a ledger tells them."""

    baseline: ArmResults
    statecomp: ArmResults
    shares: Mapping[str, float] | None = None

    def on_eval40(self) -> Arms:
        listed = eval40_domains().keys()
        return Arms(_only(self.baseline, listed), _only(self.statecomp, listed), self.shares)


def compare(arms: Arms) -> Iterator[ArmComparison]:
    """Full260 where anything but Eval40 was run, and Eval40."""
    found = arms.baseline.outcomes.keys() | arms.statecomp.outcomes.keys()
    if found - eval40_domains().keys():
        yield _compared("Full260", {domain.name: domain.tasks for domain in DOMAINS}, arms)
    if found & eval40_domains().keys():
        sizes = {name: len(ids) for name, ids in eval40().items()}
        yield _compared("Eval40", sizes, arms.on_eval40())


def _compared(name: str, sizes: Mapping[str, int], arms: Arms) -> ArmComparison:
    rows = [_row(domain, size, arms, (domain,)) for domain, size in sizes.items()]
    total = _row(TOTAL, sum(row.tasks for row in rows), arms, tuple(sizes))
    return ArmComparison(name, (*rows, total))


def _row(name: str, size: int, arms: Arms, domains: Sequence[str]) -> ArmRow:
    before, after = (
        {task: o for task, o in arm.outcomes.items() if o.domain in domains}
        for arm in (arms.baseline, arms.statecomp)
    )
    # More tasks than the benchmark has would be a later version of it: all of them count.
    tasks = max(size, len(before), len(after))
    return ArmRow(
        name,
        tasks,
        _score(before, tasks, arms.baseline),
        _score(after, tasks, arms.statecomp),
        _spent(before, after, arms),
    )


def _score(outcomes: Mapping[str, ArmOutcome], tasks: int, arm: ArmResults) -> ArmScore:
    failed = sum(outcome.failed for outcome in outcomes.values())
    reward = sum(outcome.reward for outcome in outcomes.values()) / tasks
    return ArmScore(reward if arm.outcomes else None, failed, tasks - len(outcomes))


def _spent(
    before: Mapping[str, ArmOutcome], after: Mapping[str, ArmOutcome], arms: Arms
) -> ArmSpent:
    known = [{t for t, o in one.items() if o.tokens is not None} for one in (before, after)]
    has = (bool(arms.baseline.outcomes), bool(arms.statecomp.outcomes))
    tasks = known[0] & known[1] if all(has) else known[0] | known[1]
    summary = None
    if has[1] and arms.shares is not None:
        summary = round(sum(_shared(after[task], arms.shares) for task in tasks))
    return ArmSpent(
        len(tasks),
        round(sum(before[task].tokens or 0 for task in tasks)) if has[0] else None,
        round(sum(after[task].tokens or 0 for task in tasks)) if has[1] else None,
        summary,
    )


def _shared(outcome: ArmOutcome, shares: Mapping[str, float]) -> float:
    """A mean over attempts, as the agent's tokens are."""
    return sum(shares.get(trial.folder, 0.0) for trial in outcome.trials) / len(outcome.trials)


def _only(arm: ArmResults, tasks: Collection[str]) -> ArmResults:
    return ArmResults({task: o for task, o in arm.outcomes.items() if task in tasks})
