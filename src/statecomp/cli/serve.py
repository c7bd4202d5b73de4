"""`statecomp serve`: one address in front of any model."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import partial
from importlib.util import find_spec
from math import isfinite
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import click

from statecomp.cli.files import read_price_book
from statecomp.cli.live_method import given_for, live_method, method_options, rivals_of
from statecomp.cli.options import PRICES, STORE_URL
from statecomp.cli.server import run_server
from statecomp.cli.terminal import warn
from statecomp.config.learned import routers_of
from statecomp.config.places import data_folder, open_nearby, open_store, store_url
from statecomp.errors import BadInput
from statecomp.proxy.sessions import salt_of
from statecomp.proxy.settings import (
    MEGABYTE,
    Limits,
    Mode,
    ProxySettings,
    When,
    is_loopback,
)

PORT = 8484


class _Seconds(click.FloatRange):
    """A time somebody can wait for; NaN is neither below nor above anything."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        seconds = super().convert(value, param, ctx)
        if not isfinite(seconds):
            self.fail(f"{value} is no number of seconds.", param, ctx)
        return seconds


SECONDS = _Seconds(min=0, min_open=True)
ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
"""A score is a small product of matrices: several threads take three times as long for it."""


@click.command()
@click.option(
    "--upstream",
    "upstreams",
    multiple=True,
    metavar="[NAME=]URL",
    help="Where requests go on to; without it OpenAI and Anthropic, by protocol.",
)
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option(
    "--port",
    default=PORT,
    show_default=True,
    type=click.IntRange(1, 65535),
    help="The port to listen on.",
)
@click.option(
    "--mode",
    type=click.Choice(["compress", "observe", "off"]),
    default="compress",
    show_default=True,
    help="observe decides and counts, and sends what came in.",
)
@click.option(
    "--commit",
    type=click.Choice(["auto", "now", "background"]),
    default="auto",
    show_default=True,
    help="Decide before each request, or while the model works; auto decides before it where that"
    " takes milliseconds, that is, unless a model scores or writes the records.",
)
@method_options
@PRICES
@click.option(
    "--window",
    type=click.IntRange(1000),
    metavar="TOKENS",
    help="The models' window, where it is not known by their name; a full one makes commits free.",
)
@STORE_URL
@click.option(
    "--token",
    default="",
    envvar="STATECOMP_TOKEN",
    help="Asked of every client; needed for an address that is not loopback.",
)
@click.option(
    "--admin-token",
    default="",
    envvar="STATECOMP_ADMIN_TOKEN",
    help="Opens the pages of all tenants; --token opens each tenant's own.",
)
@click.option("--allow-host", "hosts", multiple=True, help="A further name of this machine.")
@click.option(
    "--max-body",
    default=64,
    show_default=True,
    type=click.IntRange(1),
    metavar="MB",
    help="A larger request is refused with 413.",
)
@click.option(
    "--processes",
    type=click.IntRange(0, 64),
    help="Processes that judge, so that requests do not wait; 0 judges in threads."
    "  [default: one for each core but one, at most 4]",
)
@click.option(
    "--memory",
    default=512,
    show_default=True,
    type=click.IntRange(1),
    metavar="MB",
    help="What may be remembered of conversations; beyond, they are read anew.",
)
@click.option(
    "--timeout",
    type=SECONDS,
    default=600.0,
    show_default=True,
    metavar="S",
    help="Upstream silence.",
)
def serve(
    upstreams: tuple[str, ...],
    host: str,
    port: int,
    mode: Mode,
    commit: When,
    pin_tools: tuple[str, ...],
    prices: Path | None,
    store: str,
    token: str,
    admin_token: str,
    hosts: tuple[str, ...],
    max_body: int,
    processes: int | None,
    memory: int,
    timeout: float,
    chosen: tuple[str, ...],
    **method: str | float | None,
) -> None:
    """Serve a proxy that shortens what agents re-send.

    Point an agent at it and change nothing else: OPENAI_BASE_URL=http://127.0.0.1:8484/v1,
    ANTHROPIC_BASE_URL=http://127.0.0.1:8484.  Keys are forwarded, never stored.  Answers are
    streamed back untouched, and whatever fails here, the request goes out as it came.

    \b
    Further upstreams have names, and are reached as /u/NAME/v1/... or with the
    header x-statecomp-upstream: NAME.  With a token, clients send
    x-statecomp-token, or use the address http://HOST:PORT/t/TOKEN/v1.
    A request with x-statecomp-bypass: 1 is passed on unread.

    \b
    Pages need a token that says whose: /t/ADMIN_TOKEN/statecomp/ shows all
    tenants.  A tenant asks /statecomp/own, with the token and the key its agent
    uses, for the address of its own pages.

    \b
    Examples:
      statecomp serve
      statecomp serve --mode observe --upstream http://127.0.0.1:8000
      statecomp serve --mode observe --router shipped --router 2026-11-18
      statecomp serve --upstream https://api.openai.com --upstream local=http://127.0.0.1:8000
    """
    _need("starlette", "aiohttp", "uvicorn")
    for name in ONE_THREAD:
        os.environ.setdefault(name, "1")
    book = read_price_book(prices)
    routers = routers_of(os.environ)
    given = given_for({**method, "pin_tools": "+".join(pin_tools) or None}, chosen, mode, routers)
    live = routers if not chosen and not given[0].get("scorer") else None
    opens = partial(live_method, given[0], book, live)
    decides = opens()
    named = _by_name(upstreams)
    where = store_url(store, os.environ)
    settings = ProxySettings(
        upstream=named.pop("", ""),
        upstreams=named,
        mode=mode,
        commit=commit,
        host=host,
        hosts=frozenset(name.lower() for name in hosts),
        token=token,
        admin_token=admin_token,
        salt=salt_of(where, data_folder(os.environ)),
        local_store=not where.startswith("postgres"),
        limits=Limits(
            body_bytes=max_body * MEGABYTE,
            silence_s=timeout,
            memory_bytes=memory * MEGABYTE,
            processes=_spare_cores() if processes is None else processes,
        ),
    )
    _refuse_circles(settings, port)
    ledger = open_store(store, os.environ)
    nearby = None if settings.local_store else open_nearby(ledger, settings.salt, os.environ)
    try:
        rivals = rivals_of(chosen, given, book) if chosen[1:] else None
        run_server(settings, port, ledger, decides, book, opens, live, rivals, nearby)
    finally:
        ledger.close()
        if nearby is not None:
            nearby.close()


