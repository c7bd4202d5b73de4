"""The proxy core: what goes out, what comes back, and what is written down about it."""

from __future__ import annotations

import gzip
import json
import logging
from typing import Any

import httpx
import pytest

from statecomp.proxy.upstream import route_of
from statecomp.testing.words import chat_of
from statecomp.tokens.usage import Usage
from tests.proxy.small_upstream import KEY, REPLY, Answer, Got, SmallUpstream, running

PROTOCOLS = ("/v1/chat/completions", "/v1/responses", "/v1/messages")


def anthropic_of(word: str, bulk: str = "the quick brown fox " * 60) -> list[dict[str, Any]]:
    """`p` a user message, any other letter a tool call with its result."""
    messages: list[dict[str, Any]] = []
    for place, letter in enumerate(word):
        if letter == "p":
            messages.append({"role": "user", "content": f"request {place}"})
            continue
        use = {"type": "tool_use", "id": f"t{place}", "name": "read", "input": {"n": place}}
        result = {"type": "tool_result", "tool_use_id": f"t{place}", "content": bulk}
        messages.append({"role": "assistant", "content": [use]})
        messages.append({"role": "user", "content": [result]})
    return messages


def responses_of(word: str, bulk: str = "the quick brown fox " * 60) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = []
    for place, letter in enumerate(word):
        if letter == "p":
            items.append({"role": "user", "content": f"request {place}"})
            continue
        call = {"type": "function_call", "call_id": f"c{place}", "name": "read", "arguments": "{}"}
        items.append(call)
        items.append({"type": "function_call_output", "call_id": f"c{place}", "output": bulk})
    return items


def test_an_untouched_body_goes_out_as_the_very_bytes_that_came_in() -> None:
    body = (
        b'{ "model":"small",\n "messages" : [{"role":"user","content":"\\u00e9\\ud83d"}], "x":1.0 }'
    )
    with running() as proxy:
        answer = proxy.client.post("/v1/chat/completions", content=body, headers=KEY)
        assert answer.json() == REPLY
        assert proxy.received[0].body == body


def test_headers_go_through_except_those_of_the_connection_and_our_own() -> None:
    sent = {
        **KEY,
        "x-custom": "1",
        "accept-encoding": "gzip",
        "connection": "keep-alive, x-hop",
        "x-hop": "1",
        "te": "trailers",
        "x-statecomp-session": "mine",
    }
    with running() as proxy:
        proxy.client.post("/v1/chat/completions", json={"messages": []}, headers=sent)
        got = proxy.received[0]
    assert got.header("authorization") == [KEY["authorization"]]
    assert got.header("x-custom") == ["1"]
    assert got.header("accept-encoding") == ["gzip"]
    assert got.header("host") == [proxy.endpoint.settings.upstream.removeprefix("http://")]
    for name in ("x-hop", "te", "x-statecomp-session"):
        assert got.header(name) == []


def test_everything_else_passes_with_any_method_path_and_query() -> None:
    def echo(got: Got) -> Answer:
        headers = [("content-type", "x/y"), ("set-cookie", "a=1"), ("set-cookie", "b=2")]
        return Answer([got.body], status=207, headers=headers)

    with running(SmallUpstream(echo)) as proxy:
        upload = bytes(range(256)) * 2000
        answer = proxy.client.put("/v1/files/a%2Fb?x=1&x=2", content=upload)
        assert (answer.status_code, answer.content) == (207, upload)
        assert answer.headers.get_list("set-cookie") == ["a=1", "b=2"]
        assert proxy.client.request("DELETE", "/v1/files/7").status_code == 207
        assert proxy.client.get("/v1/models").status_code == 207
        head = proxy.client.head("/v1/models")
        assert (head.status_code, head.content) == (207, b"")
        shown = [(got.method, got.path, got.query) for got in proxy.received]
    assert shown[0] == ("PUT", "/v1/files/a%2Fb", "x=1&x=2")
    assert [method for method, _, _ in shown] == ["PUT", "DELETE", "GET", "HEAD"]


def test_a_chunked_upload_and_an_encoded_answer_are_passed_as_bytes() -> None:
    packed = gzip.compress(b"hello " * 1000)
    headers = [("content-type", "text/plain"), ("content-encoding", "gzip")]
    with running(SmallUpstream(lambda got: Answer([packed], headers=headers))) as proxy:
        parts = iter([b"ab", b"cd"])
        with proxy.client.stream("POST", "/v1/files", content=parts) as answer:
            assert b"".join(answer.iter_raw()) == packed
            assert answer.headers["content-encoding"] == "gzip"
        assert proxy.received[0].body == b"abcd"


