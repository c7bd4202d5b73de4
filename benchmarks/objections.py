"""What do a writer's objections do to premature replacements, over whole runs?

    python benchmarks/objections.py ask FOLDS QUESTIONS [--spans 44] [--recipe balanced]
    python benchmarks/objections.py score QUESTIONS [--labels L]

`ask` plays recorded runs from beginning to end with routers that have not seen their tasks, and
writes down, for every commit of them, the very question a model that writes records would have got
(`QUESTIONS/NAME.md`: its instructions, then the text), until there are enough.  Names say nothing
of the run.  Somebody answers each with the JSON it asks for, in `QUESTIONS/answers/NAME.json`.

`score` reads the answers as the product does and prints, for each chance from which on a step would
be kept: premature replacements before and after, READY taken before and after, and the share of the
replaced tokens that would stay.  A step that its writer wants kept stays for as many checkpoints as
the product waits before it asks again; `for good` is what comes out if the next answer is the same.

Labels are boundaries set by a large language model, not by people.  The threshold in use was chosen
on runs with expert labels, so the default here are the runs without (`benchmarks/labels`), whose
labels are trusted less.  Skips where the recorded runs are absent.
"""

from __future__ import annotations

import argparse
import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from statecomp.annotation.labels import Labels, read_labels
from statecomp.compressor import StateComp
from statecomp.config.scorers import scoring
from statecomp.controller.prices import shipped_prices
from statecomp.decisions import OBJECTION_STEPS
from statecomp.errors import BadInput, SummaryFailed
from statecomp.history.history import History
from statecomp.history.interaction import Interaction
from statecomp.history.situation import Situation
from statecomp.history.trajectory import Trajectory
from statecomp.llm.answer import json_object
from statecomp.recipes import recipe_named
from statecomp.records.extract import ExtractiveSummarizer
from statecomp.records.record import Record
from statecomp.records.writing.answer import KEEP_CHANCE
from statecomp.records.writing.question import question
from statecomp.records.writing.summarize import prompt
from statecomp.replays.run import checkpoints
from statecomp.replays.timing import SETTLED
from statecomp.traces.jsonl import read_runs
from statecomp.wire.assemble import parse
from statecomp.wire.providers import wire_named

HERE = Path(__file__).resolve().parent
RUNS = HERE.parents[1] / "shared" / "data" / "trajectories.jsonl.gz"
EXPERTS = RUNS.with_name("expert_labels.jsonl")
MORE = HERE / "labels" / "more.jsonl"
LIMIT_CHARS = 400_000
CHANCES = (10, KEEP_CHANCE, 30, 50)
FOR_GOOD = 10_000


@dataclass(frozen=True)
class Asked:
    """One commit: the run it is of, where it was made, and what it replaced."""

    name: str
    run: str
    checkpoint: int
    steps: tuple[int, ...]
    tokens: tuple[int, ...]


class Overheard:
    """The extract, and what a model would have been asked instead, by the ids of the span."""

    def __init__(self, extract: ExtractiveSummarizer) -> None:
        self._extract = extract
        self.usual_ratio = extract.usual_ratio
        self.questions: dict[tuple[str, ...], str] = {}

    def summarize(self, span: Sequence[Interaction], situation: Situation) -> Record:
        ids = tuple(member.id for member in span)
        self.questions[ids] = question([span], situation, limit_chars=LIMIT_CHARS)
        return self._extract.summarize(span, situation)


def played(run: Trajectory, folds: str, recipe: str) -> Iterator[tuple[Asked, str]]:
    """Every commit of a run, with the question for it."""
    wire = wire_named(run.protocol)
    history = parse(run.messages, wire)
    chosen = recipe_named(recipe)
    overheard = Overheard(chosen.extract)
    engine = StateComp(
        scoring(f"folds:{folds}")(run),
        recipe=chosen,
        summarizer=overheard,
        protocol=run.protocol,
        prices=shipped_prices(),
    )
    for place, _, following in checkpoints(history):
        view = engine.before_request(History(history.segments[:place]))
        for commit in view.commits:
            members = [i for i in history.interactions if i.id in commit.sources]
            seed = f"{run.id} {commit.first} {commit.last} {following.number}"
            yield (
                Asked(
                    name=hashlib.sha256(seed.encode()).hexdigest()[:10],
                    run=run.id,
                    checkpoint=following.number,
                    steps=tuple(member.number for member in members),
                    tokens=tuple(member.tokens for member in members),
                ),
                overheard.questions[commit.sources],
            )


def ask(folder: Path, runs: Iterable[Trajectory], options: argparse.Namespace) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "answers").mkdir(exist_ok=True)
    asked: list[Asked] = []
    for run in runs:
        found = list(played(run, options.folds, options.recipe))
        if len(found) > options.most:
            continue  # one run must not be a third of all
        for one, text in found:
            page = f"{prompt('summarize')}\n\n=== the text ===\n\n{text}\n"
            (folder / f"{one.name}.md").write_text(page, "utf-8")
            asked.append(one)
        print(f"{len(found)} spans, {len(asked)} in all", flush=True)
        if len(asked) >= options.spans:
            break
    (folder / "spans.json").write_text(json.dumps([asdict(one) for one in asked]), "utf-8")


@dataclass
class Pairs:
    """Pairs (i, k) of some whole runs, k >= i+2, as labelled and as replaced."""

    keep: int = 0
    premature: int = 0
    ready: int = 0
    taken: int = 0


