"""What the bench's tables say: rewards and cost, why they changed, regimes, models, the paper's."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from textwrap import shorten

from statecomp.config.strategies import CARDS
from statecomp_bench.cli.labels import MODEL_RECORDS, label
from statecomp_bench.cli.sheet import TableCell, TableDocument, ranked
from statecomp_bench.matched import MEANINGS, without_budget
from statecomp_bench.tables import Bench, Estimate, MethodRow, RewardChange, published
from statecomp_bench.task import DOMAINS

SIMULATION = (
    "Simulation ({}): the acting model is a script bound to what it is shown, no language model."
)
ELSEWHERE = (
    "Published elsewhere: printed in the StateComp paper ({}), measured there on WorkBuddyBench "
    "with other acting models; not comparable with ours in absolute terms."
)
NOTHING = TableCell("-")


def main_sheet(lines: Sequence[MethodRow], bench: Bench, several: bool) -> TableDocument:
    """Rewards by domain and what they cost, as in the paper's main table."""
    columns: list[list[TableCell]] = [[TableCell(label(row.strategy)) for row in lines]]
    for domain in DOMAINS:
        columns.append(_reward_column(lines, domain))
    columns += [
        _reward_column(lines, ""),
        [_interval(row, lambda c: c.reward, 100, 2) for row in lines],
        _cost_column(lines, lambda row: row.tokens, thousands, lambda c: c.tokens.value),
        [TableCell(thousands(row.side)) for row in lines],
        [_steps(row) for row in lines],
        _cost_column(lines, lambda row: row.dollars, "{:.3f}".format, lambda c: c.dollars),
        [TableCell(str(row.failed)) for row in lines],
    ]
    model = lines[0].model
    return TableDocument(
        title=f"Context management on the bench, acting model {model}"
        if several
        else "Context management on the bench",
        columns=(
            *("Method", *DOMAINS, "Avg.", "95 % of change", "Tokens (K)", "Side (K)", "Steps"),
            *("Dollars", "Failed"),
        ),
        rows=tuple(zip(*columns, strict=True)),
        notes=_main_notes(lines, bench.of([model])),
        ours=_ours(lines),
    )


def short_sheet(lines: Sequence[MethodRow], bench: Bench, title: str) -> TableDocument:
    """What decides between methods, in eight columns."""
    columns: list[list[TableCell]] = [
        [TableCell(label(row.strategy)) for row in lines],
        _reward_column(lines, ""),
        [_interval(row, lambda c: c.reward, 100, 1) for row in lines],
        _cost_column(lines, lambda row: row.tokens, thousands, lambda c: c.tokens.value),
        _cost_column(lines, lambda row: row.dollars, "{:.2f}".format, lambda c: c.dollars),
        [_steps(row) for row in lines],
        [TableCell(f"{row.repeated:.1f}") for row in lines],
        [NOTHING if row.early is None else TableCell(f"{row.early:.0%}") for row in lines],
    ]
    names = ("Method", "Reward", "95 % of change", "Tokens (K)", "Dollars", "Steps", "Again",
             "Too early")  # fmt: skip
    notes = (
        *_simulation(bench),
        f"{lines[0].runs} runs of each; means of a run, changes against no compression over the "
        "same tasks and seeds. Again: calls made a second time. Too early: of what was replaced, "
        "what a later step took; only sessions know it.",
        *_asked(lines),
        *_trouble(lines, bench),
    )
    return TableDocument(title, names, tuple(zip(*columns, strict=True)), notes, _ours(lines))


def _asked(lines: Sequence[MethodRow]) -> Iterator[str]:
    """On how many answers records by a model rest."""
    for row in lines:
        if MODEL_RECORDS in label(row.strategy):
            answers = round(row.side_calls * row.runs)
            yield (
                f"{label(row.strategy)}: {answers} answers by large language models, counted in "
                "tokens, and in dollars at their own price."
            )