def test_redirects_and_cookies_of_the_upstream_are_the_clients_business() -> None:
    headers = [("location", "/elsewhere"), ("set-cookie", "session=1")]
    with running(SmallUpstream(lambda got: Answer([], status=307, headers=headers))) as proxy:
        for _ in range(2):
            assert httpx.get(f"{proxy.url}/v1/models").status_code == 307
        assert [got.header("cookie") for got in proxy.received] == [[], []]


@pytest.mark.parametrize(
    ("path", "key", "history"),
    [
        ("/v1/chat/completions", "messages", chat_of),
        ("/v1/responses", "input", responses_of),
        ("/v1/messages", "messages", anthropic_of),
    ],
)
def test_what_is_committed_goes_out_shorter_and_is_accounted(
    path: str, key: str, history: Any
) -> None:
    with running() as proxy:
        for word in ("prrrr", "prrrrr"):
            body = {"model": "small", key: history(word)}
            assert proxy.client.post(path, json=body, headers=KEY).json() == REPLY
        ledger = proxy.drain()
        sent = proxy.received[-1].json[key]
        assert len(sent) < len(history("prrrrr"))
        assert "[Record of past steps 1-2" in json.dumps(sent)
        assert sent[0] == history("p")[0]
        (session,) = ledger.sessions()
        first, second = ledger.requests(session.id)
        assert first.raw_tokens > first.sent_tokens > 0
        assert [cell.state for cell in second.grid][:2] == ["summarised", "summarised"]
        assert second.first_change == 1
        assert second.usage == Usage(100, 0, 0, 7)
        assert second.status == 200
        entries = ledger.entries(session.id)
        assert entries
        assert entries[0].originals
        assert session.title == "request 0"


def test_a_token_count_is_of_the_history_that_would_be_sent() -> None:
    with running() as proxy:
        body = {"model": "claude", "messages": anthropic_of("prrrr")}
        proxy.client.post("/v1/messages", json=body, headers=KEY)
        proxy.client.post("/v1/messages/count_tokens", json=body, headers=KEY)
        asked, counted = proxy.received
        assert counted.path == "/v1/messages/count_tokens"
        assert counted.json["messages"] == asked.json["messages"] != body["messages"]
        assert proxy.drain().totals().requests == 1


@pytest.mark.parametrize(
    ("path", "protocol", "counts"),
    [
        ("/v1/chat/completions", "openai-chat", False),
        ("/openai/deployments/x/chat/completions", "openai-chat", False),
        ("/responses", "openai-responses", False),
        ("/v1/responses/input_tokens", "openai-responses", True),
        ("/v1/responses/r1", "", False),
        ("/v1/responses/compact", "", False),
        ("/v1/messages", "anthropic", False),
        ("/v1/messages/count_tokens", "anthropic", True),
        ("/v1/messages/batches", "", False),
        ("/v1/threads/t1/messages", "", False),
        ("/v1/models", "", False),
        ("*", "", False),
    ],
)
def test_only_paths_that_carry_a_history_are_read(path: str, protocol: str, counts: bool) -> None:
    route = route_of(path)
    assert (route.protocol, route.counts, route.path) == (protocol, counts, path)


def refuses_records(got: Got) -> Answer:
    if b"[Record of past" in got.body:
        return Answer([b'{"error": {"message": "no"}}'], status=400)
    return Answer([json.dumps(REPLY).encode()])


def test_a_rewrite_the_upstream_refuses_is_sent_again_raw_and_never_tried_again() -> None:
    with running(SmallUpstream(refuses_records)) as proxy:
        assert proxy.chat(chat_of("prrrr")).status_code == 200
        assert len(proxy.received) == 2
        assert proxy.received[1].json["messages"] == chat_of("prrrr")
        assert proxy.chat(chat_of("prrrr")).status_code == 200
        assert len(proxy.received) == 3
        ledger = proxy.drain()
        (session,) = ledger.sessions()
        (request, _) = ledger.requests(session.id)
        assert request.note == "the upstream refused the rewritten history (400)"
        assert request.sent_tokens == request.raw_tokens
        assert {entry.state for entry in ledger.entries(session.id)} == {"suspect"}
        assert proxy.endpoint.metrics.value("statecomp_retries_total") == 1


