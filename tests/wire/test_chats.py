"""Both protocols against a real server on this host, which answers well or in a known bad way."""

from __future__ import annotations

import json
import logging
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, TypeAlias

import pytest

from statecomp.errors import BadInput
from statecomp.llm.chat import Chat, ChatFailed, ChatUsage, QuestionFailed
from statecomp.llm.http import LARGEST_REPLY_BYTES
from statecomp.wire.anthropic.chat import AnthropicChat
from statecomp.wire.chats import open_chat
from statecomp.wire.openai_chat.chat import CompletionsChat

KEY = "sk-very-secret-0123456789"
SCHEMA = {"type": "object", "properties": {"colour": {"type": "string"}}}


@dataclass
class Seen:
    path: str
    headers: Mapping[str, str]
    body: Any


@dataclass
class Server:
    """Where it listens, what it was asked, and the event that ends answers without an end.

    `outlasted` says that such an answer went on for a minute and nobody ended it.
    """

    url: str = ""
    outlasted: bool = False
    seen: list[Seen] = field(default_factory=list)
    released: threading.Event = field(default_factory=threading.Event)


Answer: TypeAlias = Callable[[BaseHTTPRequestHandler, Server], None]


@contextmanager
def serving(*answers: Answer) -> Iterator[Server]:
    """A server that gives these answers in turn, and the last one for ever."""
    server = Server()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            length = int(self.headers["content-length"])
            body = json.loads(self.rfile.read(length))
            headers = {name.lower(): value for name, value in self.headers.items()}
            server.seen.append(Seen(self.path, headers, body))
            answers[min(len(server.seen), len(answers)) - 1](self, server)

        def log_message(self, *args: object) -> None:
            pass

    class Quiet(ThreadingHTTPServer):
        daemon_threads = False  # so that closing the server waits for every handler

        def handle_error(self, request: object, client_address: object) -> None:
            pass  # the client hung up, as it should

    with Quiet(("127.0.0.1", 0), Handler) as http:
        server.url = f"http://127.0.0.1:{http.server_port}"
        thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server
        finally:
            server.released.set()
            http.shutdown()
            thread.join(timeout=30)
            assert not thread.is_alive()


def answering(
    body: object, status: int = 200, kind: str = "application/json", **headers: str
) -> Answer:
    def answer(handler: BaseHTTPRequestHandler, server: Server) -> None:
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        handler.send_response(status)
        handler.send_header("content-type", kind)
        handler.send_header("content-length", str(len(content)))
        for name, value in headers.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.end_headers()
        handler.wfile.write(content)

    return answer


def hang(handler: BaseHTTPRequestHandler, server: Server) -> None:
    server.outlasted |= not server.released.wait(timeout=60)


def drop(handler: BaseHTTPRequestHandler, server: Server) -> None:
    handler.close_connection = True


def stop_half_way(handler: BaseHTTPRequestHandler, server: Server) -> None:
    handler.send_response(200)
    handler.send_header("content-length", "1000")
    handler.end_headers()
    handler.wfile.write(b'{"choices": [{"mess')


def _drip(handler: BaseHTTPRequestHandler, server: Server) -> None:
    until = time.monotonic() + 60
    while not server.released.wait(timeout=0.02) and time.monotonic() < until:
        handler.wfile.write(b" ")
        handler.wfile.flush()
    server.outlasted |= not server.released.is_set()


def trickle_body(handler: BaseHTTPRequestHandler, server: Server) -> None:
    handler.send_response(200)
    handler.send_header("content-type", "application/json")
    handler.end_headers()
    _drip(handler, server)


def trickle_headers(handler: BaseHTTPRequestHandler, server: Server) -> None:
    handler.wfile.write(b"HTTP/1.1 200 OK\r\nx-slow: ")
    _drip(handler, server)


def openai_says(text: object, stop: str = "stop", **message: object) -> dict[str, Any]:
    return {
        "model": "served-model",
        "choices": [{"finish_reason": stop, "message": {"content": text, **message}}],
        "usage": {
            "prompt_tokens": 100,
            "completion_tokens": 7,
            "prompt_tokens_details": {"cached_tokens": 60},
        },
    }


def anthropic_says(*blocks: dict[str, Any], stop: str = "end_turn") -> dict[str, Any]:
    return {
        "model": "served-model",
        "content": list(blocks),
        "stop_reason": stop,
        "usage": {
            "input_tokens": 30,
            "cache_creation_input_tokens": 10,
            "cache_read_input_tokens": 60,
            "output_tokens": 7,
        },
    }


