"""Pains P6, P7 and P9-P14: counting, evidence, undoing, waiting, media, privacy, modes, streams."""

from __future__ import annotations

import base64
import json
import threading
from pathlib import Path
from typing import Any

import pytest

from statecomp.controller.age import AgeScorer
from statecomp.history.situation import Situation
from statecomp.ledger.open import open_ledger
from statecomp.method import Method
from statecomp.proxy.settings import Limits
from statecomp.records.record import Record
from statecomp.testing.provider.app import ScriptedFault
from statecomp.testing.provider.refusals import Strictness
from statecomp.traces.secrets import Masker
from tests.proxy.conversations import (
    CHAT,
    CLAUDE,
    HEADERS,
    PLAIN,
    RESPONSES,
    Tongue,
    each_protocol,
    post,
    sent,
)
from tests.proxy.serving import EAGER, Proxied, converse, proxied
from tests.proxy.upstream import KEY, TASK, upstream
from tests.rules import paying


def rewritten(proxy: Proxied) -> int:
    return sum("[Record of past" in received.raw.decode() for received in proxy.received)


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@each_protocol
def test_p06_the_account_holds_what_the_provider_reports(
    proxy: Proxied, tongue: Tongue, stream: bool
) -> None:
    options = {"stream_options": {"include_usage": True}} if tongue is CHAT and stream else {}
    messages = [*tongue.user(TASK), *tongue.run(6)]
    converse(proxy, tongue, messages, stream=stream, **options)
    told = [
        (r.usage.input, r.usage.cached, r.usage.written, r.usage.output) for r in proxy.requests
    ]
    spent = [received.spent for received in proxy.received]
    assert told == [(s.input, s.cached, s.written, s.output) for s in spent if s]


def test_p06_a_token_count_is_of_the_history_that_would_be_sent(proxy: Proxied) -> None:
    messages = [*CLAUDE.user(TASK), *CLAUDE.run(12)]
    converse(proxy, CLAUDE, messages)
    body, path = CLAUDE.body(messages), "/v1/messages/count_tokens"
    del body["max_tokens"]
    headers = {**HEADERS, "authorization": f"Bearer {proxy.key}"}
    through, direct = (
        PLAIN.post(url + path, json=body, headers=headers).json()["input_tokens"]
        for url in (proxy.url, proxy.direct)
    )
    assert 0 < through < direct


@each_protocol
def test_p07_a_call_made_again_after_its_result_was_replaced_is_counted(
    proxy: Proxied, tongue: Tongue
) -> None:
    messages = [*tongue.user(TASK), *tongue.run(10)]
    again = tongue.turn(0)
    text = json.dumps(again).replace("_0000_", "_0010_").replace("rs_0000", "rs_0010")
    text = text.replace("r0000", "r0010")
    converse(proxy, tongue, [*messages, *json.loads(text)])
    assert rewritten(proxy)
    kinds = [regret.kind for regret in proxy.regrets]
    assert "repeated call" in kinds


@each_protocol
def test_p07_no_regret_is_counted_where_nothing_was_wanted_again(
    proxy: Proxied, tongue: Tongue
) -> None:
    converse(proxy, tongue, [*tongue.user(TASK), *tongue.run(12)])
    assert rewritten(proxy)
    assert proxy.regrets == []


def test_p07_what_the_agent_used_stays_known_after_its_source_is_replaced(proxy: Proxied) -> None:
    path = "/srv/data/ledger-7741.sqlite"
    found = [f"the database is {path}\n" + "filler line of no use\n" * 30]
    messages = [*CHAT.user(TASK), *CHAT.turn(0, results=found)]
    use = CHAT.turn(1, results=["12 rows\n" * 20])
    use[0]["tool_calls"][0]["function"]["arguments"] = json.dumps({"path": path})
    converse(proxy, CHAT, [*messages, *use, *CHAT.run(8, start=2)])
    last = proxy.received[-1].raw.decode()
    assert "filler line of no use\\nfiller" not in last
    assert path in last


@each_protocol
def test_p09_an_undone_commit_is_raw_again_and_is_not_taken_again(
    proxy: Proxied, tongue: Tongue
) -> None:
    messages = [*tongue.user(TASK), *tongue.run(9)]
    converse(proxy, tongue, messages)
    first, *_ = proxy.entries
    assert [m for m in first.originals if m in messages] == list(first.originals)
    assert proxy.ledger.undo(first.commit.id)
    longer = [*messages, *tongue.run(3, start=9)]
    for history in list(tongue.growing(longer))[-3:]:
        assert proxy.post(tongue, tongue.body(history)).status_code == 200
        last = sent(proxy.received[-1])
        assert all(message in last for message in first.originals)