def why_sheet(lines: Sequence[MethodRow], bench: Bench) -> TableDocument:
    """Where a change of tokens comes from, and what rewriting did to the cache."""
    rows = []
    for row in lines:
        change = row.change
        rows.append(
            (
                TableCell(label(row.strategy)),
                TableCell(f"{row.direct_saving:.1%}"),
                TableCell(f"{change.path:+.1%}") if change else NOTHING,
                TableCell(f"{change.steps:+.1f}") if change else NOTHING,
                TableCell(f"{change.input:+.1%}") if change else NOTHING,
                _interval(row, lambda c: c.tokens, 100, 1),
                TableCell(thousands(row.visible)),
                TableCell("never" if row.first_change is None else f"{row.first_change:.0%}"),
                TableCell(f"{row.rewrites:.1f}"),
                TableCell(thousands(row.damage)),
                TableCell(f"{row.damage_share:.0%}"),
                TableCell(f"{row.cached_share:.0%}"),
            )
        )
    columns = (
        *("Method", "Direct saving", "Path", "Steps", "Input", "95 % of tokens %"),
        *("Visible (K)", "First rewritten at", "Rewrites", "Damage (K)", "Of input", "Cached"),
    )
    notes = (
        "Direct saving: what a run's own requests were spared, side calls not counted. Path: what "
        "those requests would have cost uncompressed, against the baseline's; steps: more or fewer "
        "requests a run. Where all pairs were run, input = (1 - direct saving) × (1 + path) - 1.",
        "First rewritten at: mean share of the history that stands in front of the first changed "
        "segment. Damage: tokens a run that an earlier request had sent and that had to be read "
        "anew; rewrites: how often a run.",
    )
    title = f"Why the tokens changed, acting model {lines[0].model}"
    return TableDocument(title, columns, tuple(rows), (*notes, *_simulation(bench)), _ours(lines))


def models_sheet(groups: Mapping[str, Sequence[MethodRow]], bench: Bench) -> TableDocument:
    """The same methods under several acting models, each against its own baseline."""
    counts: dict[str, int] = {}
    for lines in groups.values():
        for row in lines:
            counts[row.strategy] = counts.get(row.strategy, 0) + 1
    rows: list[tuple[TableCell, ...]] = []
    ours = set()
    for model, lines in groups.items():
        shared = [row for row in lines if counts[row.strategy] > 1]
        columns = [
            [TableCell(model) for _ in shared],
            [TableCell(label(row.strategy)) for row in shared],
            *(_reward_column(shared, domain) for domain in DOMAINS),
            _reward_column(shared, ""),
            _cost_column(shared, lambda row: row.tokens, thousands, lambda c: c.tokens.value),
        ]
        ours |= {len(rows) + place for place in _ours(shared)}
        rows += zip(*columns, strict=True)
    notes = (
        "Changes are against the same acting model's baseline; best and second best within it. "
        "Methods run under one model only are left out.",
        *_simulation(bench),
    )
    columns_ = ("Acting model", "Method", *DOMAINS, "Avg.", "Tokens (K)")
    return TableDocument(
        "Across acting models", columns_, tuple(rows), notes, frozenset(ours), heads=2
    )


def regimes_sheet(
    first: Sequence[MethodRow], second: Sequence[MethodRow], bench: Bench
) -> TableDocument:
    """Methods with a budget in the published setting, and matched to StateComp's visible tokens."""
    matched = {without_budget(row.strategy): row for row in second if row.name in MEANINGS}
    rows: list[tuple[TableCell, ...]] = []
    ours = set()
    for row in first:
        if row.name == "statecomp":
            ours.add(len(rows))
        elif row.change is not None and row.name not in MEANINGS:
            continue
        other = matched.pop(without_budget(row.strategy), None)
        rows.append((TableCell(label(row.strategy)), *_regime(row), *_matched(other)))
    for spec, row in matched.items():  # run in this regime only
        rows.append((TableCell(label(spec)), *(NOTHING,) * 3, *_matched(row)))
    columns = (
        *("Method", "Avg.", "Tokens (K)", "Visible (K)"),
        *("Matched setting", "Avg. matched", "Tokens (K) matched", "Visible (K) matched"),
    )
    notes = (
        "Left the published setting, right a budget matched to StateComp's mean visible tokens "
        "(input of a request); the visible tokens show how well it was met.",
        *_simulation(bench),
    )
    title = f"Two regimes for methods with budgets, acting model {first[0].model}"
    return TableDocument(title, columns, tuple(rows), notes, frozenset(ours))


def _matched(row: MethodRow | None) -> tuple[TableCell, ...]:
    if row is None:
        return (NOTHING,) * 4
    return TableCell(row.strategy.partition(":")[2] or "-"), *_regime(row)


