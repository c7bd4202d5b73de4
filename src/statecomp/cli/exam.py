"""`statecomp exam`: what records still let their reader answer about what they replaced."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import click
from rich.table import Table

from statecomp.annotation.labels import Labels, labels_in
from statecomp.annotation.records import Reading
from statecomp.cli.engine import engine_options
from statecomp.cli.files import refuse, write_lines, write_text
from statecomp.cli.options import CHOSEN, JSON_FILE, OUT_FILE, PATH, RUNS
from statecomp.cli.terminal import progress, show
from statecomp.config import Settings
from statecomp.config.exam import EXTRACT, exam_title, exam_writers
from statecomp.errors import BadInput, needing
from statecomp.exam.answers import (
    UNMATCHED,
    Graded,
    graded,
    read_answers,
    read_questions,
    sheets_out,
)
from statecomp.exam.lines import ReaderOutcome
from statecomp.exam.questions import PosedQuestion
from statecomp.exam.sitting import Paper, sit
from statecomp.exam.spans import Ready, by_labels, by_scores
from statecomp.exam.tally import ALL, ExamTally, tallies
from statecomp.history.trajectory import Trajectory
from statecomp.pipelines.runs import ChosenRuns
from statecomp.tokens import counter_for
from statecomp.workers.engine import Engine


@dataclass(frozen=True)
class ExamJob:
    """The papers of one run; everything in it can cross to another process."""

    specs: tuple[str, ...]
    labels: Labels
    posed: Mapping[str, Sequence[PosedQuestion]]

    def __call__(self, run: Trajectory | BadInput) -> list[Paper] | BadInput:
        if isinstance(run, BadInput):
            return run
        count = counter_for("")
        writers = exam_writers(self.specs, Settings(count, os.environ))
        try:
            reading = Reading.of(run)
            return list(sit(reading, self._ready(run), writers, count, self.posed))
        except BadInput as problem:
            return problem

    def _ready(self, run: Trajectory) -> Ready:
        if run.id in self.labels:
            return by_labels(self.labels[run.id])
        with needing("runs without labels need numpy: install statecomp[router]"):
            from statecomp.router import shipped
        return by_scores(shipped.open_scorer(), shipped.open_bundle().threshold)


@click.command()
@RUNS
@click.option(
    "--records",
    "specs",
    multiple=True,
    metavar="SPEC",
    help="Who writes the records; may be given several times. [default: extract]",
)
@click.option(
    "--labels",
    "label_file",
    type=PATH,
    help="When each interaction could be replaced; runs without labels go by the shipped router.",
)
@JSON_FILE
@click.option(
    "--export",
    type=OUT_FILE,
    help="Write the questions with their records, for another reader; no answers.",
)
@click.option("--spans", type=OUT_FILE, help="Write the spans, for another writer.")
@click.option(
    "--questions",
    "question_file",
    type=PATH,
    help="Ask these, too, that a model made of --spans: lines with span, question, answer (word"
    " for word from the span) and wrong, a list.",
)
@click.option(
    "--answers",
    "answer_file",
    type=PATH,
    help="Grade another reader's answers: lines with id and answer.",
)
@CHOSEN
@engine_options
def exam(
    runs: tuple[Path, ...],
    specs: tuple[str, ...],
    label_file: Path | None,
    json_file: Path | None,
    export: Path | None,
    spans: Path | None,
    question_file: Path | None,
    answer_file: Path | None,
    limit: int | None,
    domain: str | None,
    skip_bad: bool,
    engine: Engine,
) -> None:
    """Ask what the records of RUNS still answer about the steps they stand for.

    Two thirds into each run, the steps that may be replaced are given to a writer of records.
    From what they held, questions are made mechanically: which value belongs to which row or
    object, key-value pairs, where things are, the numbers of rules, edits, whether a step
    succeeded, and identifiers that later steps took over.  A mechanical reader then looks in the
    record: the answer is right, missing, or misleading, because a wrong one stands in its place.
    Nothing is asked that still stands elsewhere in sight.  A model may ask more (--questions).

    `used` are questions whose answer a later step of the run says, `plain` are others.  Tasks are
    split into two halves by a hash of their name: tune on the one, believe the other.

    \b
    Writers (SPEC):
      extract, extract:budget=0.1            the package's own, which asks no model
      chat:openai:MODEL[@URL]                a model's records, checked by the fact ledger
      file:RECORDS.jsonl                     written elsewhere: lines with span and record
      cut                                    the beginning of each step, as long as the first's
      llmlingua2:classifier=llmlingua2       LLMLingua-2's choice of tokens, as long as the first's
                                             (extra encoder); without a classifier a plain
                                             substitute chooses, by how rare a word is

    \b
    Beside the shares:
      label integrity                        carried values that stand with their key, column or
                                             owner, and those that stand with their owner
      false "failed"                         steps a record calls failed though exit status or
                                             error flag say they succeeded

    \b
    Examples:
      statecomp exam samples/*.jsonl
      statecomp exam runs.jsonl --labels labels.jsonl --records extract --records cut
      statecomp exam runs.jsonl --spans spans.jsonl
      statecomp exam runs.jsonl --questions made.jsonl --records extract
      statecomp exam runs.jsonl --export questions.jsonl
      statecomp exam runs.jsonl --answers answers.jsonl
    """
    chosen = tuple(dict.fromkeys(specs or (EXTRACT,)))
    exam_writers(chosen, Settings(counter_for(""), os.environ))
    labels = labels_in(label_file) if label_file else {}
    answers = read_answers(answer_file) if answer_file else {}
    posed = read_questions(question_file) if question_file else {}
    papers = _sat(ChosenRuns(runs, limit, domain), ExamJob(chosen, labels, posed), engine, skip_bad)
    if posed and not any(paper.name in posed for paper in papers):
        problem = "asks about no span of this exam; names must be those of --spans"
        raise BadInput(problem, file=str(question_file))
    results = tallies(papers, chosen)
    if json_file:
        document = {name: tally.as_json() for name, tally in results.items()}
        write_text(json_file, json.dumps(document, indent=1) + "\n")
    if spans:
        write_lines(spans, ({"span": p.name, "transcript": p.transcript} for p in papers))
    if export:
        write_lines(export, sheets_out(papers, chosen))
    if answer_file:
        _show_graded([*graded(papers, answers)], answer_file)
        return
    for name, tally in results.items():
        show(_table(exam_title(name), tally), _closing(tally), "")
    for reason, number in sorted(sum((Counter(p.left_out) for p in papers), Counter()).items()):
        show(f"{number} of {question_file} not asked: {reason}")


def _sat(recorded: ChosenRuns, job: ExamJob, engine: Engine, skip_bad: bool) -> list[Paper]:
    papers: list[Paper] = []
    with progress("examined") as watch:
        for outcome in engine.map(job, recorded, watch=watch):
            if isinstance(outcome, BadInput):
                refuse(outcome, skip_bad)
            else:
                papers += outcome
    if not any(paper.questions for paper in papers):
        raise BadInput(
            "nothing in these runs could be asked about: two thirds into them, the steps that "
            "may go showed no value that a reader would miss; give longer runs"
        )
    return papers


def _columns(title: str, *names: str) -> Table:
    table = Table(title=title, title_justify="left", box=None)
    for name in names:
        left = name in ("half", "asked for", "kind", "records")
        table.add_column(name, justify="left" if left else "right")
    return table


def _table(name: str, tally: ExamTally) -> Table:
    heads = ("half", "asked for", "kind", "n", "right", "missing", "misleading")
    table = _columns(f"records: {name}", *heads)
    for (half, stratum, kind), shares in tally.rows():
        whole = shares.asked
        parts = (shares.right, shares.missing, shares.misleading)
        table.add_row(half, stratum, kind, str(whole), *(f"{part / whole:.1%}" for part in parts))
    return table


def _closing(tally: ExamTally) -> str:
    if not tally.spans:
        return f"not one of {tally.refused} spans has a record"
    whole, failed = tally.integrity[ALL], tally.false_failed[ALL]
    labels = (
        f"of {whole.labelled.whole:,} carried values {whole.labelled.value:.1%} "
        f"stand with a label, {whole.owned.value:.1%} with what they belong to"
        if whole.labelled.whole
        else "no labelled value is carried"
    )
    return (
        f"{tally.spans} spans ({tally.refused} refused), {tally.kept:.3f} of "
        f"{tally.source_tokens:,} tokens kept; {tally.misled} with something misleading\n"
        f"label integrity: {labels}\n"
        f'false "failed": {failed.part} of {failed.whole:,} steps that succeeded'
    )


def _show_graded(answers: Sequence[Graded], path: Path) -> None:
    """The reader's shares by writer and kind, and how far the mechanical reader agrees."""
    if not answers:
        raise BadInput(
            "answers no question of this exam; ids must be those of --export", file=str(path)
        )
    outcomes = (*ReaderOutcome, UNMATCHED)
    table = _columns(f"answers: {path.name}", "records", "kind", "n", *outcomes, "agreed")
    places = [(a.writer, kind) for a in answers for kind in (str(a.question.kind), ALL)]
    for writer, kind in sorted(set(places)):
        some = [a for a in answers if a.writer == writer and kind in (str(a.question.kind), ALL)]
        counts = Counter(str(answer.outcome) for answer in some)
        agreed = sum(answer.outcome == answer.mechanical for answer in some)
        parts = (counts[str(outcome)] for outcome in outcomes)
        shares = (f"{part / len(some):.1%}" for part in (*parts, agreed))
        table.add_row(writer, kind, str(len(some)), *shares)
    show(table, "agreed: the mechanical reader found the same")