def text_block(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def openai(server: Server, **options: Any) -> CompletionsChat:
    return CompletionsChat("m", f"{server.url}/v1", KEY, trust_env=False, **options)


def anthropic(server: Server, **options: Any) -> AnthropicChat:
    return AnthropicChat("m", server.url, KEY, trust_env=False, **options)


def failure_of(chat: Chat, **options: Any) -> ChatFailed:
    with pytest.raises(ChatFailed) as caught:
        chat.ask("be brief", "which colour?", max_tokens=50, **options)
    return caught.value


class Pauses(list[float]):
    """A sleep that takes no time and remembers how long it was meant to last."""

    def __call__(self, seconds: float) -> None:
        self.append(seconds)


# ---- the good way


def test_openai_answers_with_its_usage() -> None:
    with serving(answering(openai_says("blue"))) as server:
        completion = openai(server).ask("be brief", "which colour?", max_tokens=50)
    assert (completion.text, completion.stop, completion.model) == ("blue", "stop", "served-model")
    assert completion.usage == ChatUsage(input_tokens=100, output_tokens=7, cached_tokens=60)
    (seen,) = server.seen
    assert seen.path == "/v1/chat/completions"
    assert seen.headers["authorization"] == f"Bearer {KEY}"
    assert seen.body == {
        "model": "m",
        "messages": [
            {"role": "system", "content": "be brief"},
            {"role": "user", "content": "which colour?"},
        ],
        "max_tokens": 50,
    }


def test_anthropic_answers_with_its_usage_and_without_its_thinking() -> None:
    thinking = {"type": "thinking", "thinking": "blue or green?"}
    with serving(answering(anthropic_says(thinking, text_block("bl"), text_block("ue")))) as server:
        completion = anthropic(server).ask("be brief", "which colour?", max_tokens=50)
    assert (completion.text, completion.stop) == ("blue", "end_turn")
    assert completion.usage == ChatUsage(input_tokens=100, output_tokens=7, cached_tokens=60)
    (seen,) = server.seen
    assert seen.path == "/v1/messages"
    assert seen.headers["x-api-key"] == KEY
    assert seen.headers["anthropic-version"] == "2023-06-01"
    assert seen.body == {
        "model": "m",
        "system": [{"type": "text", "text": "be brief", "cache_control": {"type": "ephemeral"}}],
        "messages": [{"role": "user", "content": "which colour?"}],
        "max_tokens": 50,
    }


def test_a_schema_is_enforced_by_the_server_where_it_can() -> None:
    with serving(answering(openai_says("{}"))) as server:
        openai(server).ask("s", "p", max_tokens=5, schema=SCHEMA)
    form = server.seen[0].body["response_format"]
    assert form["type"] == "json_schema"
    assert form["json_schema"]["schema"] == SCHEMA
    with serving(answering(anthropic_says(text_block("{}")))) as server:
        anthropic(server).ask("s", "p", max_tokens=5, schema=SCHEMA)
    body = server.seen[0].body
    assert body["output_config"]["format"] == {"type": "json_schema", "schema": SCHEMA}
    assert "tool_choice" not in body


@pytest.mark.parametrize(
    ("make", "field_name", "good"),
    [
        (openai, "response_format", openai_says("{}")),
        (anthropic, "output_config", anthropic_says(text_block("{}"))),
    ],
)
def test_a_server_that_refuses_the_schema_gets_it_in_words(
    make: Callable[..., Chat], field_name: str, good: object
) -> None:
    refusal = {"error": {"message": f"{field_name}: this type is unavailable now"}}
    with serving(answering(refusal, 400), answering(good)) as server:
        assert make(server).ask("s", "p", max_tokens=5, schema=SCHEMA).text == "{}"
    first, second = (seen.body for seen in server.seen)
    assert field_name in first
    assert field_name not in second
    assert json.dumps(SCHEMA) in second["messages"][-1]["content"]
    assert second["messages"][-1]["content"].startswith("p\n")


def test_the_schema_is_given_up_once_and_not_for_other_refusals() -> None:
    refusal = {"error": {"message": "response_format is not for you"}}
    with serving(answering(refusal, 400)) as server:
        assert "400" in str(failure_of(openai(server), schema=SCHEMA))
    assert len(server.seen) == 2
    with serving(answering(refusal, 403)) as server:
        failure_of(openai(server), schema=SCHEMA)
    assert len(server.seen) == 1
    with serving(answering({"error": "the prompt is too long"}, 400)) as server:
        failed = failure_of(openai(server), schema=SCHEMA)
    assert len(server.seen) == 1
    assert "the prompt is too long" in str(failed)
    assert not failed.retryable


def test_the_token_limit_is_renamed_for_models_that_insist() -> None:
    refusal = {"error": {"message": "Use 'max_completion_tokens' instead.", "param": "max_tokens"}}
    with serving(answering(refusal, 400), answering(openai_says("blue"))) as server:
        assert openai(server).ask("s", "p", max_tokens=5).text == "blue"
    assert server.seen[1].body["max_completion_tokens"] == 5
    assert "max_tokens" not in server.seen[1].body


def test_a_lone_surrogate_does_not_stop_a_call() -> None:
    with serving(answering(openai_says("blue"))) as server:
        assert openai(server).ask("s", "half of \ud83d", max_tokens=5).text == "blue"
    assert server.seen[0].body["messages"][1]["content"] == "half of \ud83d"


# ---- answers that are none


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (openai_says(None, refusal="I cannot help with that"), "refused"),
        (openai_says("", stop="content_filter"), "refused"),
        (openai_says(None, tool_calls=[{"id": "c", "function": {"name": "rm"}}]), "called a tool"),
        (openai_says("", stop="tool_calls"), "called a tool"),
        (openai_says(""), "no text"),
        (openai_says(" \n"), "no text"),
        (openai_says(None), "no text"),
        (openai_says("blu", stop="length"), "cut off"),
    ],
)
def test_openai_answers_that_cannot_be_used(reply: object, said: str) -> None:
    with serving(answering(reply)) as server:
        failed = failure_of(openai(server))
    assert said in str(failed)
    assert not failed.retryable
    assert failed.usage == ChatUsage(100, 7, 60)
    assert len(server.seen) == 1


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (anthropic_says(text_block("no"), stop="refusal"), "refused"),
        (anthropic_says({"type": "tool_use", "name": "rm", "input": {}}), "called a tool"),
        (anthropic_says(text_block("I will"), stop="tool_use"), "called a tool"),
        (anthropic_says(), "no text"),
        (anthropic_says(text_block("blu"), stop="max_tokens"), "cut off"),
    ],
)
def test_anthropic_answers_that_cannot_be_used(reply: object, said: str) -> None:
    with serving(answering(reply)) as server:
        failed = failure_of(anthropic(server))
    assert said in str(failed)
    assert failed.usage == ChatUsage(100, 7, 60)


