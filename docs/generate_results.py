"""Writes docs/results-learning.md: every table and figure about representations and routers.

    python docs/generate_results.py [--runs RUNS --labels LABELS [--more-labels MORE]]
        [--features DIR ...] [--keep DIR] [--only NAME]

Tables are computed where their data is given and kept as JSON in docs/results/, so that the page
can be written again without it; what was never measured is said on the page.  Features come from
`statecomp extract`; the page names the commands.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from statecomp.annotation.forecasts import read_forecasts
from statecomp.annotation.labels import Labels, read_labels
from statecomp.errors import BadInput
from statecomp.router.pipeline import Material
from statecomp.traces.jsonl import read_runs
from statecomp.vectors.sample import Sample
from statecomp_bench.study import curves, figures, tables, writing
from statecomp_bench.study.kept import Kept
from statecomp_bench.study.rows import Judging, StudyTable, from_json
from statecomp_bench.study.tables import Labelled, Wanted

DOCS = Path(__file__).resolve().parent
DATA = DOCS.parents[1] / "shared" / "data"
RESULTS, FIGURES, PAGE = DOCS / "results", DOCS / "figures", DOCS / "results-learning.md"
SECTIONS: Mapping[str, tuple[str, str]] = {
    "representations": (
        "Representations",
        "Rows of the paper (appendix C.3) and ours, on the same pairs of all 300 runs, each limit "
        "an eighth of the paper's; Full Context has a window of 8,192 tokens, and in a cut window "
        "the 1,024 of Recent4. F1 and balanced accuracy are in `results/representations.json`.",
    ),
    "representations-mean": (
        "Representations by the mean",
        "The same pairs, read as the mean over an interaction's tokens instead of its last token. "
        "Rows without intervals were judged at an earlier reading of the same sample.",
    ),
    "shares": (
        "Training data and run length",
        "The rows that others are held against, by the mean: with a share of the training runs, "
        "and with all of them by run length (thirds of the runs).",
    ),
    "representations-whole": (
        "Representations at full length",
        "All ten rows of the paper at its own limits, on fewer pairs. Seconds are of one thread on "
        "a busy machine.",
    ),
    "layers": ("Layers and readouts", "How deep to read, and where."),
    "routers": (
        "Routers on the paper's representation",
        "The paper's eleven rows (appendix D.2) and ours. KEEP is the rare class in our labels, so "
        "weights on READY do the opposite of what they did in the paper.",
    ),
    "routers-beside": (
        "Routers on the paper's representation with evidence",
        "The same rows with evidence beside the vectors.",
    ),
    "routers-evidence": (
        "Routers on evidence",
        "The same configurations on evidence alone, and the recipe that is shipped.",
    ),
}
CAPTIONS: Mapping[str, str] = {
    "score_distributions": "Router scores by label.",
    "precision_coverage": "Held-out precision and coverage; thin lines are folds. The 98 % line is "
    "a target, not a guarantee.",
    "calibration": "Reliability of raw scores and by each calibration.",
    "training_and_length": "By share of the training runs and by run length; thin lines are folds.",
}
COMMANDS = """\
statecomp extract RUNS -o features/ --layer 1 --readout both --sample-checkpoints 2 \\
  --sample-targets 10 --scale 8 --dtype bfloat16 --construction once --construction full \\
  --construction cut-full --construction local --construction recent2 --construction recent4 \\
  --construction capped-recent4
statecomp extract RUNS --labels EXPERT -o whole/ --layer 4 --sample-checkpoints 3 \\
  --sample-targets 6 --run-tokens 25500 --construction once --construction full \\
  --construction local --construction recent2 --construction recent4 --construction capped-recent4
for readout in last mean; do
  statecomp extract RUNS --labels EXPERT -o layers/ --layer 4 --layer 8 --layer 12 --layer 20 \\
    --layer 30 --sample-checkpoints 6 --run-tokens 17500 --readout $readout
done
python docs/generate_results.py --runs RUNS --labels EXPERT --more-labels MORE \\
  --forecasts FORECASTS --features features/ --whole whole/ --layers layers/ --keep rows/
