"""The process that serves: its sockets, its threads and what it says when it starts."""

from __future__ import annotations

import errno
import gc
import signal
import socket
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import click

from statecomp.cli.terminal import log_as_json
from statecomp.controller.prices import PriceBook
from statecomp.errors import BadInput
from statecomp.ledger.ledger import Ledger
from statecomp.ledger.nearby import NearbyFile
from statecomp.method import Method
from statecomp.proxy.settings import ProxySettings

# Deciding threads give way to the thread that carries bytes after this long.
SWITCH_S = 0.0002
COLLECT = (2_000, 10, 4_000)
"""The garbage collector stops everybody while it looks: a little at a time, and seldom through all
histories in memory.  What a middle look takes in grows with both of the first two numbers."""
KEEP_ALIVE_S = 75
BACKLOG = 2048


def run_server(
    settings: ProxySettings,
    port: int,
    ledger: Ledger,
    method: Method,
    book: PriceBook,
    opens: Callable[[], Method],
    routers: Any = None,
    rivals: Any = None,
    nearby: NearbyFile | None = None,
) -> None:
    import uvicorn

    from statecomp.dashboard.app import routes
    from statecomp.proxy.app import build_app
    from statecomp.proxy.patience import PatientProtocol

    sockets = listening(settings.host, port)
    pages = routes(ledger, routers, rivals and rivals.as_json, method.records)
    app = build_app(
        settings,
        ledger,
        method,
        prices=book,
        pages=pages,
        opens=opens,
        rivals=rivals,
        nearby=nearby,
    )
    log_as_json()
    sys.setswitchinterval(SWITCH_S)
    # What is loaded by now stays, and what requests leave behind holds few circles.
    gc.freeze()
    gc.set_threshold(*COLLECT)
    config = uvicorn.Config(
        app,
        host=settings.host,
        port=port,
        ws="none",
        http=PatientProtocol,
        log_config=None,
        access_log=False,  # paths may hold the token
        proxy_headers=False,  # nobody here asks where a request came from
        server_header=False,  # the upstream's own headers go through
        date_header=False,
        timeout_keep_alive=KEEP_ALIVE_S,
        timeout_graceful_shutdown=int(settings.limits.drain_s),
    )
    click.echo(greeting(settings, port, method), err=True)
    # The server restores this handler and raises the signal again when it has shut down.
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(0))
    with suppress(KeyboardInterrupt):
        uvicorn.Server(config).run(sockets)


def greeting(settings: ProxySettings, port: int, method: Method) -> str:
    """What a person does next; tokens are named, not shown, for this may end in a log."""
    address = f"http://{settings.host}:{port}"
    base, pages = address, f"{address}/statecomp/"
    if settings.token:
        base, pages = f"{address}/t/TOKEN", f"what {address}/statecomp/own answers to your agent"
    if settings.admin_token:
        pages = f"{address}/t/ADMIN_TOKEN/statecomp/"
    records = f", {method.records.about}" if method.records is not None else ""
    return (
        f"statecomp: {settings.mode} on {address}, recipe {method.recipe}, scored by "
        f"{method.scored_by}{records}.  Set OPENAI_BASE_URL={base}/v1 or "
        f"ANTHROPIC_BASE_URL={base}; look at {pages}"
    )


def listening(host: str, port: int) -> list[socket.socket]:
    """Taken before anything is said or loaded: who comes early waits until the server is up."""
    opened: list[socket.socket] = []
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        for family, kind, protocol, _, address in dict.fromkeys(found):
            one = socket.socket(family, kind, protocol)
            opened.append(one)
            one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if family == socket.AF_INET6:
                one.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            one.bind(address)
            one.listen(BACKLOG)
    except OSError as error:
        for one in opened:
            one.close()
        if error.errno == errno.EADDRINUSE:
            raise BadInput(
                f"is taken, perhaps by a statecomp that runs already (look at"
                f" http://{host}:{port}/statecomp/); end that program, or choose another port,"
                f" such as --port {port + 1 if port < 65535 else port - 1}",
                field=f"port {port}",
            ) from None
        problem = f"cannot be listened on: {error.strerror}; choose another --host or --port"
        raise BadInput(problem, field=f"address {host}:{port}") from None
    return opened