@pytest.mark.parametrize(
    "body",
    [
        b'{"choices": [{"message": {"cont',
        b"<html>Please sign in</html>",
        b"[1, 2]",
        b"null",
        b"",
        b"\xff\xfe\x00",
        b"[" * 100_000,
    ],
)
@pytest.mark.parametrize("make", [openai, anthropic])
def test_a_body_that_is_no_json_object(make: Callable[..., Chat], body: bytes) -> None:
    with serving(answering(body, kind="text/html")) as server:
        failed = failure_of(make(server))
    assert "text/html, no JSON object" in str(failed)
    assert len(server.seen) == 1


@pytest.mark.parametrize(
    "reply",
    [
        {},
        {"choices": "none"},
        {"choices": [7]},
        {"choices": [{"message": [], "finish_reason": 3}], "usage": "free"},
        {"content": {"type": "text"}, "usage": {"input_tokens": "many", "output_tokens": -1}},
        {"content": [None, {"type": "text", "text": 4}]},
    ],
)
@pytest.mark.parametrize("make", [openai, anthropic])
def test_json_of_another_shape_is_an_answer_without_text(
    make: Callable[..., Chat], reply: object
) -> None:
    with serving(answering(reply)) as server:
        assert "no text" in str(failure_of(make(server)))


def test_an_error_inside_a_success_is_an_error() -> None:
    with serving(answering({"error": {"message": "no provider is up"}})) as server:
        assert "no provider is up" in str(failure_of(openai(server)))


def test_a_reply_without_measure_is_not_read_to_its_end() -> None:
    with serving(answering(b" " * (LARGEST_REPLY_BYTES + 1))) as server:
        assert "more than" in str(failure_of(openai(server)))


def test_a_redirect_is_not_followed_with_the_key() -> None:
    with (
        serving(answering(openai_says("blue"))) as other,
        serving(answering({}, 307, location=f"{other.url}/v1/chat/completions")) as server,
    ):
        assert "307" in str(failure_of(openai(server)))
    assert other.seen == []


# ---- servers in trouble


@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503, 529])
def test_trouble_that_may_pass_is_tried_again(status: int) -> None:
    pauses = Pauses()
    with serving(answering({}, status), answering({}, status), answering(openai_says("ok"))) as s:
        assert openai(s, sleep=pauses).ask("s", "p", max_tokens=5).text == "ok"
    assert len(s.seen) == 3
    first, second = pauses
    assert 0.25 <= first <= 0.5 <= second <= 1.0


