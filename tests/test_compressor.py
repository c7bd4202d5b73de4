"""The engine: histories are re-sent raw each time, and what was committed is found by content."""

from __future__ import annotations

import copy
import json
import pickle
import re
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

import pytest

from statecomp.checkpoint import Checkpoint, Pins
from statecomp.compressor import StateComp
from statecomp.controller.age import AgeScorer
from statecomp.controller.spans import Gates
from statecomp.decisions import MOST_STEPS, MOST_TOKENS, TOO_LARGE, TOO_LONG
from statecomp.errors import SummaryFailed
from statecomp.history.history import History
from statecomp.history.interaction import Interaction
from statecomp.history.situation import Situation
from statecomp.ledger.commits import Commit, MemoryLog
from statecomp.llm.chat import ChatFailed
from statecomp.recipes import recipe_named
from statecomp.records.record import Record
from statecomp.testing.words import BULK, OneLiner, WordScorer, chat_of, history_of, shape
from statecomp.wire.protocol import Placement

Messages = list[dict[str, Any]]
Answer = TypeVar("Answer")


def engine(log: MemoryLog | None = None, **settings: Any) -> StateComp:
    return StateComp(WordScorer(), rule=Gates(), summarizer=OneLiner(), log=log, **settings)


def shape_of(comp: StateComp, messages: Messages) -> str:
    view = comp.checkpoint(messages).view
    assert view is not None
    return shape(view.history)


def test_what_was_committed_stays_replaced_when_the_raw_history_comes_again() -> None:
    comp = engine()
    assert shape_of(comp, chat_of("prrrr")) == "ps"
    assert shape_of(comp, chat_of("prrrrk")) == "psk"
    assert shape_of(comp, chat_of("prrrrkrrrr")) == "psks"


def test_after_a_break_a_rewrite_costs_no_cache() -> None:
    """What does not pay yet while the cache is warm."""
    rule = recipe_named("balanced").rule()
    first, second = (StateComp(WordScorer(), rule=rule, summarizer=OneLiner()) for _ in range(2))
    warm = first.before_request(history_of("prrrkkkk"))
    cold = second.after_break(history_of("prrrkkkk"))
    assert warm.ruling is not None
    assert cold.ruling is not None
    assert (warm.ruling.cache, warm.ruling.commit) == ("warm", False)
    assert (cold.ruling.cache, cold.ruling.commit) == ("cold", True)


def test_savings_and_decisions_are_reported() -> None:
    checkpoint = engine().checkpoint(chat_of("prrrrkr"))
    assert checkpoint.saved_tokens == checkpoint.raw_tokens - checkpoint.sent_tokens > 0
    assert [(d.number, d.ready) for d in checkpoint.decisions] == [(5, False), (6, True)]
    assert checkpoint.decisions[0].reason == "score 0.00 is below 0.60"
    assert checkpoint.decisions[1].reason == "1 interaction; more than 3 are needed"


def test_the_same_request_again_decides_nothing_new_and_sends_the_same_bytes() -> None:
    summarizer = OneLiner()
    comp = StateComp(WordScorer(), rule=Gates(), summarizer=summarizer)
    first = comp.checkpoint(chat_of("prrrrkrrr"))
    again = comp.checkpoint(chat_of("prrrrkrrr"))
    assert json.dumps(first.messages) == json.dumps(again.messages)
    assert summarizer.calls == 1
    assert again.commits == ()


def test_a_fork_before_the_decision_is_raw_again() -> None:
    """What was judged replaceable later says nothing about an earlier state."""
    comp = StateComp(AgeScorer(after=4), rule=Gates(), summarizer=OneLiner())
    assert shape_of(comp, chat_of("prrrrrrrr")) == "psrrrr"
    assert shape_of(comp, chat_of("prrrrr")) == "prrrrr"


def test_a_fork_after_the_decision_keeps_it_on_both_branches() -> None:
    comp = engine()
    comp.checkpoint(chat_of("prrrr"))
    assert shape_of(comp, chat_of("prrrrkk")) == "pskk"
    assert shape_of(comp, chat_of("prrrrpk")) == "pspk"


