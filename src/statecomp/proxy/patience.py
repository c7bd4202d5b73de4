"""How long a client may take to say what it wants, and how much it may say before that.

A server waits for the headers of a request as long as their client likes, and takes as many of
them; hundreds of clients that never finish theirs would stay for good, and one that sends headers
without end would stop everybody: what belongs to one header is put together piece by piece.
"""

from __future__ import annotations

from asyncio import TimerHandle, Transport

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

HEADERS_S = 20.0
"""From the first byte of a request, or of a connection, to the end of the headers."""
LONGEST_HEAD = 256 * 1024
"""Bytes that bring nothing of a body, in a row; what comes in one piece may be one piece more."""
MOST_HEADERS = 1024
MOST_AHEAD = 64
"""Requests behind the one that is being answered; hardly any client sends one."""
LINGER_S = 2.0


def _answer(status: bytes) -> bytes:
    """Of ours, and the last on its connection."""
    own = b"x-statecomp-error: 1\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"
    return b"HTTP/1.1 " + status + b"\r\n" + own


_LATE = _answer(b"408 Request Timeout")
_LONG = _answer(b"431 Request Header Fields Too Large")


class PatientProtocol(HttpToolsProtocol):
    """Ends connections whose headers do not come, or do not end."""

    _waiting: TimerHandle | None = None
    _head_bytes = 0
    _in_head = True
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
        self._in_head = True
        super().data_received(data)
        self._head_bytes = self._head_bytes + len(data) if self._in_head else 0
        if self._head_bytes > LONGEST_HEAD:
            self._refuse()

    def on_message_begin(self) -> None:
        super().on_message_begin()
        if len(self.pipeline) >= MOST_AHEAD:
            raise _TooMuch
        self._wait()

    def on_header(self, name: bytes, value: bytes) -> None:
        super().on_header(name, value)
        if len(self.headers) > MOST_HEADERS:
            raise _TooMuch

    def on_headers_complete(self) -> None:
        self._in_head = False
        self._rest()
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        self._in_head = False
        super().on_body(body)

    def send_400_response(self, msg: str) -> None:
        """For whatever cannot be read; what we have had enough of is told from it."""
        if len(self.headers or ()) > MOST_HEADERS or len(self.pipeline) >= MOST_AHEAD:
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


class _TooMuch(Exception):
    """Ends the reading of what a client sent."""
