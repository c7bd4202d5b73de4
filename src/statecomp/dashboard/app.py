"""The routes of the dashboard, to be mounted by the proxy under /statecomp.

The proxy's guard checks host, origin and token of every request here.  What tools and models wrote
is hostile: it leaves as JSON, and the page that shows it writes text only and may run no script
but its own files.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, TypeAlias

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from statecomp.dashboard import answers
from statecomp.dashboard.replies import HEADERS, answer, foreign, known, unchanged
from statecomp.dashboard.routers import RouterDesk
from statecomp.dashboard.shared import PAGE, StaticFile, static_files
from statecomp.history.identity import digest
from statecomp.ledger.audit import LedgerFailed
from statecomp.ledger.ledger import Ledger
from statecomp.ledger.own import Account, account_of
from statecomp.proxy.security import VIEWER
from statecomp.writers import ModelRecords

Endpoint: TypeAlias = Callable[[Request], Response]
AT_ONCE = 2
_READERS = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="statecomp-page")
"""Few: each takes the interpreter, and a connection to the store, from requests of agents."""


def routes(
    ledger: Ledger,
    routers: Any = None,
    rivals: Callable[[], Mapping[str, Any]] | None = None,
    records: ModelRecords | None = None,
) -> list[Route]:
    """Pages and their data over one ledger, which is read in threads of their own.

    `routers` are those that can be switched between while serving (`learning.routers.Routers`);
    `rivals` tells what two routers would do that are only observed.  `records` by a model
    may cost so much.
    """
    desk = Dashboard(ledger, static_files(), records)
    learned = RouterDesk(ledger, routers, rivals)
    return [
        Route("/", desk.file, methods=["GET"]),
        Route("/{name}", desk.file, methods=["GET"]),
        Route("/api/overview", _answering(desk.overview), methods=["GET"]),
        Route("/api/sessions/{id}", _answering(desk.session), methods=["GET"]),
        Route("/api/commits/{id}", _answering(desk.commit), methods=["GET"]),
        Route("/api/commits/{id}/undo", _answering(desk.undo), methods=["POST"]),
        Route("/api/routers", _answering(learned.listed), methods=["GET"]),
        Route("/api/routers/back", _answering(learned.back), methods=["POST"]),
        Route("/api/routers/{name}/use", _answering(learned.use), methods=["POST"]),
        Route("/api/routers/{name}/page", _answering(learned.page), methods=["GET"]),
    ]


@dataclass(frozen=True)
class Dashboard:
    """What each address answers."""

    ledger: Ledger
    files: Mapping[str, StaticFile]
    records: ModelRecords | None = None

    def file(self, request: Request) -> Response:
        found = self.files.get(request.path_params.get("name", PAGE))
        if found is None:
            return answer(request, {"error": "There is no such page."}, status=404)
        headers = {**HEADERS, "etag": found.tag, "cache-control": "no-cache"}
        if known(request, found.tag):
            return Response(status_code=304, headers=headers)
        return Response(found.body, headers=headers, media_type=found.media_type)

    def overview(self, request: Request) -> Response:
        return answer(request, answers.overview(self._account(request), self.records))

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
        if known(request, tag):
            return unchanged(tag)
        after = request.query_params.get("after", "")
        number = int(after) if after.isdecimal() and len(after) < 10 else 0
        detail = answers.session_detail(account, session, number, self.records)
        return answer(request, detail, tag=tag)

    def commit(self, request: Request) -> Response:
        account = self._account(request)
        entry = account.entry(request.path_params["id"])
        if entry is None:
            return answer(request, {"error": "This commit is not in the ledger."}, status=404)
        return answer(request, answers.commit_detail(account, entry))

    def undo(self, request: Request) -> Response:
        if refusal := foreign(request):
            return answer(request, {"error": refusal}, status=403)
        name = request.path_params["id"]
        account = self._account(request)
        entry = account.entry(name)
        # A beginning of an id is enough to look, not to change.
        if entry is None or entry.commit.id != name or not account.undo(name):
            return answer(request, {"error": "This commit is not in the ledger."}, status=404)
        return self.commit(request)


def _answering(endpoint: Endpoint) -> Callable[[Request], Awaitable[Response]]:
    """The ledger may be away for a while: that is an answer too, and the page asks again."""

    def read(request: Request) -> Response:
        try:
            return endpoint(request)
        except LedgerFailed as error:
            # Where it lies is its owner's business.
            told = "." if request.scope.get(VIEWER) else f": {error}"
            return answer(request, {"error": f"The ledger does not answer{told}"}, status=503)

    async def answered(request: Request) -> Response:
        return await asyncio.get_running_loop().run_in_executor(_READERS, read, request)

    return answered
