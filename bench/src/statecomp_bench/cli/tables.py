"""`statecomp-bench table`, `figures` and `matched`: what a bench came to."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

import click

from statecomp.cli.files import write_pictures, write_text
from statecomp.cli.terminal import warn
from statecomp.errors import BadInput
from statecomp_bench.cli.labels import label
from statecomp_bench.cli.sheet import FORMS, TableDocument, written
from statecomp_bench.cli.sheets import (
    main_sheet,
    models_sheet,
    published_sheets,
    regimes_sheet,
    why_sheet,
)
from statecomp_bench.matched import matched_specs
from statecomp_bench.results import TRAJECTORIES, Result
from statecomp_bench.suite import RunOrder
from statecomp_bench.tables import Bench, MethodRow, read_bench, rows, rows_by_model

LINES = 7
"""As many lines stay apart in colour and marker."""

RESULTS = click.argument(
    "paths", metavar="RESULTS...", nargs=-1, required=True, type=click.Path(path_type=Path)
)
BASELINE = click.option(
    "--baseline", default="none", show_default=True, metavar="SPEC", help="To compare with."
)
MODELS = click.option(
    "--model", "models", multiple=True, help="Only this acting model; may be repeated."
)


@click.command("table")
@RESULTS
@click.option(
    "--format",
    "form",
    type=click.Choice(list(FORMS)),
    default="markdown",
    show_default=True,
    help="How the tables are written.",
)
@BASELINE
@click.option("--published", is_flag=True, help="The paper's own numbers beside ours.")
@click.option(
    "--matched",
    type=click.Path(path_type=Path),
    help="Results of methods with budgets matched to StateComp; see `statecomp-bench matched`.",
)
@MODELS
@click.option("-o", "output", type=click.Path(path_type=Path), help="A file instead of the screen.")
def table_command(
    paths: tuple[Path, ...],
    form: str,
    baseline: str,
    published: bool,
    matched: Path | None,
    models: tuple[str, ...],
    output: Path | None,
) -> None:
    """Write the tables of a bench, from the folders `statecomp-bench run` wrote.

    Rewards by domain, tokens, steps and dollars against a baseline, with a paired bootstrap; then
    why the tokens changed: what requests were spared, other paths taken, cache damage.  Several
    acting models get a table each and one across them.

    \b
    Examples:
      statecomp-bench table bench-runs/ -o results.md
      statecomp-bench table bench-runs/ --format latex --published
      statecomp-bench table bench-runs/ --matched bench-matched/ --format html -o results.html
    """
    bench = read_bench(paths).of(models)
    sheets = tables(bench, baseline, read_bench([matched]) if matched else None, published)
    text = written(sheets, form)
    if output is None:
        click.echo(text, nl=False)
    else:
        write_text(output, text)


def tables(
    bench: Bench, baseline: str, matched: Bench | None, published: bool
) -> list[TableDocument]:
    """Every table these results allow, in the order they are read."""
    groups = rows_by_model(bench, baseline)
    several = len(groups) > 1
    sheets = []
    for model, lines in groups.items():
        own = bench.of([model])
        sheets += [main_sheet(lines, own, several), why_sheet(lines, own)]
        if matched is not None and model in matched.models:
            # Both regimes against the same baseline, whether or not it was run again.
            second = [r for r in matched.of([model]).results if r.strategy != baseline]
            runs = [r for r in own.results if r.strategy == baseline]
            sheets.append(regimes_sheet(lines, rows([*runs, *second], baseline), own))
    if several:
        sheets.append(models_sheet(groups, bench))
    if published:
        sheets += published_sheets(next(iter(groups.values())))
    return sheets


@click.command("matched")
@RESULTS
@BASELINE
@click.option(
    "--to",
    "reference",
    default="statecomp",
    show_default=True,
    metavar="SPEC",
    help="The strategy whose length the others are to have.",
)
@MODELS
def matched_command(
    paths: tuple[Path, ...], baseline: str, reference: str, models: tuple[str, ...]
) -> None:
    """Print a spec for each method with a budget, matched to StateComp's mean visible tokens.

    A first guess from the lengths of the baseline's requests; where RESULTS hold a run with a
    budget, what it showed corrects the guess.

    \b
    Example:
      statecomp-bench matched bench-runs/ > specs.txt
      statecomp-bench run $(sed 's/^/--strategy /' specs.txt) -o bench-matched/
      statecomp-bench table bench-runs/ --matched bench-matched/
    """
    bench = read_bench(paths).of(models)
    model = bench.models[0]
    if len(bench.models) > 1:
        warn(f"several acting models; matched for {model}, choose another with --model")
    for found in matched_specs(bench.of([model]).results, reference, baseline):
        click.echo(found.spec)
        if not found.reached:
            warn(
                f"{found.spec} comes to about {found.expected:,.0f} visible tokens; no budget of "
                f"it comes to {found.target:,.0f}"
            )


@click.command("figures")
@RESULTS
@click.option(
    "-o", "--output", "folder", required=True, type=click.Path(path_type=Path), help="Folder."
)
@BASELINE
@MODELS
@click.option("--task", default="", help="Of the run to be drawn; else the baseline's longest.")
@click.option("--seed", type=int, help="Of that run.")
@click.option(
    "--strategy",
    "specs",
    multiple=True,
    metavar="SPEC",
    help=f"Lines of that run; may be repeated.  [default: {LINES} of those that ran]",
)
@click.option(
    "--run", "file", type=click.Path(path_type=Path), help="Trajectory to draw the grid of."
)
def figures_command(
    paths: tuple[Path, ...],
    folder: Path,
    baseline: str,
    models: tuple[str, ...],
    task: str,
    seed: int | None,
    specs: tuple[str, ...],
    file: Path | None,
) -> None:
    """Draw a bench as SVG and PNG; needs matplotlib (statecomp[figures]).

    \b
    reward_tokens     reward against tokens, a point a method
    tokens_per_step   input tokens of each request of one run, a line a method
    dynamics          what became of each interaction at each request of one run

    With several acting models each file carries the model's name.

    \b
    Example:
      statecomp-bench figures bench-runs/ -o figures/
    """
    bench = read_bench(paths).of(models)
    for model, lines in rows_by_model(bench, baseline).items():
        own = bench.of([model])
        runs = chosen_runs(own.results, baseline, task, seed, specs)
        tail = "-" + re.sub(r"[^\w.-]+", "_", model) if len(bench.models) > 1 else ""
        write_pictures(
            folder, pictures(own, lines, runs, file or trajectory_of(paths, runs), f"{{}}{tail}")
        )


def pictures(
    bench: Bench, lines: Sequence[MethodRow], runs: Sequence[Result], grid: Path | None, names: str
) -> dict[str, bytes]:
    """The figures of one acting model by file name; `names` has a place for each one's own."""
    if find_spec("matplotlib") is None:
        raise BadInput("figures need matplotlib: install statecomp[figures]")
    from statecomp_bench import figures as drawing

    figures = {
        "reward_tokens": drawing.reward_tokens(lines, label),
        "tokens_per_step": drawing.tokens_per_step(runs, label),
    }
    if grid is not None:
        figures["dynamics"] = drawing.dynamics(*read_standing(grid))
    note = f"acting model {lines[0].model}" + (", a simulation" if bench.simulated else "")
    made: dict[str, bytes] = drawing.drawn(
        {names.format(name): figure for name, figure in figures.items()}, note
    )
    return made


