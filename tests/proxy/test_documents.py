"""What is kept of a request goes out in its own characters, and what came before is recognised."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from statecomp.proxy.bodies.documents import Document, Unreadable, parsed, read, written
from statecomp.proxy.bodies.remembered import Documents
from statecomp.proxy.request.outgoing import Outgoing, asking
from statecomp.testing.words import chat_of
from tests.proxy.small_upstream import KEY, running

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=8,
)  # fmt: skip
MESSAGE = st.dictionaries(st.sampled_from(["role", "content", "cache_control"]), JSON, max_size=3)
BODY = st.fixed_dictionaries(
    {"messages": st.lists(MESSAGE, max_size=6)},
    optional={"model": JSON, "tools": JSON, "aaa": JSON, "zzz": JSON},
)
ODD = (
    '{"model": "m", "x": 1.10,\n "messages": [ {"role":"user","n":-0,"n":1.10} ,'
    '{"role": "user", "big": 123456789012345678901234567890.1230, "e": 1e999},  {"a" : 1}],'
    ' "temperature": 1.0}'
)


def mixed(value: Any, seed: int) -> str:
    """The same JSON with its fields in another order and other spaces."""
    names = sorted(value, key=lambda name: hash((seed, name)))
    separators = [(",", ":"), (", ", ": "), (" ,\n", "\t: ")][seed % 3]
    return json.dumps(
        {name: value[name] for name in names}, separators=separators, ensure_ascii=seed % 2 == 0
    )


@given(BODY, st.integers(0, 5))
def test_a_text_is_read_as_json_reads_it(body: dict[str, Any], seed: int) -> None:
    text = mixed(body, seed)
    document = read(text, "messages")
    assert document.body == body
    start = document.array[0]
    for message, begins, ends in zip(body["messages"], document.begins, document.ends, strict=True):
        assert json.loads(text[start + begins : start + ends]) == message
    assert document.written(document.body) == text.encode("utf-8", "surrogatepass")


@given(BODY, BODY, st.integers(0, 5), st.integers(0, 6))
def test_what_is_recognised_is_what_would_have_been_read(
    one: dict[str, Any], two: dict[str, Any], seed: int, same: int
) -> None:
    later = {**two, "messages": [*one["messages"][:same], *two["messages"]]}
    for body in (later, {**one, "messages": later["messages"]}, one):
        known = read(mixed(one, seed), "messages")
        text = mixed(body, seed)
        found, plain = read(text, "messages", known), read(text, "messages")
        assert found == plain


def test_messages_that_came_before_are_the_same_objects() -> None:
    documents = Documents()
    messages: list[Any] = [{"role": "user", "content": str(n)} for n in range(10)]
    body: dict[str, Any] = {"model": "m", "messages": messages, "tools": [{"name": "t"}]}
    first = documents.read("t", "messages", json.dumps(body).encode())
    body["messages"] = [*messages[:8], {**messages[8], "mark": 1}, *messages[8:]]
    second = documents.read("t", "messages", json.dumps(body).encode())
    other = documents.read("u", "messages", json.dumps(body).encode())
    pairs = zip(first.body["messages"], second.body["messages"], strict=False)
    assert [a is b for a, b in pairs] == [True] * 8 + [False] * 2
    assert second.body["tools"] is first.body["tools"]
    assert second.body == other.body == body
    assert other.body["messages"][0] is not first.body["messages"][0]


def test_kept_messages_go_out_in_their_own_characters() -> None:
    document = read(ODD, "messages")
    kept = document.body["messages"]
    news = {"role": "user", "content": "[Record] é \ud800"}
    out = document.written({**document.body, "messages": [news, *kept[:2]]}).decode()
    assert out == (
        '{"model": "m", "x": 1.10,\n "messages": '
        '[{"role":"user","content":"[Record] \\u00e9 \\ud800"},'
        '{"role":"user","n":-0,"n":1.10},'
        '{"role": "user", "big": 123456789012345678901234567890.1230, "e": 1e999}],'
        ' "temperature": 1.0}'
    )


def test_fields_are_changed_in_their_place_and_new_ones_come_last() -> None:
    document = read(ODD, "messages")
    out = document.written({**document.body, "model": "n", "thinking": {"type": "adaptive"}})
    assert out.decode() == ODD.replace('"m"', '"n"')[:-1] + ',"thinking":{"type":"adaptive"}}'


@pytest.mark.parametrize(
    "text",
    [
        "", "{", "[]", "1", '"x"', "{} x", '{"a":1,}', '{"a":1 "b":2}', '{"a" 1}', "{a:1}",
        '{"messages":[1,]}', '{"messages":[{}', '{"messages":[{} {}]}', '{"a":NaN}', '{"a":1',
        '{"messages":[NaN]}', "\x00{}", '{"a":"\n"}', '{"a":1,"a":2}', '{"a":' + "9" * 5000 + "}",
        '{"messages":' + "[" * 100_000 + "]" * 100_000 + "}",
    ],
)  # fmt: skip
def test_what_is_no_json_object_is_not_read(text: str) -> None:
    with pytest.raises(Unreadable):
        read(text, "messages")
    known = read('{"messages":[{},{},{}]}', "messages")
    with pytest.raises(Unreadable):
        read(text, "messages", known)


def test_a_body_in_another_encoding_is_read_and_written_anew() -> None:
    given = '{"messages":[{"a":"é"}],"n":1.50}'.encode("utf-16")
    document = Documents().read("t", "messages", given)
    assert document == Document("", parsed(given))
    assert document.written(document.body) == '{"messages":[{"a":"é"}],"n":1.5}'.encode()


def test_what_json_has_no_number_for_is_not_written() -> None:
    with pytest.raises(ValueError):
        written({"a": float("inf")})


def test_asking_for_stale_thinking_to_be_dropped_leaves_every_number_as_it_came() -> None:
    content = (
        b'{"model":"claude-opus-5-5","messages":[{"role":"assistant","content":'
        b'[{"type":"thinking","thinking":"t","signature":"s"}]}],"x":1e999,"y":1.10}'
    )
    asked = asking(Outgoing(content, []), "anthropic")
    assert asked is not None
    assert asked.content.startswith(content[:-1] + b',"thinking":{')
    assert asking(Outgoing(asked.content, []), "anthropic") is None


def test_a_thinking_setting_that_cannot_be_written_is_left_alone() -> None:
    content = (
        b'{"model":"claude-opus-5-5","thinking":{"type":"adaptive","x":1e999},"messages":'
        b'[{"role":"assistant","content":[{"type":"thinking","thinking":"t","signature":"s"}]}]}'
    )
    assert asking(Outgoing(content, []), "anthropic") is None


def test_a_rewritten_request_holds_what_is_kept_as_it_came() -> None:
    messages = [json.dumps(message) for message in chat_of("prrrr")]
    odd = '{"role": "user", "content": "now", "weight": 1.10, "weight": -0}'
    body = f'{{"model":"small","top_p":1.00,"messages":[{",  ".join([*messages, odd])}]}}'
    with running() as proxy:
        for _ in range(2):
            proxy.client.post("/v1/chat/completions", content=body.encode(), headers=KEY)
        first, second = (got.body.decode() for got in proxy.received)
    assert "[Record of past" in first
    assert first == second
    assert odd in first
    assert messages[-1] in first
    assert '"top_p":1.00,' in first