def _regime(row: MethodRow) -> tuple[TableCell, ...]:
    reward = _against(f"{100 * row.reward:.2f}", _points(row))
    return reward, TableCell(thousands(row.tokens)), TableCell(thousands(row.visible))


def published_sheets(lines: Sequence[MethodRow]) -> list[TableDocument]:
    """The paper's main table beside our changes, and its other tables of whole runs."""
    paper = published()["tab:method_comparison"]
    averages, tokens = paper.column("Avg."), paper.column("Tokens (M)")
    ours = {published_spec(row.strategy): row for row in reversed(lines)}
    rows = []
    for line in paper.rows:
        row = ours.get(line.strategy)
        better = averages[line.strategy] - averages["none"]
        less = tokens[line.strategy] / tokens["none"] - 1
        first = line.strategy == "none"
        rows.append(
            (
                TableCell(line.method),
                _against(f"{averages[line.strategy]:.2f}", None if first else better),
                _shared(f"{tokens[line.strategy]:.2f}", None if first else less),
                _against(f"{100 * row.reward:.2f}", _points(row)) if row else NOTHING,
                _shared(thousands(row.tokens), _token_share(row)) if row else NOTHING,
            )
        )
    columns = ("Method", "Avg., paper", "Tokens (M), paper", "Avg., here", "Tokens (K) a run, here")
    notes = (ELSEWHERE.format(paper.label), paper.about, "Only directions of change compare.")
    beside = TableDocument("The paper's Eval40 beside this bench", columns, tuple(rows), notes)
    return [beside, *(published_sheet(name) for name in ("tab:domain_results", "tab:cross_model"))]


def published_sheet(name: str) -> TableDocument:
    """One table of the paper as it was printed."""
    table = published()[name]
    heads = 2 if any(row.model for row in table.rows) else 1
    rows = tuple(
        (
            *((TableCell(row.model),) if heads > 1 else ()),
            TableCell(row.method),
            *(TableCell(f"{value:,.2f}") for value in row.values),
        )
        for row in table.rows
    )
    columns = ("Acting model", "Method", *table.columns)[2 - heads :]
    notes = (ELSEWHERE.format(table.label), table.about)
    return TableDocument(f"Published: {table.title}", columns, rows, notes, heads=heads)


def published_spec(strategy: str) -> str:
    """The paper's row of a spec of ours: settings it names must agree, others it does not give."""
    name = strategy.partition(":")[0]
    usual = {"window": "window:keep=10", "periodic": "periodic:every=5"}
    if name in usual:
        return usual[name] if strategy == name else strategy
    return name


def thousands(tokens: float) -> str:
    return f"{tokens / 1000:,.1f}"


def _ours(lines: Sequence[MethodRow]) -> frozenset[int]:
    return frozenset(place for place, row in enumerate(lines) if row.name == "statecomp")


def _reward_column(lines: Sequence[MethodRow], domain: str) -> list[TableCell]:
    """Of one domain, or of all runs."""
    values = [row.domains.get(domain) if domain else row.reward for row in lines]
    cells = []
    for row, value in zip(lines, values, strict=True):
        if value is None:
            cells.append(NOTHING)
            continue
        moved = _points(row, domain)
        cells.append(_against(f"{100 * value:.2f}", moved))
    return ranked(values, cells)


def _points(row: MethodRow, domain: str = "") -> float | None:
    """Change of the reward x 100, in one domain or over all."""
    if row.change is None:
        return None
    if not domain:
        return 100 * row.change.reward.value
    moved = row.change.domains.get(domain)
    return None if moved is None else 100 * moved


def _token_share(row: MethodRow) -> float | None:
    return row.change.tokens.value if row.change else None


def _cost_column(
    lines: Sequence[MethodRow],
    value: Callable[[MethodRow], float],
    shown: Callable[[float], str],
    moved: Callable[[RewardChange], float],
) -> list[TableCell]:
    values = [value(row) for row in lines]
    cells = [
        _shared(shown(amount), moved(row.change) if row.change else None)
        for row, amount in zip(lines, values, strict=True)
    ]
    return ranked(values, cells, lowest=True)


