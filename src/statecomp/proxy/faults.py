"""Answers of our own making, in the error shape of the protocol that was spoken."""

from __future__ import annotations

import json
from typing import Any

KINDS = {
    400: ("invalid_request_error", "invalid_request_error"),
    401: ("authentication_error", "authentication_error"),
    403: ("permission_error", "permission_error"),
    404: ("invalid_request_error", "not_found_error"),
    408: ("timeout", "timeout_error"),
    413: ("invalid_request_error", "request_too_large"),
    426: ("invalid_request_error", "invalid_request_error"),
    502: ("api_connection_error", "api_error"),
    504: ("timeout", "timeout_error"),
}
"""The `type` of an error by status: OpenAI's word, Anthropic's word."""


class Fault(Exception):
    """A request we answer ourselves; the text holds nothing of the request."""

    def __init__(self, status: int, problem: str) -> None:
        self.status = status
        self.problem = problem
        super().__init__(problem)

    def body(self, protocol: str) -> bytes:
        openai, anthropic = KINDS.get(self.status, ("api_error", "api_error"))
        message = f"statecomp proxy: {self.problem}"
        shaped: dict[str, Any] = (
            {"type": "error", "error": {"type": anthropic, "message": message}}
            if protocol == "anthropic"
            else {
                "error": {
                    "message": message,
                    "type": openai,
                    "param": None,
                    "code": f"statecomp_{self.status}",
                }
            }
        )
        return json.dumps(shaped).encode()

    def headers(self) -> list[tuple[bytes, bytes]]:
        """`x-statecomp-error` tells an answer of the proxy from one of the upstream."""
        own = [(b"content-type", b"application/json"), (b"x-statecomp-error", b"1")]
        if self.status in (408, 413):  # nobody reads the rest of such a request
            own.append((b"connection", b"close"))
        # RFC 9110, 15.5.22: what is spoken here instead must be named.
        return [*own, (b"upgrade", b"HTTP/1.1")] if self.status == 426 else own