def test_an_edited_past_loses_the_commits_behind_the_edit_only() -> None:
    comp = engine()
    comp.checkpoint(chat_of("prrrr"))
    comp.checkpoint(chat_of("prrrrkrrrr"))
    edited = chat_of("prrrrkrrr")
    edited[-1] = {**edited[-1], "content": "something else"}
    assert shape_of(comp, edited) == "pskrrr"
    rewritten = chat_of("prrr")
    rewritten[0] = {"role": "user", "content": "another task"}
    assert shape_of(comp, rewritten) == "prrr"


def test_a_changed_system_prompt_does_not_lose_commits() -> None:
    comp = engine()
    morning: Messages = [{"role": "system", "content": "It is 9 o'clock."}]
    evening: Messages = [{"role": "system", "content": "It is 18 o'clock."}]
    assert shape_of(comp, morning + chat_of("prrrr")) == "pps"
    assert shape_of(comp, evening + chat_of("prrrrk")) == "ppsk"


def test_two_conversations_with_one_beginning_do_not_share_commits() -> None:
    """Sub-agents share a system prompt and a session id; their tasks differ."""
    comp = engine()
    comp.checkpoint(chat_of("prrrr"))
    other = chat_of("prrr")
    other[0] = {"role": "user", "content": "a sub-agent's own task"}
    assert shape_of(comp, other) == "prrr"


def test_moving_a_cache_marker_changes_no_identity() -> None:
    comp = engine()
    comp.checkpoint(chat_of("prrrr"))
    marked = chat_of("prrrrk")
    marked[2] = {
        **marked[2],
        "content": [{"type": "text", "text": BULK, "cache_control": {"type": "ephemeral"}}],
    }
    checkpoint = comp.checkpoint(marked)
    assert checkpoint.view is not None
    assert shape(checkpoint.view.history) == "psk"
    assert checkpoint.messages[1]["content"][-1]["cache_control"] == {"type": "ephemeral"}


def test_dropped_reasoning_changes_no_identity() -> None:
    comp = engine()
    thinking = [
        {**m, "reasoning_content": "hm"} if m["role"] == "assistant" else m
        for m in chat_of("prrrr")
    ]
    comp.checkpoint(thinking)
    assert shape_of(comp, chat_of("prrrrk")) == "psk"


def test_a_message_changed_in_place_is_read_again() -> None:
    comp = engine()
    messages = chat_of("pkkk")
    before = comp.checkpoint(messages).raw_tokens
    messages[2]["content"] = "short"
    assert comp.checkpoint(messages).raw_tokens < before


def test_kept_messages_are_the_objects_of_this_request() -> None:
    comp = engine()
    comp.checkpoint(chat_of("prrrrk"))
    messages = chat_of("prrrrkk")
    sent = comp.checkpoint(messages).messages
    assert sent[0] is messages[0]
    assert all(mine is theirs for mine, theirs in zip(sent[2:], messages[9:], strict=True))


def test_pinned_interactions_stay_and_take_back_an_earlier_commit() -> None:
    log = MemoryLog()
    assert shape_of(engine(log), chat_of("prrrr")) == "ps"
    pinned = engine(log, pins=Pins(tools=frozenset({"read"})))
    checkpoint = pinned.checkpoint(chat_of("prrrrk"))
    assert checkpoint.view is not None
    assert not checkpoint.view.history.summaries
    assert {d.reason for d in checkpoint.decisions[:4]} == {"pinned by the user"}


def test_whatever_breaks_inside_the_history_that_came_in_goes_out() -> None:
    class Exploding:
        def score(self, history: History) -> Mapping[str, float]:
            raise ZeroDivisionError("oops")

    messages = chat_of("prrrrr")
    checkpoint = StateComp(Exploding(), rule=Gates()).checkpoint(messages)
    assert checkpoint.messages == messages
    assert checkpoint.note == "ZeroDivisionError: oops"
    assert checkpoint.saved_tokens == 0


