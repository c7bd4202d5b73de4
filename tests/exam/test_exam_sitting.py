"""The whole exam: spans, halves, records, measures, and other readers' answers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from statecomp.annotation.labels import Label
from statecomp.annotation.records import Reading
from statecomp.baselines.llmlingua2 import Lingua
from statecomp.cli.app import app
from statecomp.config.exam import exam_title
from statecomp.exam.answers import grade
from statecomp.exam.facts import FactKind
from statecomp.exam.lines import RecordText
from statecomp.exam.measures import LabelledValues, false_failures
from statecomp.exam.questions import groups_of, questions_of, verdict_questions
from statecomp.exam.sitting import sit
from statecomp.exam.spans import by_labels, exams, half_of
from statecomp.exam.writers import Cut, ExamWriter, RecordWriter, TokenChoice
from statecomp.records.extract import ExtractiveSummarizer
from statecomp.tokens import ESTIMATE
from statecomp.wire.assemble import parse
from statecomp.wire.openai_chat.wire import OpenAIChat
from tests.cli.chats import ChatHandler, served
from tests.exam.steps import asked, exam_of, messages_of

SAMPLES = sorted((Path(__file__).parents[2] / "samples").glob("*.jsonl"))
ROWS = "pay group | rate\ncooks night | 27.76\ncooks day | 24.10\nporters day | 19.85\n"
LONG = "The kitchen was inspected and nothing of note was found in it. " * 30


def reading_of(steps: int, group: str = "task") -> Reading:
    history = parse(messages_of([("{}", f"{ROWS}\n{LONG}")] * steps), OpenAIChat())
    return Reading("run", "Office", group, history)


def ready_but(*kept: int, steps: int = 12) -> dict[int, Label]:
    return {n: Label("run", n, None if n in kept else n + 1) for n in range(1, steps + 1)}


def statecomp(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["exam", *map(str, arguments)])


def test_spans_are_the_ready_runs_two_thirds_into_the_run() -> None:
    found = [*exams(reading_of(12), by_labels(ready_but(4)))]
    assert [[m.number for m in exam.span] for exam in found] == [[1, 2, 3], [5, 6, 7, 8]]
    assert {exam.checkpoint for exam in found} == {9}
    assert [m.number for m in found[0].later] == [9, 10, 11, 12]


def test_all_runs_of_a_task_are_in_one_half() -> None:
    halves = {exam.half for _ in range(3) for exam in exams(reading_of(9), by_labels(ready_but()))}
    assert halves == {half_of("task")}
    assert {half_of(f"task {n}") for n in range(20)} == {"tune", "held-out"}


def test_the_same_run_is_always_asked_the_same() -> None:
    exam = exam_of(("{}", ROWS))
    assert [q.id for q in questions_of(exam)] == [q.id for q in questions_of(exam)]


def test_baselines_are_as_long_as_the_record_they_stand_beside() -> None:
    writers: dict[str, ExamWriter] = {
        "extract": RecordWriter(ExtractiveSummarizer()),
        "cut": Cut(ESTIMATE),
        "tokens": TokenChoice(Lingua()),
    }
    papers = [*sit(reading_of(12), by_labels(ready_but()), writers, ESTIMATE)]
    for paper in papers:
        length = paper.sheets["extract"].tokens
        assert 0.8 * length < paper.sheets["cut"].tokens <= length
        assert paper.sheets["tokens"].tokens < paper.source_tokens


def test_a_value_keeps_its_label_or_is_counted() -> None:
    exam = exam_of(("{}", ROWS))
    labelled = LabelledValues.of([*groups_of(exam)], ROWS)

    def shares(record: str) -> tuple[float, float]:
        found = labelled.integrity(RecordText(record))
        return found.labelled.value, found.owned.value

    assert shares("Facts:\n- 1: cooks night: 27.76\n- 1: porters day | 19.85") == (1.0, 1.0)
    assert shares("Facts:\n- 1: rate: 27.76\n- 1: porters day | 19.85") == (1.0, 0.5)
    assert shares("Locations:\n- also named: 27.76, 24.10, 19.85, W-17") == (0.0, 0.0)


def test_a_value_has_its_label_in_the_header_of_its_table_and_its_owner_in_what_only_it_has() -> (
    None
):
    papers = "\n\n".join(
        f"Title: {name}\nAuthors: {by}\nPaper URL: https://papers.example/{n}"
        for n, (name, by) in enumerate(
            [("On the width of tables", "A Lee"), ("Lists that end", "B Roy"), ("Why", "C Poe")]
        )
    )
    labelled = LabelledValues.of([*groups_of(exam_of(("{}", papers)))], papers)

    def shares(record: str) -> tuple[float, float]:
        found = labelled.integrity(RecordText(record))
        return found.labelled.value, found.owned.value

    table = "Title | Paper URL\n    Lists that end | https://papers.example/1"
    assert shares(f"Facts:\n- 1. shell -> 9 lines\n  {table}") == (1.0, 1.0)
    assert shares("Facts:\n- 1. shell -> page https://papers.example/1")[0] == 0.0
    assert shares("Facts:\n- 1. shell -> paper https://papers.example/1")[0] == 1.0


def test_a_step_called_failed_though_it_succeeded_is_counted() -> None:
    good, bad = ('{"command": "a"}', "x\nexit code: 0"), ('{"command": "b"}', "y\nexit code: 1")
    record = RecordText("Facts:\n- 1. shell a -> failed\n- 2. shell b -> failed")
    counted = false_failures(verdict_questions(exam_of(good, bad)), record)
    assert (counted.part, counted.whole) == (1, 1)


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("27.76", "right"),
        ("The rate is 27.76, not 24.10.", "right"),
        ("24.10", "misleading"),
        ("Not stated.", "missing"),
        ("", "missing"),
        ("about thirty", "unmatched"),
    ],
)
def test_answers_are_graded_by_the_value_they_say_first(answer: str, expected: str) -> None:
    question = asked(exam_of(("{}", ROWS)), FactKind.ROW)["cooks night"]
    assert grade(question, answer) == expected


def test_a_verdict_is_graded_by_its_word() -> None:
    (question,) = verdict_questions(exam_of(("{}", "x\nexit code: 0")))
    said = ("It succeeded.", "It failed with an error.", "The record does not say.", "Perhaps.")
    outcomes = [grade(question, answer) for answer in said]
    assert outcomes == ["right", "misleading", "missing", "unmatched"]


def test_the_command_prints_shares_and_hands_out_questions_without_answers(tmp_path: Path) -> None:
    questions, numbers = tmp_path / "questions.jsonl", tmp_path / "numbers.json"
    result = statecomp(*SAMPLES, "--records", "cut", "--export", questions, "--json", numbers)
    assert result.exit_code == 0, result.output
    assert "label integrity" in result.output
    lines = [json.loads(line) for line in questions.read_text("utf-8").splitlines()]
    assert {line["kind"] for line in lines} >= {"row", "object", "verdict", "edit", "rule"}
    assert {line["records"] for line in lines} == {"cut"}
    assert not any("answer" in line or "shown" in line for line in lines)
    (everything,) = [
        row
        for row in json.loads(numbers.read_text("utf-8"))["cut"]["shares"]
        if (row["half"], row["stratum"], row["kind"]) == ("all", "all", "all")
    ]
    assert everything["n"] >= 90
    assert everything["right"] + everything["missing"] + everything["misleading"] == pytest.approx(
        1
    )


def test_answers_come_back_by_id_and_are_set_beside_the_mechanical_reader(tmp_path: Path) -> None:
    questions, answers = tmp_path / "questions.jsonl", tmp_path / "answers.jsonl"
    statecomp(SAMPLES[0], "--export", questions)
    asked_for = [json.loads(line) for line in questions.read_text("utf-8").splitlines()]
    answers.write_text(
        "".join(json.dumps({"id": q["id"], "answer": "not stated"}) + "\n" for q in asked_for)
    )
    result = statecomp(SAMPLES[0], "--answers", answers)
    assert result.exit_code == 0, result.output
    (row,) = [line for line in result.output.splitlines() if line.startswith("extract  all")]
    assert row.split()[2:6] == [str(len(asked_for)), "0.0%", "100.0%", "0.0%"]


def test_what_a_model_asks_of_a_span_is_asked_too(tmp_path: Path) -> None:
    run, labels, made, spans = (tmp_path / name for name in ("run", "labels", "made", "spans"))
    steps = [
        ("{}", f"{ROWS}\n{LONG} The valve of line {n} was stuck by rust_{n}.") for n in range(9)
    ]
    told = {"id": "run1", "style": "tool-calls", "messages": messages_of(steps)}
    run.write_text(json.dumps(told) + "\n")
    ready = ({"id": "run1", "i": n, "boundary": n + 1} for n in range(1, 10))
    labels.write_text("".join(json.dumps(line) + "\n" for line in ready))

    def examined(**other: object) -> str:
        asks = "What was the valve of line 3 stuck by?"
        question = {"span": span, "question": asks, "answer": "rust_3", "wrong": ["rust_4"]}
        made.write_text(json.dumps({**question, **other}) + "\n")
        given = ("--labels", labels, "--questions", made, "--records", "cut")
        result = statecomp(run, *given)
        return f"{result.output}{result.exception or ''}"

    statecomp(run, "--labels", labels, "--spans", spans)
    span = json.loads(spans.read_text("utf-8").splitlines()[0])["span"]
    cells = [line.split() for line in examined().splitlines()]
    assert [row[3] for row in cells if row[:3] == ["all", "all", "asked"]] == ["1"]
    assert f"1 of {made} not asked: no step shows the answer" in examined(answer="rust_99")
    assert "names must be those of --spans" in examined(span="of no run")
    assert "is not a question record" in examined(wrong="one")


def test_records_written_elsewhere_are_examined_by_the_name_of_their_span(tmp_path: Path) -> None:
    spans, records = tmp_path / "spans.jsonl", tmp_path / "records.jsonl"
    statecomp(SAMPLES[0], "--spans", spans)
    given = [json.loads(line) for line in spans.read_text("utf-8").splitlines()]
    assert all("<transcript" in span["transcript"] for span in given)
    lines = [{"span": span["span"], "record": span["transcript"]} for span in given[1:]]
    records.write_text("".join(json.dumps(line) + "\n" for line in lines))
    result = statecomp(SAMPLES[0], "--records", f"file:{records}")
    assert f"{len(given) - 1} spans (1 refused)" in result.output


def test_records_of_a_chat_are_examined_too() -> None:
    questions: list[str] = []

    class Brief(ChatHandler):
        def asked_about(self, prompt: str) -> None:
            questions.append(prompt)
            self.answer(json.dumps({"facts": ["all of it was done"]}))

    with served(Brief) as chat:
        result = statecomp(SAMPLES[0], "--records", f"chat:{chat}")
    assert result.exit_code == 0, result.output
    assert f"{len(questions)} spans (0 refused)" in result.output
    assert "label integrity: no labelled value is carried" in result.output


@pytest.mark.parametrize(
    ("spec", "title"),
    [
        ("extract", "extract"),
        ("llmlingua2", "llmlingua2 (words chosen by a plain substitute, lexical)"),
        ("llmlingua2:classifier=llmlingua2", "llmlingua2:classifier=llmlingua2"),
    ],
)
def test_a_choice_of_tokens_that_is_not_the_published_one_is_called_a_substitute(
    spec: str, title: str
) -> None:
    assert exam_title(spec) == title


def test_a_writer_nobody_knows_is_one_sentence() -> None:
    result = statecomp(SAMPLES[0], "--records", "magic")
    assert result.exit_code != 0
    assert "known are extract" in str(result.exception)
