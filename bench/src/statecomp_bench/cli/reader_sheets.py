"""What readers made of each method's views, beside what the scripted model makes of the same."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from statistics import fmean

from statecomp_bench.cli.labels import label
from statecomp_bench.cli.sheet import TableCell, TableDocument
from statecomp_bench.cli.sheets import NOTHING
from statecomp_bench.handoffs.folder import Handoff
from statecomp_bench.handoffs.scoring import HandoffLine, HandoffOutcome, lines
from statecomp_bench.nextsteps.table import NextLine

Finished = Sequence[tuple[Handoff, HandoffOutcome]]
AGREEMENT = "Over"
# Where the script's reward, calls and tokens stand, each behind the readers', and their decimals.
SCRIPTED_COLUMNS = {4: 1, 6: 1, 8: 0}


def handoff_sheet(readers: Finished, script: Finished, who: str) -> TableDocument:
    """Readings of a language model, and of the scripted model on the same hand-offs."""
    read = {handoff.name for handoff, _ in readers}
    same = [pair for pair in script if pair[0].name in read]
    simulated = {line.strategy: line for line in lines(same)}
    found = lines(readers)
    rows = tuple(_handoff_row(line, simulated.get(line.strategy)) for line in found)
    tasks = {handoff.task for handoff, _ in readers}
    specs = [line.strategy for line in found]
    notes = (
        f"{len(readers)} hand-offs of {len(tasks)} tasks, finished by {who} that did not know what "
        "made the view; beside it the scripted model on the same ones. Mean ± standard error.",
        "Again: tokens of what was looked up that had been seen before the hand-over. Calls: of the"
        " readers and of the script that finishes as they do (`scripted:reader`).",
        *_agreement(readers, same),
    )
    columns = (
        *("What was shown", "Readings", "View", "Reward", "Reward, script"),
        *("Calls", "Calls, script", "Again", "Again, script"),
    )
    return TableDocument("Hand-offs: the referee", columns, rows, notes, _ours(specs))


def scripted_again(sheet: TableDocument, script: Finished) -> TableDocument:
    """A kept sheet of readings with the scripted model's columns of today beside them.

    The readers' own work is not needed; what they were shown may have been of older records.
    """
    simulated = {label(line.strategy): line for line in lines(script)}
    rows, pairs = [], []
    for row in sheet.rows:
        line = simulated.get(row[0].text)
        cells = [NOTHING] * len(SCRIPTED_COLUMNS)
        if line is not None:
            found = (line.reward, line.calls, line.again)
            cells = [_spread(v, n) for v, n in zip(found, SCRIPTED_COLUMNS.values(), strict=True)]
            pairs.append((int(row[1].text), [_mean(row[place - 1]) for place in SCRIPTED_COLUMNS]))
            pairs[-1][1].extend(value[0] for value in found)
        placed = dict(zip(SCRIPTED_COLUMNS, cells, strict=True))
        rows.append(tuple(placed.get(place, cell) for place, cell in enumerate(row)))
    notes = [note for note in sheet.notes if not note.startswith(AGREEMENT)]
    return replace(sheet, rows=tuple(rows), notes=(*notes, *_by_view(pairs, len(script))))


def _by_view(pairs: Sequence[tuple[int, Sequence[float]]], count: int) -> list[str]:
    """How far the simulation is from the readers where only their means are kept."""
    if not pairs:
        return []
    total = sum(readings for readings, _ in pairs)
    reward, calls, again = (
        sum(n * (values[place + 3] - values[place]) for n, values in pairs) / total
        for place in range(3)
    )
    return [
        f"{AGREEMENT} {count} hand-offs made anew of the same tasks, seed and point, with the "
        f"records of today, the script's reward is {reward:+.1f} points from the readers'; it "
        f"makes {calls:+.1f} calls and reads {again:+,.0f} tokens again compared with them."
    ]


def _mean(cell: TableCell) -> float:
    return float(cell.text.partition(" ")[0].replace(",", ""))


def _handoff_row(line: HandoffLine, script: HandoffLine | None) -> tuple[TableCell, ...]:
    return (
        TableCell(label(line.strategy)),
        TableCell(str(line.count)),
        TableCell(f"{line.tokens:,.0f}"),
        _spread(line.reward, 1),
        NOTHING if script is None else _spread(script.reward, 1),
        _spread(line.calls, 1),
        NOTHING if script is None else _spread(script.calls, 1),
        _spread(line.again),
        NOTHING if script is None else _spread(script.again),
    )


def _agreement(readers: Finished, script: Finished) -> list[str]:
    """How far the simulation is from the readers, hand-off by hand-off."""
    by_name = {handoff.name: outcome for handoff, outcome in script}
    pairs = [(outcome, by_name[h.name]) for h, outcome in readers if h.name in by_name]
    if not pairs:
        return []
    reward = fmean(100 * (b.reward - a.reward) for a, b in pairs)
    calls = fmean(b.calls - a.calls for a, b in pairs)
    again = fmean(b.again - a.again for a, b in pairs)
    near = sum(abs(a.reward - b.reward) < 0.05 for a, b in pairs)
    return [
        f"{AGREEMENT} {len(pairs)} hand-offs that both finished, the script's reward is "
        f"{reward:+.1f} points from the readers', {near} of them within five points; it makes "
        f"{calls:+.1f} calls and reads {again:+,.0f} tokens again compared with them."
    ]


def next_sheet(found: Sequence[NextLine], who: str) -> TableDocument:
    """Next actions at hard moments of recorded runs."""
    rows = tuple(
        (
            TableCell(label(_named(line.strategy))),
            TableCell(f"{line.tokens:,.0f}"),
            *(TableCell(str(count)) for count in (line.good, line.less, line.wrong)),
            TableCell(f"{line.missing:.2f}"),
            TableCell(str(line.misleading)),
            TableCell(str(line.looks_up)),
        )
        for line in found
    )
    specs = [line.strategy for line in found]
    columns = (
        *("What was shown", "View", "As good", "Less informed", "Wrong"),
        *("Missed", "Misled", "Looks up"),
    )
    notes = (
        f"{found[0].count} moments of recorded runs at which something at least five steps old is "
        f"used that labels still keep; {who} named the next action without knowing what made the "
        "view, another judged with the whole history. Routers had not seen the runs.",
        "Missed: things named as missing, the mean. Misled: views in which something was found "
        "misleading. Looks up: answers that mainly fetch again what had been seen.",
    )
    return TableDocument("Next actions: the referee", columns, rows, notes, _ours(specs))


def _named(strategy: str) -> str:
    """Without the folder of routers, which says nothing to a reader of the page."""
    name, _, options = strategy.partition(":")
    kept = [part for part in options.split(",") if part and not part.startswith("scorer=folds:")]
    return f"{name}:{','.join(kept)}" if kept else name


def _ours(specs: Sequence[str]) -> frozenset[int]:
    return frozenset(p for p, spec in enumerate(specs) if spec.partition(":")[0] == "statecomp")


def _spread(value: tuple[float, float], places: int = 0) -> TableCell:
    return TableCell(f"{value[0]:,.{places}f} ± {value[1]:,.{places}f}")