def test_messages_that_cannot_be_read_go_out_as_they_came() -> None:
    orphan: Messages = [{"role": "tool", "tool_call_id": "x", "content": "late"}]
    checkpoint = engine().checkpoint(orphan)
    assert checkpoint.messages == orphan
    assert checkpoint.note == (
        "this history is left as it is: "
        "messages[0]: is a tool result that answers no call before it"
    )
    body = {"model": "m", "messages": "not a list"}
    assert engine().checkpoint(body).body is body


def test_a_request_body_comes_back_as_a_body_with_its_keys_in_order() -> None:
    body = {"model": "m", "messages": chat_of("prrrr"), "temperature": 0}
    checkpoint = engine().checkpoint(body)
    assert list(checkpoint.body) == ["model", "messages", "temperature"]
    assert checkpoint.body["messages"] == checkpoint.messages


def test_two_workers_on_one_log_send_the_same_bytes() -> None:
    log = MemoryLog()
    one, two = engine(log), engine(log)
    messages = chat_of("prrrrk")
    assert json.dumps(one.checkpoint(messages).messages) == json.dumps(
        two.checkpoint(copy.deepcopy(messages)).messages
    )


class Overtaken(MemoryLog):
    """Another worker commits and sends between two questions of this one."""

    def __init__(self) -> None:
        super().__init__()
        self.meanwhile: list[Callable[[], object]] = []

    def find(self, ids: Sequence[str]) -> Sequence[Commit]:
        return self._answered(super().find(ids))

    def sent(self, seen: str) -> Sequence[str] | None:
        return self._answered(super().sent(seen))

    def _answered(self, answer: Answer) -> Answer:
        if self.meanwhile:
            self.meanwhile.pop()()
        return answer


def test_what_another_worker_commits_and_sends_while_this_one_looks_goes_out_here_too() -> None:
    log = Overtaken()
    mine, other = engine(log), engine(log)
    theirs: list[Checkpoint] = []
    log.meanwhile.append(lambda: theirs.append(other.checkpoint(chat_of("prrrr"))))
    looked = mine.checkpoint(chat_of("prrrr"), decide=False)
    if not looked.sent and not mine.seal(looked):
        looked = mine.checkpoint(chat_of("prrrr"), decide=False)
    assert theirs[0].rewritten
    assert looked.messages == theirs[0].messages


def test_of_two_decisions_at_one_state_the_first_stands() -> None:
    class Late(MemoryLog):
        """The other worker commits between our look-up and our append."""

        def append(self, at: str, commits: Any, chain: Any = ()) -> Any:
            theirs = tuple(
                Commit(c.id, c.at, c.sources, c.first, c.last, "theirs", 1, 1) for c in commits
            )
            return super().append(at, theirs, chain)

    checkpoint = engine(Late()).checkpoint(chat_of("prrrr"))
    assert checkpoint.messages[1]["content"] == "theirs"
    assert checkpoint.commits == ()


def test_without_deciding_only_what_was_committed_before_is_put_back() -> None:
    comp = engine()
    looked = comp.checkpoint(chat_of("prrrr"), decide=False)
    assert looked.raw is not None
    assert not looked.rewritten
    assert not looked.decided
    view = comp.prepare(looked.raw)
    assert len(view.commits) == 1
    again = comp.checkpoint(chat_of("prrrr"), decide=False)
    assert again.applied == view.commits
    assert again.rewritten
    assert again.decided
    assert again.messages == comp.checkpoint(chat_of("prrrr")).messages


def test_an_untouched_body_is_the_very_one_that_came_in() -> None:
    body = {"model": "m", "messages": chat_of("pkk")}
    checkpoint = engine().checkpoint(body)
    assert checkpoint.body is body
    assert not checkpoint.rewritten


def test_a_decision_that_is_no_longer_wanted_commits_nothing() -> None:
    log = MemoryLog()
    comp = engine(log)
    raw = comp.checkpoint(chat_of("prrrr"), decide=False).raw
    assert raw is not None
    view = comp.prepare(raw, wanted=lambda: False)
    assert view.commits == ()
    assert view.note == "decided too late: nothing was committed"
    assert log.states() == []
    assert len(comp.prepare(raw).commits) == 1


