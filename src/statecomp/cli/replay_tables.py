"""The tables `statecomp replay` prints; narrow enough for a terminal of eighty columns."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from rich.table import Table

from statecomp.cli.terminal import number_of, table_of
from statecomp.controller.prices import Prices
from statecomp.replays.run import RunReplay
from statecomp.replays.table import StrategyRow, hindsight_share, rows, rows_by_domain
from statecomp.replays.timing import LabelSource
from statecomp.tokens import TokenCounter


def tables(
    results: Sequence[RunReplay], prices: Prices, labels: LabelSource | None
) -> Iterator[Table]:
    """All of them; by domain where there are several, timing where labels say when."""
    lines, domains = rows(results, prices), rows_by_domain(results, prices)
    yield saved_table(lines)
    yield mechanics_table(lines)
    if labels:
        yield timing_table(lines)
    if len(domains) > 1:
        yield domain_table(domains)
    if labels and len(domains) > 1:
        yield timing_domain_table(domains)


def closing(results: Sequence[RunReplay], prices: Prices, count: TokenCounter) -> str:
    exact = "exact" if count.exact else "estimated"
    return (
        f"Hindsight could drop {hindsight_share(results):.1%} and break nothing.  "
        f"Tokens are {exact} ({count.name}); dollars are {prices.model} list prices of "
        f"{prices.as_of} with prompt caching.  Dearer is the share of runs that cost more, worst "
        "the change of dollars in the run that did worst."
    )


def saved_table(lines: Sequence[StrategyRow]) -> Table:
    """What each strategy costs and breaks, against the run as it was recorded."""
    first = lines[0]
    joined = f"{number_of(first.runs, 'session')} of " if first.recorded > first.runs else ""
    table = table_of(
        f"{joined}{number_of(first.recorded, 'run')}, {number_of(first.checkpoints, 'checkpoint')}",
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


def mechanics_table(lines: Sequence[StrategyRow]) -> Table:
    """How often each strategy rewrote, how much stood unchanged in front, and who paid for it."""
    columns = ("commits", "refusals", "cache breaks", "in front", "dearer", "worst")
    table = table_of("rewrites, and runs that cost more", ("strategy", *columns))
    for row in lines:
        front = "-" if row.first_change is None else f"{row.first_change:.0%}"
        table.add_row(
            row.strategy,
            f"{row.commits:,}",
            f"{row.refusals:,}",
            f"{row.damage:,}",
            front,
            f"{row.dearer_share:.0%}",
            f"{row.worst:+.0%}",
        )
    return table


def timing_table(lines: Sequence[StrategyRow]) -> Table:
    """When each strategy replaced, against labels that say when it could."""
    first = lines[0]
    table = table_of(
        f"timing, by labels for {first.labelled} of {number_of(first.recorded, 'run')}",
        ("strategy", "premature", "ready taken", "must_keep in view"),
    )
    for row in lines:
        timing = row.timing
        table.add_row(
            row.strategy,
            _percent(timing.premature_share),
            _percent(timing.taken_share),
            _percent(timing.found_share),
        )
    return table


def meaning(labels: LabelSource) -> str:
    """What the timing table says, and how far to trust it."""
    named = f" by {_listed(labels.annotators)}" if labels.annotators else ""
    return (
        "Premature: of the pairs of an interaction and a checkpoint two or more later that the "
        "labels still keep, the share no longer whole in what is sent; ready taken: the same of "
        "those they call READY; must_keep in view: of the strings they want kept, the share that "
        f"is sent.  The labels are those of {labels.file}, set{named}: a program, a language "
        "model or people, which only the file can tell."
    )


def _listed(names: Sequence[str], most: int = 3) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def timing_domain_table(domains: Mapping[str, Sequence[StrategyRow]]) -> Table:
    return _by_domain("premature / ready taken by domain", domains, _timing_cell)


def _timing_cell(row: StrategyRow) -> str:
    return f"{_percent(row.timing.premature_share)} / {_percent(row.timing.taken_share)}"


def domain_table(domains: Mapping[str, Sequence[StrategyRow]]) -> Table:
    return _by_domain("saved / broken by domain", domains, _saved_cell)


def _saved_cell(row: StrategyRow) -> str:
    return f"{row.saved:.1%} / {row.broken_share:.2%}"


def _by_domain(
    title: str, domains: Mapping[str, Sequence[StrategyRow]], cell: Callable[[StrategyRow], str]
) -> Table:
    table = table_of(title, ("strategy", *domains))
    for place, row in enumerate(next(iter(domains.values()))):
        table.add_row(row.strategy, *(cell(rows[place]) for rows in domains.values()))
    return table


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{share:.1%}"


def _short(tokens: int) -> str:
    if tokens < 10_000:
        return f"{tokens:,}"
    return f"{tokens / 1e6:.2f}M" if tokens >= 1e6 else f"{tokens / 1e3:.0f}K"
