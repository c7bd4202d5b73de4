"""Algorithm 1, drawn as words."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from statecomp.controller.circumstances import JUST_AFTER
from statecomp.controller.controller import Controller
from statecomp.controller.spans import Gates, Rule, eligible_spans, selected_runs
from statecomp.errors import BadInput, ScoringFailed, SummaryFailed
from statecomp.history.history import History
from statecomp.history.interaction import Interaction, Summary
from statecomp.history.situation import Situation
from statecomp.records.record import Record
from statecomp.records.writing.summarize import ChatSummarizer
from statecomp.strategy import Scorer, Summarizer, View
from statecomp.testing.chat import ScriptedChat
from statecomp.testing.words import BULK, OneLiner, WordScorer, chat_of, history_of, shape
from statecomp.wire.assemble import parse
from statecomp.wire.openai_chat.wire import OpenAIChat
from statecomp.wire.placement import render

WORDS = st.text(alphabet="prko", min_size=1, max_size=40)


def controller(
    scorer: Scorer | None = None, summarizer: Summarizer | None = None, rule: Rule = Gates()
) -> Controller:
    return Controller(scorer or WordScorer(), summarizer or OneLiner(), OpenAIChat(), rule)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("prrrr", "ps"),  # four in a row is the least that pays
        ("prrr", "prrr"),
        ("prrkrr", "prrkrr"),  # a KEEP interaction is never swallowed to join two runs
        ("prrprr", "prrprr"),  # neither are the user's words
        ("prrorr", "prrorr"),  # nor an open call
        ("rrrrkrrrrr", "sks"),
        ("prrrrprrrrrk", "pspsk"),
        ("kkkk", "kkkk"),
    ],
)
def test_only_long_runs_of_ready_interactions_are_replaced(before: str, after: str) -> None:
    assert shape(controller().rewrite(history_of(before)).history) == after


def test_a_summary_is_never_summarised_again() -> None:
    once = controller().rewrite(history_of("prrrrr")).history
    again = controller().rewrite(once)
    assert again.history is once
    assert again.commits == ()


def test_a_summary_breaks_a_run() -> None:
    history = history_of("prrrrrrr")
    summary = controller().rewrite(history).history.segments[1]
    assert isinstance(summary, Summary)
    parted = History((*history.segments[:4], summary, *history.segments[4:]))
    scores, required = WordScorer().score(parted), Gates().required(parted, JUST_AFTER)
    assert [tuple(s) for s in selected_runs(parted, scores, required)] == [
        (1, 4),
        (5, 9),
    ]


def test_small_sources_wait_and_the_reason_is_recorded() -> None:
    view = controller().rewrite(history_of("prrrr", bulk="tiny"))
    assert view.commits == ()
    assert "source tokens; 1000 are needed" in view.refusals[0].reason
    short = controller().rewrite(history_of("prrr"))
    assert short.refusals[0].reason == "3 interactions; more than 3 are needed"


def test_a_commit_names_its_sources() -> None:
    history = history_of("pkrrrrk")
    (commit,) = controller().rewrite(history).commits
    assert commit.sources == tuple(i.id for i in history.interactions[1:5])
    assert (commit.first, commit.last) == (2, 5)
    assert commit.summary_tokens < commit.source_tokens


@pytest.mark.parametrize("value", [float("nan"), -0.1, 1.1])
def test_scores_that_are_no_probabilities_change_nothing(value: float) -> None:
    class Odd:
        def score(self, history: History) -> Mapping[str, float]:
            return {i.id: value for i in history.interactions}

    history = history_of("prrrrr")
    view = controller(scorer=Odd()).rewrite(history)
    assert view.history is history
    assert view.note.startswith("no scores")


def test_a_scorer_that_fails_changes_nothing() -> None:
    class Broken:
        def score(self, history: History) -> Mapping[str, float]:
            raise ScoringFailed("no model")

    history = history_of("prrrrr")
    view = controller(scorer=Broken()).rewrite(history)
    assert view.history is history
    assert view.note == "no scores: no model"


class Refusing:
    """Refuses the spans that begin at one of these numbers."""

    def __init__(self, *numbers: int) -> None:
        self.numbers = numbers

    def summarize(self, span: Sequence[Interaction], situation: Situation) -> Record:
        if span[0].number in self.numbers:
            raise SummaryFailed("the model did not answer")
        return Record(facts=("done",))


def test_a_failed_summary_leaves_its_span_and_only_its_span() -> None:
    view = controller(summarizer=Refusing(6)).rewrite(history_of("prrrrkrrrrkrrrr"))
    assert shape(view.history) == "pskrrrrks"
    assert [r.reason for r in view.refusals] == ["the model did not answer"]


def test_a_summary_longer_than_its_source_is_refused() -> None:
    class Wordy:
        def summarize(self, span: Sequence[Interaction], situation: Situation) -> Record:
            return Record(facts=(BULK * (len(span) + 1),))

    history = history_of("prrrrr")
    view = controller(summarizer=Wordy()).rewrite(history)
    assert view.history is history
    assert "tokens would replace" in view.refusals[0].reason


def test_an_empty_summary_is_refused() -> None:
    class Silent:
        def summarize(self, span: Sequence[Interaction], situation: Situation) -> Record:
            return Record()

    assert controller(summarizer=Silent()).rewrite(history_of("prrrrr")).commits == ()


def test_the_second_copy_of_a_fact_is_seen_as_the_last_one() -> None:
    """Two copies of a fact may not both go unless a summary carries it."""
    asked: list[bool] = []

    class Watching:
        def summarize(self, span: Sequence[Interaction], situation: Situation) -> Record:
            asked.append("/srv/app/config.yaml" in situation.rest)
            return Record(facts=("done",))

    history = history_of("prrrrkrrrr", bulk=BULK + " /srv/app/config.yaml ")
    blind = history_of("k", bulk="nothing").segments[0]
    segments = tuple(blind if shape(History((s,))) == "k" else s for s in history.segments)
    controller(summarizer=Watching()).rewrite(History(segments))
    assert asked == [True, False]


@given(WORDS)
def test_updates_are_valid_and_never_longer(word: str) -> None:
    """Proposition E.1: valid in, valid and no longer out; strictly shorter when committed."""
    history = history_of(word)
    wire = OpenAIChat()
    view = controller().rewrite(history)
    assert len(wire.check(render(view.history, wire))) <= len(wire.check(history.messages))
    if view.commits:
        assert view.history.tokens < history.tokens
    else:
        assert view.history is history


@given(WORDS, st.integers(0, 5))
def test_proposals_are_bounded_by_the_selected_interactions(word: str, longer_than: int) -> None:
    """J <= floor(n_selected / (kappa + 1)), one call a span."""
    summarizer = OneLiner()
    gates = Gates(longer_than=longer_than, min_source_tokens=0)
    controller(summarizer=summarizer, rule=gates).rewrite(history_of(word))
    assert summarizer.calls <= word.count("r") // (longer_than + 1)


@given(WORDS, st.floats(0.05, 1.0), st.data())
def test_spans_are_the_maximal_selected_runs(
    word: str, threshold: float, data: st.DataObject
) -> None:
    history = history_of(word, bulk="x")
    scores = {i.id: data.draw(st.floats(0, 1)) for i in history.interactions}
    gates = Gates(threshold=threshold, longer_than=0, min_source_tokens=0)
    spans, _ = eligible_spans(history, scores, gates.required(history, JUST_AFTER), gates)
    chosen = {place for span in spans for place in range(span.start, span.stop)}
    for place, segment in enumerate(history.segments):
        wanted = (
            isinstance(segment, Interaction)
            and not segment.locked
            and scores[segment.id] >= threshold
        )
        assert (place in chosen) == wanted
    for left, right in pairwise(spans):
        assert left.stop < right.start


@given(WORDS)
def test_kept_messages_are_the_very_objects_that_came_in(word: str) -> None:
    history = history_of(word)
    came = {id(message) for message in history.messages}
    sent = controller().rewrite(history).history
    for segment in sent.segments:
        if not isinstance(segment, Summary):
            assert all(id(message) in came for message in segment.messages)


@pytest.mark.parametrize(
    "wrong",
    [{"threshold": 0.0}, {"threshold": 1.5}, {"longer_than": -1}, {"min_source_tokens": -1}],
)
def test_gates_that_make_no_sense_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(BadInput):
        Gates(**wrong)  # type: ignore[arg-type]


class TestLedger:
    """What any summariser says is held to the fact ledger before it may stand in a history."""

    def rewritten(self, facts: str) -> View:
        chat = ScriptedChat(lambda asked: json.dumps({"facts": [facts]}))
        messages = chat_of("prrrrr")
        messages[1] = {**messages[1], "content": "I will write /srv/report/totals-2024.csv"}
        history = parse(messages, OpenAIChat())
        return controller(summarizer=ChatSummarizer(chat)).rewrite(history)

    def test_an_invented_identifier_refuses_the_summary(self) -> None:
        view = self.rewritten("the totals are in /srv/invented/other.csv")
        assert view.commits == ()
        assert "'/srv/invented/other.csv', which its source does not" in view.refusals[0].reason

    def test_what_the_agent_used_and_only_the_span_holds_is_added(self) -> None:
        (commit,) = self.rewritten("five files were read").commits
        assert "- 1, the agent's own words: /srv/report/totals-2024.csv" in commit.text

    def test_what_the_summary_carries_is_not_added_again(self) -> None:
        (commit,) = self.rewritten("the agent wrote /srv/report/totals-2024.csv").commits
        assert commit.text.count("totals-2024.csv") == 1
