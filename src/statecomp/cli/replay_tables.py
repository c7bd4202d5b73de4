"""The tables `statecomp replay` prints; narrow enough for a terminal of eighty columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.box import SIMPLE_HEAD
from rich.table import Table

from statecomp.replay.table import Row


def saved_table(lines: Sequence[Row]) -> Table:
    """What each strategy costs and breaks, against the run as it was recorded."""
    first = lines[0]
    table = _table(
        f"{first.runs} runs, {first.checkpoints} checkpoints",
        ("strategy", "tokens", "saved", "side", "cached", "dollars", "", "broken", "95 %"),
    )
    raw, cached = first.raw, first.raw.cached / first.raw.input if first.raw.input else 0.0
    table.add_row(
        "(as recorded)", _short(raw.total), "", "0", f"{cached:.0%}", f"{first.raw_dollars:.2f}"
    )
    for row in lines:
        table.add_row(
            row.strategy,
            _short(row.bill.total),
            f"{row.saved:.1%}",
            _short(row.bill.side),
            f"{row.cached_share:.0%}",
            f"{row.dollars:.2f}",
            f"{-row.dollars_saved:+.0%}",
            f"{row.broken_share:.2%}",
            f"{100 * row.broken_low:.1f}-{100 * row.broken_high:.1f}",
        )
    return table


def mechanics_table(lines: Sequence[Row]) -> Table:
    """How often each strategy rewrote, and how far in front."""
    columns = ("strategy", "commits", "refusals", "cache breaks", "unchanged in front")
    table = _table("rewrites", columns)
    for row in lines:
        front = "-" if row.first_change is None else f"{row.first_change:.0%}"
        table.add_row(
            row.strategy, f"{row.commits:,}", f"{row.refusals:,}", f"{row.damage:,}", front
        )
    return table


def domain_table(domains: Mapping[str, Sequence[Row]]) -> Table:
    table = _table("saved / broken by domain", ("strategy", *domains))
    for place, row in enumerate(next(iter(domains.values()))):
        cells = [f"{d[place].saved:.1%} / {d[place].broken_share:.2%}" for d in domains.values()]
        table.add_row(row.strategy, *cells)
    return table


def _table(title: str, columns: Sequence[str]) -> Table:
    table = Table(title=title, title_justify="left", box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    table.add_column(columns[0], overflow="fold", min_width=15)
    for name in columns[1:]:
        table.add_column(name, justify="right", no_wrap=True)
    return table


def _short(tokens: int) -> str:
    if tokens < 10_000:
        return f"{tokens:,}"
    return f"{tokens / 1e6:.2f}M" if tokens >= 1e6 else f"{tokens / 1e3:.0f}K"