"""


def columns(name: str) -> tuple[str, ...]:
    if name == "shares":
        return ()
    return tables.ROUTER_COLUMNS if "router" in name else tables.REPRESENTATION_COLUMNS


def say(row: str, fold: int, stage: str) -> None:
    if fold == 1 and stage == "choose":
        sys.stderr.write(f"{row}\n")


@dataclass(frozen=True)
class Given:
    """Tables of vectors read all labels, tables of evidence those of experts."""

    experts: Labelled
    more: Labels
    features: Sequence[Path]
    whole: Sequence[Path]
    layers: Sequence[Path]
    sample: Sample
    how: Judging
    members: int


def measured(given: Given) -> dict[str, Callable[[], StudyTable]]:
    """The tables whose data is here."""
    experts, how = given.experts, given.how
    found: dict[str, Callable[[], StudyTable]] = {
        "routers-evidence": lambda: tables.evidence_router_table(experts, given.sample, how),
    }
    if given.features:
        known = replace(experts, labels={**given.more, **experts.labels})
        last, mean = (Wanted(given.features, readout=readout) for readout in ("last", "mean"))
        found |= {
            "representations": lambda: tables.representation_table(known, last, how),
            "representations-mean": lambda: tables.representation_table(known, mean, how),
            "shares": lambda: tables.share_table(known, mean, how),
            "routers": lambda: tables.router_table(known, last, how),
            "routers-beside": lambda: tables.router_table(known, last, how, beside_evidence=True),
        }
    if whole := given.whole:
        found["representations-whole"] = lambda: tables.representation_table(
            experts, Wanted(whole), how
        )
    if layers := given.layers:
        found["layers"] = lambda: tables.layer_table(experts, layers, how)
    return found


def draw(given: Given) -> None:
    runs, labels = given.experts.runs, given.experts.labels
    study = curves.study_shipped(
        Material([*runs.values()], labels, given.more, given.experts.forecasts),
        given.how,
        members=given.members,
    )
    count = sum(name in labels for name in runs)
    note = (
        f"expert labels: {count} runs, {len(study.scores):,} pairs with k ≥ i+2; committees of "
        f"{given.members}"
    )
    FIGURES.mkdir(exist_ok=True)
    for name, content in figures.router_figures(study, note).items():
        (FIGURES / name).write_bytes(content)


def page() -> str:
    parts = ["# Learning: representations and routers\n", f"{INTRODUCTION}\n\n{CONCLUSION}\n"]
    for name, (title, sentence) in SECTIONS.items():
        kept = RESULTS / f"{name}.json"
        parts.append(f"## {title}\n\n{sentence}\n")
        if kept.exists():
            table = from_json(json.loads(kept.read_text("utf-8")))
            parts.append(writing.markdown(table, columns(name)))
        else:
            parts.append("Not measured here yet: the features are absent.\n")
    parts.append(f"## Figures\n\n{OF_FIGURES}\n")
    for name, caption in CAPTIONS.items():
        drawn = (FIGURES / f"{name}.svg").exists()
        parts.append(f"![{caption}](figures/{name}.svg)\n" if drawn else f"{caption} Not drawn.\n")
    parts.append(f"## Again\n\n```\n{COMMANDS}```\n")
    return "\n".join(parts)


INTRODUCTION = """\
Generated by `python docs/generate_results.py`. All numbers are of labels set by a large
language model, and vectors of the embedded 135M model: compare rows of one table with each other,
not with the paper, whose data, labels and model are others. What these tables cannot show is what a
decision is worth; for that see the replays in the [lab log](lab-log.md)."""


CONCLUSION = """\
1. Of the paper's claims that more training runs help holds here; that bounded views of the recent
   past suffice holds only at equal length: in a window as long as Recent4's Full Context is level
   with Recent2, Recent4 and Capped Recent4 + Hybrid (by the mean +0.005, -0.025 to +0.032), and in
   one eight times as long it is ahead of the latter beyond chance (+0.030 by the mean, +0.059 by
   the last token).
2. That Hybrid is the best way to aggregate does not hold (level with none at both readouts, behind
   the GRU by the last token), nor that hidden states carry what decides: the best of the ten is
   0.13 behind evidence (0.10 to 0.17), not ahead of age beyond chance, and in one network beside
   evidence all ten take away from it at both readouts (0.02 to 0.05, each beyond chance).
3. What a model fifty times larger would know, whether this order holds at the paper's lengths, and
   which of the eleven routers is best, these tables cannot answer."""

OF_FIGURES = """\
Boosted trees on evidence and expert labels, out of fold. The shipped router has a network beside
such trees, learns from forecasts too, and ranks better; its numbers are on its card
(`src/statecomp/bundles/default`)."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=Path, default=DATA / "trajectories.jsonl.gz")
    parser.add_argument("--labels", type=Path, default=DATA / "expert_labels.jsonl")
    parser.add_argument("--more-labels", type=Path, help="For tables of vectors, and figures.")
    parser.add_argument("--forecasts", type=Path, help="For the shipped recipe.")
    parser.add_argument("--features", type=Path, nargs="*", default=[])
    parser.add_argument("--whole", type=Path, nargs="*", default=[], help="Read at full length.")
    parser.add_argument("--layers", type=Path, nargs="*", default=[])
    parser.add_argument("--checkpoints", type=int, default=6, help="Of each run, on evidence.")
    parser.add_argument("--members", type=int, default=curves.MEMBERS, help="For figures.")
    parser.add_argument("--keep", type=Path, help="Rows that were judged before.")
    parser.add_argument("--only", nargs="*", help="Tables, `figures`, or `page` for none of them.")
    options = parser.parse_args()
    only = options.only
    if options.runs.exists() and options.labels.exists():
        labels = read_labels(options.labels)
        runs = {run.id: run for run in read_runs(options.runs) if not isinstance(run, BadInput)}
        RESULTS.mkdir(exist_ok=True)
        more = read_labels(options.more_labels) if options.more_labels else {}
        forecasts = read_forecasts(options.forecasts) if options.forecasts else None
        given = Given(
            Labelled(runs, labels, forecasts), more, options.features, options.whole,
            options.layers, Sample(options.checkpoints),
            Judging(progress=say, kept=Kept(options.keep)), options.members,
        )  # fmt: skip
        for name, make in measured(given).items():
            if only is None or name in only:
                text = json.dumps(make().as_json(), indent=1) + "\n"
                (RESULTS / f"{name}.json").write_text(text, "utf-8")
        if only is None or "figures" in only:
            draw(given)
    else:
        sys.stderr.write("the runs or labels are not here; the page is written from docs/results\n")
    PAGE.write_text(page(), "utf-8")


if __name__ == "__main__":
    main()
