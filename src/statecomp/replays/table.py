"""The table of strategies: saved, broken, billed, over many runs and by domain."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from statecomp.controller.prices import Prices
from statecomp.replays.accounting import Bill, dollars_of
from statecomp.replays.run import Replay, ReplayStep, RunReplay
from statecomp.replays.safety import bootstrap_interval
from statecomp.replays.timing import UNJUDGED, Timing

SAME = 1 + 1e-9
"""Sums of floats that differ by less are one sum in two orders."""


@dataclass(frozen=True)
class StrategyRow:
    """One strategy over a set of runs.

    `saved` is the direct saving, side calls included: the recorded requests are fixed, so a changed
    path is not part of it.  `damage` counts requests that changed what an earlier one had sent.
    `dearer` counts runs that cost more than uncompressed, `lost_dollars` is what all of them lost
    and `worst` the change of dollars in the run that did worst, which may have saved.
    `recorded` runs were played, in `runs` conversations; `timing` is that of the `labelled` ones.
    """

    strategy: str
    runs: int
    checkpoints: int
    bill: Bill
    raw: Bill
    dollars: float
    raw_dollars: float
    dearer: int
    lost_dollars: float
    worst: float
    broken: int
    broken_low: float
    broken_high: float
    commits: int
    refusals: int
    damage: int
    first_change: float | None  # mean share of the raw prefix that stays in front of it
    recorded: int = 0
    labelled: int = 0
    timing: Timing = UNJUDGED

    @property
    def saved(self) -> float:
        return 1 - self.bill.total / self.raw.total if self.raw.total else 0.0

    @property
    def broken_share(self) -> float:
        return self.broken / self.checkpoints if self.checkpoints else 0.0

    @property
    def cached_share(self) -> float:
        return self.bill.cached / self.bill.input if self.bill.input else 0.0

    @property
    def dearer_share(self) -> float:
        return self.dearer / self.runs if self.runs else 0.0

    @property
    def dollars_saved(self) -> float:
        return 1 - self.dollars / self.raw_dollars if self.raw_dollars else 0.0

    def as_json(self) -> dict[str, Any]:
        return {
            **asdict(self),
            "saved": self.saved,
            "broken_share": self.broken_share,
            "cached_share": self.cached_share,
            "dollars_saved": self.dollars_saved,
            "dearer_share": self.dearer_share,
            "timing": self.timing.as_json() if self.labelled else None,
        }


def rows(results: Sequence[RunReplay], prices: Prices) -> list[StrategyRow]:
    """One row a strategy, in the order the strategies were given."""
    names = [replay.strategy for replay in results[0].replays] if results else []
    return [_row(place, results, prices) for place in range(len(names))]


def rows_by_domain(results: Sequence[RunReplay], prices: Prices) -> dict[str, list[StrategyRow]]:
    domains = sorted({result.domain for result in results})
    return {d or "-": rows([r for r in results if r.domain == d], prices) for d in domains}


def hindsight_share(results: Sequence[RunReplay]) -> float:
    """What could have been dropped with no broken step had the future been known."""
    raw = sum(result.raw.total for result in results)
    return sum(result.hindsight_tokens for result in results) / raw if raw else 0.0


def _row(place: int, results: Sequence[RunReplay], prices: Prices) -> StrategyRow:
    replays = [result.replays[place] for result in results]
    steps = [step for replay in replays for step in replay.steps]
    bill = sum((replay.bill for replay in replays), Bill())
    raw = sum((result.raw for result in results), Bill())
    spent = [dollars_of((step.bill for step in replay.steps), prices) for replay in replays]
    whole = [dollars_of(result.raw_bills, prices) for result in results]
    both = list(zip(spent, whole, strict=True))
    over = [(now, then) for now, then in both if now > then * SAME]
    low, high = bootstrap_interval([(len(r.broken), len(r.steps)) for r in replays])
    return StrategyRow(
        strategy=replays[0].strategy,
        runs=len(replays),
        checkpoints=len(steps),
        bill=bill,
        raw=raw,
        dollars=sum(spent),
        raw_dollars=sum(whole),
        dearer=len(over),
        lost_dollars=sum(now - then for now, then in over),
        worst=max((now / then - 1 for now, then in both if then), default=0.0),
        broken=sum(len(replay.broken) for replay in replays),
        broken_low=low,
        broken_high=high,
        commits=sum(step.commits for step in steps),
        refusals=sum(len(step.refusals) for step in steps),
        damage=sum(step.rewrote for step in steps),
        first_change=_mean_first_change(replays),
        recorded=sum(result.recorded for result in results),
        labelled=sum(result.labelled for result in results),
        timing=sum((replay.timing for replay in replays), UNJUDGED),
    )


def _mean_first_change(replays: Sequence[Replay]) -> float | None:
    shares = [
        step.first_change / step.segments
        for replay in replays
        for step in replay.steps
        if step.first_change is not None and step.segments
    ]
    return sum(shares) / len(shares) if shares else None


def steps_table(steps: Sequence[ReplayStep]) -> list[dict[str, Any]]:
    """Checkpoint by checkpoint, for machines."""
    return [
        {
            "checkpoint": step.checkpoint,
            "message": step.message,
            "input": step.bill.input,
            "cached": step.bill.cached,
            "output": step.bill.output,
            "side": step.bill.side,
            "first_change": step.first_change,
            "commits": step.commits,
            "ruling": step.ruling.as_json() if step.ruling else None,
            "missing": list(step.missing),
            "refusals": [asdict(refusal) for refusal in step.refusals],
            "note": step.note,
            "timing": asdict(step.timing),
        }
        for step in steps
    ]