def test_p09_every_decision_can_be_read_afterwards(proxy: Proxied) -> None:
    converse(proxy, CHAT, [*CHAT.user(TASK), *CHAT.run(10)])
    (session,) = proxy.sessions
    assert session.title == TASK
    assert session.totals.sent_tokens < session.totals.raw_tokens
    assert all(entry.scores and entry.commit.text for entry in proxy.entries)
    grid = proxy.requests[-1].grid
    assert {cell.state for cell in grid} >= {"summarised", "kept"}
    assert [cell.number for cell in grid] == list(range(1, 11))


class Hanging:
    """A summariser that answers when it is let go; in the tests that is after the run."""

    def __init__(self) -> None:
        self.asked, self.go = threading.Event(), threading.Event()

    def summarize(self, span: Any, situation: Situation) -> Record:
        self.asked.set()
        self.go.wait(60)
        return Record(facts=("all parts were fine",))


@each_protocol
def test_p10_requests_go_on_while_the_summariser_hangs(tongue: Tongue) -> None:
    hanging = Hanging()
    method = Method(EAGER.scorer, lambda account: hanging, EAGER.rule)
    with proxied(method=method, commit="background") as proxy:
        converse(proxy, tongue, [*tongue.user(TASK), *tongue.run(10)])
        assert hanging.asked.wait(30)
        assert len(proxy.received) == 11
        assert rewritten(proxy) == 0
        hanging.go.set()


@each_protocol
def test_p10_with_commits_made_at_once_a_late_summary_is_not_waited_for(tongue: Tongue) -> None:
    hanging = Hanging()
    method = Method(EAGER.scorer, lambda account: hanging, EAGER.rule)
    with proxied(method=method, limits=Limits(now_s=0.05)) as proxy:
        converse(proxy, tongue, [*tongue.user(TASK), *tongue.run(6)])
        assert hanging.asked.is_set()
        assert rewritten(proxy) == 0
        hanging.go.set()


def test_p11_an_image_is_sent_while_it_is_kept_and_never_copied_into_a_summary(
    proxy: Proxied,
) -> None:
    data = base64.b64encode(bytes(range(256)) * 800).decode()
    messages = [*CLAUDE.user(TASK), *CLAUDE.run(8)]
    source = {"type": "base64", "media_type": "image/png", "data": data}
    messages[4]["content"][0]["content"] = [{"type": "image", "source": source}]
    converse(proxy, CLAUDE, messages)
    assert data in proxy.received[2].raw.decode()
    assert data[:60] not in proxy.received[-1].raw.decode()
    assert len(proxy.received[-1].raw) < len(data) // 10


@each_protocol
def test_p11_a_request_too_large_for_the_provider_is_answered_as_the_provider_does(
    tongue: Tongue,
) -> None:
    with proxied(upstream(rules=Strictness(max_bytes=20_000)), mode="off") as proxy:
        body = tongue.body([*tongue.user("x" * 30_000)])
        through, direct = (post(url, tongue, body) for url in (proxy.url, proxy.direct))
    assert through.status_code == direct.status_code == 413
    assert through.content == direct.content


@each_protocol
def test_p11_a_rewrite_can_make_a_request_fit_that_raw_would_not(tongue: Tongue) -> None:
    messages = [*tongue.user(TASK), *tongue.run(20)]
    limit = len(json.dumps(tongue.body(messages))) * 2 // 3
    with proxied(upstream(rules=Strictness(max_bytes=limit))) as proxy:
        converse(proxy, tongue, messages)


@each_protocol
def test_p11_a_request_too_large_for_the_proxy_is_refused_in_the_providers_shape(
    tongue: Tongue,
) -> None:
    with proxied(limits=Limits(body_bytes=5_000)) as proxy:
        answer = post(proxy.url, tongue, tongue.body(tongue.user("x" * 9_000)))
    assert answer.status_code == 413
    error = answer.json()["error"]
    assert {"message", "type"} <= set(error)
    assert (answer.json().get("type") == "error") == (tongue is CLAUDE)


def test_p12_without_a_chat_summariser_nothing_is_sent_but_what_clients_send() -> None:
    with proxied() as proxy:
        messages = [*CHAT.user(TASK), *CHAT.run(12)]
        converse(proxy, CHAT, messages)
        assert rewritten(proxy)
        assert len(proxy.upstream.received) == len(list(CHAT.growing(messages)))


