"""`statecomp-bench ablate`: the paper's study of representations and routers, on your labels."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.table import Table

from statecomp.annotation.forecasts import Forecasts, read_forecasts
from statecomp.annotation.labels import labels_in, read_labels
from statecomp.cli.files import read_chosen, write_pictures, write_text
from statecomp.cli.labels import RUNS_HELP
from statecomp.cli.lazy import PlainGroup
from statecomp.cli.terminal import show
from statecomp.errors import BadInput, needing
from statecomp_bench.cli.options import together

if TYPE_CHECKING:
    from statecomp_bench.study.rows import Judging
    from statecomp_bench.study.tables import Labelled, Wanted

EXTRA = "ablations need more libraries: install statecomp[encoder,learn]"


@click.group(cls=PlainGroup)
def ablate() -> None:
    """Compare representations, layers and routers on folds that share no task.

    Five rotations by task.  Everything is chosen on train and validation; test labels are read
    last.  Where rows are of the same pairs a table says how far they lie apart, with intervals.

    Features come from `statecomp extract`, which goes on where it was stopped.  So does every
    ablation with --keep FOLDER: each row, and each share of a curve, is kept as soon as it is
    judged, under a name made of its pairs, labels, folds and configuration.  The code is not in the
    name: after a change of it begin with an empty folder.  The same --seed draws the same folds,
    learners and samples.  A row is named as it begins; of 5,000 pairs one network takes seconds to
    a minute.

    \b
    A sample that can tell rows apart has hundreds of the rarer label:
      statecomp extract runs.jsonl -o features/ --layer 1 --scale 8 --sample-checkpoints 2 \\
        --sample-targets 10 --construction once --construction capped-recent4
      statecomp-bench ablate routers features/ --runs runs.jsonl --labels labels.jsonl \\
        --beside-evidence --keep rows/ -o tables/
    """


@dataclass(frozen=True)
class Request:
    """What every table is asked with."""

    features: tuple[Path, ...]
    runs: tuple[Path, ...]
    labels: Path
    out: Path | None
    seed: int
    keep: Path | None

    def known(self, forecasts: Path | None = None) -> Labelled:
        from statecomp_bench.study.tables import Labelled

        runs = {run.id: run for run in read_chosen(self.runs, None, None, skip_bad=False)}
        return Labelled(runs, read_labels(self.labels), _said(forecasts))

    def folders(self) -> tuple[Path, ...]:
        if not self.features:
            raise click.UsageError("name a folder that `statecomp extract` wrote")
        return self.features

    def wanted(self, layer: int | None, readout: str) -> Wanted:
        from statecomp_bench.study.tables import Wanted

        return Wanted(self.folders(), layer, readout)

    def how(self) -> Judging:
        from statecomp_bench.study.kept import Kept
        from statecomp_bench.study.rows import Judging

        return Judging(self.seed, _progress, Kept(self.keep))


SEED = click.option(
    "--seed", type=int, default=0, show_default=True, help="Of folds, learners and samples."
)
KEEP = click.option(
    "--keep",
    type=click.Path(path_type=Path),
    metavar="FOLDER",
    help="Keep what was judged: a stopped study goes on from there.",
)
FORECASTS = click.option(
    "--forecasts", type=click.Path(path_type=Path), help="The shipped recipe learns from these too."
)
SHARED = together(
    click.argument("features", nargs=-1, type=click.Path(path_type=Path)),
    click.option("--runs", multiple=True, required=True, type=click.Path(path_type=Path),
                 help="The runs the features were made of; may be repeated."),
    click.option("--labels", required=True, type=click.Path(path_type=Path),
                 help="A label file, as `statecomp annotate` writes it."),
    click.option("-o", "--out", type=click.Path(path_type=Path),
                 help="A folder for the table as Markdown, LaTeX and JSON."),
    SEED,
    KEEP,
)  # fmt: skip
VECTORS = together(
    click.option("--layer", type=click.IntRange(1),
                 help="Of the encoder. [default: the one with most rows]"),
    click.option("--readout", type=click.Choice(["last", "mean"]), default="last",
                 show_default=True, help="Which vectors of the FEATURES are read."),
)  # fmt: skip


def asking(command: Callable[..., None]) -> Callable[..., None]:
    """The options that all tables share, handed over as one request."""

    @wraps(command)
    def asked(
        features: tuple[Path, ...],
        runs: tuple[Path, ...],
        labels: Path,
        out: Path | None,
        seed: int,
        keep: Path | None,
        **more: Any,
    ) -> None:
        with needing(EXTRA):
            command(Request(features, runs, labels, out, seed, keep), **more)

    return SHARED(asked)


@ablate.command("representations")
@asking
@VECTORS
@FORECASTS
@click.option("--row", "chosen", multiple=True, help="Only this row; may be repeated.")
def representations_command(
    request: Request,
    layer: int | None,
    readout: str,
    forecasts: Path | None,
    chosen: tuple[str, ...],
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
    from statecomp_bench.study import tables

    wanted = request.wanted(layer, readout)
    table = tables.representation_table(request.known(forecasts), wanted, request.how(), chosen)
    _deliver(table, tables.REPRESENTATION_COLUMNS, request.out, "representations")


@ablate.command("layers")
@asking
def layers_command(request: Request) -> None:
    """Judge each layer and readout of `once` in the FEATURES folders.

    \b
    Example:
      statecomp extract runs.jsonl --labels labels.jsonl -o layers/ --layer 4 --layer 12 --layer 30
      statecomp-bench ablate layers layers/ --runs runs.jsonl --labels labels.jsonl
    """
    from statecomp_bench.study import tables

    folders = request.folders()
    table = tables.layer_table(request.known(), folders, request.how())
    _deliver(table, tables.REPRESENTATION_COLUMNS, request.out, "layers")


@ablate.command("shares")
@asking
@VECTORS
@FORECASTS
def shares_command(
    request: Request, layer: int | None, readout: str, forecasts: Path | None
) -> None:
    """Judge the rows that others are held against with a share of the training runs, and by length.

    The paper's own row, every token once, evidence, and the shipped recipe, with 10 to 100 % of the
    training runs, and with all of them on short, medium and long runs.

    \b
    Example:
      statecomp-bench ablate shares features/ --runs runs.jsonl --labels labels.jsonl --keep rows/
    """
    from statecomp_bench.study import tables

    wanted = request.wanted(layer, readout)
    table = tables.share_table(request.known(forecasts), wanted, request.how())
    _deliver(table, (), request.out, "shares")


@ablate.command("routers")
@asking
@click.option("--construction", default="capped-recent4", show_default=True,
              help="The vectors the paper's routers read.")  # fmt: skip
@click.option("--beside-evidence", is_flag=True, help="Vectors with evidence beside them.")
@VECTORS
@click.option("--sample-checkpoints", type=click.IntRange(1), default=6, show_default=True,
              help="Checkpoints of each labelled run for the routers on evidence.")  # fmt: skip
@FORECASTS
def routers_command(
    request: Request,
    construction: str,
    beside_evidence: bool,
    layer: int | None,
    readout: str,
    sample_checkpoints: int,
    forecasts: Path | None,
) -> None:
    """Judge the paper's eleven routers and ours: on vectors of the FEATURES folders, on evidence.

    Without FEATURES only the table on evidence is made.

    \b
    Example:
      statecomp-bench ablate routers features/ --runs runs.jsonl --labels labels.jsonl -o tables/
    """
    from statecomp.vectors.sample import Sample
    from statecomp_bench.study import tables

    known, how = request.known(forecasts), request.how()
    if request.features:
        wanted = request.wanted(layer, readout)
        table = tables.router_table(known, wanted, how, construction, beside_evidence)
        name = "routers-beside" if beside_evidence else "routers"
        _deliver(table, tables.ROUTER_COLUMNS, request.out, name)
    chosen = Sample(sample_checkpoints, None, request.seed)
    table = tables.evidence_router_table(known, chosen, how)
    _deliver(table, tables.ROUTER_COLUMNS, request.out, "routers-evidence")


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
@SEED
@click.option("--more-labels", type=click.Path(path_type=Path), help="Of runs to learn from only.")
@click.option("--members", type=click.IntRange(2), default=10, show_default=True,
              help="Of each committee; fewer are quicker, and a little worse.")  # fmt: skip
@FORECASTS
@KEEP
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
    keep: Path | None,
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
        from statecomp_bench.study.kept import Kept
        from statecomp_bench.study.rows import Judging
    known = [*read_chosen(runs, None, None, skip_bad=False)]
    labels = labels_in(file)
    more = read_labels(more_labels) if more_labels else None
    study = curves.study_shipped(
        Material(known, labels, more, _said(forecasts)),
        Judging(seed, _progress, Kept(keep)), shares, members,
    )  # fmt: skip
    judged = sum(run.id in labels for run in known)
    counts = f"{judged:,} runs, {len(study.scores):,} pairs with k ≥ i+2, out of fold"
    note = "; ".join(part for part in (f"{file.name}: {counts}", note) if part)
    write_pictures(folder, figures.router_figures(study, note))


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