def chosen_runs(
    results: Sequence[Result], baseline: str, task: str, seed: int | None, specs: Sequence[str]
) -> list[Result]:
    """The runs of one task and seed: the one asked for, else where the baseline was longest."""
    known = [r for r in results if task in ("", r.task) and seed in (None, r.seed) and r.tokens]
    if not known:
        raise BadInput("no run of that task and seed is in these results", field="task")
    whole = [r for r in known if r.strategy == baseline] or known
    place = max(whole, key=lambda r: (_mates(r, known), r.steps))
    here = [r for r in known if (r.task, r.seed, r.level) == (place.task, place.seed, place.level)]
    if specs:
        if missing := [s for s in specs if s not in {r.strategy for r in here}]:
            raise BadInput(f"was not run on {place.task}", field=f"strategy {missing[0]!r}")
        return [r for r in here if r.strategy in specs]
    # The baseline and StateComp are always among the lines.
    order = sorted(here, key=lambda r: (r.strategy != baseline, _name(r) != "statecomp"))
    return order[:LINES]


def _mates(result: Result, known: Sequence[Result]) -> int:
    return sum((o.task, o.seed) == (result.task, result.seed) for o in known)


def _name(result: Result) -> str:
    return result.strategy.partition(":")[0]


def trajectory_of(paths: Sequence[Path], runs: Sequence[Result]) -> Path | None:
    """StateComp's recording of that run, or the first other one that is there."""
    for run in sorted(runs, key=lambda r: _name(r) != "statecomp"):
        name = RunOrder(run.task, run.strategy, run.seed, run.model, run.level).file_name
        for path in paths:
            file = (path if path.is_dir() else path.parent) / TRAJECTORIES / name
            if file.is_file():
                return file
    warn("no trajectory stands beside these results; the grid of one run is not drawn")
    return None


def read_standing(file: Path) -> tuple[list[str], str]:
    """What became of each interaction, request by request, and the title of the run."""
    try:
        content = file.read_bytes()
        text = gzip.decompress(content) if file.suffix == ".gz" else content
        record = json.loads(text)
        standing = [str(row) for row in record["standing"]]
    except OSError as error:
        problem = f"cannot be read: {error.strerror or error}"
        raise BadInput(problem, file=str(file)) from error
    except (ValueError, KeyError, TypeError, EOFError) as error:
        problem = "holds no `standing`; name a trajectory that `statecomp-bench run` wrote"
        raise BadInput(problem, file=str(file)) from error
    if not any(standing) or set("".join(standing)) - set("kes-"):
        raise BadInput("holds no interaction to draw", file=str(file))
    what, task, seed = (record.get(name, "?") for name in ("strategy", "group", "seed"))
    return standing, f"Compression dynamics: {label(str(what))}, {task}, seed {seed}"