def test_commits_an_upstream_has_taken_are_not_the_first_to_be_suspected() -> None:
    refusing: list[bytes] = []

    def sometimes(got: Got) -> Answer:
        if any(mark in got.body for mark in refusing):
            return Answer([b"{}"], status=422)
        return Answer([json.dumps(REPLY).encode()])

    with running(SmallUpstream(sometimes)) as proxy:
        proxy.chat(chat_of("prrrr"))
        refusing.append(b"steps 3-4")
        assert proxy.chat(chat_of("prrrrrr")).status_code == 200
        for word in ("prrrrrrp", "prrrrrrpp"):  # the first one goes out raw after the refusal
            proxy.chat(chat_of(word))
        last = proxy.received[-1].body
    assert b"[Record of past steps 1-2" in last
    assert b"[Record of past steps 3-4" not in last


def test_a_request_that_is_wrong_as_it_came_gets_the_answer_to_what_came() -> None:
    def always(got: Got) -> Answer:
        return Answer([b"raw" if b"[Record" not in got.body else b"rewritten"], status=400)

    with running(SmallUpstream(always)) as proxy:
        answer = proxy.chat(chat_of("prrrr"))
        assert (answer.status_code, answer.content) == (400, b"raw")
        ledger = proxy.drain()
        states = [e.state for s in ledger.sessions() for e in ledger.entries(s.id)]
        assert states == ["live"]


@pytest.mark.parametrize(
    ("headers", "settings", "why"),
    [
        ({"x-statecomp-bypass": "1"}, {}, "the client asked for it (x-statecomp-bypass)"),
        ({}, {"mode": "off"}, "the proxy is off"),
    ],
)
def test_hands_off_means_the_bytes_that_came(
    headers: dict[str, str], settings: dict[str, Any], why: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "statecomp.proxy")
    with running(**settings) as proxy:
        for _ in range(2):
            proxy.chat(chat_of("prrrr"), **headers)
        assert proxy.received[1].json["messages"] == chat_of("prrrr")
    assert [record.fields["note"] for record in caplog.records] == [why, why]  # type: ignore[attr-defined]  # set by the proxy


@pytest.mark.parametrize("extra", [{"previous_response_id": "r1"}, {"conversation": "c"}])
def test_a_history_that_lives_on_the_server_is_not_touched(extra: dict[str, Any]) -> None:
    with running() as proxy:
        body = {"model": "small", "input": responses_of("prrrr"), **extra}
        proxy.client.post("/v1/responses", json=body, headers=KEY)
        assert proxy.received[0].json == body
        (session,) = proxy.drain().sessions()
        (request,) = proxy.ledger.requests(session.id)
        assert request.note.startswith("left as it came: the history lives on the server")


@pytest.mark.parametrize("body", [b"", b"no json", b"[1]", b'{"messages": 3}', b'{"a": NaN}'])
def test_what_cannot_be_read_passes_as_it_came(body: bytes) -> None:
    with running() as proxy:
        answer = proxy.client.post("/v1/chat/completions", content=body, headers=KEY)
        assert answer.status_code == 200
        assert proxy.received[0].body == body


def test_an_answer_that_is_no_json_comes_back_as_it_is() -> None:
    page = Answer([b"<h1>busy</h1>"], status=529, headers=[("content-type", "text/html")])
    with running(SmallUpstream(lambda got: page)) as proxy:
        answer = proxy.chat(chat_of("p"))
        assert (answer.status_code, answer.content) == (529, b"<h1>busy</h1>")
        assert answer.headers["content-type"] == "text/html"


@pytest.mark.parametrize("path", PROTOCOLS)
def test_an_upstream_that_is_not_there_is_an_error_of_the_proxy_in_the_protocols_shape(
    path: str,
) -> None:
    with running(url="http://127.0.0.1:9") as proxy:
        answer = proxy.client.post(path, json={"messages": []}, headers=KEY)
    assert answer.status_code == 502
    assert answer.headers["x-statecomp-error"] == "1"
    error = answer.json()["error"]
    assert error["message"].startswith("statecomp proxy: the connection to the upstream failed")
    if path == "/v1/messages":
        assert answer.json()["type"] == "error"
    else:
        assert error["code"] == "statecomp_502"


def test_upstreams_are_chosen_by_name_and_never_by_address() -> None:
    other = SmallUpstream()
    with running(other) as second, running(upstreams={"two": second.url}) as proxy:
        proxy.client.post("/u/two/v1/chat/completions", json={"messages": []}, headers=KEY)
        proxy.client.get("/v1/models", headers={"x-statecomp-upstream": "two"})
        assert [got.path for got in other.received] == ["/v1/chat/completions", "/v1/models"]
        for name in ("three", "http://127.0.0.1:1"):
            headers = {"x-statecomp-upstream": name}
            assert proxy.client.get("/v1/models", headers=headers).status_code == 404
        assert proxy.received == []


