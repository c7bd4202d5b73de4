"""`statecomp extract`: vectors of recorded runs from a frozen language model."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from statecomp.annotation.labels import read_labels
from statecomp.cli.engine import engine_options
from statecomp.cli.files import read_chosen
from statecomp.cli.options import PATH, RUNS, SEED
from statecomp.cli.terminal import progress, show
from statecomp.errors import BadInput, needing
from statecomp.features.constructions import CONSTRUCTIONS
from statecomp.history.trajectory import Trajectory
from statecomp.workers.engine import Engine

if TYPE_CHECKING:
    from statecomp.features.encoder import Readout

EXTRA = "vectors need more libraries: install statecomp[encoder,learn]"


@click.command()
@RUNS
@click.option("-o", "--out", required=True, type=PATH, help="The folder.")
@click.option("--labels", type=PATH, help="Read only runs labelled here.")
@click.option(
    "--construction",
    "constructions",
    multiple=True,
    default=["once"],
    show_default=True,
    type=click.Choice(CONSTRUCTIONS),
    help="May be repeated.",
)
@click.option(
    "--layer",
    "layers",
    multiple=True,
    type=click.IntRange(1),
    help="May be repeated: several layers cost one pass. [default: the encoder's]",
)
@click.option(
    "--encoder",
    default="smollm2-135m",
    show_default=True,
    help="A preset, a local folder or a hub id; see `statecomp models`.",
)
@click.option(
    "--readout",
    type=click.Choice(["last", "mean", "both"]),
    default="last",
    show_default=True,
    help="The vector at an interaction's last token, or the mean; both cost one pass.",
)
@click.option("--sample-checkpoints", type=click.IntRange(1), help="Read N checkpoints a run.")
@click.option("--sample-targets", type=click.IntRange(1), help="Read N targets a checkpoint.")
@click.option("--limit", type=click.IntRange(1), help="Read N runs, dealt evenly over domains.")
@click.option("--run-tokens", type=click.IntRange(1), help="Leave out runs of more tokens.")
@click.option(
    "--scale",
    type=click.IntRange(1, 16),
    default=1,
    show_default=True,
    help="Read one Nth: every limit of a view is divided by N, and long texts keep both ends.",
)
@click.option(
    "--dtype",
    default="auto",
    show_default=True,
    help="The numbers the encoder computes with: float32, bfloat16 where the processor has it.",
)
@SEED
@engine_options
def extract(
    runs: tuple[Path, ...],
    out: Path,
    labels: Path | None,
    constructions: tuple[str, ...],
    layers: tuple[int, ...],
    encoder: str,
    readout: Readout,
    sample_checkpoints: int | None,
    sample_targets: int | None,
    limit: int | None,
    run_tokens: int | None,
    scale: int,
    dtype: str,
    seed: int,
    engine: Engine,
) -> None:
    """Read RUNS through a frozen language model and keep the vectors, one file a run.

    What is there already is not read again, so a stopped extraction goes on where it was.  Each run
    is read by all constructions before the next, so what is there can be compared at any time.

    \b
    once            every token once, as the shipped reader does
    full            the whole history, anew at each checkpoint
    cut-full        the same in a window that --scale divides, as it does those of the others
    local           each interaction alone
    recent2/4       the target behind the last two or four interactions
    capped-recent4  the same in at most 4,096 + 1,024 tokens

    All but `once` and `local` read far more than the run holds; a sample keeps them affordable, and
    is the same for every construction with the same seed.

    \b
    Examples:
      statecomp extract runs.jsonl -o features/
      statecomp extract runs.jsonl --labels labels.jsonl -o features/ --construction once \\
        --construction capped-recent4 --limit 40 --sample-checkpoints 3 --layer 8
    """
    with needing(EXTRA):
        from statecomp.vectors.extract import ExtractAll, Extraction, ExtractOne, encoder_for
        from statecomp.vectors.sample import Sample
        from statecomp.vectors.shelf import StudyCard, put_card
    chosen = _chosen(runs, labels, run_tokens, limit, seed)
    sample = Sample(sample_checkpoints, sample_targets, seed)
    names = tuple(run.id for run in chosen)
    wanted = [
        Extraction(construction, tuple(sorted(layers)), readout, encoder, sample, scale, dtype)
        for construction in dict.fromkeys(constructions)
    ]
    encoder_layers = encoder_for(wanted[0]).layers
    for one in wanted:
        for (_, way), store in one.stores(out, encoder_layers).items():
            put_card(out, StudyCard(one.construction, way, store.recipe, sample, names))
    work = ExtractAll(tuple(ExtractOne(one, out.resolve()) for one in wanted))
    with progress("reading", len(chosen)) as watch:
        done = [*engine.map(work, chosen, watch=watch)]
    for one, of_runs in zip(wanted, zip(*done, strict=True), strict=True):
        _say(one.construction, of_runs, encoder_layers)


def _chosen(
    paths: tuple[Path, ...],
    labels: Path | None,
    run_tokens: int | None,
    limit: int | None,
    seed: int,
) -> list[Trajectory]:
    from statecomp.vectors.sample import deal, shorter_than

    runs = read_chosen(paths, None, None, skip_bad=False)
    if labels:
        known = read_labels(labels)
        runs = [run for run in runs if run.id in known]
        if not runs:
            raise BadInput("labels none of these runs", file=str(labels))
    return deal(shorter_than(runs, run_tokens), limit, seed)


def _say(construction: str, done: Sequence[Any], layers: tuple[int, ...]) -> None:
    read = [one for one in done if not one.found]
    tokens, seconds = sum(one.tokens_read for one in read), sum(one.seconds for one in read)
    show(
        f"{construction}, layers {' '.join(map(str, layers))}: {len(read)} runs read "
        f"({tokens:,} tokens, {seconds:,.1f} s), {len(done) - len(read)} were there"
    )
