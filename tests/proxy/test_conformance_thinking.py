"""Pain P4: thinking and reasoning that is signed, through a proxy that rewrites before it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import anthropic
import pytest

from statecomp.controller.age import AgeScorer
from statecomp.method import Method
from statecomp.testing.provider.messages_rules import BINDING_BETA, betas
from statecomp.testing.provider.signing import THINKING
from tests.proxy.conversations import RESPONSES, sent
from tests.proxy.serving import Proxied, proxied
from tests.proxy.upstream import (
    TASK,
    Ask,
    Reply,
    Run,
    anthropic_client,
    ask_messages,
    ask_responses,
    drive,
    messages_agent,
    openai_client,
    responses_agent,
    upstream,
)

BINDING, OLDER = "claude-fable-5-1", "claude-sonnet-5"
ADAPTIVE = {"type": "adaptive"}
ENABLED = {"type": "enabled", "budget_tokens": 1024}
BYPASS = {"x-statecomp-bypass": "1"}
DROP = {"prefix_mismatch_behavior": "drop_block"}
STEPS = 16
WRONG = {"role": "assistant", "content": "I speak first."}


@pytest.fixture(scope="module")
def everyone() -> Iterator[Proxied]:
    with proxied(upstream(STEPS)) as shared:
        yield shared


def claude(proxy: Proxied, model: str, **headers: str) -> Ask:
    client = anthropic_client(proxy.url, api_key=proxy.key, default_headers=headers)
    return ask_messages(client, model)


def summaries(proxy: Proxied) -> int:
    """How many of the requests that arrived carried a summary."""
    return sum("[Record of past" in received.raw.decode() for received in proxy.received)


def finished(run: Run) -> bool:
    return (run.steps, run.final) == (STEPS + 1, f"All {STEPS} steps are done.")


@pytest.mark.parametrize("model", [BINDING, OLDER])
def test_p04_a_thinking_run_is_rewritten_and_never_refused(proxy: Proxied, model: str) -> None:
    assert finished(drive(messages_agent(ADAPTIVE), claude(proxy, model)))
    assert proxy.refusals == []
    assert summaries(proxy) > STEPS // 2


def test_p04_dropping_stale_thinking_is_asked_for_only_where_something_is_stale(
    proxy: Proxied,
) -> None:
    drive(messages_agent(ADAPTIVE), claude(proxy, BINDING))
    for received in proxy.received:
        asks = BINDING_BETA in betas(received.headers)
        rewritten = "[Record of past" in received.raw.decode()
        assert asks == rewritten
        assert received.body["thinking"].get("block_binding") == (DROP if rewritten else None)


def test_p04_the_clients_own_beta_headers_stay(proxy: Proxied) -> None:
    drive(
        messages_agent(ADAPTIVE), claude(proxy, BINDING, **{"anthropic-beta": "files-2025-04-14"})
    )
    assert summaries(proxy)
    assert all("files-2025-04-14" in betas(received.headers) for received in proxy.received)


def test_p04_a_client_that_wants_stale_thinking_refused_is_not_rewritten(proxy: Proxied) -> None:
    strict = {**ADAPTIVE, "block_binding": {"prefix_mismatch_behavior": "error"}}
    run = drive(messages_agent(strict), claude(proxy, BINDING, **{"anthropic-beta": BINDING_BETA}))
    assert finished(run)
    assert proxy.refusals == []
    assert all(received.body["thinking"] == strict for received in proxy.received)
    # The first turns have no thinking yet that could go stale.
    assert "[Record of past" not in proxy.received[-1].raw.decode()


def test_p04_extended_thinking_on_a_binding_model_is_not_rewritten(proxy: Proxied) -> None:
    assert finished(drive(messages_agent(ENABLED), claude(proxy, BINDING)))
    assert proxy.refusals == []
    assert all(received.body["thinking"] == ENABLED for received in proxy.received)


def test_p04_extended_thinking_opens_the_live_turn_on_older_models(proxy: Proxied) -> None:
    assert finished(drive(messages_agent(ENABLED), claude(proxy, OLDER)))
    assert proxy.refusals == []
    assert summaries(proxy)


def test_p04_no_thinking_is_edited_or_moved_to_the_user(proxy: Proxied) -> None:
    seen: list[Any] = []
    ask = claude(proxy, BINDING)

    def remembering(request: dict[str, Any]) -> Reply:
        reply = ask(request)
        seen.extend(block for block in reply["content"] if block["type"] in THINKING)
        return reply

    drive(messages_agent(ADAPTIVE), remembering)
    for received in proxy.received:
        for message in sent(received):
            kept = [block for block in message["content"] if block["type"] in THINKING]
            assert all(block in seen for block in kept)
            assert message["role"] == "assistant" or not kept


def test_p04_a_bypass_after_commits_is_accepted_though_its_thinking_has_gone_stale(
    proxy: Proxied,
) -> None:
    """Thinking made behind a rewritten prefix is stale in the raw history as well."""
    number, ask, bypass = 0, claude(proxy, BINDING), claude(proxy, BINDING, **BYPASS)

    def sometimes_raw(request: dict[str, Any]) -> Reply:
        nonlocal number
        number += 1
        return (bypass if number in (STEPS - 4, STEPS - 2) else ask)(request)

    assert finished(drive(messages_agent(ADAPTIVE), sometimes_raw))
    assert summaries(proxy)
    assert len(proxy.refusals) == 2  # a bypass is passed on unread before it is looked at
    assert all("different conversation" in refusal for refusal in proxy.refusals)


def test_p04_a_bypass_with_nothing_stale_is_refused_as_the_provider_refuses_it(
    proxy: Proxied,
) -> None:
    with pytest.raises(anthropic.BadRequestError, match="first message must use the user role"):
        claude(proxy, BINDING, **BYPASS)({"max_tokens": 9, "messages": [WRONG]})
    assert len(proxy.refusals) == 1


def test_p04_an_undone_commit_leaves_a_run_that_is_still_accepted(proxy: Proxied) -> None:
    number, ask = 0, claude(proxy, BINDING)

    def with_undo(request: dict[str, Any]) -> Reply:
        nonlocal number
        number += 1
        if number == STEPS - 2:
            undone = [proxy.ledger.undo(entry.commit.id) for entry in proxy.entries]
            assert any(undone)
        return ask(request)

    assert finished(drive(messages_agent(ADAPTIVE), with_undo))
    assert proxy.refusals == []  # it is known that a rewritten history went out before


@pytest.mark.parametrize("mode", ["compress", "observe", "off"])
def test_p04_a_run_goes_on_at_a_proxy_that_knows_none_of_its_commits(mode: str) -> None:
    """Another machine, a purged store: the raw history now holds thinking of a rewritten one."""
    model, never = upstream(STEPS), Method(scorer=lambda: AgeScorer(1000))
    with proxied(model) as before, proxied(model, method=never, mode=mode) as after:
        number, asks = 0, (claude(before, BINDING), claude(after, BINDING))

        def moved(request: dict[str, Any]) -> Reply:
            nonlocal number
            number += 1
            return asks[number > STEPS - 3](request)

        assert finished(drive(messages_agent(ADAPTIVE), moved))
        assert len(after.refusals) == (1 if mode != "off" else 4)  # after that it is known


def test_p04_reasoning_items_leave_together_with_their_calls(proxy: Proxied) -> None:
    client = openai_client(proxy.url, api_key=proxy.key)
    assert finished(drive(responses_agent(), ask_responses(client, "gpt-5")))
    assert proxy.refusals == []
    assert summaries(proxy)
    for received in proxy.received:
        items = sent(received)
        thoughts = {i["id"][3:] for i in items if i.get("type") == "reasoning"}
        calls = {i["id"][4:8] for i in items if i.get("type") == "function_call"}
        assert thoughts == calls


def test_p04_reasoning_without_its_ids_is_as_good(proxy: Proxied) -> None:
    """Clients that store nothing drop the ids of what they send back."""
    messages = [*RESPONSES.user(TASK), *RESPONSES.run(12)]
    bare = [
        {k: v for k, v in item.items() if k != "id"}
        for item in messages
        if item.get("type") != "reasoning"
    ]
    for history in RESPONSES.growing(bare):
        assert proxy.post(RESPONSES, RESPONSES.body(history)).status_code == 200
    assert proxy.refusals == []
    assert summaries(proxy)