def test_about_more_steps_than_any_model_reads_nothing_is_decided() -> None:
    comp = engine()
    assert comp.prepare(history_of("prrrr")).commits
    view = comp.prepare(history_of("p" + "r" * (MOST_STEPS + 1), "fine"))
    assert (view.commits, view.note) == ((), TOO_LONG)


def test_about_more_tokens_than_any_model_reads_nothing_is_decided() -> None:
    first, *others = history_of("prrrr").segments
    view = engine().prepare(History((replace(first, tokens=MOST_TOKENS), *others)))
    assert (view.commits, view.note) == ((), TOO_LARGE)


def test_what_an_undone_commit_stood_for_is_not_taken_again() -> None:
    undone = history_of("prrrr").interactions

    class Undone(MemoryLog):
        def held(self, ids: Sequence[str]) -> Mapping[str, str]:
            return {interaction.id: "undone by the user" for interaction in undone}

    checkpoint = engine(Undone()).checkpoint(chat_of("prrrrkrrrr"))
    assert checkpoint.view is not None
    assert [c.first for c in checkpoint.commits] == [6]
    reasons = {d.number: d.reason for d in checkpoint.decisions}
    assert [reasons[n] for n in (1, 2, 3, 4)] == ["undone by the user"] * 4


@dataclass
class Failing:
    """A summariser that fails, and counts how often it was asked."""

    error: SummaryFailed
    cause: Exception | None = None
    calls: int = 0

    def summarize(self, span: Sequence[Interaction], situation: Situation) -> Record:
        self.calls += 1
        raise self.error from self.cause


def test_a_span_whose_summary_was_refused_is_not_proposed_again() -> None:
    log, failing = MemoryLog(), Failing(SummaryFailed("it cannot be said"))
    for word in ("prrrrk", "prrrrkk", "prrrrkkk"):
        # A new engine each time: what was refused is remembered by the log.
        StateComp(WordScorer(), rule=Gates(), summarizer=failing, log=log).checkpoint(chat_of(word))
    assert failing.calls == 1


def test_a_summary_that_was_written_and_not_accepted_is_not_asked_for_again() -> None:
    class Wordy:
        calls = 0

        def summarize(self, span: Sequence[Interaction], situation: Situation) -> Record:
            self.calls += 1
            return Record(facts=("many words " * 5000,))

    wordy = Wordy()
    comp = StateComp(WordScorer(), rule=Gates(), summarizer=wordy)
    for word in ("prrrrk", "prrrrkk"):
        checkpoint = comp.checkpoint(chat_of(word))
        assert checkpoint.commits == ()
    assert wordy.calls == 1