def test_p12_no_credential_is_in_the_store_the_log_or_the_metrics(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG")
    ledger = open_ledger(str(tmp_path / "ledger.db"), mask=Masker().masked)
    leaked = "ghp_" + "a1B2" * 9
    with proxied(ledger=ledger) as proxy:
        messages = [*CHAT.user(TASK), *CHAT.turn(0, results=[f"token={leaked}\n" * 20])]
        converse(proxy, CHAT, [*messages, *CHAT.run(9, start=1)])
        assert rewritten(proxy)
        assert proxy.entries
        metrics = PLAIN.get(f"{proxy.url}/metrics").text
    ledger.close()
    stored = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    for secret in (KEY, leaked):
        assert secret.encode() not in stored
        assert secret not in metrics
        assert secret not in caplog.text


@each_protocol
def test_p13_observing_sends_what_came_and_says_what_it_would_have_saved(tongue: Tongue) -> None:
    messages = [*tongue.user(TASK), *tongue.run(12)]
    with proxied(mode="observe") as proxy:
        bodies = [json.dumps(tongue.body(h)).encode() for h in tongue.growing(messages)]
        for body in bodies:
            assert proxy.post(tongue, body).status_code == 200
        assert [received.raw for received in proxy.received] == bodies
        assert proxy.requests[-1].sent_tokens < proxy.requests[-1].raw_tokens
        assert {entry.state for entry in proxy.entries} == {"observed"}


@each_protocol
def test_p13_off_and_the_bypass_header_are_kill_switches(tongue: Tongue, proxy: Proxied) -> None:
    messages = [*tongue.user(TASK), *tongue.run(12)]
    body = json.dumps(tongue.body(messages)).encode()
    converse(proxy, tongue, messages)
    assert proxy.received[-1].raw != body
    assert proxy.post(tongue, body, x_statecomp_bypass="1").status_code == 200
    assert proxy.received[-1].raw == body
    assert not any(name.startswith("x-statecomp") for name in proxy.received[-1].headers)
    with proxied(mode="off") as off:
        assert off.post(tongue, body).status_code == 200
        assert off.received[-1].raw == body


@each_protocol
def test_p14_a_stream_arrives_byte_for_byte(proxy: Proxied, tongue: Tongue) -> None:
    body = tongue.body([*tongue.user(TASK), *tongue.run(2)], stream=True)
    through, direct = (post(url, tongue, body) for url in (proxy.url, proxy.direct))
    assert through.content == direct.content
    assert through.headers["content-type"] == direct.headers["content-type"]


@each_protocol
def test_p14_an_event_is_passed_on_before_the_next_one_is_made(tongue: Tongue) -> None:
    fault = ScriptedFault(hold_after=2)
    with proxied() as proxy:
        proxy.upstream.faults.append(fault)
        body = json.dumps(tongue.body(tongue.user(TASK), stream=True))
        request = PLAIN.build_request(
            "POST", f"{proxy.url}{tongue.path}", content=body, headers=HEADERS
        )
        answer = PLAIN.send(request, stream=True)
        parts = answer.iter_raw()
        early = b""
        while early.count(b"\n\n") < 2:  # would never end if the proxy held events back
            early += next(parts)
        assert proxy.upstream.finished == 0
        fault.release.set()
        assert len(b"".join(parts)) > 0
        answer.close()


def test_p14_blocks_of_unknown_types_go_out_as_they_came(proxy: Proxied) -> None:
    odd = {"type": "hologram", "frames": [1, {"deep": None}], "note": "é"}
    items = [*RESPONSES.user(TASK), odd, *RESPONSES.run(8)]
    converse(proxy, RESPONSES, items)
    assert rewritten(proxy)
    assert odd in sent(proxy.received[-1])
    messages = [*CLAUDE.user(TASK), *CLAUDE.run(8)]
    messages[0]["content"].append(odd)
    messages[-2]["content"].insert(0, odd)
    converse(proxy, CLAUDE, messages)
    last = sent(proxy.received[-1])
    assert last[0] == messages[0]
    assert last[-2] == messages[-2]
    assert proxy.refusals == []


@each_protocol
def test_p14_two_conversations_with_one_system_prompt_share_nothing(
    proxy: Proxied, tongue: Tongue
) -> None:
    one = [*tongue.user("Look at the first house."), *tongue.run(9)]
    two = [*tongue.user("Look at the second house."), *tongue.run(9)]
    for left, right in zip(tongue.growing(one), tongue.growing(two), strict=True):
        assert proxy.post(tongue, tongue.body(left)).status_code == 200
        assert proxy.post(tongue, tongue.body(right)).status_code == 200
    assert len(proxy.sessions) == 2
    assert "second house" not in proxy.received[-2].raw.decode()
    assert "first house" not in proxy.received[-1].raw.decode()
    assert proxy.refusals == []


def test_p14_tenants_do_not_share_commits() -> None:
    messages = [*CHAT.user(TASK), *CHAT.run(10)]
    body = json.dumps(CHAT.body(messages)).encode()
    with proxied(commit="background") as proxy:
        one, two = proxy.tenant(), proxy.tenant()
        one.post(CHAT, body)
        assert one.entries
        # What went out once goes out again; what was decided behind it holds from the next step on.
        body = json.dumps(CHAT.body([*CHAT.user(TASK), *CHAT.run(11)])).encode()
        one.post(CHAT, body)
        two.post(CHAT, body)
        assert one.received[-1].raw != body
        assert two.received[-1].raw == body


@pytest.mark.parametrize(
    "field",
    [{"previous_response_id": "resp_0000"}, {"context_management": [{"type": "compaction"}]}],
    ids=["previous_response_id", "context_management"],
)
def test_p14_a_history_the_server_manages_is_passed_through_with_the_reason(
    proxy: Proxied, field: dict[str, Any]
) -> None:
    stored = {**RESPONSES.body(RESPONSES.user(TASK)), "store": True}
    assert proxy.post(RESPONSES, stored).status_code == 200
    items = RESPONSES.user("And now?")
    body = json.dumps(RESPONSES.body(items, **field)).encode()
    if "previous_response_id" in field:  # the stored turn waits for its result
        output = {"type": "function_call_output", "call_id": "call_0000_0", "output": "fine"}
        body = json.dumps(RESPONSES.body([output], **field)).encode()
    assert proxy.post(RESPONSES, body).status_code == 200
    assert proxy.received[-1].raw == body


@pytest.mark.parametrize("what", [b"", b"{", b"[1]", b'{"messages": "none"}', b"\xff\xfe", b"nul"])
@each_protocol
def test_p14_a_body_that_is_no_request_is_answered_by_the_provider(
    proxy: Proxied, tongue: Tongue, what: bytes
) -> None:
    through, direct = (post(url, tongue, what) for url in (proxy.url, proxy.direct))
    assert (through.status_code, through.content) == (direct.status_code, direct.content)
    assert through.status_code == 400


def test_p14_everything_else_is_passed_through_unchanged(proxy: Proxied) -> None:
    for method, path, content in (
        ("GET", "/v1/models?limit=3&after=a%2Fb", b""),
        ("POST", "/v1/embeddings", b'{"input":  "x"}'),
        ("DELETE", "/v1/files/f%201", b""),
        ("PUT", "/anything/else", b"\x00\x01"),
        ("GET", "/v1/missing", b""),
    ):
        through, direct = (
            PLAIN.request(method, url + path, content=content, headers=HEADERS)
            for url in (proxy.url, proxy.direct)
        )
        assert (through.status_code, through.content) == (direct.status_code, direct.content)


@each_protocol
def test_p14_errors_of_the_upstream_arrive_as_they_are(proxy: Proxied, tongue: Tongue) -> None:
    body = tongue.body(tongue.user(TASK))
    page = "<html>Bad gateway</html>"
    for fault in (
        ScriptedFault(status=500),
        ScriptedFault(status=429, headers={"retry-after": "7"}),
        ScriptedFault(status=502, page=page),
        ScriptedFault(status=529),
    ):
        proxy.upstream.faults.extend([fault, fault])
        through, direct = (post(url, tongue, body) for url in (proxy.url, proxy.direct))
        assert (through.status_code, through.content) == (fault.status, direct.content)
        assert through.headers.get("retry-after") == direct.headers.get("retry-after")


@each_protocol
def test_p14_a_refusal_of_a_rewrite_is_tried_again_raw_and_the_commit_is_suspect(
    proxy: Proxied, tongue: Tongue
) -> None:
    messages = [*tongue.user(TASK), *tongue.run(9)]
    converse(proxy, tongue, messages)
    body = json.dumps(tongue.body(messages)).encode()
    assert proxy.received[-1].raw != body
    proxy.upstream.faults.append(ScriptedFault(status=400))
    assert proxy.post(tongue, body).status_code == 200
    assert proxy.received[-1].raw == body
    assert any(entry.state in ("suspect", "undone") for entry in proxy.entries)


def test_p03_runs_are_in_total_no_dearer_than_without_us() -> None:
    """A run that ends early may lose what a longer one wins back; both are in the sum."""
    method = Method(scorer=lambda: AgeScorer(2), rule=paying())
    with proxied(method=method) as proxy:
        for steps in (6, 12, 30, 60):
            task = f"Look at {steps} things."
            converse(proxy, CHAT, [*CHAT.user(task), *CHAT.run(steps)])
        totals = [session.totals for session in proxy.sessions]
    assert any(total.commits for total in totals)
    assert sum(t.sent_dollars for t in totals) <= sum(t.raw_dollars for t in totals)