def test_a_storm_of_errors_ends_after_the_retries() -> None:
    pauses = Pauses()
    with serving(answering({"error": {"message": "boom"}}, 500)) as server:
        failed = failure_of(openai(server, sleep=pauses))
    assert len(server.seen) == 3
    assert "answered 500: boom" in str(failed)
    assert failed.retryable


def test_the_same_call_pauses_the_same() -> None:
    runs: list[Pauses] = [Pauses(), Pauses()]
    for pauses in runs:
        with serving(answering({}, 500)) as server:
            failure_of(openai(server, sleep=pauses))
    assert runs[0] == runs[1]


@pytest.mark.parametrize("status", [400, 401, 403, 404, 413, 422])
def test_trouble_that_will_not_pass_is_not_tried_again(status: int) -> None:
    with serving(answering({"message": "no"}, status)) as server:
        failed = failure_of(openai(server))
    assert len(server.seen) == 1
    assert str(status) in str(failed)
    assert not failed.retryable


@pytest.mark.parametrize(
    ("status", "message", "is_too_long"),
    [
        (400, "prompt is too long: 214315 tokens > 200000 maximum", True),
        (400, "This model's maximum context length is 8192 tokens.", True),
        (400, "the request exceeds the available context size", True),
        (413, "Request too large", True),
        (400, "no such model", False),
        (403, "this key may not send a context that is too long", False),
    ],
)
def test_a_question_that_is_too_long_says_nothing_about_the_next(
    status: int, message: str, is_too_long: bool
) -> None:
    with serving(answering({"error": {"message": message}}, status)) as server:
        failed = failure_of(openai(server))
    assert isinstance(failed, QuestionFailed) == is_too_long
    assert message in str(failed)


def test_retry_after_is_honoured() -> None:
    pauses = Pauses()
    busy = answering({}, 429, retry_after="7")
    with serving(busy, answering(anthropic_says(text_block("ok")))) as server:
        assert anthropic(server, sleep=pauses).ask("s", "p", max_tokens=5).text == "ok"
    assert pauses == [7.0]


def test_retry_after_may_be_a_date_or_nonsense() -> None:
    pauses = Pauses()
    later = formatdate(time.time() + 20, usegmt=True)
    answers = (
        answering({}, 429, retry_after=later),
        answering({}, 429, retry_after="soon"),
        answering(openai_says("ok")),
    )
    with serving(*answers) as server:
        assert openai(server, sleep=pauses).ask("s", "p", max_tokens=5).text == "ok"
    assert 5 < pauses[0] <= 20
    assert pauses[1] <= 1.0


def test_a_wait_beyond_the_deadline_is_not_begun() -> None:
    pauses = Pauses()
    with serving(answering({}, 429, retry_after="3600")) as server:
        failed = failure_of(openai(server, sleep=pauses), deadline_s=30)
    assert pauses == []
    assert "another try does not fit into 30 s" in str(failed)
    assert failed.retryable


def test_a_dropped_connection_is_tried_again() -> None:
    pauses = Pauses()
    with serving(drop, stop_half_way, answering(openai_says("ok"))) as server:
        assert openai(server, sleep=pauses).ask("s", "p", max_tokens=5).text == "ok"
    assert len(pauses) == 2


def test_nobody_there() -> None:
    with serving(hang) as server:
        pass
    failed = failure_of(openai(server, sleep=Pauses()))
    assert "the connection to 127.0.0.1" in str(failed)
    assert failed.retryable


@pytest.mark.parametrize("host", ["a" * 70 + ".example", "a..b"])
def test_a_host_that_cannot_be_is_not_tried_again(host: str) -> None:
    pauses = Pauses()
    chat = CompletionsChat("m", f"http://{host}/v1", KEY, trust_env=False, sleep=pauses)
    assert f"the connection to {host} failed" in str(failure_of(chat))
    assert pauses == []


def test_no_time_is_no_answer() -> None:
    with serving(answering(openai_says("blue"))) as server:
        assert "within 0 s" in str(failure_of(openai(server), deadline_s=0))
        _join_workers()


@pytest.mark.parametrize("answer", [hang, trickle_body, trickle_headers])
@pytest.mark.parametrize("make", [openai, anthropic])
def test_the_deadline_holds_against_any_slowness(make: Callable[..., Chat], answer: Answer) -> None:
    with serving(answer) as server:
        failed = failure_of(make(server), deadline_s=0.3)
        # The call is cut while the server still goes on: nothing waits for it in secret.
        _join_workers()
    assert "no whole answer within 0.3 s" in str(failed)
    assert failed.retryable
    assert not server.outlasted
    assert len(server.seen) <= 1


