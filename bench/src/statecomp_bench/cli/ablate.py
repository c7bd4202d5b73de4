"""`statecomp-bench ablate`: the paper's study of representations and routers, on your labels."""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import click
from rich.table import Table

from statecomp.annotation.forecasts import Forecasts, read_forecasts
from statecomp.annotation.labels import labels_in, read_labels
from statecomp.cli.files import read_chosen, write_pictures, write_text
from statecomp.cli.labels import RUNS_HELP
from statecomp.cli.lazy import PlainGroup
from statecomp.cli.terminal import show
from statecomp.errors import BadInput, needing

EXTRA = "ablations need more libraries: install statecomp[encoder,learn]"


@click.group(cls=PlainGroup)
def ablate() -> None:
    """Compare representations, layers and routers on folds that share no task.

    Features come from `statecomp extract`.  Everything is chosen on train and validation; test
    labels are read last.
    """


def shared(command: Callable[..., None]) -> Callable[..., None]:
    """What every ablation asks for."""
    options = (
        click.argument("features", nargs=-1, type=click.Path(path_type=Path)),
        click.option("--runs", multiple=True, required=True, type=click.Path(path_type=Path),
                     help="The runs the features were made of; may be repeated."),
        click.option("--labels", required=True, type=click.Path(path_type=Path),
                     help="A label file, as `statecomp annotate` writes it."),
        click.option("-o", "--out", type=click.Path(path_type=Path),
                     help="A folder for the table as Markdown, LaTeX and JSON."),
        click.option("--layer", type=click.IntRange(1), help="Of the encoder."
                     " [default: the one with most rows]"),
        click.option("--seed", type=int, default=0, show_default=True, help="Of the folds."),
    )  # fmt: skip
    for option in reversed(options):
        command = option(command)
    return command


READOUT = click.option(
    "--readout",
    type=click.Choice(["last", "mean"]),
    default="last",
    show_default=True,
    help="Which vectors of the FEATURES are read.",
)
KEEP = click.option(
    "--keep",
    type=click.Path(path_type=Path),
    metavar="FOLDER",
    help="Keep each row that was judged: a stopped study goes on from there.",
)
FORECASTS = click.option(
    "--forecasts", type=click.Path(path_type=Path), help="The shipped recipe learns from these too."
)


@ablate.command("representations")
@shared
@READOUT
@FORECASTS
@click.option("--row", "chosen", multiple=True, help="Only this row; may be repeated.")
@KEEP
def representations_command(
    features: tuple[Path, ...],
    runs: tuple[Path, ...],
    labels: Path,
    out: Path | None,
    layer: int | None,
    seed: int,
    readout: str,
    forecasts: Path | None,
    chosen: tuple[str, ...],
    keep: Path | None,
) -> None:
    """Judge every construction in the FEATURES folders, with and without aggregation.

    The paper's ten rows as far as their vectors are there, then ours: every token once, evidence,
    both.  All rows see the same pairs.

    \b
    Example:
      statecomp extract runs.jsonl --labels labels.jsonl -o features/ --limit 20 --layer 4 \\
        --sample-checkpoints 2 --construction once --construction capped-recent4
      statecomp-bench ablate representations features/ --runs runs.jsonl --labels labels.jsonl
    """
    with needing(EXTRA):
        from statecomp_bench.study import tables
        from statecomp_bench.study.kept import Kept
    table = tables.representation_table(
        _given(features), _runs(runs), read_labels(labels), layer=layer, readout=readout,
        seed=seed, progress=_progress, kept=Kept(keep), chosen=chosen, forecasts=_said(forecasts),
    )  # fmt: skip
    _deliver(table, tables.REPRESENTATION_COLUMNS, out, "representations")


@ablate.command("layers")
@shared
def layers_command(
    features: tuple[Path, ...],
    runs: tuple[Path, ...],
    labels: Path,
    out: Path | None,
    layer: int | None,
    seed: int,
) -> None:
    """Judge each layer and readout of `once` in the FEATURES folders.

    \b
    Example:
      statecomp extract runs.jsonl --labels labels.jsonl -o layers/ --layer 4 --layer 12 --layer 30
      statecomp-bench ablate layers layers/ --runs runs.jsonl --labels labels.jsonl
    """
    if layer is not None:
        raise click.UsageError("this ablation compares layers; leave out --layer")
    with needing(EXTRA):
        from statecomp_bench.study import tables
    table = tables.layer_table(
        _given(features), _runs(runs), read_labels(labels), seed=seed, progress=_progress
    )
    _deliver(table, tables.REPRESENTATION_COLUMNS, out, "layers")


@ablate.command("routers")
@shared
@click.option(
    "--construction",
    default="capped-recent4",
    show_default=True,
    help="The vectors the paper's routers read.",
)
@click.option("--sample-checkpoints", type=click.IntRange(1), default=6, show_default=True,
              help="Checkpoints of each labelled run for the routers on evidence.")  # fmt: skip
