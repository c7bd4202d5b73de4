"""The real SDKs through the proxy: what they see is what they see without it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import anthropic
import openai
import pytest

from statecomp.proxy.settings import Limits
from statecomp.testing.provider.app import ScriptedFault
from tests.proxy.serving import Proxied, proxied
from tests.proxy.upstream import (
    SCHEMA,
    TASK,
    Agent,
    Ask,
    AskLater,
    Reply,
    Run,
    anthropic_client,
    ask_chat,
    ask_messages,
    ask_responses,
    async_anthropic_client,
    async_openai_client,
    chat_agent,
    drive,
    drive_async,
    messages_agent,
    openai_client,
    responses_agent,
    sendable,
    untyped,
    upstream,
)

STEPS = 32
BINDING, OLDER = "claude-fable-5-1", "claude-sonnet-5"
ADAPTIVE = {"type": "adaptive"}
ENABLED = {"type": "enabled", "budget_tokens": 1024}


@pytest.fixture(scope="module")
def everyone() -> Iterator[Proxied]:
    with proxied(upstream(STEPS)) as shared:
        yield shared


def chat(url: str, key: str, stream: bool) -> Run:
    ask = ask_chat(openai_client(url, api_key=key), "gpt-5", stream=stream)
    return drive(chat_agent(), ask)


def responses(url: str, key: str, stream: bool) -> Run:
    ask = ask_responses(openai_client(url, api_key=key), "gpt-5", stream=stream)
    return drive(responses_agent(), ask)


def messages(model: str, thinking: Mapping[str, Any] | None) -> Callable[[str, str, bool], Run]:
    def run(url: str, key: str, stream: bool) -> Run:
        ask: Ask = ask_messages(anthropic_client(url, api_key=key), model, stream=stream)
        return drive(messages_agent(thinking), ask)

    return run


RUNS: dict[str, Callable[[str, str, bool], Run]] = {
    "chat": chat,
    "responses": responses,
    "messages": messages(OLDER, None),
    "adaptive thinking": messages(BINDING, ADAPTIVE),
    "extended thinking": messages(OLDER, ENABLED),
}


def essence(reply: Reply) -> Any:
    """A reply without what differs with the length of the history: usage and signatures."""
    if "content" in reply and isinstance(reply["content"], list):
        return [{k: v for k, v in block.items() if k != "signature"} for block in reply["content"]]
    return reply.get("output", reply)


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("run", RUNS.values(), ids=RUNS)
def test_a_long_run_takes_the_same_course_with_and_without_the_proxy(
    proxy: Proxied, run: Callable[[str, str, bool], Run], stream: bool
) -> None:
    direct = run(proxy.direct, proxy.tenant().key, stream)
    through = run(proxy.url, proxy.key, stream)
    assert (through.steps, through.final) == (direct.steps, direct.final)
    assert through.steps == STEPS + 1
    assert [essence(r) for r in through.replies] == [essence(r) for r in direct.replies]
    assert proxy.refusals == []
    assert len(proxy.received) == through.steps
    assert "[Record of past" in proxy.received[-1].raw.decode()


def later_chat(client: openai.AsyncOpenAI) -> AskLater:
    async def ask(request: dict[str, Any]) -> Reply:
        async with client.chat.completions.stream(model="gpt-5", **request) as events:
            done = await events.get_final_completion()
        reply: Reply = done.choices[0].message.to_dict()
        return reply

    return ask


def later_responses(client: openai.AsyncOpenAI) -> AskLater:
    async def ask(request: dict[str, Any]) -> Reply:
        async with client.responses.stream(model="gpt-5", **untyped(request)) as events:
            reply: Reply = (await events.get_final_response()).to_dict()
        return sendable(reply)

    return ask


def later_messages(client: anthropic.AsyncAnthropic) -> AskLater:
    async def ask(request: dict[str, Any]) -> Reply:
        async with client.messages.stream(model=BINDING, **request) as events:
            reply: Reply = (await events.get_final_message()).to_dict()
        return reply

    return ask


def test_async_clients_run_side_by_side_over_one_proxy(proxy: Proxied) -> None:
    async def all_of_them() -> list[Run]:
        client = async_openai_client(proxy.url, api_key=proxy.key)
        claude = async_anthropic_client(proxy.url, api_key=proxy.key)
        jobs: list[tuple[Agent, AskLater]] = [
            (chat_agent(), later_chat(client)),
            (responses_agent(), later_responses(client)),
            (messages_agent(ADAPTIVE), later_messages(claude)),
        ]
        return await asyncio.gather(*(drive_async(agent, ask) for agent, ask in jobs))

    runs = asyncio.run(all_of_them())
    assert [run.final for run in runs] == [f"All {STEPS} steps are done."] * 3
    assert proxy.refusals == []


TOOLS: Any = [{"type": "function", "function": {"name": "look", "parameters": SCHEMA}}]
ASKED: Any = [{"role": "user", "content": TASK}]


def test_errors_of_the_upstream_become_the_errors_the_sdk_knows(proxy: Proxied) -> None:
    client = openai_client(proxy.url, api_key=proxy.key)
    claude = anthropic_client(proxy.url, api_key=proxy.key)
    wrong: Any = [*ASKED, {"role": "tool", "tool_call_id": "none", "content": "x"}]
    with pytest.raises(openai.BadRequestError, match="must be a response"):
        client.chat.completions.create(model="gpt-5", messages=wrong)
    output: Any = {"type": "function_call_output", "call_id": "none", "output": "x"}
    with pytest.raises(openai.BadRequestError, match="No tool call found"):
        client.responses.create(model="gpt-5", input=[*ASKED, output])
    opening: Any = [{"role": "assistant", "content": "x"}, *ASKED]
    with pytest.raises(anthropic.BadRequestError, match="first message"):
        claude.messages.create(model=OLDER, max_tokens=10, messages=opening)
    for status, kind in ((429, openai.RateLimitError), (500, openai.InternalServerError)):
        proxy.upstream.faults.append(ScriptedFault(status=status))
        with pytest.raises(kind):
            client.chat.completions.create(model="gpt-5", messages=ASKED)
    proxy.upstream.faults.append(ScriptedFault(status=529))
    with pytest.raises(anthropic.InternalServerError, match="overloaded"):
        claude.messages.create(model=OLDER, max_tokens=10, messages=ASKED)


def test_retries_of_the_sdk_reach_the_upstream_and_succeed(proxy: Proxied) -> None:
    quick = {"retry-after-ms": "1"}
    proxy.upstream.faults.extend(
        [ScriptedFault(status=429, headers=quick), ScriptedFault(status=503)]
    )
    client = openai_client(proxy.url, api_key=proxy.key, max_retries=3)
    done = client.chat.completions.create(model="gpt-5", messages=ASKED, tools=TOOLS)
    assert done.choices[0].finish_reason == "tool_calls"
    retried = proxy.received[-1].headers["x-stainless-retry-count"]
    assert retried == "2"


def test_a_timeout_of_the_client_is_a_timeout_and_the_next_request_works(proxy: Proxied) -> None:
    proxy.upstream.faults.append(ScriptedFault(delay_s=5))
    client = openai_client(proxy.url, api_key=proxy.key)
    with pytest.raises(openai.APITimeoutError):
        client.with_options(timeout=0.3).chat.completions.create(model="gpt-5", messages=ASKED)
    assert client.chat.completions.create(model="gpt-5", messages=ASKED, tools=TOOLS).choices


def test_a_silent_upstream_becomes_a_gateway_timeout_the_sdk_knows() -> None:
    with proxied(upstream(3), limits=Limits(silence_s=0.3)) as proxy:
        proxy.upstream.faults.append(ScriptedFault(delay_s=5))
        with pytest.raises(openai.InternalServerError, match="in time") as raised:
            openai_client(proxy.url).chat.completions.create(model="gpt-5", messages=ASKED)
    assert raised.value.status_code == 504


def test_a_stream_given_up_half_way_leaves_a_proxy_that_serves(proxy: Proxied) -> None:
    held = ScriptedFault(hold_after=3)
    proxy.upstream.faults.append(held)
    client = openai_client(proxy.url, api_key=proxy.key)
    stream = client.chat.completions.create(model="gpt-5", messages=ASKED, stream=True)
    next(iter(stream))
    stream.close()
    held.release.set()
    run = chat(proxy.url, proxy.key, stream=True)
    assert run.steps == STEPS + 1


def test_a_cancelled_async_request_leaves_a_proxy_that_serves(proxy: Proxied) -> None:
    proxy.upstream.faults.append(ScriptedFault(delay_s=3))

    async def cancelled() -> None:
        client = async_openai_client(proxy.url, api_key=proxy.key)
        asked = client.chat.completions.create(model="gpt-5", messages=ASKED)
        task = asyncio.create_task(asked)
        await asyncio.sleep(0.3)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        done = await client.chat.completions.create(model="gpt-5", messages=ASKED)
        assert done.choices

    asyncio.run(cancelled())


def test_raw_responses_and_headers_of_the_upstream_are_there(proxy: Proxied) -> None:
    client = openai_client(proxy.url, api_key=proxy.key)
    raw = client.chat.completions.with_raw_response.create(model="gpt-5", messages=ASKED)
    assert raw.headers["x-request-id"].startswith("req_")
    assert raw.parse().choices


def test_token_counting_works_with_the_sdk(proxy: Proxied) -> None:
    claude = anthropic_client(proxy.url, api_key=proxy.key)
    assert claude.messages.count_tokens(model=OLDER, messages=ASKED).input_tokens > 0