def test_an_upstream_with_a_path_keeps_it_and_v1_is_not_said_twice() -> None:
    upstream = SmallUpstream()
    with running(upstream) as direct:
        base = direct.endpoint.settings.upstream
        with running(upstream, url=f"{base}/api/v1") as proxy:
            proxy.client.get("/v1/models")
            proxy.client.get("/models")
    assert [got.path for got in upstream.received] == ["/api/v1/models", "/api/v1/models"]


def test_the_header_a_rewrite_needs_is_added_to_those_of_the_client() -> None:
    thought = {"type": "thinking", "thinking": "hm", "signature": "EpQB"}
    messages = anthropic_of("prrrrr")
    messages[-2]["content"].insert(0, thought)
    messages.append({"role": "assistant", "content": [{"type": "text", "text": "so"}]})
    messages.append({"role": "user", "content": "go on"})
    body = {"model": "claude-fable-5-1", "messages": messages}
    with running() as proxy:
        headers = {**KEY, "anthropic-beta": "a-1, b-2"}
        proxy.client.post("/v1/messages", json=body, headers=headers)
        got = proxy.received[0]
    assert got.header("anthropic-beta") == ["a-1, b-2,thinking-binding-controls-2026-08-01"]
    assert got.json["thinking"]["block_binding"] == {"prefix_mismatch_behavior": "drop_block"}


def test_observing_sends_what_came_and_counts_what_would_have_been_saved() -> None:
    with running(mode="observe") as proxy:
        for word in ("prrrr", "prrrrr"):
            proxy.chat(chat_of(word))
            assert proxy.received[-1].json["messages"] == chat_of(word)
        ledger = proxy.drain()
        (session,) = ledger.sessions()
        requests = ledger.requests(session.id)
        assert all(r.mode == "observe" and r.sent_tokens < r.raw_tokens for r in requests)
        assert {entry.state for entry in ledger.entries(session.id)} == {"observed"}


def test_what_was_only_observed_is_not_done_later() -> None:
    with running(mode="observe") as proxy:
        proxy.chat(chat_of("prrrr"))
        ledger = proxy.drain()
        with running(ledger=ledger, commit="background") as later:
            later.chat(chat_of("prrrr"))
            assert later.received[0].json["messages"] == chat_of("prrrr")


def test_tenants_share_no_commits() -> None:
    with running(commit="now") as proxy:
        proxy.chat(chat_of("prrrr"))
        ledger = proxy.drain()
    with running(ledger=ledger, commit="background") as proxy:
        proxy.chat(chat_of("prrrr"), authorization="Bearer somebody-else")
        proxy.chat(chat_of("prrrr"))
        theirs, mine = (got.body for got in proxy.received)
    assert b"[Record of past" not in theirs
    assert b"[Record of past" in mine


def test_health_and_metrics_are_there() -> None:
    with running() as proxy:
        proxy.chat(chat_of("prrrr"))
        proxy.drain()
        assert proxy.client.get("/healthz").json() == {"status": "ok", "mode": "compress"}
        text = proxy.client.get("/metrics").text
    name = 'statecomp_requests_total{protocol="openai-chat",mode="compress",status="200"} 1'
    assert name in text.splitlines()
    assert 'statecomp_commits_total{mode="compress"} 1' in text.splitlines()
    assert "statecomp_overhead_ms_count 1" in text.splitlines()
    assert "statecomp_open_requests 0" in text.splitlines()
    assert f"statecomp_memory_limit_bytes {512 << 20}" in text.splitlines()
    assert "statecomp_memory_bytes " in text


def test_a_log_line_tells_numbers_and_no_content(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    with running() as proxy:
        proxy.chat(chat_of("prrrr"))
        proxy.client.post(
            "/v1/chat/completions", json={"messages": [{"role": "secretly"}]}, headers=KEY
        )
    lines = [record for record in caplog.records if record.name == "statecomp.proxy"]
    fields: list[dict[str, Any]] = [record.fields for record in lines]  # type: ignore[attr-defined]  # set by the proxy
    assert fields[0]["raw_tokens"] > fields[0]["sent_tokens"] > 0
    assert fields[1]["note"] == (
        "this history is left as it is: messages[0].role: has the unknown role '...'"
    )
    everything = " ".join(map(str, fields)) + caplog.text
    for secret in ("secretly", "request 0", "sk-test", "quick brown"):
        assert secret not in everything
