"""Who asks, and in which run."""

from __future__ import annotations

from typing import Any

import pytest

from statecomp.ledger.audit import UNCUT
from statecomp.proxy.sessions import (
    client_of,
    kin_of,
    model_of,
    session_of,
    task_id,
    tenant_of,
    title_of,
)
from statecomp.testing.words import chat_of, history_of
from statecomp.wire.assemble import parse
from statecomp.wire.openai_chat.wire import OpenAIChat
from tests.proxy.small_upstream import KEY, Running, running

SALT = b"x" * 32


def session(messages: Any, headers: dict[bytes, bytes] | None = None, **body: Any) -> str:
    return session_of("t", headers or {}, body, parse(messages, OpenAIChat()))


def test_of_a_name_that_a_client_gives_itself_only_a_short_one_is_kept() -> None:
    """A thousand runs are remembered, and headers may be long."""

    def member(name: bytes) -> str:
        return kin_of("t", {b"x-claude-code-agent-id": name}, {}).member

    assert len(member(b"a" * 200_000)) < 100
    assert member(b"a" * 200_000) != member(b"a" * 199_999 + b"b")
    assert member(b"a") != member(b"")
    assert kin_of("t", {}, {}).member == ""


def test_a_tenant_is_a_credential_that_cannot_be_read_back() -> None:
    one = tenant_of({b"authorization": b"Bearer secret"}, SALT)
    assert one == tenant_of({b"authorization": b"Bearer secret", b"x-other": b"1"}, SALT)
    others = [
        tenant_of({b"authorization": b"Bearer other"}, SALT),
        tenant_of({b"x-api-key": b"Bearer secret"}, SALT),
        tenant_of({}, SALT),
        tenant_of({b"authorization": b"Bearer secret"}, b"y" * 32),
    ]
    assert len({one, *others}) == 5
    assert "secret" not in one


def test_a_run_keeps_its_session_as_it_grows_forks_and_is_retried() -> None:
    names = {session(chat_of(word)) for word in ("p", "pr", "prrr", "prrk", "prrrrp")}
    assert len(names) == 1


def test_a_changed_system_prompt_is_no_new_session() -> None:
    morning = [{"role": "system", "content": "9 o'clock"}, *chat_of("pr")]
    evening = [{"role": "system", "content": "6 o'clock"}, *chat_of("prr")]
    assert session(morning) == session(evening)


def test_sub_agents_with_other_tasks_are_other_sessions_though_they_share_headers() -> None:
    headers = {b"x-claude-code-session-id": b"one"}
    other = chat_of("pr")
    other[0] = {"role": "user", "content": "a sub-agent's own task"}
    assert session(chat_of("pr"), headers) != session(other, headers)


def test_known_headers_and_fields_tell_runs_with_one_task_apart() -> None:
    plain = session(chat_of("p"))
    others = [
        session(chat_of("p"), {b"thread-id": b"1"}),
        session(chat_of("p"), {b"thread-id": b"2"}),
        session(chat_of("p"), prompt_cache_key="k"),
        session(chat_of("p"), metadata={"user_id": "u"}),
    ]
    assert len({plain, *others}) == 5
    assert session(chat_of("p"), metadata=["odd"], prompt_cache_key=7) == plain


def test_an_explicit_session_is_what_it_says_within_its_tenant() -> None:
    headers = {b"x-statecomp-session": b"mine"}
    assert session(chat_of("p"), headers) == session(chat_of("kkk"), headers)
    raw = history_of("p")
    assert session_of("a", headers, {}, raw) != session_of("b", headers, {}, raw)


def test_the_task_is_all_that_was_said_before_the_agent_first_acted() -> None:
    assert task_id(history_of("pprrp")) == history_of("pp").segments[1].id
    assert task_id(history_of("rr")) == ""


def test_titles_and_clients_are_short() -> None:
    long = parse([{"role": "user", "content": "do\n this " * 10_000}], OpenAIChat())
    assert title_of(long) == ("do this " * 10_000)[:UNCUT]
    assert title_of(history_of("r")) == ""
    assert client_of({b"user-agent": b"claude-cli/2.1 (external, cli)"}) == "claude-cli/2.1"


REMINDER = "<system-reminder>\nThe date is today. See CLAUDE.md.\n</system-reminder>"
ENVIRONMENT = "<environment_context>\n  <cwd>/repo</cwd>\n</environment_context>"


@pytest.mark.parametrize(
    ("said", "title"),
    [
        ([f"{REMINDER}\n{REMINDER}\nFix the build"], "Fix the build"),
        ([f"Fix the build\n{REMINDER}"], "Fix the build"),
        ([ENVIRONMENT, "Fix the build"], "Fix the build"),
        (["# AGENTS.md instructions for /repo\n\n<INSTRUCTIONS>x</INSTRUCTIONS>", "Fix"], "Fix"),
        (["<task>\nFix it\n</task>\n<environment_details>x</environment_details>"], "Fix it"),
        (["<command-message>init</command-message>\n<command-name>/init</command-name>"], "/init"),
        ([REMINDER], " ".join(REMINDER.split())),
        (["<system-reminder> never closed", "Fix"], "Fix"),
        (["Use <div> and </div>"], "Use <div> and </div>"),
        ([REMINDER.replace("today", "x" * 9000) + "Fix the build"], "Fix the build"),
    ],
)
def test_a_title_is_what_a_person_wrote(said: list[str], title: str) -> None:
    messages = [{"role": "user", "content": text} for text in said]
    assert title_of(parse(messages, OpenAIChat())) == title


