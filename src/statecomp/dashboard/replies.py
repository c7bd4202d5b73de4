"""Answers of the pages: JSON that no cache keeps, and no answer to pages of other sites."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from statecomp.history.identity import digest
from statecomp.history.patient_json import dumps

ASKED_BY_US = "x-statecomp"
HEADERS = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self';"
        " img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none';"
        " require-trusted-types-for 'script'; trusted-types 'none'"
    ),
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
}


def answer(request: Request, value: Any, *, status: int = 200, tag: str = "") -> Response:
    """JSON that no shared or disk cache keeps; 304 where the asker has it already."""
    body = _encoded(value)
    tag = tag or f'"{digest(body)}"'
    if status == 200 and known(request, tag):
        return unchanged(tag)
    headers = {**HEADERS, "etag": tag, "cache-control": "no-store"}
    return Response(body, status, headers, "application/json")


def foreign(request: Request) -> str:
    """Why a change is refused.  A form or image of another site cannot set a header; a script
    there would have to ask first, and nobody answers."""
    if request.headers.get(ASKED_BY_US) != "1":
        return f"A change needs the header {ASKED_BY_US}: 1."
    origin = request.headers.get("origin")
    if origin is not None and origin.partition("://")[2] != request.headers.get("host"):
        return "A page of another site may change nothing."
    if request.headers.get("sec-fetch-site", "none") not in ("same-origin", "none"):
        return "A page of another site may change nothing."
    return ""


def known(request: Request, tag: str) -> bool:
    given = request.headers.get("if-none-match", "")
    return tag in (one.strip().removeprefix("W/") for one in given.split(","))


def unchanged(tag: str) -> Response:
    headers = {**HEADERS, "etag": tag, "cache-control": "no-store"}
    return Response(status_code=304, headers=headers)


def _encoded(value: Any) -> str:
    """ASCII, so that lone surrogates of tool output survive; infinities have no JSON."""
    try:
        return dumps(value, allow_nan=False, separators=(",", ":"))
    except ValueError:
        return dumps(_plain(value), allow_nan=False, separators=(",", ":"))


def _plain(value: Any) -> Any:
    if isinstance(value, float) and not isfinite(value):
        return None
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list | tuple) else value
