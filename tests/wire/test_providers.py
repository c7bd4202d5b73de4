"""What a provider is stands in one value: a new one is that value and a line in a list."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import pytest

import statecomp
from statecomp.proxy.faults import Fault
from statecomp.proxy.settings import ProxySettings
from statecomp.proxy.upstream import route_of, target
from statecomp.tokens.usage import Usage, counted
from statecomp.wire import providers
from statecomp.wire.openai_chat.wire import OpenAIChat
from statecomp.wire.provider import Errors, Provider
from statecomp.wire.providers import PROVIDERS, detect, provider_named, usage_in

TALK = Provider(
    name="talk",
    wire=OpenAIChat,
    paths=("/v9/talk",),
    counts="/count",
    home="https://talk.example",
    known_by=frozenset({b"x-talk-version"}),
    errors=Errors({404: "nowhere"}, lambda status, word, message: {"oh": [word, message]}),
    usage=lambda found: Usage(counted(found, "heard")) if "heard" in found else None,
    tells=lambda message: "speaker" in message,
    asks=lambda body: "talk" in body,
    answer=lambda told: [{"role": "assistant", "content": told["says"]}],
)


@pytest.fixture
def with_talk(monkeypatch: pytest.MonkeyPatch) -> None:
    """The line in the list."""
    monkeypatch.setattr(providers, "PROVIDERS", (*PROVIDERS[:2], TALK, *PROVIDERS[2:]))
    monkeypatch.setattr(providers, "BY_NAME", {**providers.BY_NAME, TALK.name: TALK})


@pytest.mark.usefixtures("with_talk")
def test_a_new_provider_is_served_wherever_providers_are() -> None:
    settings = ProxySettings()
    route = route_of("/u/mine/v9/talk")
    assert (route.protocol, route.upstream, route.counts) == ("talk", "mine", False)
    assert route_of("/v9/talk/count").counts
    assert target(settings, route_of("/v9/talk"), {}) == "https://talk.example/v9/talk"
    assert target(settings, route_of("/v9/voices"), {b"x-talk-version": b"1"}).startswith(TALK.home)
    assert json.loads(Fault(404, "gone").body("talk"))["oh"][0] == "nowhere"
    assert usage_in({"heard": 7, "input_tokens": 3}) == Usage(7)
    assert detect([{"speaker": "me"}]) == detect({"talk": 1}) == "talk"
    assert provider_named("talk").answer({"says": "hm"})[0]["content"] == "hm"


def test_nobody_but_the_providers_asks_which_one_it_is() -> None:
    names = {provider.name for provider in PROVIDERS}
    package = Path(statecomp.__file__).parent
    for path in package.rglob("*.py"):
        if path.relative_to(package).parts[0] == "wire":
            continue
        compared = [
            node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Compare)
        ]
        said = {n.value for c in compared for n in ast.walk(c) if isinstance(n, ast.Constant)}
        assert names.isdisjoint(s for s in said if isinstance(s, str)), path


@pytest.mark.parametrize(
    ("path", "protocol", "counts"),
    [
        ("/v1/chat/completions", "openai-chat", False),
        ("/openai/deployments/x/chat/completions", "openai-chat", False),
        ("/v1/responses", "openai-responses", False),
        ("/v1/responses/input_tokens", "openai-responses", True),
        ("/v1/messages", "anthropic", False),
        ("/messages", "anthropic", False),
        ("/v1/messages/count_tokens", "anthropic", True),
        ("/v1/threads/t/messages", "", False),
        ("/v1/responses/resp_1", "", False),
        ("/v1/models", "", False),
    ],
)
def test_a_path_says_whose_history_comes_with_it(path: str, protocol: str, counts: bool) -> None:
    route = route_of(path)
    assert (route.protocol, route.counts) == (protocol, counts)


def test_whoever_is_sent_requests_can_be_asked_questions_too() -> None:
    """Records are written by the client's own upstream, whichever that is."""
    assert all(provider.chat is not None for provider in PROVIDERS if provider.paths)
    assert all(provider.chat is not None for provider in PROVIDERS if provider.chat_name)
