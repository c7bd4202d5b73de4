"""The routes of the dashboard, to be mounted by the proxy under /statecomp.

The proxy's guard checks host, origin and token of every request here.  What tools and models wrote
is hostile: it leaves as JSON, and the page that shows it writes text only and may run no script
but its own files.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import isfinite
from typing import Any, TypeAlias

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from statecomp.dashboard import answers
from statecomp.dashboard.shared import PAGE, StaticFile, static_files
from statecomp.history.identity import digest
from statecomp.ledger.audit import Ledger, LedgerFailed
from statecomp.ledger.own import Account, account_of
from statecomp.proxy.security import VIEWER

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

Endpoint: TypeAlias = Callable[[Request], Response]


def routes(ledger: Ledger) -> list[Route]:
    """Pages and their data over one ledger; each call reads the ledger in a worker thread."""
    desk = Dashboard(ledger, static_files())
    return [
        Route("/", desk.file, methods=["GET"]),
        Route("/{name}", desk.file, methods=["GET"]),
        Route("/api/overview", _answering(desk.overview), methods=["GET"]),
        Route("/api/sessions/{id}", _answering(desk.session), methods=["GET"]),
        Route("/api/commits/{id}", _answering(desk.commit), methods=["GET"]),
        Route("/api/commits/{id}/undo", _answering(desk.undo), methods=["POST"]),
    ]


@dataclass(frozen=True)
class Dashboard:
    """What each address answers."""

    ledger: Ledger
    files: Mapping[str, StaticFile]

    def file(self, request: Request) -> Response:
        found = self.files.get(request.path_params.get("name", PAGE))
        if found is None:
            return answer(request, {"error": "There is no such page."}, status=404)
        headers = {**HEADERS, "etag": found.tag, "cache-control": "no-cache"}
        if _known(request, found.tag):
            return Response(status_code=304, headers=headers)
        return Response(found.body, headers=headers, media_type=found.media_type)

    def overview(self, request: Request) -> Response:
        return answer(request, answers.overview(self._account(request)))

    def _account(self, request: Request) -> Account:
        """As far as whoever asks may see it; the guard has found out who that is."""
        return account_of(self.ledger, request.scope.get(VIEWER, ""))

    def session(self, request: Request) -> Response:
        account = self._account(request)
        session = account.session(request.path_params["id"])
        if session is None:
            return answer(request, {"error": "This session is not in the ledger."}, status=404)
        # Whatever changes in a session, a request, an undo or a regret, shows in its own row; so
        # an unchanged one costs a single small query.
        tag = f'"{digest(repr(session))}"'
        if _known(request, tag):
            return _unchanged(tag)
        after = request.query_params.get("after", "")
        number = int(after) if after.isdecimal() and len(after) < 10 else 0
        return answer(request, answers.session_detail(account, session, number), tag=tag)

    def commit(self, request: Request) -> Response:
        account = self._account(request)
        entry = account.entry(request.path_params["id"])
        if entry is None:
            return answer(request, {"error": "This commit is not in the ledger."}, status=404)
        return answer(request, answers.commit_detail(account, entry))

    def undo(self, request: Request) -> Response:
        if refusal := _foreign(request):
            return answer(request, {"error": refusal}, status=403)
        name = request.path_params["id"]
        account = self._account(request)
        entry = account.entry(name)
        # A beginning of an id is enough to look, not to change.
        if entry is None or entry.commit.id != name or not account.undo(name):
            return answer(request, {"error": "This commit is not in the ledger."}, status=404)
        return self.commit(request)


def answer(request: Request, value: Any, *, status: int = 200, tag: str = "") -> Response:
    """JSON that no shared or disk cache keeps; 304 where the asker has it already."""
    body = _encoded(value)
    tag = tag or f'"{digest(body)}"'
    if status == 200 and _known(request, tag):
        return _unchanged(tag)
    headers = {**HEADERS, "etag": tag, "cache-control": "no-store"}
    return Response(body, status, headers, "application/json")


def _answering(endpoint: Endpoint) -> Endpoint:
    """The ledger may be away for a while: that is an answer too, and the page asks again."""

    def answered(request: Request) -> Response:
        try:
            return endpoint(request)
        except LedgerFailed as error:
            return answer(request, {"error": f"The ledger does not answer: {error}"}, status=503)

    return answered


def _foreign(request: Request) -> str:
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


def _known(request: Request, tag: str) -> bool:
    given = request.headers.get("if-none-match", "")
    return tag in (one.strip().removeprefix("W/") for one in given.split(","))


def _unchanged(tag: str) -> Response:
    headers = {**HEADERS, "etag": tag, "cache-control": "no-store"}
    return Response(status_code=304, headers=headers)


def _encoded(value: Any) -> str:
    """ASCII, so that lone surrogates of tool output survive; infinities have no JSON."""
    try:
        return json.dumps(value, allow_nan=False, separators=(",", ":"))
    except ValueError:
        return json.dumps(_plain(value), allow_nan=False, separators=(",", ":"))


def _plain(value: Any) -> Any:
    if isinstance(value, float) and not isfinite(value):
        return None
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list | tuple) else value
