"""The twelve sessions: what they ask for, that it can be told, and that it can be done."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest

from bench.tests.running import needs_sandbox
from statecomp.annotation.labels import Label
from statecomp.baselines.none import NoCompression
from statecomp.controller.prices import shipped_prices
from statecomp.errors import BadInput
from statecomp.history.interaction import JsonObject
from statecomp.strategy import Strategy
from statecomp.tokens import ESTIMATE, count_message
from statecomp_bench.environment import TOOLS
from statecomp_bench.models import Model, ModelFailed, Reply
from statecomp_bench.plan import PLACE
from statecomp_bench.sessions.acting import SessionModel
from statecomp_bench.sessions.book import BOOK, BookEntry, session_named, sessions_like
from statecomp_bench.sessions.session import Errand, Held, WorkSession, hold
from statecomp_bench.sessions.suite import run_session, timing
from statecomp_bench.suite import Conditions, RunOrder
from statecomp_bench.task import DOMAINS
from statecomp_bench.tasks import task_named

SHORT = ("note", "correction", "evening")
each_entry = pytest.mark.parametrize("entry", BOOK, ids=lambda entry: entry.id)


class Failing(Model):
    """Stops answering while one errand is the newest."""

    def __init__(self, session: WorkSession, errand: str) -> None:
        self._model = SessionModel(session, 1)
        self._words = next(e.words for e in session.errands if e.name == errand)

    def reply(self, messages: Sequence[JsonObject], tools: Sequence[JsonObject]) -> Reply:
        newest = next(m["content"] for m in reversed(messages) if m["role"] == "user")
        if newest == self._words:
            raise ModelFailed("no answer today")
        return self._model.reply(messages, tools)


def held(entry: BookEntry, model: type[Failing] | None = None, errand: str = "") -> Held:
    needs_sandbox()
    session = entry.session(1)
    acting = model(session, errand) if model else SessionModel(session, 1)
    return hold(session, acting, NoCompression())


def test_there_are_twelve_over_all_domains() -> None:
    assert len(BOOK) == 12
    domains = {task_named(name).domain for entry in BOOK for name in entry.tasks}
    assert domains == {*DOMAINS}
    assert all(len({task_named(n).domain for n in e.tasks}) >= 2 for e in BOOK)
    with pytest.raises(BadInput, match="no session is like nobody"):
        sessions_like(("nobody",))


@each_entry
def test_seed_and_level_fix_a_session(entry: BookEntry) -> None:
    first, again, other = entry.session(3), entry.session(3), entry.session(4)
    assert [e.words for e in first.errands] == [e.words for e in again.errands]
    assert [e.words for e in first.errands] != [e.words for e in other.errands]
    assert [e.name for e in first.errands if e.looks_back] == [*SHORT]
    assert len(first.errands) == len(entry.tasks) + len(SHORT)
    entry.session(3, 3)


def short(session: WorkSession, name: str) -> Errand:
    return next(errand for errand in session.errands if errand.name == name)


@each_entry
def test_later_requests_ask_for_earlier_work(entry: BookEntry) -> None:
    session = entry.session(5)
    first, correction, evening = (short(session, name) for name in SHORT)
    assert len(first.case.plan.facts) >= 4
    assert len({fact.name[:2] for fact in evening.case.plan.facts}) == len(entry.tasks) + 1
    # The person gives a reference in the morning and takes it back; from then on the new one holds.
    assert "notes begin with `ref " in session.errands[0].words
    assert "from now on" in correction.words
    assert "ref " not in evening.words.replace("reference", "")
    gone = [
        f for f in evening.case.plan.facts if f.source and evening.case.plan.step[f.source].once
    ]
    assert bool(gone) == any(task_named(name).case(5).seen for name in entry.tasks)


def test_a_session_is_long_and_can_be_done() -> None:
    found = held(session_named("session-desk"))
    assert found.rewards == dict.fromkeys(found.rewards, 1.0)
    assert not found.reasons
    calls = sum(message["role"] == "tool" for message in found.run.messages)
    assert 100 <= calls <= 250
    assert 60_000 <= sum(count_message(m, ESTIMATE) for m in found.run.messages) <= 150_000


def test_an_errand_that_fails_is_scored_as_it_stands_and_the_rest_goes_on() -> None:
    found = held(session_named("session-offers"), Failing, "note")
    assert found.reasons == {"note": "no answer today"}
    assert found.scores["note"].reward == 0
    assert found.rewards["code-notices"] == 1
    # What it did not write in the third errand cannot be put right in the fifth.
    assert found.scores["correction"].reward < 0.5
    assert found.scores["evening"].reward > 0.8


def test_a_session_with_a_failed_errand_is_a_result_with_its_reason() -> None:
    needs_sandbox()

    def failing(session: WorkSession, seed: int, strategy: Strategy) -> Model:
        return Failing(session, "note")

    order = RunOrder("session-offers", "none", 1, "scripted", 1)
    conditions = Conditions(shipped_prices().of())
    result = run_session(order, lambda run, wire: NoCompression(), failing, conditions)
    assert result.reason == "note: no answer today"
    assert not result.failed
    assert result.parts["note"] == 0
    assert result.reward == pytest.approx(sum(result.parts.values()) / len(result.parts))
    assert 0.5 < result.reward < 1


def test_two_errands_may_not_bring_the_same_file() -> None:
    case = task_named("code-deploy").case()
    with pytest.raises(BadInput, match="two errands that bring"):
        WorkSession("twice", (Errand("a", "Hi", case), Errand("b", "Hi", case)))


def test_what_went_too_early_is_counted_at_its_first_replacement() -> None:
    labels = [Label("r", 1, 4), Label("r", 2, None)]
    assert timing(labels, ["", "k", "ks", "sss"]) == {"replaced": 3, "too early": 1}
    assert timing(labels, ["", "k", "s-"]) == {"replaced": 2, "too early": 2}


def test_the_longest_step_it_names_says_which_errand_it_is_at() -> None:
    """ "read the policy" is a step of one errand and part of another's."""
    session = session_named("session-rooms").session(2001)
    model = SessionModel(session, 2001)
    secrets = short(session, "security-secrets")
    said = {"role": "assistant", "content": "Now I read the policy on secrets."}
    request = {"role": "user", "content": secrets.words}
    assert "waivers" in str(model.reply([request, said], ()).message["content"])