@click.option("--beside-evidence", is_flag=True, help="Vectors with evidence beside them.")
@READOUT
@FORECASTS
@KEEP
def routers_command(
    features: tuple[Path, ...],
    runs: tuple[Path, ...],
    labels: Path,
    out: Path | None,
    layer: int | None,
    seed: int,
    construction: str,
    sample_checkpoints: int,
    beside_evidence: bool,
    readout: str,
    forecasts: Path | None,
    keep: Path | None,
) -> None:
    """Judge the paper's eleven routers and ours: on vectors of the FEATURES folders, on evidence.

    Without FEATURES only the table on evidence is made.

    \b
    Example:
      statecomp-bench ablate routers features/ --runs runs.jsonl --labels labels.jsonl -o tables/
    """
    with needing(EXTRA):
        from statecomp.vectors.sample import Sample
        from statecomp_bench.study import tables
        from statecomp_bench.study.kept import Kept
    known, labelled = _runs(runs), read_labels(labels)
    kept = Kept(keep)
    if features:
        table = tables.router_table(
            features, known, labelled, construction=construction, layer=layer, readout=readout,
            evidence=beside_evidence, seed=seed, progress=_progress, kept=kept,
        )  # fmt: skip
        name = "routers-beside" if beside_evidence else "routers"
        _deliver(table, tables.ROUTER_COLUMNS, out, name)
    chosen = Sample(sample_checkpoints, None, seed)
    table = tables.evidence_router_table(
        known, labelled, chosen, seed=seed, progress=_progress, kept=kept,
        forecasts=_said(forecasts),
    )  # fmt: skip
    _deliver(table, tables.ROUTER_COLUMNS, out, "routers-evidence")


@ablate.command("figures")
@click.argument("file", metavar="LABELS", type=click.Path(path_type=Path))
@click.option(
    "--runs", multiple=True, required=True, type=click.Path(path_type=Path), help=RUNS_HELP
)
@click.option(
    "-o", "--output", "folder", required=True, type=click.Path(path_type=Path), help="Folder."
)
@click.option("--note", default="", help="A line below each figure, for instance who labelled.")
@click.option(
    "--share",
    "shares",
    multiple=True,
    type=click.FloatRange(0.01, 1.0),
    default=[0.1, 0.25, 0.5, 0.75, 1.0],
    show_default=True,
    help="Of the training runs; may be repeated.",
)
@click.option("--seed", type=int, default=0, show_default=True, help="Of the folds.")  # fmt: skip
@click.option("--more-labels", type=click.Path(path_type=Path), help="Of runs to learn from only.")
@click.option("--members", type=click.IntRange(2), default=10, show_default=True,
              help="Of each committee; fewer are quicker, and a little worse.")  # fmt: skip
@FORECASTS
def figures_command(
    file: Path,
    runs: tuple[Path, ...],
    folder: Path,
    note: str,
    shares: tuple[float, ...],
    seed: int,
    more_labels: Path | None,
    members: int,
    forecasts: Path | None,
) -> None:
    """Draw how well a router of the shipped recipe does on runs it did not learn from.

    \b
    score_distributions   calibrated scores of KEEP and READY pairs
    precision_coverage    both against the threshold, with the 98 % line
    calibration           reliability of scores, raw and by each calibration
    training_and_length   quality by share of the training runs, and by run length

    Trained and judged on five rotations in which no task is in two parts; thin lines are folds.
    Pairs with k >= i+2 are shown.

    \b
    Example:
      statecomp-bench ablate figures labels.jsonl --runs runs.jsonl.gz -o figures/
    """
    if find_spec("matplotlib") is None:
        raise BadInput("figures need matplotlib: install statecomp[figures]")
    with needing(EXTRA):
        from statecomp.router.pipeline import Material
        from statecomp_bench.study import curves, figures
    known = [*read_chosen(runs, None, None, skip_bad=False)]
    labels = labels_in(file)
    material = Material(
        known,
        labels,
        read_labels(more_labels) if more_labels else None,
        _said(forecasts),
    )
    study = curves.study_shipped(
        material, seed, shares, lambda stage: click.echo(stage, err=True), members
    )
    judged = sum(run.id in labels for run in known)
    counts = f"{judged:,} runs, {len(study.scores):,} pairs with k ≥ i+2, out of fold"
    note = "; ".join(part for part in (f"{file.name}: {counts}", note) if part)
    write_pictures(folder, figures.router_figures(study, note))


def _given(features: tuple[Path, ...]) -> tuple[Path, ...]:
    if not features:
        raise click.UsageError("name a folder that `statecomp extract` wrote")
    return features


def _runs(paths: tuple[Path, ...]) -> dict[str, Any]:
    return {run.id: run for run in read_chosen(paths, None, None, skip_bad=False)}


def _said(path: Path | None) -> Forecasts | None:
    return read_forecasts(path) if path else None


def _progress(row: str, fold: int, stage: str) -> None:
    if stage == "choose" and fold == 1:
        click.echo(f"{row} ...", err=True)


def _deliver(table: Any, columns: tuple[str, ...], out: Path | None, name: str) -> None:
    with needing(EXTRA):
        from statecomp_bench.study import writing
    shown = Table(title=table.title, title_justify="left", box=None, pad_edge=False)
    for place, column in enumerate(writing.header(table, columns)):
        shown.add_column(column, justify="right" if place else "left")
    for row in table.rows:
        shown.add_row(*writing.cells(table, row, columns))
    show(*(text for text in (writing.warning(table), table.caption) if text), shown)
    if out:
        try:
            out.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise BadInput(f"cannot be written: {error.strerror}", file=str(out)) from error
        write_text(out / f"{name}.md", writing.markdown(table, columns))
        write_text(out / f"{name}.tex", writing.latex(table, columns))
        write_text(out / f"{name}.json", json.dumps(table.as_json(), indent=1) + "\n")
