"""The first table of the results page, and what to conclude from runs, in sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from statecomp_bench.cli.labels import label
from statecomp_bench.cli.sheet import TableCell, TableDocument
from statecomp_bench.cli.sheets import NOTHING
from statecomp_bench.tables import MethodRow

OURS = "statecomp"
NEAR = 0.01
"""Within one point of the reward without compression."""

# Where short_sheet and handoff_sheet have a reward, tokens and dollars; where a reward.
TAKEN, READ = (1, 3, 4), 3
SAME = {"StateComp (recipe=balanced)": "StateComp"}


def overview_sheet(first: Mapping[str, TableDocument], kinds: Mapping[str, str]) -> TableDocument:
    """The first tables of each kind of run, and of readers, in eight columns."""
    rows = {part: {_method(row[0]): row for row in sheet.rows} for part, sheet in first.items()}
    methods = list(dict.fromkeys(name for kind in kinds for name in rows.get(kind, ())))
    readers = rows.get("readers", {})
    cells = [
        (
            TableCell(name),
            *(rows.get(kind, {}).get(name, (NOTHING,) * 8)[n] for kind in kinds for n in TAKEN),
            readers[name][READ] if name in readers else NOTHING,
        )
        for name in methods
    ]
    columns = [
        f"{kind}, {what}" for kind in kinds.values() for what in ("reward", "tokens (K)", "dollars")
    ]
    ours = frozenset(n for n, name in enumerate(methods) if name.startswith("StateComp"))
    notes = (
        "Rewards of 100; means of a run, changes against no compression over the same tasks and "
        "seeds; best bold, second best underlined.",
        "Readers: the reward of tasks that a large language model finished from each method's "
        "view; other tasks and seeds than the runs beside it.",
    )
    return TableDocument(
        "Tasks, sessions and readers",
        ("Method", *columns, "Readers, reward"),
        tuple(cells),
        notes,
        ours,
    )


def _method(cell: TableCell) -> str:
    return SAME.get(cell.text, cell.text)


def concluded(lines: Sequence[MethodRow], what: str) -> list[str]:
    """What a table of methods says, in sentences."""
    base, *others = lines
    told = [
        f"{what}: the default has {100 * row.reward:.1f} of 100, no compression "
        f"{100 * base.reward:.1f}; {_costs(row)}."
        for row in others
        if row.strategy == OURS
    ]
    near = [row for row in others if row.change and row.change.reward.value >= -NEAR]
    listed = "; ".join(f"{label(row.strategy)}, {_costs(row)}" for row in near)
    told.append(f"{what}, within one point of no compression: {listed or 'no method'}.")
    far = [row for row in others if row not in near]
    lost = ", ".join(f"{label(row.strategy)} {_points(row)}" for row in far)
    return [*told, f"{what}, points lost by the others: {lost}."] if far else told


def _points(row: MethodRow) -> str:
    return f"{-100 * row.change.reward.value:.1f}" if row.change else "-"


def _costs(row: MethodRow) -> str:
    if row.change is None:
        return "not comparable"
    return (
        f"{row.change.tokens.value:+.0%} of the tokens and {row.change.dollars:+.0%} of the dollars"
    )
