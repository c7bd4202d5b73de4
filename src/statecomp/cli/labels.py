"""`statecomp labels`: what a label file holds, and how far two readings agree."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import click
from rich.table import Table

from statecomp.annotation.compare import (
    NO_FACETS,
    Confusion,
    LabelComparison,
    compare,
    facets_of,
    second_readings,
)
from statecomp.annotation.labels import Labels, labels_in, read_readings
from statecomp.annotation.records import Reading
from statecomp.annotation.stats import Supervision, last_checkpoints, supervision
from statecomp.cli.files import write_text
from statecomp.cli.lazy import PlainGroup
from statecomp.cli.options import JSON_FILE, PATH
from statecomp.cli.terminal import show, table_of, warn
from statecomp.errors import BadInput
from statecomp.traces.jsonl import read_all

RUNS_HELP = "The recorded runs: their lengths, domains and kinds of action."
FACET_TITLES = {
    "age": "age (k-i)",
    "domain": "domain",
    "kind": "action",
    "observation": "observation",
    "annotators": "annotators",
}
MOST_ANNOTATORS = 20


@click.group(cls=PlainGroup)
def labels() -> None:
    """Look at label files: how many pairs they hold, and how far two readings agree."""


@labels.command("compare")
@click.argument("first", metavar="A", type=PATH)
@click.argument("reference", metavar="[B]", required=False, type=PATH)
@click.option("--readings", "again", is_flag=True, help="Compare first and second readings in A.")
@click.option("--runs", multiple=True, type=PATH, help=RUNS_HELP)
@JSON_FILE
def compare_command(
    first: Path, reference: Path | None, again: bool, runs: tuple[Path, ...], json_file: Path | None
) -> None:
    """Compare the labels in A with the reference labels in B, over all pairs i < k <= T.

    Unsafe pairs are READY in A before the reference says so; late pairs are KEEP in A where the
    reference says READY.  Where a file holds several readings of an interaction, the first counts;
    with --readings the first in A is compared with the second by another annotator.

    \b
    T is the length of the recorded run (--runs), or else the largest number with a label.

    \b
    Examples:
      statecomp labels compare mine.jsonl expert_labels.jsonl --runs runs.jsonl.gz
      statecomp labels compare expert_labels.jsonl --readings
    """
    if (reference is None) is not again:
        raise click.UsageError("name a second label file, or say --readings; not both.")
    a = labels_in(first)
    b = second_readings(read_readings(first)) if reference is None else labels_in(reference)
    if not b:
        raise BadInput("holds no second reading by another annotator", file=str(first))
    found = labelled_readings(runs, a.keys() | b.keys())
    with blamed(first, reference):
        last = last_checkpoints(a, b, readings=found)
        facets = facets_of(found.values()) if runs else NO_FACETS
        result = compare(_read_twice(a, b) if again else a, b, last, facets)
    if json_file:
        write_text(json_file, json.dumps(result.as_json(), indent=1) + "\n")
    if reference is None:
        _print_comparison(result, "first readings", "second readings")
    else:
        _print_comparison(result, first.name, reference.name)


@labels.command("stats")
@click.argument("file", metavar="LABELS", type=PATH)
@click.option("--runs", multiple=True, type=PATH, help=RUNS_HELP)
@JSON_FILE
def stats_command(file: Path, runs: tuple[Path, ...], json_file: Path | None) -> None:
    """Print the supervision table of a label file; by domain too where --runs are given.

    A state stands before every interaction; a checkpoint group is a state with a history; a pair
    is one interaction of that history.  Of several readings of an interaction the first counts.

    \b
    Example:
      statecomp labels stats labels.jsonl --runs runs.jsonl.gz
    """
    given = labels_in(file)
    found = labelled_readings(runs, given.keys())
    with blamed(file):
        last = last_checkpoints(given, readings=found)
    columns = {"all": supervision(given, last)}
    for domain in sorted({reading.domain for reading in found.values()}):
        of_domain = {run: given[run] for run, read in found.items() if read.domain == domain}
        columns[domain or "unknown"] = supervision(of_domain, last)
    if json_file:
        document = {name: column.as_json() for name, column in columns.items()}
        write_text(json_file, json.dumps(document, indent=1) + "\n")
    show(_supervision_table(file.name, columns))


def labelled_readings(paths: Sequence[Path], labelled: Collection[str]) -> dict[str, Reading]:
    """The labelled runs among the recorded ones; what either side lacks is said."""
    found: dict[str, Reading] = {}
    unlabelled = 0
    for run in read_all(paths):
        if isinstance(run, BadInput):
            raise run
        if run.id in found:
            raise BadInput(f"the run {run.id!r} occurs twice", file=run.source, field="id")
        if run.id in labelled:
            found[run.id] = Reading.of(run)
        else:
            unlabelled += 1
    if paths and not found:
        raise BadInput("holds no labelled run", file=", ".join(map(str, paths)))
    if unlabelled:
        warn(f"runs given that have no label: {unlabelled:,}")
    if paths and len(found) < len(labelled):
        missing = len(labelled) - len(found)
        warn(f"labelled runs not among the runs given: {missing:,}; their length is not known")
    return found


@contextmanager
def blamed(*files: Path | None) -> Iterator[None]:
    """Problems with what the label files say name those files."""
    try:
        yield
    except BadInput as problem:
        raise problem.at(file=" and ".join(str(file) for file in files if file)) from problem


def _read_twice(a: Labels, again: Labels) -> Labels:
    return {run: {number: a[run][number] for number in again[run]} for run in again}


def _print_comparison(result: LabelComparison, first: str, reference: str) -> None:
    show(_agreement_table(result, first, reference))
    for facet, groups in result.by.items():
        if facet != "annotators" or 1 < len(groups) <= MOST_ANNOTATORS:
            show("", _confusion_table(FACET_TITLES.get(facet, facet), groups))
    show(
        "\nREADY and KEEP: both say so.  Unsafe pairs are a share of what the first calls READY, "
        "late pairs of what the reference does."
    )
    if result.only_first or result.only_reference:
        show(
            f"Labelled on one side only, and not compared: {result.only_first:,} interactions in "
            f"{first}, {result.only_reference:,} in {reference}."
        )


def _agreement_table(result: LabelComparison, first: str, reference: str) -> Table:
    table = table_of(f"{first} against {reference}", ("", "value"))
    pairs = result.all
    for name, value in (
        ("runs", f"{result.runs:,}"),
        ("interactions", f"{result.interactions:,}"),
        ("pairs", f"{pairs.pairs:,}"),
        ("agreement over pairs", _percent(pairs.agreement)),
        ("Cohen's kappa", _number(pairs.kappa)),
        ("Cohen's kappa, k >= i+2", _number(result.settled.kappa)),
        ("boundaries exact", _percent(result.exact_share)),
        ("boundaries within one", _percent(result.within_one_share)),
        ("boundaries before the reference's", f"{result.earlier:,}"),
        ("boundaries after the reference's", f"{result.later:,}"),
        ("unsafe pairs: READY against KEEP", f"{pairs.unsafe:,}"),
        ("  of the pairs called READY", _percent(pairs.unsafe_share)),
        ("late pairs: KEEP against READY", f"{pairs.late:,}"),
        ("  of the reference's READY pairs", _percent(pairs.late_share)),
    ):
        table.add_row(name, value)
    return table


def _confusion_table(title: str, groups: Mapping[str, Confusion]) -> Table:
    columns = ("pairs", "agree", "kappa", "READY", "KEEP", "unsafe", "", "late", "")
    table = table_of("", (title, *columns))
    for name, cell in groups.items():
        table.add_row(
            name,
            f"{cell.pairs:,}",
            _percent(cell.agreement),
            _number(cell.kappa),
            f"{cell.both_ready:,}",
            f"{cell.both_keep:,}",
            f"{cell.unsafe:,}",
            _percent(cell.unsafe_share),
            f"{cell.late:,}",
            _percent(cell.late_share),
        )
    return table


def _supervision_table(title: str, columns: Mapping[str, Supervision]) -> Table:
    table = table_of(title, ("", *columns))
    rows: dict[str, Callable[[Supervision], str]] = {
        "trajectories": lambda s: f"{s.trajectories:,}",
        "recorded states": lambda s: f"{s.states:,}",
        "checkpoint groups": lambda s: f"{s.checkpoint_groups:,}",
        "interaction-state pairs": lambda s: f"{s.pairs:,}",
        "KEEP pairs": lambda s: f"{s.keep:,}",
        "READY pairs": lambda s: f"{s.ready:,}",
        "READY share": lambda s: _percent(s.prevalence),
        "READY share, k >= i+2": lambda s: _percent(s.settled_prevalence),
        "labelled interactions": lambda s: f"{s.interactions:,}",
        "supported boundaries": lambda s: f"{s.boundaries:,}",
        "without a boundary": lambda s: f"{s.without:,}",
        "median delay": lambda s: _number(s.median_delay, 1),
        "mean delay": lambda s: _number(s.mean_delay, 2),
    }
    for name, cell in rows.items():
        table.add_row(name, *map(cell, columns.values()))
    return table


def _percent(value: float | None) -> str:
    return "-" if value is None else f"{value:.1%}"


def _number(value: float | None, digits: int = 3) -> str:
    return "-" if value is None else f"{value:.{digits}f}"
