"""`statecomp serve`: one address in front of any model."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import partial
from importlib.util import find_spec
from math import isfinite
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import click

from statecomp.cli.price_book import read_price_book
from statecomp.cli.server import run_server
from statecomp.cli.terminal import warn
from statecomp.config.learned import following, must_suit, routers_of, scored_by
from statecomp.config.methods import OPTIONS, method_of
from statecomp.config.places import STORE, data_folder, open_store, store_url
from statecomp.controller.prices import PriceBook
from statecomp.errors import BadInput
from statecomp.method import Method
from statecomp.options import Options, Settings
from statecomp.proxy.rivals.rivals import Rivals
from statecomp.proxy.sessions import salt_of
from statecomp.proxy.settings import (
    MEGABYTE,
    Limits,
    Mode,
    ProxySettings,
    When,
    is_loopback,
)
from statecomp.recipes import DEFAULT, RECIPES

PORT = 8484
SWITCH = click.Choice(["on", "off"])


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


def _said(option: str) -> str:
    """What an option is for, as a sentence; names in it keep their capitals."""
    about = OPTIONS[option]
    return f"{about[0].upper()}{about[1:]}."


@click.command()
@click.option(
    "--upstream",
    "upstreams",
    multiple=True,
    metavar="[NAME=]URL",
    help="Where requests go on to; without it OpenAI and Anthropic, by protocol.",
)
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option("--port", default=PORT, show_default=True, type=click.IntRange(1, 65535))
@click.option(
    "--mode",
    type=click.Choice(["compress", "observe", "off"]),
    default="compress",
    show_default=True,
    help="observe decides and counts, and sends what came in.",
)
@click.option(
    "--recipe",
    default=DEFAULT,
    show_default=True,
    type=click.Choice(list(RECIPES)),
    help="How boldly to replace; `statecomp recipes` shows what each was measured to do.",
)
@click.option(
    "--commit",
    type=click.Choice(["auto", "now", "background"]),
    default="auto",
    show_default=True,
    help="Decide before each request, or while the model works; auto decides before it where that"
    " takes milliseconds, that is, unless a model scores or writes the records.",
)
@click.option("--scorer", help="router[:FOLDER], paper or age:after=N.")
@click.option(
    "--router",
    "chosen",
    multiple=True,
    metavar="NAME",
    help="A router that `statecomp learn` made, by its name or FOLDER, or `shipped`; without it the"
    " one that `statecomp routers` has in use, also when that changes.  Two are compared in --mode"
    " observe.",
)
@click.option("--encoder", metavar="FOLDER", help=_said("encoder"))
@click.option("--device", help=_said("device"))
@click.option("--dtype", help=_said("dtype"))
@click.option("--encode-s", type=float, default=30.0, show_default=True, help=_said("encode_s"))
@click.option(
    "--records",
    metavar="SPEC",
    help="Who writes records: extract (no model), same (a cheap sibling of the client's model, at"
    " the client's own upstream and with its key), or chat:PROVIDER:MODEL[@URL].",
)
@click.option("--records-model", metavar="NAME", help=_said("records_model"))
@click.option(
    "--records-session", type=float, default=1.0, show_default=True, help=_said("records_session")
)
@click.option(
    "--records-day", type=float, default=10.0, show_default=True, help=_said("records_day")
)
@click.option("--wariness", type=float, help=_said("wariness"))
@click.option("--threshold", type=float, help=_said("threshold"))
@click.option("--longer-than", type=int, help=_said("longer_than"))
@click.option("--min-source-tokens", type=int, help=_said("min_source_tokens"))
@click.option("--holds", type=SWITCH, help=_said("holds"))
@click.option("--chapters", type=SWITCH, help=_said("chapters"))
@click.option("--pin", metavar="REGEX", help=_said("pin"))
@click.option("--pin-tool", "pin_tools", multiple=True, help="A tool whose results always stay.")
@click.option("--role", type=click.Choice(["user", "assistant"]), help="Who says a record.")
@click.option("--merge", type=SWITCH, help=_said("merge"))
@click.option("--prices", type=click.Path(path_type=Path), help="A price book (TOML) of your own.")
@click.option(
    "--window",
    type=click.IntRange(1000),
    metavar="TOKENS",
    help="The models' window, where it is not known by their name; a full one makes commits free.",
)
@click.option(
    "--store",
    default="",
    metavar="URL",
    help=f"The ledger: a file, or postgresql://...  [default: {STORE}, else your data folder]",
)
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
@click.option("--max-body", default=64, show_default=True, type=click.IntRange(1), metavar="MB")
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
    Further upstreams have names, and are reached as /u/NAME/v1/... or with the header
    x-statecomp-upstream: NAME.  With a token, clients send x-statecomp-token, or use the address
    http://HOST:PORT/t/TOKEN/v1.  A request with x-statecomp-bypass: 1 is passed on unread.

    \b
    Pages need a token that says whose: /t/ADMIN_TOKEN/statecomp/ shows all tenants.  A tenant asks
    /statecomp/own, with the token and the key its agent uses, for the address of its own pages.

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
    given = _given({**method, "pin_tools": "+".join(pin_tools) or None}, chosen, mode, routers)
    live = routers if not chosen and not given[0].get("scorer") else None
    opens = partial(_method, given[0], book, live)
    decides = opens()
    named = dict(_named(upstream) for upstream in upstreams)
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
    try:
        rivals = _rivals(chosen, given, book) if chosen[1:] else None
        run_server(settings, port, ledger, decides, book, opens, live, rivals)
    finally:
        ledger.close()


def _need(*packages: str) -> None:
    missing = [package for package in packages if find_spec(package) is None]
    if missing:
        raise BadInput(f"needs {missing[0]}: install statecomp[proxy]", field="serve")


def _named(upstream: str) -> tuple[str, str]:
    """`NAME=URL`, or a URL for everything."""
    name, equals, url = upstream.partition("=")
    if not equals or "/" in name:
        return "", upstream
    if not name.isidentifier():
        raise BadInput("has a name that is no identifier; write NAME=URL", field="upstream")
    return name, url


def _method(given: Mapping[str, object], book: PriceBook, routers: Any = None) -> Method:
    """How to decide: a recipe, and what overrules it; with `routers`, by the one in use."""
    if str(given.get("scorer") or "").startswith(("labels", "folds")):
        raise BadInput("scores recorded runs, not live ones; use router or age", field="scorer")
    options = Options.given("serve", given)
    method, _ = method_of(options, Settings(environ=os.environ, book=book), serves=True)
    options.done()
    method = following(method, routers)
    method.scorer()  # one that cannot be opened should be known before the first request
    return method


def _given(
    method: Mapping[str, str | float | None], chosen: Sequence[str], mode: Mode, routers: Any
) -> list[dict[str, str | float | None]]:
    """What was given, once for each router that is named, or once."""
    must_suit(chosen, mode)
    return [scored_by(method, name, routers) for name in chosen or (None,)]


def _rivals(names: Sequence[str], given: Sequence[Mapping[str, object]], book: PriceBook) -> Rivals:
    """Both routers, to be shown the same requests; paths are nobody's business on a page."""
    shown = [Path(name).name for name in names]
    if shown[0] == shown[1]:
        shown = [f"{name} ({place})" for place, name in enumerate(shown, 1)]
    methods = (_method(one, book) for one in given)
    return Rivals(dict(zip(shown, methods, strict=True)), book)


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
