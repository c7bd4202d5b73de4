"""Regret: a later step wanted something that a commit had taken."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from statecomp.history.history import History, Span
from statecomp.history.interaction import Summary
from statecomp.history.text import COMMON
from statecomp.ledger.audit import Regret
from statecomp.proxy.account.regret import RegretMeter, missing
from statecomp.replays.safety import Dependencies
from statecomp.testing.words import BULK, OneLiner, chat_of
from statecomp.wire.assemble import parse
from statecomp.wire.openai_chat.wire import OpenAIChat
from tests.proxy.small_upstream import EAGER, Running, running

TERSE = replace(EAGER, summarizer=lambda account: OneLiner())
"""Its summaries keep what the agent wrote itself, and nothing it was told."""


def step(number: int, name: str, arguments: str, result: str = "fine") -> list[dict[str, Any]]:
    call = {"id": f"x{number}", "type": "function"}
    function = {"name": name, "arguments": arguments}
    return [
        {"role": "assistant", "content": None, "tool_calls": [{**call, "function": function}]},
        {"role": "tool", "tool_call_id": f"x{number}", "content": result},
    ]


def run(proxy: Running, *histories: list[dict[str, Any]]) -> list[Regret]:
    for messages in histories:
        assert proxy.chat(messages).status_code == 200
    ledger = proxy.drain()
    (session,) = ledger.sessions()
    return list(ledger.regrets(session.id))


@pytest.mark.parametrize("mode", ["compress", "observe"])
def test_a_repeated_call_whose_result_was_replaced_is_regretted_once(mode: str) -> None:
    before = chat_of("prrrr")
    again = [*before, *step(1, "read", '{ "n":1 }', BULK)]
    with running(mode=mode) as proxy:
        regrets = run(proxy, before, again, again, [*again, *step(2, "look", "{}")])
        (commit,) = [e for e in proxy.ledger.entries(regrets[0].session) if e.commit.first == 1]
    (regret,) = regrets
    assert (regret.kind, regret.detail) == ("repeated call", 'read { "n":1 }')
    assert regret.commit == commit.commit.id
    assert regret.request == 2


TEST = '{"command": "python -m pytest -q"}'
FAILS = f"{BULK}\n1 failed, 4 passed in 0.31s"


@pytest.mark.parametrize(
    "answer",
    [f"{BULK}\n5 passed in 0.29s", f"{BULK}\n2 failed, 3 passed in 0.31s", "5 passed"],
)
def test_a_test_run_again_with_another_result_is_news_and_no_regret(answer: str) -> None:
    before = [*chat_of("p"), *step(1, "bash", TEST, FAILS), *chat_of("prrr")[1:]]
    with running() as proxy:
        assert run(proxy, before, [*before, *step(9, "bash", TEST, answer)]) == []
        assert proxy.ledger.totals().commits


def test_an_answer_that_took_another_time_is_the_same_answer() -> None:
    before = [*chat_of("p"), *step(1, "bash", TEST, FAILS), *chat_of("prrr")[1:]]
    later = FAILS.replace("0.31s", "12.70s")
    with running() as proxy:
        (regret,) = run(proxy, before, [*before, *step(9, "bash", TEST, later)])
    assert regret.kind == "repeated call"


def test_a_repeated_call_whose_result_still_stands_is_not_regretted() -> None:
    before = chat_of("prrrr")
    with running() as proxy:
        assert run(proxy, before, [*before, *step(1, "read", '{"n": 4}', BULK)]) == []


def test_a_call_made_before_its_result_was_replaced_is_not_regretted() -> None:
    whole = [*chat_of("prrrr"), *step(1, "read", '{"n": 1}', BULK), *step(2, "look", "{}")]
    with running() as proxy:
        assert run(proxy, whole) == []


@pytest.mark.parametrize("mode", ["compress", "observe"])
def test_an_identifier_that_only_the_removed_text_had_is_regretted(mode: str) -> None:
    before = [
        {"role": "user", "content": "find it"},
        *step(1, "list", '{"where": "here"}', f"src/deep/module_7.py {BULK}"),
        *[message for n in range(2, 7) for message in step(n, "look", f'{{"n": {n}}}', BULK)],
    ]
    after = [*before, *step(9, "open", '{"path": "src/deep/module_7.py"}')]
    with running(mode=mode, method=TERSE) as proxy:
        regrets = run(proxy, before, after)
    assert [(r.kind, r.detail) for r in regrets] == [("lost identifier", "src/deep/module_7.py")]


def test_an_identifier_that_the_summary_kept_is_not_regretted() -> None:
    before = [
        {"role": "user", "content": "find it"},
        *step(1, "open", '{"path": "src/deep/module_7.py"}', BULK),
        *[message for n in range(2, 7) for message in step(n, "look", f'{{"n": {n}}}', BULK)],
    ]
    with running() as proxy:
        assert (
            run(proxy, before, [*before, *step(9, "edit", '{"path": "src/deep/module_7.py"}')])
            == []
        )


NAMES = ("src/a/one.py", "token_0001x", "ERR-77", "table_9")


@given(st.data())
def test_what_is_lost_here_is_what_replay_calls_broken(data: st.DataObject) -> None:
    some = st.lists(st.sampled_from(NAMES), max_size=3).map(" ".join)
    messages: list[dict[str, Any]] = [{"role": "user", "content": f"go {data.draw(some)}"}]
    for number in range(1, 7):
        arguments = json.dumps({"at": data.draw(some)})
        messages += step(number, "use", arguments, f"seen {data.draw(some)}")
    raw = parse(messages, OpenAIChat())
    first, last = sorted((data.draw(st.integers(1, 5)), data.draw(st.integers(1, 5))))
    before = History(raw.segments[:-1])
    members = [i for i in before.interactions if first <= i.number <= last]
    sources = tuple(i.id for i in members)
    summary = Summary("s", (), 1, data.draw(some), sources, first, last)
    view = before.replace(Span(first, last + 1), summary)
    final = raw.interactions[-1]
    expected = Dependencies.of(raw, COMMON).missing(final.number, view)
    assert tuple(missing(final, before.segments, view)) == expected


def test_a_state_that_was_sent_raw_is_nobodys_regret() -> None:
    raw = parse([*chat_of("prr"), *step(1, "read", '{"n": 1}')], OpenAIChat())
    assert RegretMeter().look("t", raw, lambda history, commits: history) == []