def agent(task: str, system: str = "You are the agent.", **body: Any) -> dict[str, Any]:
    messages = [{"role": "user", "content": f"{REMINDER}{task}"}]
    tools = [{"name": "look", "input_schema": {}}]
    return {"model": "claude", "system": system, "messages": messages, "tools": tools, **body}


def titled(proxy: Running, *asked: tuple[dict[str, Any], dict[str, str]]) -> dict[str, str]:
    """The title of each session's parent, by the title of the session."""
    for body, headers in asked:
        proxy.client.post("/v1/messages", json=body, headers={**KEY, **headers})
        proxy.drain()
    found = {session.id: session for session in proxy.ledger.sessions()}
    return {s.title: found[s.parent].title if s.parent else "" for s in found.values()}


RUN = {"x-claude-code-session-id": "5f"}


def test_a_sub_agent_that_its_client_names_is_told_from_its_parent() -> None:
    with running() as proxy:
        told = titled(
            proxy,
            (agent("the task"), RUN),
            (agent("look for it"), {**RUN, "x-claude-code-agent-id": "a1"}),
            (agent("another run"), {"x-claude-code-session-id": "60"}),
        )
    assert told == {"the task": "", "look for it": "the task", "another run": ""}


def test_an_agent_of_the_same_run_with_another_system_prompt_is_a_sub_agent() -> None:
    user: dict[str, Any] = {"metadata": {"user_id": "user_1_account__session_7"}}
    title = {"model": "claude", "messages": [{"role": "user", "content": "a title?"}], **user}
    with running() as proxy:
        told = titled(
            proxy,
            (title, {}),
            (agent("the task", **user), {}),
            (agent("find files", "You are a file search specialist.", **user), {}),
            (agent("This session is being continued", **user), {}),
        )
    assert told == {
        "a title?": "",
        "the task": "",
        "find files": "the task",
        "This session is being continued": "",
    }


def test_who_shares_no_run_is_nobodys_sub_agent() -> None:
    user: dict[str, Any] = {"metadata": {"user_id": "somebody"}}
    with running() as proxy:
        told = titled(
            proxy,
            (agent("one", "You are A.", **user), {}),
            (agent("two", "You are B.", **user), {}),
        )
    assert told == {"one": "", "two": ""}


def test_a_sub_agent_that_starts_after_a_restart_is_still_known() -> None:
    with running() as proxy:
        titled(proxy, (agent("the task"), RUN))
        ledger = proxy.drain()
    with running(ledger=ledger) as proxy:
        child = {**RUN, "x-claude-code-agent-id": "a1"}
        told = titled(proxy, (agent("look for it"), child), (agent("the task"), RUN))
    assert told == {"the task": "", "look for it": "the task"}


def test_commits_are_found_whatever_the_session_is_called() -> None:
    with running(commit="now") as proxy:
        proxy.chat(chat_of("prrrr"), **{"x-statecomp-session": "one"})
        proxy.chat(chat_of("prrrr"), **{"x-statecomp-session": "two"})
        assert proxy.received[0].body == proxy.received[1].body
        assert len(proxy.drain().sessions()) == 2


def test_a_session_that_the_ledger_has_forgotten_goes_on() -> None:
    with running() as proxy:
        for word in ("pr", "prr"):
            proxy.chat(chat_of(word))
        assert proxy.drain().purge() == 1
        proxy.chat(chat_of("prrr"))
        ledger = proxy.drain()
        (one,) = ledger.sessions()
        (request,) = ledger.requests(one.id)
        assert (one.totals.requests, request.number) == (1, 3)
        assert len(ledger.messages(one.id)) == len(chat_of("prrr"))


def test_a_session_goes_on_counting_after_a_restart() -> None:
    with running() as proxy:
        proxy.chat(chat_of("pr"))
        ledger = proxy.drain()
    with running(ledger=ledger) as proxy:
        proxy.chat(chat_of("prr"))
        (one,) = proxy.drain().sessions()
        assert [request.number for request in ledger.requests(one.id)] == [1, 2]
        assert one.client.startswith("python-httpx/")


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ("gpt-5", "gpt-5"),
        ("m" * 10_000_000, "m" * 200),
        ([1.1] * 1000, ""),
        ({"id": "x"}, ""),
        (None, ""),
    ],
    ids=["a name", "a long one", "numbers", "an object", "null"],
)
def test_of_what_stands_for_a_model_only_a_name_is_kept(given: object, name: str) -> None:
    assert model_of({"model": given}) == name
    assert model_of({}) == ""
