"""How long a client may take to say what it wants, and how much it may say before that.

A server waits for the headers of a request as long as their client likes, and takes as many of
them; hundreds of clients that never finish theirs would stay for good, and one that sends headers
without end would stop everybody: what belongs to one header is put together piece by piece.
"""

from __future__ import annotations

import re
from asyncio import TimerHandle, Transport

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

HEADERS_S = 20.0
"""From the first byte of a request, or of a connection, to the end of the headers."""
LONGEST_HEAD = 256 * 1024
"""Bytes that bring nothing of a body, in a row; what comes in one piece may be one piece more."""
LONGEST_ADDRESS = 32 * 1024
"""It is taken apart in one go, before a token is asked for, to find what stands in it."""
MOST_HEADERS = 1024
MOST_AHEAD = 64
"""Requests behind the one that is being answered; hardly any client sends one."""
LINGER_S = 2.0
_OFFER = re.compile(rb"\r\nupgrade:(?![ \t]*websocket[ \t]*\r\n)[^\r\n]*", re.IGNORECASE)


def _answer(status: bytes) -> bytes:
    """Of ours, and the last on its connection."""
    own = b"x-statecomp-error: 1\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"
    return b"HTTP/1.1 " + status + b"\r\n" + own


_LATE = _answer(b"408 Request Timeout")
_LONG = _answer(b"431 Request Header Fields Too Large")


class PatientProtocol(HttpToolsProtocol):
    """Ends connections whose headers do not come, or do not end."""

    _waiting: TimerHandle | None = None
    _between = True  # nothing of the next request has come yet
    _in_head = False
    _bare_bytes = 0  # in a row, that brought nothing but headers
    _brought = False  # more than headers came in this piece
    _refused = False

    def connection_made(self, transport: Transport) -> None:  # type: ignore[override]  # as theirs
        super().connection_made(transport)
        self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        self._rest()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._refused:
            return
        self._brought = False
        super().data_received(_without_offer(data) if self._between else data)
        self._bare_bytes = 0 if self._brought else self._bare_bytes + len(data)
        if self._bare_bytes > LONGEST_HEAD:
            self._refuse()

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._between, self._in_head = False, True
        if len(self.pipeline) >= MOST_AHEAD:
            raise _CannotBeRead
        self._wait()

    def on_url(self, url: bytes) -> None:
        super().on_url(url)
        if len(self.url) > LONGEST_ADDRESS:
            raise _CannotBeRead

    def on_header(self, name: bytes, value: bytes) -> None:
        """What stands behind a body is none: who looked at the headers did not see it."""
        if self._in_head:
            super().on_header(name, value)
        if len(self.headers) > MOST_HEADERS:
            raise _CannotBeRead

    def on_headers_complete(self) -> None:
        self._in_head, self._brought = False, True
        self._rest()
        if self.parser.should_upgrade() and not any(map(_is_websocket, self.headers)):
            raise _CannotBeRead  # the parser would take the body for another protocol
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        self._brought = True
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._between = True
        super().on_message_complete()

    def send_400_response(self, msg: str) -> None:
        """For whatever cannot be read; what there is too much of is told from it."""
        many = len(self.headers or ()) > MOST_HEADERS or len(self.pipeline) >= MOST_AHEAD
        if many or len(self.url) > LONGEST_ADDRESS:
            self._refuse()
        else:
            super().send_400_response(msg)

    def _wait(self) -> None:
        self._rest()
        self._waiting = self.loop.call_later(HEADERS_S, self._end)

    def _rest(self) -> None:
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None

    def _end(self) -> None:
        # A pipelined request that is late must not cut into the answer before it.
        if self.cycle is None or self.cycle.response_complete:
            self.transport.write(_LATE)
        self.transport.close()

    def _refuse(self) -> None:
        """What still comes is left unread: to close at once could take the answer away."""
        self._refused = True
        self._rest()
        if self.cycle is not None and not self.cycle.response_complete:
            self.transport.close()
            return
        self.transport.write(_LONG)
        self.transport.write_eof()
        self._waiting = self.loop.call_later(LINGER_S, self.transport.close)


class _CannotBeRead(Exception):
    """Ends the reading of what a client sent."""


def _without_offer(data: bytes) -> bytes:
    """The beginning of a request without the offer to go on in another protocol.

    Whoever makes it takes an answer in this one.  Websockets are told that there are none.
    """
    end = data.find(b"\r\n\r\n") + 2
    if _OFFER.search(data, 0, end) is None:
        return data
    return _OFFER.sub(b"", data[:end]) + data[end:]


def _is_websocket(header: tuple[bytes, bytes]) -> bool:
    return header[0] == b"upgrade" and header[1].strip().lower() == b"websocket"