def _join_workers() -> None:
    for thread in threading.enumerate():
        if thread.name.startswith("statecomp-chat"):
            thread.join(timeout=30)
            assert not thread.is_alive()


def test_the_deadline_covers_all_attempts_together() -> None:
    with serving(answering({}, 500), hang) as server:
        failed = failure_of(openai(server, sleep=Pauses()), deadline_s=2.0)
        _join_workers()
    assert "2 s" in str(failed)
    assert not server.outlasted


def test_the_deadline_of_the_chat_holds_where_a_call_names_none() -> None:
    with serving(hang) as server:
        assert "within 0.2 s" in str(failure_of(openai(server, deadline_s=0.2)))
        _join_workers()


# ---- keys


@pytest.mark.parametrize("make", [openai, anthropic])
def test_a_key_never_shows(make: Callable[..., Chat], caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    echo = {"error": {"message": f"bad key {KEY}"}}
    with serving(answering(echo, 401), answering(echo), answering(KEY.encode())) as server:
        chat = make(server)
        texts = [str(failure_of(chat)), str(failure_of(chat)), str(failure_of(chat)), repr(chat)]
    assert texts[0].endswith("answered 401: bad key ***")
    assert KEY not in "\n".join((*texts, caplog.text))


def test_no_half_of_a_key_shows_where_a_reason_is_cut() -> None:
    for space in range(270, 300):
        with serving(answering({"error": "x" * space + KEY}, 401)) as server:
            said = str(failure_of(openai(server)))
        assert KEY[:6] not in said
        assert len(said) < 400


def test_a_key_that_no_header_can_carry_is_refused_without_showing_it() -> None:
    for key in (f"{KEY}\nx", f"{KEY} ", f"{KEY}é"):
        with pytest.raises(BadInput) as caught:
            CompletionsChat("m", "http://localhost", key)
        assert KEY not in str(caught.value)


@pytest.mark.parametrize(
    "url",
    [
        f"https://user:{KEY}@host/v1",
        f"https://host/v1?key={KEY}",
        f"https://host/v1#{KEY}",
        f"ftp://{KEY}",
        f"http://:{KEY}",
        f"http://[{KEY}",
        "",
    ],
)
def test_an_address_with_a_secret_or_without_a_host_is_refused(url: str) -> None:
    with pytest.raises(BadInput) as caught:
        AnthropicChat("m", url)
    assert KEY not in str(caught.value)


# ---- naming a chat


def test_a_spec_names_the_protocol_the_model_and_the_address() -> None:
    chat = open_chat("openai:org/model:7b@http://localhost:8000/v1", environ={})
    assert chat == CompletionsChat("org/model:7b", "http://localhost:8000/v1")
    chat = open_chat(
        "anthropic:a@2@https://gate.example", environ={"ANTHROPIC_API_KEY": f"{KEY}\n"}
    )
    assert chat == AnthropicChat("a@2", "https://gate.example", KEY)
    assert chat.model == "a@2"


def test_addresses_default_to_the_environment_given_then_to_the_public_host() -> None:
    environ = {"OPENAI_API_KEY": KEY, "ANTHROPIC_API_KEY": KEY}
    assert open_chat("openai:m", environ=environ) == CompletionsChat("m", api_key=KEY)
    assert open_chat("anthropic:m", environ=environ) == AnthropicChat("m", api_key=KEY)
    local = {"OPENAI_BASE_URL": "http://localhost:1/v1", "ANTHROPIC_BASE_URL": "http://localhost:2"}
    assert open_chat("openai:m", environ=local) == CompletionsChat("m", "http://localhost:1/v1")
    assert open_chat("anthropic:m", environ=local) == AnthropicChat("m", "http://localhost:2")


@pytest.mark.parametrize("kind", ["openai", "anthropic"])
def test_the_public_hosts_want_a_key(kind: str) -> None:
    with pytest.raises(BadInput, match=f"{kind.upper()}_API_KEY is not set"):
        open_chat(f"{kind}:m", environ={})


@pytest.mark.parametrize("spec", ["", "gpt-4", f"openai {KEY}", "openai:", f"mistral:{KEY}"])
def test_a_spec_that_names_nothing(spec: str) -> None:
    with pytest.raises(BadInput, match="a chat is named") as caught:
        open_chat(spec, environ={})
    assert KEY not in str(caught.value)