def test_a_summariser_that_could_not_be_reached_is_asked_again_later(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    log = MemoryLog()
    failing = Failing(SummaryFailed("no answer"), ChatFailed("the server is down"))
    comp = StateComp(WordScorer(), rule=Gates(), summarizer=failing, log=log)
    for word in ("prrrrk", "prrrrkk"):
        comp.checkpoint(chat_of(word))
    assert failing.calls == 1  # left alone for a moment
    monkeypatch.setattr("statecomp.controller.cached_summarizer.PAUSE_S", -1.0)
    comp = StateComp(WordScorer(), rule=Gates(), summarizer=failing, log=log)
    for word in ("prrrrkkk", "prrrrkkkk"):
        comp.checkpoint(chat_of(word))
    assert failing.calls == 3


def test_a_summary_that_holds_a_secret_is_not_committed_and_the_others_are() -> None:
    log = MemoryLog()
    comp = engine(log, secrets=lambda _: lambda text: "interactions 1 to 4" in text)
    checkpoint = comp.checkpoint(chat_of("prrrrkrrrrk"))
    assert [commit.first for commit in checkpoint.commits] == [6]
    assert checkpoint.view is not None
    assert shape(checkpoint.view.history) == "prrrrksk"
    assert {d.number: d.reason for d in checkpoint.decisions}[
        1
    ] == "its summary would hold a secret"
    assert log.refused([i.id for i in history_of("prrrr").interactions])


def test_an_interaction_that_tells_a_secret_stays_and_those_behind_it_go() -> None:
    messages = chat_of("prrrrrrkk")
    messages[2] = {**messages[2], "content": f"the word is swordfish. {BULK}"}

    class Quoting:
        def summarize(self, span: Sequence[Interaction], situation: Situation) -> Record:
            return Record(facts=tuple(i.observed[:40] for i in span))

    comp = StateComp(
        WordScorer(),
        rule=Gates(),
        summarizer=Quoting(),
        secrets=lambda _: lambda text: "swordfish" in text,
    )
    assert comp.checkpoint(messages[:-2]).commits == ()
    assert [(c.first, c.last) for c in comp.checkpoint(messages).commits] == [(2, 6)]


def test_a_history_that_is_not_ours_to_touch_is_still_counted() -> None:
    comp = StateComp(WordScorer(), rule=Gates(), protocol="openai-responses")
    items = [{"role": "user", "content": "hello there"}]
    checkpoint = comp.checkpoint({"input": items, "previous_response_id": "r1"})
    assert checkpoint.raw_tokens == checkpoint.sent_tokens > 0
    assert checkpoint.view is None


def test_a_commit_replays_byte_for_byte_in_another_process(tmp_path: Path) -> None:
    log = MemoryLog()
    engine(log).checkpoint(chat_of("prrrrkrrrr"))
    here = json.dumps(engine(log).checkpoint(chat_of("prrrrkrrrrk")).messages)
    commits = [(state, log.find([state])) for state in log.states()]
    (tmp_path / "log").write_bytes(pickle.dumps(commits))
    script = """
import json, pickle, sys
from statecomp.ledger.commits import MemoryLog
from tests.test_compressor import engine
from statecomp.testing.words import chat_of
log = MemoryLog()
for state, commits in pickle.load(open(sys.argv[1], "rb")):
    log.append(state, commits)
print(json.dumps(engine(log).checkpoint(chat_of("prrrrkrrrrk")).messages))
"""
    there = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path / "log")],
        capture_output=True, text=True, check=True, cwd=Path(__file__).parent.parent,
    )  # fmt: skip
    assert there.stdout.strip() == here


def test_a_summary_is_framed_as_a_record_and_never_speaks_as_the_system() -> None:
    message = engine().checkpoint(chat_of("prrrr")).messages[1]
    assert message["role"] == "user"
    assert message["content"].startswith("[Record of past steps 1-4, mark ")
    assert re.search(r"\n\[End of record, mark [0-9a-f]{8}\]$", message["content"])


def test_strict_back_ends_get_the_summary_inside_the_neighbouring_user_message() -> None:
    comp = engine(placement=Placement(merge=True))
    sent = comp.checkpoint(chat_of("prrrrkprrrrp")).messages
    roles = [m["role"] for m in sent]
    assert "user user" not in " ".join(roles)
    assert sent[0]["content"].startswith("request 0\n\n[Record of past steps 1-4")


class FailsAfter(OneLiner):
    """A summariser that breaks in a way nobody foresaw, after its first summary."""

    def __init__(self) -> None:
        self.asked = 0

    def summarize(self, span: Sequence[Interaction], situation: Situation) -> Record:
        self.asked += 1
        if self.asked > 1:
            raise RuntimeError("out of ink")
        return super().summarize(span, situation)


def test_a_failure_leaves_standing_what_was_committed_before() -> None:
    comp = StateComp(WordScorer(), rule=Gates(), summarizer=FailsAfter())
    first = comp.checkpoint(chat_of("prrrr"))
    second = comp.checkpoint(chat_of("prrrrkrrrr"))
    assert second.note == "RuntimeError: out of ink"
    assert second.messages[:2] == first.messages
    assert second.messages[2:] == chat_of("prrrrkrrrr")[9:]
