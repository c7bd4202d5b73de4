"""Answers of our own making, in the error shape of the protocol that was spoken."""

from __future__ import annotations

import json

from statecomp.wire.openai_chat.provider import OPENAI_ERRORS
from statecomp.wire.providers import provider_named


class Fault(Exception):
    """A request we answer ourselves; the text holds nothing of the request."""

    def __init__(self, status: int, problem: str) -> None:
        self.status = status
        self.problem = problem
        super().__init__(problem)

    def body(self, protocol: str) -> bytes:
        errors = (provider_named(protocol).errors if protocol else None) or OPENAI_ERRORS
        return json.dumps(errors.body(self.status, f"statecomp proxy: {self.problem}")).encode()

    def headers(self) -> list[tuple[bytes, bytes]]:
        """`x-statecomp-error` tells an answer of the proxy from one of the upstream."""
        own = [(b"content-type", b"application/json"), (b"x-statecomp-error", b"1")]
        if self.status in (408, 413):  # nobody reads the rest of such a request
            own.append((b"connection", b"close"))
        # RFC 9110, 15.5.22: what is spoken here instead must be named.
        return [*own, (b"upgrade", b"HTTP/1.1")] if self.status == 426 else own