def _steps(row: MethodRow) -> TableCell:
    moved = row.change.steps if row.change else None
    arrow = _arrow(moved, f"{abs(moved):.1f}") if moved is not None else ""
    return TableCell(f"{row.steps:.1f}", arrow, None if not arrow else (moved or 0) < 0)


def _against(text: str, moved: float | None) -> TableCell:
    """A reward x 100 and its change in points."""
    arrow = _arrow(moved, f"{abs(moved):.2f}") if moved is not None else ""
    return TableCell(text, arrow, None if not arrow else (moved or 0) > 0)


def _shared(text: str, moved: float | None) -> TableCell:
    """A cost and its change as a share."""
    arrow = _arrow(moved, f"{abs(moved):.1%}") if moved is not None else ""
    return TableCell(text, arrow, None if not arrow else (moved or 0) < 0)


def _arrow(moved: float | None, size: str) -> str:
    """Nothing where nothing changed at the digits shown, as in the paper."""
    if not moved or not any(digit in size for digit in "123456789"):
        return ""
    return f"{'↑' if moved > 0 else '↓'}{size}"


def _interval(
    row: MethodRow, of: Callable[[RewardChange], Estimate], scale: float, digits: int
) -> TableCell:
    if row.change is None:
        return NOTHING
    found = of(row.change)
    return TableCell(f"{scale * found.low:+.{digits}f} to {scale * found.high:+.{digits}f}")


def _main_notes(lines: Sequence[MethodRow], bench: Bench) -> tuple[str, ...]:
    base = lines[0]
    tasks = {result.task for result in bench.results}
    seeds = sorted({result.seed for result in bench.results})
    pairs = [row.change.pairs for row in lines if row.change]
    prices = sorted({result.prices for result in bench.results if result.prices})
    short = [f"{label(row.strategy)} {row.runs}" for row in lines if row.runs < base.runs]
    notes = [
        *_simulation(bench),
        f"{len(tasks)} tasks, seeds {', '.join(map(str, seeds))}; {base.runs} runs of the "
        f"baseline; rewards × 100, the average over runs; tokens, side tokens, steps and dollars "
        "are means of a run, tokens and dollars with side calls. Bold best, underlined second.",
        f"Changes are against {label(base.strategy)} over {_span(pairs)} pairs of task and seed; "
        "95 % interval of the average's change from a paired bootstrap over tasks and seeds.",
        f"Dollars with prompt caching at list prices: {', '.join(prices) or 'unknown'}.",
    ]
    if short:
        notes.append(f"Not all was run; changes count common pairs only. Runs: {', '.join(short)}.")
    notes += _trouble(lines, bench)
    return (*notes, *_what_ran(lines))


def _span(pairs: Sequence[int]) -> str:
    if not pairs:
        return "no"
    return str(pairs[0]) if min(pairs) == max(pairs) else f"{min(pairs)} to {max(pairs)}"


def _trouble(lines: Sequence[MethodRow], bench: Bench) -> list[str]:
    """Runs that failed, were cut short or could not be read."""
    notes = [
        f"Failed, scored 0, {count} runs: {shorten(reason, 200)}"
        for reason, count in bench.reasons().most_common()
    ]
    limited = [f"{label(row.strategy)} {row.limited}" for row in lines if row.limited]
    if limited:
        notes.append(f"Ended by the step limit, scored as they stood: {', '.join(limited)}.")
    if bench.unreadable:
        notes.append(f"Lines that are no result, left out: {bench.unreadable}.")
    if bench.repeated:
        notes.append(f"Runs recorded in two places, the later one counted: {bench.repeated}.")
    return notes


def _what_ran(lines: Sequence[MethodRow]) -> list[str]:
    """Which methods asked a model, and, once, which ran with their local substitutes instead."""
    asking = [row for row in lines if row.name in CARDS and CARDS[row.name].calls != "none"]
    notes = [
        f"{label(row.strategy)}: {row.side_calls:.1f} model calls a run."
        for row in asking
        if row.side_calls
    ]
    local = dict.fromkeys(CARDS[row.name].title for row in asking if not row.side_calls)
    if local:
        notes.append(f"No model was asked here; local substitutes ran for {', '.join(local)}.")
    return notes


def _simulation(bench: Bench) -> tuple[str, ...]:
    names = ", ".join(bench.simulated)
    return (SIMULATION.format(names),) if names else ()
