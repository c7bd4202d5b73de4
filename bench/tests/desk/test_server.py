"""The desk as a server: real clients ask it, and a thread of the test answers."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread
from typing import Any

import httpx
import pytest

from statecomp.llm.chat import ChatFailed
from statecomp.testing.provider.serving import serving
from statecomp.tokens import ESTIMATE
from statecomp.wire.anthropic.chat import AnthropicChat
from statecomp.wire.openai_chat.chat import CompletionsChat
from statecomp.wire.openai_responses.chat import ResponsesChat
from statecomp_bench.desk.queue import Queue
from statecomp_bench.desk.server import build_app
from statecomp_bench.models import RemoteModel

HELLO = {"model": "any", "messages": [{"role": "user", "content": "hello"}]}
CHAT = "/v1/chat/completions"


@contextmanager
def desk(folder: Path, wait_s: float = 60.0) -> Iterator[tuple[str, Queue]]:
    queue = Queue(folder)
    queue.prepare()
    with serving(build_app(queue, wait_s)) as url:
        yield url, queue


@contextmanager
def answering(queue: Queue, *texts: str) -> Iterator[list[str]]:
    """Somebody who claims and answers as many questions as there are texts; and what was asked."""
    pages: list[str] = []
    stop = Event()

    def work() -> None:
        for text in texts:
            while (name := queue.take("test", 60)) is None:
                if stop.wait(0.01):
                    return
            pages.append(queue.page_path(name).read_text("utf-8"))
            queue.write_answer(name, text)

    worker = Thread(target=work)
    worker.start()
    try:
        yield pages
    finally:
        stop.set()
        worker.join()


def chat(url: str) -> CompletionsChat:
    return CompletionsChat("any", f"{url}/v1", retries=0)


def test_whoever_answers_the_folder_is_the_model(tmp_path: Path) -> None:
    with desk(tmp_path) as (url, queue), answering(queue, "Paris\n") as pages:
        completion = chat(url).ask("Be brief.", "The capital of France?", max_tokens=10)
    assert (completion.text, completion.stop) == ("Paris", "stop")
    assert "Be brief." in pages[0]
    assert completion.usage.output_tokens == ESTIMATE("Paris")
    assert completion.usage.input_tokens > ESTIMATE("Be brief.The capital of France?")


@pytest.mark.parametrize(
    ("kind", "path"), [(CompletionsChat, "/v1"), (ResponsesChat, "/v1"), (AnthropicChat, "")]
)
def test_a_form_is_asked_for_in_every_protocol(kind: Any, path: str, tmp_path: Path) -> None:
    schema = {"type": "object", "properties": {"text": {"const": "yes"}}}
    with desk(tmp_path) as (url, queue), answering(queue, '{"text": "yes"}') as pages:
        asking = kind("any", f"{url}{path}", retries=0)
        completion = asking.ask("", "Well?", max_tokens=10, schema=schema)
    assert completion.text == '{"text": "yes"}'
    assert '"const": "yes"' in pages[0]


def test_a_question_nobody_answered_in_time_is_answered_when_it_is_asked_again(
    tmp_path: Path,
) -> None:
    with desk(tmp_path, wait_s=0.0) as (url, queue):
        with pytest.raises(ChatFailed, match="nobody has answered") as failed:
            chat(url).ask("", "hello", max_tokens=10)
        assert failed.value.retryable
        reply = httpx.post(f"{url}{CHAT}", json=HELLO)
        assert (reply.status_code, reply.headers["retry-after"]) == (503, "1")
        for standing in list(queue.standings()):
            queue.write_answer(standing.name, f"answer to {standing.name}")
    # Another server, another model name, other limits: the same question.
    with desk(tmp_path, wait_s=0.0) as (url, queue):
        completion = CompletionsChat("other", f"{url}/v1").ask("", "hello", max_tokens=99)
        assert completion.text.startswith("answer to")
        assert len(list(queue.standings())) == 2


def test_a_client_that_tries_again_gets_an_answer_written_in_between(tmp_path: Path) -> None:
    with desk(tmp_path, wait_s=0.0) as (url, queue), answering(queue, "late"):
        patient = CompletionsChat("any", f"{url}/v1", retries=20)
        assert patient.ask("", "hello", max_tokens=10).text == "late"


def test_an_acting_model_calls_tools_and_its_calls_have_ids_that_stay(tmp_path: Path) -> None:
    tools = [{"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}]
    messages: list[dict[str, Any]] = [{"role": "user", "content": "Find the key."}]
    calls = '{"text": "I look.", "tool_calls": [{"name": "look", "arguments": {"at": "door"}}]}'
    with desk(tmp_path) as (url, queue), answering(queue, calls, "It is there.") as pages:
        model = RemoteModel(chat(url))
        first = model.reply(messages, tools).message
        assert model.reply(messages, tools).message == first
        (call,) = first["tool_calls"]
        assert (first["content"], call["function"]["arguments"]) == ("I look.", '{"at": "door"}')
        result = {"role": "tool", "tool_call_id": call["id"], "content": "a key"}
        last = model.reply([*messages, first, result], tools).message
    assert last["content"] == "It is there."
    assert "a key" in pages[1]


@pytest.mark.parametrize("text", ["", '{"tool_calls": [oops'])
def test_an_answer_that_cannot_be_used_is_told_to_the_client(text: str, tmp_path: Path) -> None:
    with desk(tmp_path, wait_s=0.0) as (url, queue):
        assert httpx.post(f"{url}{CHAT}", json=HELLO).status_code == 503
        (standing,) = queue.standings()
        queue.answer_path(standing.name).write_text(text)
        reply = httpx.post(f"{url}{CHAT}", json=HELLO)
        assert reply.status_code == 502
        assert f"{standing.name}.txt: the answer" in reply.json()["error"]["message"]
        queue.write_answer(standing.name, "mended")
        assert httpx.post(f"{url}{CHAT}", json=HELLO).status_code == 200


def test_an_answer_is_streamed_to_whoever_wants_a_stream(tmp_path: Path) -> None:
    with desk(tmp_path) as (url, queue), answering(queue, "Paris"):
        reply = httpx.post(f"{url}{CHAT}", json={**HELLO, "stream": True}, timeout=60)
    events = [line[6:] for line in reply.text.splitlines() if line.startswith("data: {")]
    deltas = [json.loads(event)["choices"][0]["delta"] for event in events]
    assert "".join(delta.get("content") or "" for delta in deltas) == "Paris"


DEEP = b'{"messages": [' + b'{"a":' * 900 + b"1" + b"}" * 900 + b"]}"


@pytest.mark.parametrize(
    ("path", "content", "problem"),
    [
        (CHAT, b"{", "no JSON"),
        (CHAT, b"[]", "no JSON object"),
        (CHAT, b'{"messages": []}', "messages: must be a list that is not empty"),
        (CHAT, b'{"messages": [1]}', "must hold objects only"),
        (CHAT, DEEP, "nested too deep"),
        ("/v1/responses", b'{"input": "x", "previous_response_id": "r"}', "send the whole input"),
        ("/v1/messages", b'{"messages": "" }', "not empty"),
    ],
)
def test_a_request_that_is_no_question_is_refused(
    path: str, content: bytes, problem: str, tmp_path: Path
) -> None:
    with desk(tmp_path) as (url, queue):
        reply = httpx.post(f"{url}{path}", content=content)
        assert reply.status_code == 400
        assert problem in reply.json()["error"]["message"]
        assert not list(queue.standings())


def test_a_page_of_another_site_asks_nothing(tmp_path: Path) -> None:
    with desk(tmp_path) as (url, queue):
        for strange in ({"origin": "https://example.com"}, {"host": "example.com"}):
            assert httpx.post(f"{url}{CHAT}", json=HELLO, headers=strange).status_code == 403
        assert not list(queue.standings())


def test_a_folder_that_is_gone_is_told_to_the_client(tmp_path: Path) -> None:
    with desk(tmp_path / "desk") as (url, _):
        (tmp_path / "desk" / "questions").rmdir()
        reply = httpx.post(f"{url}{CHAT}", json=HELLO)
    assert reply.status_code == 500
    assert "cannot be written" in reply.json()["error"]["message"]
