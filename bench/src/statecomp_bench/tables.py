"""The numbers of the bench's tables: one row a method, compared pair by pair with a baseline.

A pair is one task with one seed, run under both.  Intervals come from a paired bootstrap in two
stages, tasks and then seeds within a task: seeds of one task are no independent tasks.

Two effects make up a change of input tokens, and they are kept apart.  The direct saving is what a
run's own requests were spared; the change of path is what they would have cost uncompressed,
against what the baseline's requests cost:

    input / baseline input = (1 - direct saving) x (1 + change of path)
"""

from __future__ import annotations

import random
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from statistics import fmean
from typing import TypeAlias

from statecomp.errors import BadInput
from statecomp_bench.agent import STEP_LIMIT
from statecomp_bench.results import RESULTS, Key, Result, iter_results
from statecomp_bench.task import DOMAINS

DRAWS = 2_000

Pair: TypeAlias = tuple[Result, Result]  # a run, and the baseline's of the same task and seed
Part: TypeAlias = tuple[float, float]


@dataclass(frozen=True)
class Estimate:
    """A number and its 95 % interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class RewardChange:
    """A method against the baseline, over the pairs both have run."""

    pairs: int
    reward: Estimate  # difference, 0..1
    domains: Mapping[str, float]
    tokens: Estimate  # share, side calls included
    dollars: float  # share
    steps: float  # difference a run
    path: float  # share: uncompressed cost of the path taken, against the baseline's input
    input: float  # share


@dataclass(frozen=True)
class MethodRow:
    """One method under one acting model; tokens, steps and dollars are means of a run."""

    strategy: str
    model: str
    runs: int
    failed: int
    limited: int  # ended by the step limit, and scored as they stood
    reward: float  # 0..1; a failed run counts as 0
    domains: Mapping[str, float]
    tokens: float
    side: float
    side_calls: float
    steps: float
    dollars: float
    visible: float  # input of a request
    direct_saving: float
    cached_share: float
    first_change: float | None  # mean share of the history in front of the first changed segment
    rewrites: float
    damage: float
    damage_share: float  # of the input
    repeated: float  # calls made a second time
    early: float | None  # of what was replaced: needed later; None where that is not known
    change: RewardChange | None  # None: it is the baseline, or shares no pair with it

    @property
    def name(self) -> str:
        return self.strategy.partition(":")[0]


@dataclass(frozen=True)
class Bench:
    """Runs read from one or more places."""

    results: tuple[Result, ...]
    unreadable: int = 0
    repeated: int = 0  # recorded in two places; the later place counts

    @property
    def models(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(result.model for result in self.results))

    @property
    def simulated(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(r.model for r in self.results if r.simulated))

    def of(self, models: Iterable[str]) -> Bench:
        """Only these acting models; all of them for none."""
        wanted = tuple(models)
        if unknown := [model for model in wanted if model not in self.models]:
            problem = f"is not in these results; they hold {', '.join(self.models)}"
            raise BadInput(problem, field=f"model {unknown[0]!r}")
        chosen = tuple(r for r in self.results if not wanted or r.model in wanted)
        return Bench(chosen, self.unreadable, self.repeated)

    def reasons(self) -> Counter[str]:
        return Counter(result.reason for result in self.results if result.failed)


def read_bench(paths: Sequence[Path]) -> Bench:
    """Results folders, or files of results."""
    found: dict[Key, Result] = {}
    unreadable = repeated = 0
    for path in paths:
        file = path / RESULTS if path.is_dir() else path
        if not file.is_file():
            problem = "holds no results; name a folder that `statecomp-bench run` wrote"
            raise BadInput(problem, file=str(path))
        here: dict[Key, Result] = {}
        for outcome in iter_results(file):
            if isinstance(outcome, Result):
                here[outcome.key] = outcome
            else:
                unreadable += 1
        repeated += len(here.keys() & found.keys())
        found |= here
    if not found:
        raise BadInput("no run could be read", file=", ".join(map(str, paths)))
    return Bench(tuple(found.values()), unreadable, repeated)


def rows(results: Sequence[Result], baseline: str) -> list[MethodRow]:
    """One row a method of one acting model: the baseline first, StateComp last, as in the paper."""
    groups: dict[str, list[Result]] = {}
    for result in results:
        groups.setdefault(result.strategy, []).append(result)
    if baseline not in groups:
        known = ", ".join(groups)
        raise BadInput(f"was not run; these were: {known}", field=f"baseline {baseline!r}")
    ordered = sorted(groups, key=lambda s: (s != baseline, s.partition(":")[0] == "statecomp"))
    return [_row(groups[s], () if s == baseline else groups[baseline]) for s in ordered]


def rows_by_model(bench: Bench, baseline: str) -> dict[str, list[MethodRow]]:
    """Each acting model against its own baseline."""
    return {
        model: rows([r for r in bench.results if r.model == model], baseline)
        for model in bench.models
    }


def _row(group: Sequence[Result], baseline: Sequence[Result]) -> MethodRow:
    total = sum(r.input for r in group) or 1
    shares = [share for r in group for share in r.first_changes if share is not None]
    raw = sum(r.raw_input for r in group)
    return MethodRow(
        strategy=group[0].strategy,
        model=group[0].model,
        runs=len(group),
        failed=sum(r.failed for r in group),
        limited=sum(r.reason == STEP_LIMIT and not r.failed for r in group),
        reward=fmean(r.reward for r in group),
        domains=_by_domain((r.domain, r.reward) for r in group),
        tokens=fmean(r.total for r in group),
        side=fmean(r.side for r in group),
        side_calls=fmean(r.side_calls for r in group),
        steps=fmean(r.steps for r in group),
        dollars=fmean(r.dollars for r in group),
        visible=visible_tokens(group),
        direct_saving=1 - total / raw if raw else 0.0,
        cached_share=sum(r.cached for r in group) / total,
        first_change=fmean(shares) if shares else None,
        rewrites=fmean(r.rewrites for r in group),
        damage=fmean(r.damage for r in group),
        damage_share=sum(r.damage for r in group) / total,
        repeated=fmean(r.notes.get("repeated", 0) for r in group),
        early=_early(group),
        change=_change(paired(group, baseline)),
    )


def _early(group: Sequence[Result]) -> float | None:
    """Sessions know what each of their steps took, so they know what went too early."""
    replaced = sum(r.notes.get("replaced", 0) for r in group)
    return sum(r.notes.get("too early", 0) for r in group) / replaced if replaced else None


def visible_tokens(group: Sequence[Result]) -> float:
    """Mean input of a request: what the acting model is shown."""
    return sum(r.input for r in group) / max(1, sum(r.steps for r in group))


def paired(group: Sequence[Result], baseline: Sequence[Result]) -> list[Pair]:
    others = {(r.task, r.seed, r.level): r for r in baseline}
    keys = [(r, (r.task, r.seed, r.level)) for r in group]
    return [(result, others[key]) for result, key in keys if key in others]


def _change(pairs: Sequence[Pair]) -> RewardChange | None:
    if not pairs:
        return None
    return RewardChange(
        pairs=len(pairs),
        reward=estimate(pairs, lambda run, base: (run.reward - base.reward, 1.0)),
        domains=_by_domain((run.domain, run.reward - base.reward) for run, base in pairs),
        tokens=estimate(pairs, lambda run, base: (run.total - base.total, base.total)),
        dollars=_share(pairs, lambda r: r.dollars),
        steps=fmean(run.steps - base.steps for run, base in pairs),
        path=_ratio([(run.raw_input - base.input, base.input) for run, base in pairs]),
        input=_share(pairs, lambda r: r.input),
    )


def _by_domain(parts: Iterable[tuple[str, float]]) -> dict[str, float]:
    """Means in the order of the paper's columns."""
    values: dict[str, list[float]] = {}
    for domain, value in parts:
        values.setdefault(domain, []).append(value)
    return {domain: fmean(values[domain]) for domain in DOMAINS if domain in values}