def test_what_was_done_for_an_earlier_request_is_not_done_for_this_one() -> None:
    session = session_named("session-services").session(2501)
    words = {errand.name: errand.words for errand in session.errands}
    shown = '- 9. shell {"command": "cat notes/first.md"} -> shown (5 lines)'
    messages = [
        {"role": "user", "content": words["note"]},
        {"role": "user", "content": f"[Record of past steps 9-9]\n{shown}"},
        {"role": "user", "content": words["correction"]},
    ]
    assert SessionModel(session, 1).reply(messages, TOOLS).message["tool_calls"]


def test_a_note_takes_from_an_earlier_call_in_sight_what_was_filled_into_it() -> None:
    session = session_named("session-services").session(2802)
    evening = next(errand for errand in session.errands if errand.name == "evening")
    deploy = next(errand for errand in session.errands if errand.name == "code-deploy")
    step = next(s for s in deploy.case.plan.steps if "key_ledger" in s.names)
    code = PLACE.sub("RB-00000000aa", step.arguments["code"])
    function = {"name": step.tool, "arguments": json.dumps({"code": code})}
    calls = [{"id": "call_0001", "type": "function", "function": function}]
    messages: list[dict[str, Any]] = [
        {"role": "user", "content": deploy.words},
        {"role": "assistant", "content": "", "tool_calls": calls},
        {"role": "tool", "tool_call_id": "call_0001", "content": "done"},
        {"role": "user", "content": "\n".join(s.title for s in evening.case.plan.steps[:-2])},
        {"role": "user", "content": evening.words},
    ]
    model = SessionModel(session, 1)
    first = model.reply(messages, TOOLS).message
    # Who has searched once and must go on says what it has.
    assert "I have:" not in first["content"]
    answers = [
        {"role": "tool", "tool_call_id": call["id"], "content": "nothing"}
        for call in first["tool_calls"]
    ]
    said = model.reply([*messages, first, *answers], TOOLS).message["content"]
    assert "I have:\n" in said
    assert "rollback key of ledger: RB-00000000aa;" in said
