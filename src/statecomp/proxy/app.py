"""The proxy as one application: health, metrics, pages, and everything else to the door."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.types import ASGIApp, Receive, Scope, Send

from statecomp.controller.prices import PriceBook, shipped_prices
from statecomp.ledger.audit import Ledger
from statecomp.method import Method
from statecomp.proxy.account.accountant import Accountant
from statecomp.proxy.background import Background
from statecomp.proxy.door import Door
from statecomp.proxy.engines import Engines
from statecomp.proxy.horizons import Horizons
from statecomp.proxy.metrics import Metrics
from statecomp.proxy.security import PAGES, Guard, is_page
from statecomp.proxy.settings import ProxySettings
from statecomp.proxy.views import Views
from statecomp.recent import MEMORY
from statecomp.strategy import View

OWN = ("/healthz", "/metrics")


class Proxy:
    """Past the guard, our own few paths go to their pages and everything else to the door."""

    def __init__(self, settings: ProxySettings, door: Door, pages: ASGIApp) -> None:
        self.door = door
        self._pages = pages
        self._guard = Guard(self._inside, settings)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._guard(scope, receive, send)

    async def _inside(self, scope: Scope, receive: Receive, send: Send) -> None:
        own = scope["type"] != "http" or scope["path"] in OWN or is_page(scope["path"])
        await (self._pages if own else self.door)(scope, receive, send)


def build_app(
    settings: ProxySettings,
    ledger: Ledger,
    method: Method | None = None,
    *,
    prices: PriceBook | None = None,
    pages: Sequence[BaseRoute] = (),
) -> Proxy:
    """An application that serves; its threads end with its lifespan, the ledger is the caller's.

    `pages` are shown under /statecomp/.
    """
    book = prices or shipped_prices()
    metrics, limits = Metrics(), settings.limits
    background: Background[View] = Background(
        threads=limits.threads,
        waiting=limits.waiting,
        deadline_s=limits.decision_s,
        busy=lambda: views.busy,
    )
    failed = lambda: metrics.add("statecomp_ledger_failures_total")  # noqa: E731
    decides = method or Method()
    engines = Engines(settings, decides, ledger, failed)
    views = Views(settings, engines, background, book, Horizons(ledger))
    accountant = Accountant(ledger, metrics, book, most_waiting=limits.records, count=decides.count)
    door = Door(settings, ledger, views, accountant, metrics)
    metrics.gauge("statecomp_open_requests", lambda: door.open_requests)
    metrics.gauge("statecomp_decisions_waiting", lambda: background.waiting)
    metrics.gauge("statecomp_records_waiting", lambda: accountant.waiting)
    MEMORY.most_bytes = limits.memory_bytes
    metrics.gauge("statecomp_memory_bytes", lambda: MEMORY.bytes)
    metrics.gauge("statecomp_memory_limit_bytes", lambda: MEMORY.most_bytes)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        _ = door.client  # certificates are read now, not with the first request
        yield
        await door.close()
        views.close()
        await asyncio.to_thread(background.close, limits.drain_s)
        await asyncio.to_thread(accountant.close, limits.drain_s)

    async def healthz(request: Request) -> Response:
        return JSONResponse({"status": "ok", "mode": settings.mode})

    async def show_metrics(request: Request) -> Response:
        return PlainTextResponse(metrics.text(), media_type="text/plain; version=0.0.4")

    async def to_pages(request: Request) -> Response:
        return RedirectResponse(PAGES + "/")

    own = Starlette(
        routes=[
            Route("/healthz", healthz),
            Route("/metrics", show_metrics),
            Route(PAGES, to_pages),
            Mount(PAGES, routes=list(pages)),
        ],
        lifespan=lifespan,
    )
    return Proxy(settings, door, own)
