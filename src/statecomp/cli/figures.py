"""`statecomp figures`: the paper's figures, drawn for your own labels."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import click

from statecomp.annotation.labels import labels_in
from statecomp.annotation.stats import LabelledRun, labelled_run, last_checkpoints
from statecomp.cli.files import write_pictures
from statecomp.cli.labels import RUNS_HELP, blamed, labelled_readings
from statecomp.cli.lazy import PlainGroup
from statecomp.cli.options import PATH
from statecomp.cli.terminal import number_of, warn
from statecomp.errors import BadInput


@click.group(cls=PlainGroup)
def figures() -> None:
    """Draw figures as SVG and PNG; needs matplotlib (statecomp[figures])."""


@figures.command("labels")
@click.argument("file", metavar="LABELS", type=PATH)
@click.option("--runs", multiple=True, required=True, type=PATH, help=RUNS_HELP)
@click.option("-o", "--output", "folder", required=True, type=PATH, help="Folder.")
@click.option("--note", default="", help="A line below each figure, for instance who labelled.")
def labels_command(file: Path, runs: tuple[Path, ...], folder: Path, note: str) -> None:
    """Draw when interactions become READY, how long they wait, and the spans they form.

    \b
    readiness_by_domain   READY fraction over task progress, by domain
    readiness_overall     its mean, median and 10th-90th percentile band over runs
    delay_cdf             delay to READY, by third of the run the interaction stands in
    span_dynamics         span count, span length and coverage over task progress

    Only runs whose every interaction has a label are drawn; others are counted and said.  The SVG
    files are the same bytes for the same labels.

    \b
    Example:
      statecomp figures labels labels.jsonl --runs runs.jsonl.gz -o figures/
    """
    if find_spec("matplotlib") is None:
        raise BadInput("figures need matplotlib: install statecomp[figures]")
    drawn = _labelled_runs(file, runs)
    labelled = number_of(sum(len(run.boundaries) for run in drawn), "interaction")
    counts = f"{number_of(len(drawn), 'run')}, {labelled}"
    note = "; ".join(part for part in (f"{file.name}: {counts}", note) if part)
    from statecomp.annotation.figures import label_figures

    write_pictures(folder, label_figures(drawn, note))


def _labelled_runs(file: Path, runs: tuple[Path, ...]) -> list[LabelledRun]:
    given = labels_in(file)
    found = labelled_readings(runs, given.keys())
    with blamed(file):
        last_checkpoints(given, readings=found)
    drawn = [labelled_run(reading, given[run]) for run, reading in sorted(found.items())]
    whole = [run for run in drawn if run is not None]
    if not whole:
        problem = "labels no run in full; figures need a label for every interaction of a run"
        raise BadInput(problem, file=str(file))
    if len(whole) < len(drawn):
        warn(f"runs left out because interactions lack labels: {len(drawn) - len(whole):,}")
    return whole
