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
from statecomp.learning import supervision
from statecomp.traces.jsonl import read_runs
from statecomp.vectors.sample import Sample
from statecomp_bench.study import curves, figures, representations, routers, tables, writing
from statecomp_bench.study.kept import Kept
from statecomp_bench.study.rows import Judging, StudyTable, from_json
from statecomp_bench.study.tables import Labelled, Wanted

DOCS = Path(__file__).resolve().parent
DATA = DOCS.parents[1] / "shared" / "data"
RESULTS, FIGURES, PAGE = DOCS / "results", DOCS / "figures", DOCS / "results-learning.md"
DETAILS: Mapping[str, tuple[str, str]] = {
    "representations": (
        "Representations by the last token",
        "The paper's rows (appendix C.3) and ours, on the same pairs of all 300 runs, each limit "
        "an eighth of the paper's; Full Context has a window of 8,192 tokens, and in a cut window "
        "the 1,024 of Recent4.",
    ),
    "representations-mean": (
        "Representations by the mean",
        "The same pairs, read as the mean over an interaction's tokens. Rows without intervals "
        "were judged at an earlier reading of the same sample.",
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
    "routers-mean": (
        "Routers on the paper's representation by the mean",
        "The same rows and pairs, read as the mean over an interaction's tokens.",
    ),
    "routers-beside": (
        "Routers on the paper's representation with evidence",
        "The same rows with evidence beside the vectors.",
    ),
    "routers-beside-mean": (
        "Routers on the paper's representation by the mean with evidence",
        "The same, read as the mean.",
    ),
    "routers-evidence": (
        "Routers on evidence",
        "The same configurations on evidence alone, on expert labels of other pairs; the shipped "
        "recipe learns from forecasts, too.",
    ),
}
SAID_ONCE = (tables.PROTOCOL, tables.GAPS, tables.COSTS, tables.PAPER_PR)
LEFT_OUT = ("read here", "longest input")
COLUMNS = ("auroc", "keep_pr_auc", "coverage_at_98", "ece")
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
python docs/generate_results.py --only figures --members 3 --keep rows/
"""


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
            "routers-mean": lambda: tables.router_table(known, mean, how),
            "routers-beside": lambda: tables.router_table(known, last, how, beside_evidence=True),
            "routers-beside-mean": lambda: tables.router_table(
                known, mean, how, beside_evidence=True
            ),
        }
    if whole := given.whole:
        found["representations-whole"] = lambda: tables.representation_table(
            experts, Wanted(whole), how
        )
    if layers := given.layers:
        found["layers"] = lambda: tables.layer_table(experts, layers, how)
    return found


def draw(how: Judging, members: int) -> None:
    """Of what the shipped router learned from, which is in the package: no run is read."""
    pairs, experts = supervision.shipped()
    study = curves.study_recipe(pairs, {*pairs.runs} - experts, how, members=members)
    note = (
        f"expert labels: {len(experts)} runs, {len(study.scores):,} pairs with k ≥ i+2; "
        f"committees of {members}"
    )
    FIGURES.mkdir(exist_ok=True)
    for name, content in figures.router_figures(study, note).items():
        (FIGURES / name).write_bytes(content)


def page() -> str:
    """The answer, then what it rests on, then every row."""
    kept = {
        file.stem: from_json(json.loads(file.read_text("utf-8")))
        for file in RESULTS.glob("*.json")
        if file.stem in (*DETAILS, "shares")
    }
    ten, eleven = of_representations(kept), of_routers(kept)
    parts = [
        f"# Learning: representations and routers\n\n{INTRODUCTION}\n\n{CONCLUSION}\n",
        f"## Ten representations\n\n{OF_REPRESENTATIONS}\n",
        writing.at_a_glance(REPRESENTATIONS, ten),
        f"## Eleven routers\n\n{OF_ROUTERS}\n",
        writing.at_a_glance(ROUTERS, eleven),
        f"## Training data and run length\n\n{OF_SHARES}\n",
        detail(kept.get("shares"), ()),
        f"## Figures\n\n{OF_FIGURES}\n",
    ]
    for name, caption in CAPTIONS.items():
        drawn = (FIGURES / f"{name}.svg").exists()
        parts.append(f"![{caption}](figures/{name}.svg)\n" if drawn else f"{caption} Not drawn.\n")
    parts.append(f"## Details\n\n{OF_DETAILS}\n")
    for name, (title, sentence) in DETAILS.items():
        parts += [f"### {title}\n\n{sentence}\n", detail(kept.get(name), COLUMNS)]
    parts.append(f"## Again\n\n```\n{COMMANDS}```\n")
    return "\n".join(parts)


def of_representations(kept: Mapping[str, StudyTable]) -> list[writing.Glance]:
    """By each readout, held against the paper's own; beside evidence, against evidence alone."""
    own, evidence = representations.AGAINST[0], representations.AGAINST[-1]
    readouts = [("last token", "representations"), ("mean", "representations-mean")]
    known = [(readout, kept[name]) for readout, name in readouts if name in kept]
    return [
        *(writing.Glance(readout, table, own) for readout, table in known),
        *(
            writing.Glance(f"{readout}, and evidence", table, evidence, " + evidence")
            for readout, table in known
        ),
    ]


def of_routers(kept: Mapping[str, StudyTable]) -> list[writing.Glance]:
    """By each readout, held against weighted BCE; beside evidence, against evidence alone."""
    columns = [
        ("last token", "routers", routers.OWN),
        ("mean", "routers-mean", routers.OWN),
        ("last token, and evidence", "routers-beside", representations.AGAINST[-1]),
        ("mean, and evidence", "routers-beside-mean", representations.AGAINST[-1]),
    ]
    return [
        writing.Glance(title, kept[name], against)
        for title, name, against in columns
        if name in kept
    ]


def detail(table: StudyTable | None, columns: Sequence[str]) -> str:
    if table is None:
        return "Not measured here yet.\n"
    return writing.markdown(writing.shortened(table, SAID_ONCE, LEFT_OUT), columns)


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
   evidence all ten take away from it at both readouts (0.02 to 0.05, each beyond chance), and so
   does Capped Recent4 in each of the eleven routers (0.04 to 0.05); in trees it takes away nothing
   that shows (0.854; -0.011, -0.028 to +0.003).
3. What a model fifty times larger would know, whether this order holds at the paper's lengths, and
   which of the eleven routers is best, these tables cannot answer: on vectors none is apart from
   the paper's weighted BCE beyond chance, and with evidence beside them focal loss alone is, by a
   hair (+0.016, 0.001 to 0.031)."""

OF_REPRESENTATIONS = """\
Pooled AUROC. In brackets how far a row is ahead of Capped Recent4 + Hybrid, which is the paper's
own, and with evidence beside it of evidence alone; bold where chance does not explain it. 4,518
pairs of 300 runs, 677 of them KEEP; every limit but that of Full Context is an eighth of the
paper's."""

OF_ROUTERS = """\
The same pairs, Capped Recent4. In brackets how far a row is ahead of weighted BCE (w_1 = 10), which
is the paper's own, and with evidence beside it of evidence alone."""

OF_SHARES = """\
AUROC of the rows that others are held against, by the mean: with a share of the training runs, and
with all of them by run length (thirds of the runs)."""

OF_FIGURES = """\
The shipped recipe with committees of three instead of ten, out of fold, on what the shipped router
learned from and the package carries: at most seven checkpoints of each run, judged on the 100 runs
that experts labelled."""

OF_DETAILS = f"""\
{tables.PROTOCOL} {tables.GAPS} Tokens a run: what the construction reads over all checkpoints and
targets of an average run, each input apart. The paper's F1 and PR-AUC are of its own data, where
READY is 6.4 % of the pairs. All measures, among them F1, precision, recall and balanced accuracy,
are in `results/*.json`."""

REPRESENTATIONS = (
    *(name for name, *_ in representations.PAPER),
    representations.CUT[0], "Once", "Age alone", "Evidence",
)  # fmt: skip
ROUTERS = (
    *(name for name, *_ in routers.paper_rows(tables.SMALL, 0)),
    "ours: MLP 128, weighted BCE (w_0 = 5)", "ours: boosted trees", "Evidence",
)  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=Path, default=DATA / "trajectories.jsonl.gz")
    parser.add_argument("--labels", type=Path, default=DATA / "expert_labels.jsonl")
    parser.add_argument("--more-labels", type=Path, help="For tables of vectors.")
    parser.add_argument("--forecasts", type=Path, help="For the shipped recipe.")
    parser.add_argument("--features", type=Path, nargs="*", default=[])
    parser.add_argument("--whole", type=Path, nargs="*", default=[], help="Read at full length.")
    parser.add_argument("--layers", type=Path, nargs="*", default=[])
    parser.add_argument("--checkpoints", type=int, default=6, help="Of each run, on evidence.")
    parser.add_argument("--members", type=int, default=curves.MEMBERS, help="For figures.")
    parser.add_argument("--keep", type=Path, help="Rows that were judged before.")
    parser.add_argument("--only", nargs="*", help="Tables, `figures`, or `page` for none of them.")
    options = parser.parse_args()
    only, how = options.only, Judging(progress=say, kept=Kept(options.keep))
    if options.runs.exists() and options.labels.exists():
        labels = read_labels(options.labels)
        runs = {run.id: run for run in read_runs(options.runs) if not isinstance(run, BadInput)}
        RESULTS.mkdir(exist_ok=True)
        more = read_labels(options.more_labels) if options.more_labels else {}
        forecasts = read_forecasts(options.forecasts) if options.forecasts else None
        given = Given(
            Labelled(runs, labels, forecasts), more, options.features, options.whole,
            options.layers, Sample(options.checkpoints), how,
        )  # fmt: skip
        for name, make in measured(given).items():
            if only is None or name in only:
                text = json.dumps(make().as_json(), indent=1) + "\n"
                (RESULTS / f"{name}.json").write_text(text, "utf-8")
    else:
        sys.stderr.write("the runs or labels are not here; the page is written from docs/results\n")
    if only is not None and "figures" in only:
        draw(how, options.members)
    PAGE.write_text(page(), "utf-8")


if __name__ == "__main__":
    main()
