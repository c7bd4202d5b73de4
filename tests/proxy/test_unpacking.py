"""Compressed requests: read within bounds, sent on as they came or plain."""

from __future__ import annotations

import gzip
import json
import logging
import zlib
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from statecomp.proxy.bodies.documents import Unreadable
from statecomp.proxy.bodies.unpacking import unpacked
from statecomp.proxy.settings import Limits
from statecomp.testing.words import chat_of
from tests.proxy.small_upstream import KEY, running

PATH = "/v1/chat/completions"
MOST = 1000


def bare_deflate(body: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(body) + packer.flush()


PACKED: dict[str, tuple[str, Callable[[bytes], bytes]]] = {
    "gzip": ("gzip", partial(gzip.compress, mtime=0)),  # else it holds the time
    "deflate": ("deflate", zlib.compress),
    "bare deflate": ("deflate", bare_deflate),
    "zstd": ("zstd", zstandard.ZstdCompressor().compress),
}
each_coding = pytest.mark.parametrize(("coding", "pack"), PACKED.values(), ids=PACKED)


@each_coding
@given(body=st.binary(max_size=MOST))
def test_a_packed_body_is_read_as_it_was(
    coding: str, pack: Callable[[bytes], bytes], body: bytes
) -> None:
    assert unpacked(pack(body), coding, MOST) == body
    assert unpacked(pack(body), f" {coding.upper()} ", MOST) == body


def test_what_is_not_packed_stays_as_it_is() -> None:
    assert unpacked(b"{}", "identity", 1) == b"{}"
    assert unpacked(b"{}", "", 1) == b"{}"


def test_a_body_packed_in_pieces_is_read_whole() -> None:
    for coding, pack in (PACKED["gzip"], PACKED["zstd"]):
        assert unpacked(pack(b"one ") + pack(b"two"), coding, MOST) == b"one two"
        with pytest.raises(Unreadable, match="larger than 1,000 bytes"):
            unpacked(pack(b"0" * MOST) * 2, coding, MOST)
    with pytest.raises(Unreadable, match="cannot be unpacked"):
        unpacked(gzip.compress(b"") * 100_000, "gzip", MOST)


@each_coding
def test_a_bomb_does_not_go_off(coding: str, pack: Callable[[bytes], bytes]) -> None:
    bomb = pack(b"0" * 20_000_000)
    with pytest.raises(Unreadable, match="larger than 1,000 bytes"):
        unpacked(bomb, coding, MOST)
    with pytest.raises(Unreadable, match="larger than 1,000 bytes"):
        unpacked(pack(b"0" * (MOST + 1)), coding, MOST)


def test_a_window_larger_than_the_standard_allows_is_not_opened() -> None:
    parameters = zstandard.ZstdCompressionParameters.from_level(3, window_log=25)
    stream = zstandard.ZstdCompressor(compression_params=parameters).compressobj()
    wide = stream.compress(b"0" * 100) + stream.flush()
    with pytest.raises(Unreadable, match="zstd and cannot be unpacked"):
        unpacked(wide, "zstd", MOST)


@each_coding
@given(body=st.binary(max_size=60), cut=st.integers(1, 8))
def test_what_is_broken_is_refused_and_never_crashes(
    coding: str, pack: Callable[[bytes], bytes], body: bytes, cut: int
) -> None:
    for broken in (body, pack(body)[:-cut]):
        with suppress(Unreadable):
            unpacked(broken, coding, MOST)


@pytest.mark.parametrize("coding", ["br", "compress", "gzip, zstd", "?"])
def test_a_form_that_is_not_known_is_named(coding: str) -> None:
    with pytest.raises(Unreadable, match="in a form not known here"):
        unpacked(b"x", coding, MOST)


def body_of(word: str) -> bytes:
    return json.dumps({"model": "small", "messages": chat_of(word)}).encode()


@each_coding
def test_a_packed_request_goes_out_as_it_came_or_plain_with_its_history_shortened(
    coding: str, pack: Callable[[bytes], bytes]
) -> None:
    headers = {**KEY, "content-encoding": coding, "content-type": "application/json"}
    with running(commit="now") as proxy:
        for word in ("pr", "prrrr"):
            proxy.client.post(PATH, content=pack(body_of(word)), headers=headers)
        untouched, rewritten = proxy.received
        assert untouched.body == pack(body_of("pr"))
        assert untouched.header("content-encoding") == [coding]
        assert len(rewritten.json["messages"]) < len(chat_of("prrrr"))
        assert rewritten.header("content-encoding") == []
        assert rewritten.header("content-length") == [str(len(rewritten.body))]


@pytest.mark.parametrize(
    ("coding", "content", "limits", "why"),
    [
        ("gzip", gzip.compress(body_of("prrrr")), Limits(body_bytes=2000), "larger than 2,000"),
        ("gzip", b"no gzip", Limits(), "the request says it is gzip and cannot be unpacked"),
        ("br", b"whatever", Limits(), "in a form not known here"),
        ("zstd", zstandard.ZstdCompressor().compress(b"no json"), Limits(), "not JSON"),
    ],
)
def test_what_cannot_be_unpacked_goes_out_as_it_came_with_a_note(
    coding: str, content: bytes, limits: Limits, why: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "statecomp.proxy")
    with running(commit="now", limits=limits) as proxy:
        answer = proxy.client.post(
            PATH, content=content, headers={**KEY, "content-encoding": coding}
        )
        assert answer.status_code == 200
        assert proxy.received[0].body == content
        assert proxy.received[0].header("content-encoding") == [coding]
    (record,) = caplog.records
    fields: dict[str, Any] = record.fields  # type: ignore[attr-defined]  # set by the proxy
    assert why in fields["note"]
