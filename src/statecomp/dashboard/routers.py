"""Which router decides, how good its scores turned out, and the button that changes it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from threading import Lock
from time import monotonic
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from statecomp.dashboard.replies import HEADERS, answer, foreign
from statecomp.errors import BadInput
from statecomp.learning.watch import watched
from statecomp.ledger.ledger import Ledger
from statecomp.ledger.own import account_of
from statecomp.proxy.security import VIEWER
from statecomp.recent import LruCache

FRESH_S = 60.0
"""Looking through all sessions takes longer than a page should."""
VIEWERS = 64
"""Whose looks are kept: whoever has the token can be as many tenants as there are keys."""
PAGE_HEADERS = {
    **HEADERS,
    "content-security-policy": (
        "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"
    ),
}


@dataclass
class RouterDesk:
    """`routers` is None where none can be switched to: one was fixed on the command line; `rivals`
    where no two are compared."""

    ledger: Ledger
    routers: Any = None
    rivals: Callable[[], Mapping[str, Any]] | None = None
    _seen: LruCache[str, tuple[float, Mapping[str, Any]]] = field(
        default_factory=lambda: LruCache(VIEWERS)
    )
    _lock: Lock = field(default_factory=Lock)

    def listed(self, request: Request) -> Response:
        viewer = request.scope.get(VIEWER, "")
        mine = self.routers is not None and not viewer
        found = self.routers.listed() if mine else []
        return answer(
            request,
            {
                "in_use": self.routers.in_use if self.routers is not None else "",
                "before": self.routers.before if mine else "",
                "switchable": mine,
                "routers": [_brief(one) for one in found],
                "watch": self._watch(viewer),
                "rivals": self.rivals() if self.rivals is not None and not viewer else None,
            },
        )

    def back(self, request: Request) -> Response:
        """To the router that decided before."""
        return self._changed(request, lambda: self.routers.back())

    def use(self, request: Request) -> Response:
        return self._changed(request, lambda: self.routers.use(request.path_params["name"]))

    def _changed(self, request: Request, change: Callable[[], object]) -> Response:
        if refusal := foreign(request):
            return answer(request, {"error": refusal}, status=403)
        if self.routers is None or request.scope.get(VIEWER, ""):
            return answer(request, {"error": "The router cannot be changed here."}, status=403)
        try:
            change()
        except BadInput as problem:
            return answer(request, {"error": f"{problem}."}, status=409)
        return self.listed(request)

    def page(self, request: Request) -> Response:
        """The page that `statecomp learn` wrote; it runs no script, and may not."""
        name = request.path_params["name"]
        if (
            self.routers is None
            or request.scope.get(VIEWER, "")
            or name not in self.routers.names()
        ):
            return answer(request, {"error": "There is no such router."}, status=404)
        body = (self.routers.folder / name / "report.html").read_bytes()
        headers = {**PAGE_HEADERS, "cache-control": "no-store"}
        return Response(body, headers=headers, media_type="text/html")

    def _watch(self, viewer: str) -> Mapping[str, Any]:
        with self._lock:
            when, known = self._seen.get(viewer) or (-FRESH_S, {})
            if monotonic() - when >= FRESH_S:
                known = watched(account_of(self.ledger, viewer)).as_json()
                self._seen.put(viewer, (monotonic(), known))
            return known


def _brief(one: Any) -> dict[str, Any]:
    comparison = one.about.get("comparison", {})
    return {
        "name": one.name,
        "better": one.better,
        "created": one.created,
        "sessions": one.about.get("sessions"),
        "labels": one.about.get("labels"),
        "against": comparison.get("against", []),
        "auroc": [_auroc(comparison, side) for side in ("shipped", "yours")],
    }


def _auroc(comparison: Mapping[str, Any], side: str) -> float | None:
    found: float | None = comparison.get(side, {}).get("measures", {}).get("auroc")
    return found
