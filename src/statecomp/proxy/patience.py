"""How long a client may take to say what it wants.

A server waits for the headers of a request as long as their client likes; hundreds of clients that
never finish theirs would stay for good.
"""

from __future__ import annotations

from asyncio import TimerHandle, Transport

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

HEADERS_S = 20.0
"""From the first byte of a request, or of a connection, to the end of the headers."""
_LATE = (
    b"HTTP/1.1 408 Request Timeout\r\nx-statecomp-error: 1\r\nconnection: close\r\n"
    b"content-length: 0\r\n\r\n"
)


class PatientProtocol(HttpToolsProtocol):
    """Ends connections whose headers do not come."""

    _waiting: TimerHandle | None = None

    def connection_made(self, transport: Transport) -> None:  # type: ignore[override]  # as theirs
        super().connection_made(transport)
        self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        self._rest()
        super().connection_lost(exc)

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._wait()

    def on_headers_complete(self) -> None:
        self._rest()
        super().on_headers_complete()

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
