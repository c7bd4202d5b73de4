"""`statecomp train` and `statecomp evaluate`: a router from your own labelled runs."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
from rich.table import Table

from statecomp.annotation.forecasts import read_forecasts
from statecomp.annotation.labels import read_labels
from statecomp.cli.engine import engine_options
from statecomp.cli.files import read_chosen, write_text
from statecomp.cli.options import JSON_FILE, PATH, RUNS, SEED, together
from statecomp.cli.terminal import progress, show
from statecomp.errors import needing
from statecomp.workers.engine import Engine

if TYPE_CHECKING:
    from statecomp.router.pipeline import Material, TrainingPlan, Workplace
    from statecomp.router.threshold import Aim

Made = TypeVar("Made")
LEARNERS = ("committee", "trees", "linear", "mlp128", "mlp2048")
LOSSES = ("bce", "weighted-bce", "cb-focal", "oversampling")
EXTRA = "training needs more libraries: install statecomp[learn]"
READING = "reading a language model needs more libraries: install statecomp[encoder,learn]"


def shared(command: Callable[..., None]) -> Callable[..., None]:
    """What both commands ask for."""
    options = (
        RUNS,
        click.option("--labels", required=True, type=PATH,
                     help="A label file, as `statecomp annotate` writes it."),
        click.option("--more-labels", type=PATH,
                     help="Runs labelled here are learned from too, and never tuned or judged on:"
                     " for labels you trust less. Where both files label a run, --labels counts."),
        click.option("--forecasts", type=PATH,
                     help="How surely each interaction was READY to a reader of the past alone;"
                     " the committee learns from these more than from the labels."),
        click.option("--representation", default="evidence", show_default=True,
                     help="evidence, or what a frozen language model reads of a run: once, full,"
                     " recent2, recent4, local or capped-recent4; +evidence adds evidence to it."),
        click.option("--context", type=click.Choice(["none", "gru", "topk", "hybrid"]),
                     default="none", show_default=True,
                     help="How the other candidates of a history are aggregated: by a GRU, by the"
                     " mean of the nearest four, or by both."),
        click.option("--encoder", default="smollm2-135m", show_default=True,
                     help="A preset, a local folder or a hub id; see `statecomp models`."),
        click.option("--layer", type=click.IntRange(1),
                     help="The layer whose vectors are read. [default: the encoder's]"),
        click.option("--readout", type=click.Choice(["last", "mean"]), default="last",
                     show_default=True, help="Of a text, its last token or the mean of all."),
        click.option("--vectors", type=PATH, metavar="FOLDER",
                     help="Where vectors are, as `statecomp extract` writes them, and where those"
                     " that are not there are put. [default: your cache folder]"),
        click.option("--sample-checkpoints", type=click.IntRange(1),
                     help="Read N checkpoints a run; evidence always reads all."),
        click.option("--run-tokens", type=click.IntRange(1), help="Leave out runs of more tokens."),
        click.option("--limit", type=click.IntRange(1),
                     help="Learn from N labelled runs, dealt evenly over domains."),
        click.option("--learner", "learners", multiple=True, type=click.Choice(LEARNERS),
                     help="May be repeated: validation picks the best. [default: committee on"
                     " evidence, else mlp128]"),
        click.option("--loss", type=click.Choice(LOSSES), default="bce", show_default=True,
                     help="How networks weigh the rarer class; bce weighs all pairs alike."),
        click.option("--rare-weight", type=click.FloatRange(1.0), default=10.0, show_default=True,
                     help="How often a pair of the rarer class counts in weighted-bce."),
        click.option("--calibration", type=click.Choice(["beta", "platt", "temperature", "raw"]),
                     default="beta", show_default=True, help="raw leaves scores as the loss makes"
                     " them, with its weights in them; the others make them probabilities."),
        click.option("--precision", type=click.FloatRange(0.5, 1.0), default=0.98,
                     show_default=True, help="Precision the threshold must reach on validation."),
        click.option("--unsafe-cost", type=float, help="What replacing a step costs that must"
                     " stay; the threshold then follows from costs instead of --precision."),
        click.option("--miss-cost", type=float, help="What keeping a step costs that could go;"
                     " goes with --unsafe-cost."),
        SEED,
    )  # fmt: skip
    return together(*options)(command)


@click.command()
@shared
@click.option("-o", "--out", required=True, type=PATH,
              help="The folder the router goes to.")  # fmt: skip
@engine_options
def train(out: Path, engine: Engine, **given: Any) -> None:
    """Train a router on labelled RUNS and write it as a bundle.

    Scores are calibrated, and the threshold is chosen, on tasks that were not learned from: in a
    committee each task is kept from some of the members, for the other learners a fifth of the
    tasks is held back.  How good the result is says `statecomp evaluate`, on the same input.

    Vectors that are not in their folder yet are read on the way, and a stopped training goes on
    where it was; --jobs and --engine say where.

    \b
    Examples:
      statecomp annotate runs.jsonl -o labels.jsonl
      statecomp train runs.jsonl --labels labels.jsonl -o router/
      statecomp replay runs.jsonl --strategy statecomp:scorer=router:router/
      statecomp train runs.jsonl --labels labels.jsonl -o paper/ --representation capped-recent4 \\
        --context hybrid --loss weighted-bce --layer 4 --sample-checkpoints 3
    """
    with needing(EXTRA):
        from statecomp.router import pipeline
        from statecomp.router.bundle import save
    made = _led(pipeline.train, given, engine)
    save(out, made.bundle)
    show(
        f"{made.name} on {len(made.pairs):,} pairs of {len(made.pairs.runs)} runs; "
        f"threshold {made.bundle.threshold:.3f}; written to {out}"
    )


@click.command()
@shared
@JSON_FILE
@click.option("--save-folds", type=PATH, metavar="FOLDER",
              help="Keep the routers of all rotations; `--strategy statecomp:scorer=folds:FOLDER`"
              " then replays each run with one that has not seen its task.")  # fmt: skip
@engine_options
def evaluate(json_file: Path | None, save_folds: Path | None, engine: Engine, **given: Any) -> None:
    """Cross-validate a router on labelled RUNS: five rotations, no task in two parts.

    Configuration, calibration and threshold are chosen on train and validation; the labels of the
    test runs are read last.  `settled` are the pairs with k >= i+2.

    \b
    Examples:
      statecomp evaluate runs.jsonl --labels labels.jsonl
      statecomp evaluate runs.jsonl --labels labels.jsonl --save-folds folds/
      statecomp replay runs.jsonl --strategy statecomp:scorer=folds:folds/
    """
    with needing(EXTRA):
        from statecomp.router import pipeline
        from statecomp.router.shipped import save_folds as save_rotations
    done = _led(pipeline.evaluate, given, engine)
    if save_folds:
        save_rotations(save_folds, done.bundles, done.unseen)
    if json_file:
        parts = [{"metrics": f.metrics, "chosen": f.chosen.name} for f in done.result.folds]
        document = {"pooled": done.result.metrics, "folds": parts}
        write_text(json_file, json.dumps(document, indent=1) + "\n")
    show(metrics_table(done.result.metrics))


def _led(
    work: Callable[[Material, TrainingPlan, Workplace], Made],
    given: Mapping[str, Any],
    engine: Engine,
) -> Made:
    """The work on what was given; a library that is missing is one sentence."""
    from statecomp.router.pipeline import Workplace

    _must_use(given)
    plan = _plan(given)
    with needing(READING if plan.reads.hidden else EXTRA):
        return work(_material(given), plan, Workplace(engine, progress, given["vectors"]))


def _plan(given: Mapping[str, Any]) -> TrainingPlan:
    from statecomp.router.pipeline import TrainingPlan

    same = (
        "representation",
        "context",
        "encoder",
        "layer",
        "readout",
        "learners",
        "loss",
        "calibration",
    )
    return TrainingPlan(
        **{name: given[name] for name in same},
        rare_weight=given["rare_weight"],
        aim=_aim(given["precision"], given["unsafe_cost"], given["miss_cost"]),
        checkpoints=given["sample_checkpoints"],
        seed=given["seed"],
    )


def _material(given: Mapping[str, Any]) -> Material:
    from statecomp.router.pipeline import Material

    labels, more, forecasts = given["labels"], given["more_labels"], given["forecasts"]
    known, less = read_labels(labels), read_labels(more) if more else None
    runs = read_chosen(given["runs"], None, None, skip_bad=False)
    if given["limit"] or given["run_tokens"]:
        from statecomp.vectors.sample import deal, shorter_than

        runs = [run for run in runs if run.id in known or run.id in (less or {})]
        runs = deal(shorter_than(runs, given["run_tokens"]), given["limit"])
    return Material(
        runs,
        known,
        less,
        read_forecasts(forecasts) if forecasts else None,
        ", ".join(file.name for file in (labels, more, forecasts) if file),
    )


def _must_use(given: Mapping[str, Any]) -> None:
    if given["forecasts"] and given["learners"] and "committee" not in given["learners"]:
        raise click.UsageError(
            "only the committee learns from --forecasts; add --learner committee"
        )


def _aim(precision: float, unsafe_cost: float | None, miss_cost: float | None) -> Aim:
    from statecomp.router.threshold import Costs, TargetPrecision

    if unsafe_cost is None and miss_cost is None:
        return TargetPrecision(precision)
    if unsafe_cost is None or miss_cost is None:
        raise click.UsageError("--unsafe-cost and --miss-cost go together")
    return Costs(unsafe_cost, miss_cost)


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
