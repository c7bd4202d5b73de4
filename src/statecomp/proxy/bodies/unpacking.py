"""Request bodies that come compressed: unpacked to be read, and never past a bound."""

from __future__ import annotations

import zlib
from importlib.util import find_spec

from statecomp.proxy.bodies.documents import Unreadable

GZIP, ZLIB, BARE = 31, 15, -15  # the forms zlib knows
MEMBERS = 64
ZSTD_WINDOW = 8 << 20
"""What RFC 9659 allows a zstd body to ask for; a larger window is memory spent on a stranger."""


def unpacked(body: bytes, encoding: str, most: int) -> bytes:
    """The body as it was before its client compressed it.

    Raises Unreadable where it is larger than `most`, broken, or in no form known here.
    """
    coding = encoding.strip().lower()
    try:
        if coding in ("", "identity"):
            return body
        if coding in ("gzip", "x-gzip"):
            plain = _inflated(body, GZIP, most)
        elif coding == "deflate":
            plain = _inflated(body, _deflate_form(body), most)
        elif coding == "zstd" and find_spec("zstandard"):
            plain = _from_zstd(body, most)
        else:
            raise Unreadable(f"the request is compressed in a form not known here ({coding!r})")
    except (zlib.error, EOFError):
        raise Unreadable(f"the request says it is {coding} and cannot be unpacked") from None
    if len(plain) > most:
        raise Unreadable(f"the request is larger than {most:,} bytes when it is unpacked")
    return plain


def _inflated(body: bytes, form: int, most: int) -> bytes:
    """At most one byte more than `most`; a gzip file may have several members."""
    parts: list[bytes] = []
    room = most + 1
    for _ in range(MEMBERS):
        member = zlib.decompressobj(form)
        parts.append(member.decompress(body, room))
        room -= len(parts[-1])
        body = member.unused_data
        if not room or (member.eof and not body):
            return b"".join(parts)
        if not member.eof:
            break
    raise EOFError


def _deflate_form(body: bytes) -> int:
    """The name means zlib, and some clients send the bare stream under it (RFC 9110, 8.4.1.2)."""
    head = int.from_bytes(body[:2], "big")
    return ZLIB if body[:1] and body[0] & 0x0F == 8 and head % 31 == 0 else BARE


def _from_zstd(body: bytes, most: int) -> bytes:
    import zstandard

    reader = zstandard.ZstdDecompressor(max_window_size=ZSTD_WINDOW).stream_reader(
        body, read_across_frames=True
    )
    try:
        return reader.read(most + 1)
    except zstandard.ZstdError:
        raise EOFError from None
