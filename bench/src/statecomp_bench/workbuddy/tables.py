"""The comparison for people and for programs: the paper's two tables a task set, and JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from statecomp_bench.workbuddy.comparison import ArmComparison, ArmRow, ArmScore
from statecomp_bench.workbuddy.summaries import ArmAccount

NONE = "-"
_REWARDS = ("Domain", "Tasks", "Baseline", "StateComp", "Difference", "Failed", "Missing")
_TOKENS = ("Domain", "Measured", "Baseline", "Agent", "Summary", "Combined", "Reduction")


def markdown(comparisons: Sequence[ArmComparison], notes: Sequence[str]) -> str:
    parts = [part for comparison in comparisons for part in _tables(comparison)]
    if notes:
        parts.append("\n".join(f"- {note}" for note in notes))
    return "\n\n".join(parts) + "\n"


def as_json(
    comparisons: Sequence[ArmComparison],
    notes: Sequence[str],
    problems: Sequence[str],
    account: ArmAccount | None,
) -> dict[str, Any]:
    return {
        "sets": [
            {"set": comparison.name, "rows": [_object(row) for row in comparison.rows]}
            for comparison in comparisons
        ],
        "ledger": None if account is None else _ledger(account),
        "notes": list(notes),
        "problems": list(problems),
    }


def _tables(comparison: ArmComparison) -> Iterator[str]:
    yield f"### {comparison.name}: mean reward, 0 to 1"
    yield _table(_REWARDS, [_reward_cells(row) for row in comparison.rows])
    yield f"### {comparison.name}: tokens, input and output"
    yield _table(_TOKENS, [_token_cells(row) for row in comparison.rows])


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [heads, ("---", *["---:"] * (len(heads) - 1)), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def _reward_cells(row: ArmRow) -> tuple[str, ...]:
    arms = (row.baseline, row.statecomp)
    return (
        row.domain,
        str(row.tasks),
        *(_reward(arm.reward) for arm in arms),
        NONE if row.difference is None else f"{row.difference:+.4f}",
        " / ".join(_count(arm, arm.failed) for arm in arms),
        " / ".join(_count(arm, arm.missing) for arm in arms),
    )


def _token_cells(row: ArmRow) -> tuple[str, ...]:
    spent = row.spent
    return (
        row.domain,
        f"{spent.measured} of {row.tasks}",
        *(_whole(n) for n in (spent.baseline, spent.agent, spent.summary, spent.combined)),
        NONE if spent.reduction is None else f"{100 * spent.reduction:.2f}%",
    )


def _reward(value: float | None) -> str:
    return NONE if value is None else f"{value:.4f}"


def _count(arm: ArmScore, count: int) -> str:
    return NONE if arm.reward is None else str(count)


def _whole(value: int | None) -> str:
    return NONE if value is None else f"{value:,}"


def _object(row: ArmRow) -> dict[str, Any]:
    spent = {"combined": row.spent.combined, "reduction": row.spent.reduction}
    return {**asdict(row), "difference": row.difference, "spent": {**asdict(row.spent), **spent}}


def _ledger(account: ArmAccount) -> dict[str, Any]:
    told = {name: value for name, value in asdict(account).items() if name != "shares"}
    return {**told, "direct_saving": account.direct_saving}