def _share(pairs: Sequence[Pair], value: Callable[[Result], float]) -> float:
    return _ratio([(value(run) - value(base), value(base)) for run, base in pairs])


def _ratio(parts: Sequence[Part]) -> float:
    below = sum(b for _, b in parts)
    return sum(a for a, _ in parts) / below if below else 0.0


def estimate(pairs: Sequence[Pair], part: Callable[[Result, Result], Part]) -> Estimate:
    """sum(a) / sum(b) over pairs, and its interval when tasks, then their seeds, are drawn anew."""
    tasks: dict[str, list[Part]] = {}
    for run, base in pairs:
        tasks.setdefault(run.task, []).append(part(run, base))
    groups = list(tasks.values())
    generator = random.Random(0)  # the same table for the same results
    drawn = []
    for _ in range(DRAWS):
        sample = generator.choices(groups, k=len(groups))
        drawn.append(
            _ratio([p for g in sample for p in (generator.choices(g, k=len(g)) if g[1:] else g)])
        )
    drawn.sort()
    value = _ratio([p for group in groups for p in group])
    return Estimate(value, drawn[int(0.025 * DRAWS)], drawn[int(0.975 * DRAWS) - 1])


@dataclass(frozen=True)
class PublishedRow:
    """A line of a table of the paper; `strategy` is our spec of that method, if there is one."""

    method: str
    strategy: str
    values: tuple[float, ...]
    model: str = ""


@dataclass(frozen=True)
class Published:
    """A table of the paper as it was printed; its numbers are of other tasks and models."""

    label: str
    title: str
    about: str
    columns: tuple[str, ...]
    rows: tuple[PublishedRow, ...]

    def column(self, name: str) -> dict[str, float]:
        """By strategy; rows of the paper without one of ours are left out."""
        place = self.columns.index(name)
        return {row.strategy: row.values[place] for row in self.rows if row.strategy}


@cache
def published() -> Mapping[str, Published]:
    """The paper's tables by their LaTeX label."""
    record = tomllib.loads(files("statecomp_bench").joinpath("published.toml").read_text("utf-8"))
    tables = [
        Published(
            label=table["label"],
            title=table["title"],
            about=table["about"],
            columns=tuple(table["columns"]),
            rows=tuple(
                PublishedRow(
                    row["method"],
                    row.get("strategy", ""),
                    tuple(row["values"]),
                    row.get("model", ""),
                )
                for row in table["rows"]
            ),
        )
        for table in record["tables"]
    ]
    return {table.label: table for table in tables}
