"""`statecomp train` and `statecomp evaluate`: a router from your own labelled runs."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Any

import click
from rich.table import Table

from statecomp.annotate.forecasts import read_forecasts
from statecomp.annotate.labels import read_labels
from statecomp.annotate.records import Reading
from statecomp.cli.engine import engine_options, progress
from statecomp.cli.files import read_chosen, write_text
from statecomp.cli.terminal import show
from statecomp.engines.engine import Engine
from statecomp.errors import BadInput

# Of the learners that are networks, how wide their hidden layer is.
HIDDEN: Mapping[str, int] = {"linear": 0, "mlp128": 128, "mlp2048": 2048}
LEARNERS = ("committee", "trees", *HIDDEN)
EXTRA = "training needs more libraries: install statecomp[learn]"


def shared(command: Callable[..., None]) -> Callable[..., None]:
    """What both commands ask for."""
    options = (
        click.argument("runs", nargs=-1, required=True, type=click.Path(path_type=Path)),
        click.option("--labels", required=True, type=click.Path(path_type=Path),
                     help="A label file, as `statecomp annotate` writes it."),
        click.option("--more-labels", type=click.Path(path_type=Path),
                     help="Runs labelled here are learned from too, and never tuned or judged on:"
                     " for labels you trust less. Where both files label a run, --labels counts."),
        click.option("--forecasts", type=click.Path(path_type=Path),
                     help="How surely each interaction was READY to a reader of the past alone;"
                     " the committee learns from these more than from the labels."),
        click.option("--learner", "learners", multiple=True, type=click.Choice(LEARNERS),
                     help="May be repeated: validation picks the best. [default: committee]"),
        click.option("--precision", type=click.FloatRange(0.5, 1.0), default=0.98,
                     show_default=True, help="Precision the threshold must reach on validation."),
        click.option("--unsafe-cost", type=float, help="Cost of replacing what must stay; with"),
        click.option("--miss-cost", type=float, help="the cost of keeping what could go: the"
                     " threshold follows from both, and --precision is not used."),
        click.option("--seed", type=int, default=0, show_default=True),
    )  # fmt: skip
    for option in reversed(options):
        command = option(command)
    return command


@click.command()
@shared
@click.option("-o", "--out", required=True, type=click.Path(path_type=Path),
              help="The folder the router goes to.")  # fmt: skip
@engine_options
def train(
    runs: tuple[Path, ...],
    labels: Path,
    more_labels: Path | None,
    forecasts: Path | None,
    learners: tuple[str, ...],
    precision: float,
    unsafe_cost: float | None,
    miss_cost: float | None,
    seed: int,
    out: Path,
    engine: Engine,
) -> None:
    """Train a router on labelled RUNS and write it as a bundle.

    Scores are calibrated, and the threshold is chosen, on tasks that were not learned from: in a
    committee each task is kept from some of the members, for the other learners a fifth of the
    tasks is held back.  How good the result is says `statecomp evaluate`, on the same input.

    \b
    Example:
      statecomp annotate runs.jsonl -o labels.jsonl
      statecomp train runs.jsonl --labels labels.jsonl -o router/
      statecomp replay runs.jsonl --strategy statecomp:scorer=router:router/
    """
    cross, folds, bundle = _modules("cross", "folds", "bundle")
    _must_use(forecasts, learners)
    corpus = _corpus(runs, labels, more_labels, forecasts, engine)
    validation = folds.rotations(corpus.judged, seed=seed)[0].validation
    # Nothing is judged here, so all other tasks are learned from; a committee takes both parts.
    learning = corpus.pairs.without_tasks_of(validation)
    choice = _choice(precision, unsafe_cost, miss_cost)
    chosen = cross.choose(
        learning, corpus.pairs.of_runs(validation), _learners(learners, corpus, seed), choice
    )
    bundle.save(out, _bundle(chosen, f"{corpus.source}, seed {seed}"))
    show(
        f"{chosen.name} on {len(corpus.pairs):,} pairs of {len(corpus.pairs.runs)} runs; "
        f"threshold {chosen.threshold:.3f}; written to {out}"
    )


@click.command()
@shared
@click.option("--json", "json_file", type=click.Path(path_type=Path), help="Write all numbers.")
@click.option("--save-folds", type=click.Path(path_type=Path), metavar="FOLDER",
              help="Keep the routers of all rotations; `--strategy statecomp:scorer=folds:FOLDER`"
              " then replays each run with one that has not seen its task.")  # fmt: skip
@engine_options
def evaluate(
    runs: tuple[Path, ...],
    labels: Path,
    more_labels: Path | None,
    forecasts: Path | None,
    learners: tuple[str, ...],
    precision: float,
    unsafe_cost: float | None,
    miss_cost: float | None,
    seed: int,
    json_file: Path | None,
    save_folds: Path | None,
    engine: Engine,
) -> None:
    """Cross-validate a router on labelled RUNS: five rotations, no task in two parts.

    Configuration, calibration and threshold are chosen on train and validation; the labels of the
    test runs are read last.  `settled` are the pairs with k >= i+2.
    """
    cross, folds, metrics, shipped = _modules("cross", "folds", "metrics", "shipped")
    _must_use(forecasts, learners)
    corpus = _corpus(runs, labels, more_labels, forecasts, engine)
    rotations = folds.rotations(corpus.judged, seed=seed)
    rotations = folds.learning_more(rotations, corpus.judged, corpus.more, seed=seed)
    choice = _choice(precision, unsafe_cost, miss_cost)
    edges = metrics.length_edges(corpus.pairs.of_runs(run.name for run in corpus.judged))
    job = FoldJob(corpus.pairs, _learners(learners, corpus, seed), choice, edges)
    with progress("folds", len(rotations)) as watch:
        judged = [*engine.map(job, rotations, watch=watch)]
    result = cross.pooled(corpus.pairs, judged, edges)
    if save_folds:
        bundles = [
            _bundle(fold.chosen, f"{corpus.source}, seed {seed}, rotation {turn}")
            for turn, fold in enumerate(judged, start=1)
        ]
        tasks = folds.unseen_by(rotations, (*corpus.judged, *corpus.more))
        shipped.save_folds(save_folds, bundles, tasks)
    if json_file:
        folds_json = [{"metrics": f.metrics, "chosen": f.chosen.name} for f in result.folds]
        document = {"pooled": result.metrics, "folds": folds_json}
        write_text(json_file, json.dumps(document, indent=1) + "\n")
    show(metrics_table(result.metrics))


@dataclass(frozen=True)
class FoldJob:
    """One rotation, wherever it is trained: chosen on two of its parts, judged on the third."""

    pairs: Any
    learners: Mapping[str, Any]
    choice: Any
    edges: tuple[float, float]

    def __call__(self, fold: Any) -> Any:
        (cross,) = _modules("cross")
        train, validation = map(self.pairs.of_runs, (fold.train, fold.validation))
        chosen = cross.choose(train, validation, self.learners, self.choice)
        return cross.judge(fold, chosen, self.pairs.of_runs(fold.test), self.edges)


def metrics_table(metrics: Mapping[str, Any]) -> Table:
    columns = {
        "pairs": "pairs", "auroc": "AUROC", "keep_pr_auc": "KEEP PR", "ready_pr_auc": "READY PR",
        "coverage_at_98": "cov@98%", "precision": "precision", "coverage": "coverage",
        "unsafe_rate": "unsafe", "ece": "ECE",
    }  # fmt: skip
    table = Table(box=None, pad_edge=False)
    table.add_column("")
    for name in columns.values():
        table.add_column(name, justify="right")
    parts = {"all pairs": metrics["all"], "settled": metrics["settled"]}
    parts |= {f"  {name}": part for name, part in metrics["domain"].items()}
    for name, part in parts.items():
        table.add_row(name, *(_cell(part.get(key)) for key in columns))
    return table


def _cell(value: Any) -> str:
    if value is None:
        return "-"
    return f"{value:,}" if isinstance(value, int) else f"{value:.3f}"


def _modules(*names: str) -> list[Any]:
    try:
        return [import_module(f"statecomp.router.{name}") for name in names]
    except ModuleNotFoundError as error:
        raise BadInput(f"{EXTRA} ({error.name} is missing)") from error


def _reader() -> Any:
    try:
        return import_module("statecomp.features.evidence").EvidenceReader()
    except ModuleNotFoundError as error:
        raise BadInput(f"{EXTRA} ({error.name} is missing)") from error


@dataclass(frozen=True)
class _Corpus:
    """The pairs of all labelled runs, and which of these are only learned from."""

    pairs: Any
    judged: Sequence[Any]
    more: Sequence[Any]
    source: str


def _corpus(
    paths: Sequence[Path], labels: Path, more: Path | None, forecasts: Path | None, engine: Engine
) -> _Corpus:
    (supervision,) = _modules("supervision")
    readings = [Reading.of(run) for run in read_chosen(paths, None, None, skip_bad=False)]
    trusted = read_labels(labels)
    known = {**read_labels(more), **trusted} if more else trusted
    foreseen = read_forecasts(forecasts) if forecasts else None
    total = sum(reading.id in known for reading in readings)
    with progress("reading features", total) as watch:
        mapped = functools.partial(engine.map, watch=watch)
        pairs = supervision.supervised_pairs(readings, known, _reader, mapped, foreseen)
    runs = pairs.catalogue()
    files = ", ".join(file.name for file in (labels, more, forecasts) if file)
    return _Corpus(
        pairs,
        judged=[run for run in runs if run.name in trusted],
        more=[run for run in runs if run.name not in trusted],
        source=f"{files}: {len(runs)} runs, {len(pairs)} pairs",
    )


def _must_use(forecasts: Path | None, learners: Sequence[str]) -> None:
    if forecasts and learners and "committee" not in learners:
        raise click.UsageError(
            "only the committee learns from --forecasts; add --learner committee"
        )


def _bundle(chosen: Any, source: str) -> Any:
    (bundle,) = _modules("bundle")
    return bundle.Bundle(
        router=chosen.router,
        features=_reader().NAMES,
        threshold=chosen.threshold,
        calibration=chosen.calibration,
        labels="READY from the earliest checkpoint at which a short summary may stand instead",
        created_from=source,
    )


def _learners(names: Sequence[str], corpus: _Corpus, seed: int) -> dict[str, Any]:
    return {name: _learner(name, corpus, seed) for name in names or ("committee",)}


def _learner(name: str, corpus: _Corpus, seed: int) -> Any:
    """Training needs heavy libraries, and only those of the learner that is asked for."""
    less = frozenset(run.name for run in corpus.more)
    if name == "committee":
        (committee,) = _modules("committee")
        return committee.Committee(untrusted=less, seed=seed)
    if name == "trees":
        (trees,) = _modules("trees")
        return replace(trees.SHIPPED, rare=less, seed=seed)
    (networks,) = _modules("train")
    return networks.TrainSettings(hidden=HIDDEN[name], seed=seed)


def _choice(precision: float, unsafe_cost: float | None, miss_cost: float | None) -> Any:
    cross, threshold = _modules("cross", "threshold")
    if unsafe_cost is None and miss_cost is None:
        return cross.Choice(calibration="beta", aim=threshold.TargetPrecision(precision))
    if unsafe_cost is None or miss_cost is None:
        raise click.UsageError("--unsafe-cost and --miss-cost go together")
    return cross.Choice(calibration="beta", aim=threshold.Costs(unsafe_cost, miss_cost))
