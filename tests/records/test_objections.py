"""A writer may object: what it wants kept stays, and what it wrote of the rest is used."""

from __future__ import annotations

import json
from typing import Any

import pytest

from statecomp.compressor import StateComp
from statecomp.controller.spans import Gates
from statecomp.errors import SummaryFailed
from statecomp.history.situation import Situation
from statecomp.llm.side import SideAccount
from statecomp.records.extract import ExtractiveSummarizer
from statecomp.records.record import Objection, Record
from statecomp.records.verify import verify
from statecomp.records.writing.answer import parse_written, runs_without
from statecomp.records.writing.summarize import ChatSummarizer
from statecomp.records.writing.writer import ModelWriter
from statecomp.testing.chat import ScriptedChat
from statecomp.testing.words import WordScorer, chat_of, history_of, shape


def answer(keep: dict[int, str], *runs: tuple[int, int]) -> str:
    kept = [{"step": step, "chance": 80, "why": why} for step, why in keep.items()]
    records = [
        {"first": first, "last": last, "facts": [f"steps {first} to {last} went well"]}
        for first, last in runs
    ]
    return json.dumps({"again": kept, "records": records})


def engine(*replies: str, **options: Any) -> tuple[StateComp, ScriptedChat]:
    chat = ScriptedChat(replies)
    gates = Gates(longer_than=0, min_source_tokens=100)
    return StateComp(WordScorer(), rule=gates, summarizer=ChatSummarizer(chat, **options)), chat


def test_kept_steps_stay_and_the_runs_around_them_are_replaced_by_one_call() -> None:
    comp, chat = engine(answer({3: "about to edit it"}, (1, 2), (4, 5)))
    checkpoint = comp.checkpoint(chat_of("prrrrrk"))
    assert checkpoint.view is not None
    assert shape(checkpoint.view.history) == "psrsk"
    assert len(chat.asked) == 1
    assert "steps 1 to 2 went well" in checkpoint.view.history.summaries[0].text


def test_nobody_is_asked_about_a_kept_step_again_for_ten_steps() -> None:
    comp, chat = engine(answer({5: "about to edit it"}, (1, 4)), answer({}, (5, 5)))
    shapes = []
    for more in range(12):
        checkpoint = comp.checkpoint(chat_of("prrrrr" + "k" * more))
        assert checkpoint.view is not None
        shapes.append(shape(checkpoint.view.history))
        if 0 < more < 10:
            reasons = {decision.number: decision.reason for decision in checkpoint.decisions}
            assert "about to edit it" in reasons[5]
    assert shapes[9] == "psr" + "k" * 9
    assert shapes[11] == "pss" + "k" * 11
    assert len(chat.asked) == 2


def test_a_run_that_is_too_small_beside_a_kept_step_stays() -> None:
    comp = StateComp(
        WordScorer(),
        rule=Gates(longer_than=1, min_source_tokens=100),
        summarizer=ChatSummarizer(ScriptedChat([answer({2: "quoted"}, (1, 1), (3, 5))])),
    )
    view = comp.checkpoint(chat_of("prrrrrk")).view
    assert view is not None
    assert shape(view.history) == "prrsk"


def test_in_the_paper_nobody_objects() -> None:
    comp, chat = engine(answer({3: "about to edit it"}, (1, 2), (4, 5)), objects=False)
    view = comp.checkpoint(chat_of("prrrrrk")).view
    assert view is not None
    assert shape(view.history) == "prrrrrk"
    assert "Keep nothing" in chat.asked[0].system


def test_where_all_of_a_span_is_wanted_kept_it_stays_and_no_extract_takes_its_place() -> None:
    account = SideAccount()
    said = answer({1: "being edited", 2: ""})
    writer = ModelWriter(ScriptedChat([said]), ExtractiveSummarizer(), account)
    with pytest.raises(Objection, match=r"wants 1 \('being edited'\), 2 kept") as caught:
        writer.summarize(history_of("prr").interactions, Situation())
    assert caught.value.keep == {1: "being edited", 2: ""}
    assert account.heard() == ()


def test_a_record_says_who_wrote_it_or_why_no_model_did() -> None:
    members = history_of("prrr").interactions
    for said, by in (
        (answer({}, (1, 3)), "scripted"),
        ("All went well.", "an extract, because the summary is not JSON"),
    ):
        chat, account = ScriptedChat([said]), SideAccount()
        record = ModelWriter(chat, ExtractiveSummarizer(), account).summarize(members, Situation())
        assert verify(record, members, Situation()).by == by


def test_a_writer_that_answers_for_other_steps_has_failed() -> None:
    with pytest.raises(SummaryFailed, match="other steps"):
        parse_written(answer({2: "b"}, (7, 9), (11, 12)), [1, 2, 3])


@pytest.mark.parametrize(
    "again",
    [
        "all",
        [3],
        [{"step": "3", "chance": 90}],
        [{"step": [3], "chance": 90}],
        [{"step": 99, "chance": 90, "why": "x"}],
        [{"step": 3, "chance": "90"}],
        [{"step": 3}],
        [{"step": 3, "chance": 19, "why": "hardly"}],
        None,
    ],
)
def test_what_cannot_be_kept_is_left_aside(again: object) -> None:
    said = json.dumps({"again": again, "records": [{"first": 1, "last": 3, "facts": ["done"]}]})
    assert parse_written(said, [1, 2, 3]).records == {(1, 3): Record(facts=("done",))}


def test_runs_are_what_lies_between_the_kept() -> None:
    assert runs_without([4, 5, 6, 7, 8], {6: ""}) == [(4, 5), (7, 8)]
    assert runs_without([4, 5], {4: ""}) == [(5, 5)]
    assert runs_without([4], {}) == [(4, 4)]


def test_an_objection_that_nobody_understands_is_a_failure_and_the_span_stays() -> None:
    chat = ScriptedChat([answer({2: "quoted"}, (1, 1), (3, 5))])
    members = history_of("prrrrr").interactions
    with pytest.raises(SummaryFailed) as caught:
        ChatSummarizer(chat).summarize(members, Situation())
    assert isinstance(caught.value, Objection)
    assert set(caught.value.records) == {(1, 1), (3, 5)}


def test_spans_of_one_rewrite_are_asked_for_in_one_question() -> None:
    said = json.dumps(
        {
            "again": [{"step": 7, "chance": 60, "why": "quoted"}],
            "records": [
                {"first": 1, "last": 4, "facts": ["the first stretch went well"]},
                {"first": 6, "last": 6, "facts": ["step 6 was fine"]},
                {"first": 8, "last": 9, "facts": ["the rest went well"]},
            ],
        }
    )
    comp, chat = engine(said)
    view = comp.checkpoint(chat_of("prrrrkrrrrk")).view
    assert view is not None
    assert shape(view.history) == "psksrsk"
    (asked,) = chat.asked
    assert "a stretch of its own, steps 1 to 4]" in asked.prompt
    assert asked.prompt.index("steps 1 to 4]") < asked.prompt.index("steps 6 to 9]")


def test_what_a_shared_answer_leaves_out_is_asked_for_alone() -> None:
    comp, chat = engine(answer({}, (6, 9)), answer({}, (1, 4)))
    view = comp.checkpoint(chat_of("prrrrkrrrrk")).view
    assert view is not None
    assert shape(view.history) == "psksk"
    assert ["a stretch" in asked.prompt for asked in chat.asked] == [True, False]