def pairs_of(
    asked: Sequence[Asked],
    kept: Mapping[tuple[str, int], int],
    labels: Labels,
    lengths: Mapping[str, int],
) -> Pairs:
    """`kept` says of a step, by run and number, for how many checkpoints it stays."""
    gone = {
        (one.run, step): one.checkpoint + kept.get((one.run, step), 0)
        for one in asked
        for step in one.steps
    }
    found = Pairs()
    for run, length in lengths.items():
        for number, label in labels[run].items():
            for checkpoint in range(number + SETTLED, length + 1):
                replaced = checkpoint >= gone.get((run, number), FOR_GOOD)
                if label.boundary is not None and checkpoint >= label.boundary:
                    found.ready += 1
                    found.taken += replaced
                else:
                    found.keep += 1
                    found.premature += replaced
    return found


def chances_in(answer: str, steps: Sequence[int]) -> dict[int, float]:
    """The chance given to each step; an answer that cannot be read objects to nothing."""
    try:
        given = json_object(answer).get("again", [])
    except (ValueError, SummaryFailed):
        return {}
    return {
        one["step"]: float(one["chance"])
        for one in given
        if isinstance(one, dict)
        and one.get("step") in steps
        and isinstance(one.get("chance"), int | float)
    }


def score(folder: Path, runs: Iterable[Trajectory], labels: Labels) -> None:
    spans = [Asked(**one) for one in json.loads((folder / "spans.json").read_text("utf-8"))]
    answers = {path.stem: path.read_text("utf-8") for path in (folder / "answers").glob("*.json")}
    told = {one.name: chances_in(answers.get(one.name, ""), one.steps) for one in spans}
    whole = {one.run for one in spans} - {one.run for one in spans if not told[one.name]}
    asked = [one for one in spans if one.run in whole]
    lengths = {
        run.id: len(parse(run.messages, wire_named(run.protocol)).interactions)
        for run in runs
        if run.id in whole
    }
    steps = sum(len(one.steps) for one in asked)
    print(
        f"{len(asked)} spans, {steps} steps, {len(whole)} whole runs; {len(spans)} were asked for"
    )
    if not asked:
        return
    print(f"AUROC of chances, KEEP against READY at the commit: {auroc(asked, told, labels):.3f}")
    tokens = sum(sum(one.tokens) for one in asked)
    show("no objection", pairs_of(asked, {}, labels, lengths), 0.0)
    for chance in CHANCES:
        stay = [
            (one, step, size)
            for one in asked
            for step, size in zip(one.steps, one.tokens, strict=True)
            if told[one.name].get(step, 0.0) >= chance
        ]
        share = sum(size for _, _, size in stay) / tokens
        for title, wait in (("", OBJECTION_STEPS), (", for good", FOR_GOOD)):
            kept = {(one.run, step): wait for one, step, _ in stay}
            show(f"kept from {chance}{title}", pairs_of(asked, kept, labels, lengths), share)


def auroc(asked: Sequence[Asked], told: Mapping[str, Mapping[int, float]], labels: Labels) -> float:
    """How often a step to keep was given more than one that may go; ties count half."""
    keep, ready = list[float](), list[float]()
    for one in asked:
        for step in one.steps:
            boundary = labels[one.run][step].boundary
            is_ready = boundary is not None and one.checkpoint >= boundary
            (ready if is_ready else keep).append(told[one.name].get(step, 0.0))
    if not keep or not ready:
        return float("nan")
    won = sum((k > r) + 0.5 * (k == r) for k in keep for r in ready)
    print(f"{len(keep)} steps were replaced before their boundary, {len(ready)} after it")
    return won / (len(keep) * len(ready))


def show(title: str, pairs: Pairs, share: float) -> None:
    premature = pairs.premature / max(1, pairs.keep)
    taken = pairs.taken / max(1, pairs.ready)
    print(
        f"{title:24} premature {premature:6.1%} ({pairs.premature} of {pairs.keep}), "
        f"READY taken {taken:6.1%} of {pairs.ready}, tokens that stay {share:.1%}"
    )


def main() -> None:
    form = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=form)
    verbs = parser.add_subparsers(dest="verb", required=True)
    asking = verbs.add_parser("ask")
    asking.add_argument("folds", help="what `statecomp evaluate --save-folds` wrote")
    asking.add_argument("--spans", type=int, default=44)
    asking.add_argument("--most", type=int, default=9, help="spans of one run, at most")
    asking.add_argument("--recipe", default="balanced")
    scoring_verb = verbs.add_parser("score")
    for verb in (asking, scoring_verb):
        verb.add_argument("questions", type=Path)
        verb.add_argument("--labels", type=Path, default=MORE)
    options = parser.parse_args()
    if not RUNS.exists():
        print("skipped: the recorded runs are not beside this checkout")
        return
    labels, experts = read_labels(options.labels), read_labels(EXPERTS)
    runs = [r for r in read_runs(RUNS) if not isinstance(r, BadInput) and r.id in labels]
    if options.labels == MORE:
        runs = [run for run in runs if run.id not in experts]
    # Mixed by a hash: the runs stand sorted by where they are from.
    runs.sort(key=lambda run: hashlib.sha256(run.id.encode()).hexdigest())
    if options.verb == "ask":
        ask(options.questions, runs, options)
    else:
        score(options.questions, runs, labels)


if __name__ == "__main__":
    main()
