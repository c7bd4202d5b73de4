"""The proxy as one application: health, metrics, pages, and everything else to the endpoint."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.types import ASGIApp, Receive, Scope, Send

from statecomp.controller.prices import PriceBook, shipped_prices
from statecomp.ledger.ledger import Ledger
from statecomp.ledger.nearby import NearbyFile
from statecomp.method import Method
from statecomp.proxy.account.accountant import Accountant
from statecomp.proxy.background import Background
from statecomp.proxy.backoff import Backoff
from statecomp.proxy.horizons import Horizons
from statecomp.proxy.judging.asked import Opening
from statecomp.proxy.judging.processes import Judges
from statecomp.proxy.metrics import Metrics
from statecomp.proxy.request.deciding import Decider
from statecomp.proxy.request.endpoint import ProxyEndpoint
from statecomp.proxy.request.preparing import Preparer
from statecomp.proxy.request.reading import RequestReader
from statecomp.proxy.request.sending import Sender
from statecomp.proxy.rivals.rivals import Rivals
from statecomp.proxy.security import PAGES, Guard, is_page
from statecomp.proxy.settings import Limits, ProxySettings
from statecomp.proxy.tenants import TenantCompressors
from statecomp.recent import MEMORY
from statecomp.strategy import View

OWN = ("/healthz", "/metrics")
QUESTIONS = 3
"""One behind the other, that the writer of a decision's records may be asked: mends are such."""


class Proxy:
    """Past the guard, our own few paths go to their pages and everything else to the endpoint."""

    def __init__(self, settings: ProxySettings, endpoint: ProxyEndpoint, pages: ASGIApp) -> None:
        self.endpoint = endpoint
        self._pages = pages
        self._guard = Guard(self._inside, settings)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._guard(scope, receive, send)

    async def _inside(self, scope: Scope, receive: Receive, send: Send) -> None:
        own = scope["type"] != "http" or scope["path"] in OWN or is_page(scope["path"])
        await (self._pages if own else self.endpoint)(scope, receive, send)


def _judges(
    settings: ProxySettings, method: Method, opens: Callable[[], Method] | None
) -> Judges | None:
    """Half of the memory is theirs."""
    limits = settings.limits
    if opens is None or not limits.processes or not method.scores_at_once:
        return None
    share = limits.memory_bytes // (2 * limits.processes)
    return Judges(Opening(opens, settings.salt, share), limits.processes, limit_s=limits.decision_s)


def _decision_s(limits: Limits, method: Method) -> float:
    """After which a decision is discarded: not before its writer has had the time it was given."""
    records = method.records
    return max(limits.decision_s, QUESTIONS * records.deadline_s if records is not None else 0.0)


def _remember(metrics: Metrics, limits: Limits, judges: Judges | None) -> None:
    """Within bounds that can be seen."""
    MEMORY.most_bytes = limits.memory_bytes // (2 if judges is not None else 1)
    away = judges or Judges(Opening(Method), 0, 0.0)
    metrics.gauge("statecomp_memory_bytes", lambda: MEMORY.bytes + away.memory_bytes)
    metrics.gauge("statecomp_memory_limit_bytes", lambda: limits.memory_bytes)
    metrics.gauge("statecomp_judges_lost", lambda: away.lost)


def _endpoint(
    settings: ProxySettings,
    decider: Decider,
    ledger: Ledger,
    accountant: Accountant,
    metrics: Metrics,
) -> ProxyEndpoint:
    """The steps of a request, one behind the other; what prepares and what sends rest together."""
    backoff = Backoff()
    preparer = Preparer(settings, decider.reader, decider, backoff, metrics)
    sender = Sender(settings, ledger, backoff, metrics)
    return ProxyEndpoint(settings, preparer, sender, accountant, metrics)


def _own_pages(
    settings: ProxySettings,
    metrics: Metrics,
    pages: Sequence[BaseRoute],
    lifespan: Callable[[Starlette], AbstractAsyncContextManager[None]],
) -> Starlette:
    async def healthz(request: Request) -> Response:
        return JSONResponse({"status": "ok", "mode": settings.mode})

    async def show_metrics(request: Request) -> Response:
        return PlainTextResponse(metrics.text(), media_type="text/plain; version=0.0.4")

    async def to_pages(request: Request) -> Response:
        return RedirectResponse(PAGES + "/")

    return Starlette(
        routes=[
            Route("/healthz", healthz),
            Route("/metrics", show_metrics),
            Route(PAGES, to_pages),
            Mount(PAGES, routes=list(pages)),
        ],
        lifespan=lifespan,
    )


def build_app(
    settings: ProxySettings,
    ledger: Ledger,
    method: Method | None = None,
    *,
    prices: PriceBook | None = None,
    pages: Sequence[BaseRoute] = (),
    opens: Callable[[], Method] | None = None,
    rivals: Rivals | None = None,
    nearby: NearbyFile | None = None,
) -> Proxy:
    """An application that serves; its threads end with its lifespan, the ledger is the caller's.

    `pages` are shown under /statecomp/.  A process that judges `opens` the same method for itself;
    without that, or where a language model is read for scores, this process judges.  `rivals` are
    shown every request beside that.  A ledger behind a network is copied to a file `nearby`.
    """
    book = prices or shipped_prices()
    metrics, limits = Metrics(), settings.limits
    decides = method or Method()
    judges = _judges(settings, decides, opens)
    background: Background[View] = Background(
        threads=max(limits.threads, 1 + limits.processes),
        waiting=limits.waiting,
        deadline_s=_decision_s(limits, decides),
        busy=lambda: judges is None and reader.busy,  # others take nothing from requests
    )
    failed = lambda: metrics.add("statecomp_ledger_failures_total")  # noqa: E731
    engines = TenantCompressors(
        settings, decides, ledger, failed, judges, unchanging=True, nearby=nearby
    )
    reader = RequestReader(settings, engines)
    learned = Horizons(ledger)
    decider = Decider(settings, reader, background, book, learned)
    accountant = Accountant(ledger, metrics, book, most_waiting=limits.records, count=decides.count)
    endpoint = _endpoint(settings, decider, ledger, accountant, metrics)
    if rivals is not None:
        rivals.metrics, rivals.horizons, endpoint.seen = metrics, learned, rivals.see
        metrics.gauge("statecomp_rival_agreement", lambda: rivals.table.agreement)
    metrics.gauge("statecomp_open_requests", lambda: endpoint.open_requests)
    metrics.gauge("statecomp_decisions_waiting", lambda: background.waiting)
    metrics.gauge("statecomp_records_waiting", lambda: accountant.waiting)
    _remember(metrics, limits, judges)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        _ = endpoint.sender.client  # certificates are read now, not with the first request
        yield
        await endpoint.sender.close()
        reader.close()
        await asyncio.to_thread(background.close, limits.drain_s)
        if rivals is not None:
            await asyncio.to_thread(rivals.close, limits.drain_s)
        await asyncio.to_thread(accountant.close, limits.drain_s)

    own = _own_pages(settings, metrics, pages, lifespan)
    return Proxy(settings, endpoint, own)
