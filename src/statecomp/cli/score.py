"""`statecomp score`: how safe is each interaction to replace, and why."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.table import Table

from statecomp.annotation.records import Reading
from statecomp.cli.files import read_chosen, write_lines
from statecomp.cli.options import LIMIT, OUT_FILE, RUNS, SKIP_BAD
from statecomp.cli.terminal import show, watched
from statecomp.errors import BadInput, needing
from statecomp.strategy import Scorer

if TYPE_CHECKING:
    from statecomp.router.bundle import Bundle
    from statecomp.router.scorer import RouterScorer


@click.command()
@RUNS
@click.option("--router", "folder", default="", help="A router folder. [default: the shipped one]")
@click.option("--checkpoint", type=click.IntRange(2), help="k; the last one when not given.")
@click.option("--pairs", type=OUT_FILE, help="Write every pair i < k as JSONL.")
@LIMIT
@SKIP_BAD
def score(
    runs: tuple[Path, ...],
    folder: str,
    checkpoint: int | None,
    pairs: Path | None,
    limit: int | None,
    skip_bad: bool,
) -> None:
    """Print the router's score for every interaction of RUNS at a checkpoint, and what pushed it.

    A score near 1 says: its details can be replaced by a summary now.  The reasons name the
    features that set this interaction apart from the others, with the way they push (+ READY).

    \b
    Examples:
      statecomp score samples/code.jsonl --checkpoint 20
      statecomp score runs.jsonl --pairs scores.jsonl
    """
    with needing("scoring needs numpy and safetensors: install statecomp[router]"):
        from statecomp.router import shipped
    bundle = shipped.open_bundle(folder)
    readings = [Reading.of(run) for run in read_chosen(runs, limit, None, skip_bad)]
    if pairs:
        write_lines(pairs, scored_pairs(readings, lambda: shipped.open_scorer(folder)))
        return
    for reading in readings:
        _print(reading, bundle, shipped.open_scorer(folder), checkpoint)


def scored_pairs(
    readings: Sequence[Reading], opened: Callable[[], Scorer]
) -> Iterator[dict[str, Any]]:
    """One record for every pair of every run, on the uncompressed prefix."""
    from statecomp.router.supervision import prefixes

    for reading in watched(readings, "scoring", len(readings)):
        scorer = opened()
        for k, prefix in prefixes(reading):
            scores = scorer.score(prefix)
            for interaction in prefix.interactions:
                value = scores[interaction.id]
                yield {"id": reading.id, "i": interaction.number, "k": k, "score": value}


def _print(reading: Reading, bundle: Bundle, scorer: RouterScorer, checkpoint: int | None) -> None:
    from statecomp.router.scorer import reasons
    from statecomp.router.supervision import prefixes

    wanted = checkpoint or reading.last
    prefix = next((p for k, p in prefixes(reading) if k == wanted), None)
    if prefix is None:
        raise BadInput(
            f"{reading.id} has {reading.last} interactions, and no checkpoint {wanted};"
            f" give --checkpoint 2 to {reading.last}"
        )
    ids, x = scorer.reader.read(prefix)
    table = Table(title=f"{reading.id} before interaction {wanted}", title_justify="left", box=None)
    for name in ("i", "score", "", "action", "because"):
        table.add_column(name, justify="right" if name in ("i", "score") else "left")
    by_id = {i.id: i for i in prefix.interactions}
    rows = zip(ids, bundle.scores(x), reasons(bundle, x), strict=True)
    for name, value, why in rows:
        verdict = "READY" if value >= bundle.threshold else "KEEP"
        action = " ".join(by_id[name].action.split())[:40]
        because = ", ".join(f"{r.feature}={r.value:.3g} ({r.push:+.1f})" for r in why)
        table.add_row(str(by_id[name].number), f"{value:.3f}", verdict, action, because)
    show(table)