def _need(*packages: str) -> None:
    missing = [package for package in packages if find_spec(package) is None]
    if missing:
        raise BadInput(f"needs {missing[0]}: install statecomp[proxy]", field="serve")


def _by_name(upstreams: Sequence[str]) -> dict[str, str]:
    named: dict[str, str] = {}
    for name, url in map(_named, upstreams):
        if name in named:
            problem = f"two have the name {name!r}" if name else "two have no name; write NAME=URL"
            raise BadInput(problem, field="upstream")
        named[name] = url
    return named


def _named(upstream: str) -> tuple[str, str]:
    """`NAME=URL`, or a URL for everything."""
    name, equals, url = upstream.partition("=")
    if not equals or "/" in name:
        return "", upstream
    if not name.isidentifier():
        raise BadInput("has a name that is no identifier; write NAME=URL", field="upstream")
    return name, url


def _spare_cores() -> int:
    return max(0, min(4, (os.cpu_count() or 1) - 1))


def _refuse_circles(settings: ProxySettings, port: int) -> None:
    for url in (settings.upstream, *settings.upstreams.values()):
        parts = urlsplit(url)
        if url and parts.port == port and is_loopback(parts.hostname or ""):
            raise BadInput("is this proxy itself; name the server behind it", field="upstream")
    for name in ("OPENAI_BASE_URL", "ANTHROPIC_BASE_URL"):
        parts = urlsplit(os.environ.get(name, ""))
        if parts.port == port and is_loopback(parts.hostname or ""):
            warn(f"{name} points at this proxy: a chat summariser would ask itself")
