"""`statecomp doctor`: what is connected here, and whether the last requests were touched."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from time import time

import click

from statecomp.adapters.doctor import (
    Finding,
    clients,
    describe_session,
    frameworks,
    is_address,
    last_session,
    proxy_mode,
)
from statecomp.cli.options import STORE_URL
from statecomp.cli.serve import PORT
from statecomp.config.places import open_store, store_url
from statecomp.errors import BadInput, StateCompError
from statecomp.ledger.ledger import Ledger
from statecomp.ledger.open import file_of

WIDTH = 34
NOT_THERE = "is not there yet"


@click.command()
@click.option("--url", default=f"http://127.0.0.1:{PORT}", show_default=True, help="The proxy.")
@STORE_URL
def doctor(url: str, store: str) -> None:
    """Find clients and frameworks, say how each is connected and what became of its requests.

    Nothing is changed, and no address but the proxy's is asked.  The exit code is 1 where something
    is set up that cannot work.

    \b
    Examples:
      statecomp doctor
      statecomp doctor --store runs/ledger.sqlite
    """
    url = url.rstrip("/")
    if not is_address(url):
        raise BadInput(f"is {url!r}; write it as http://127.0.0.1:{PORT}", field="--url")
    mode = proxy_mode(url)
    _line("proxy", f"{url} answers, mode {mode}" if mode else f"nothing answers at {url}")
    where = store_url(store, os.environ)
    ledger, problem = _ledger(where)
    _line("ledger", f"{_shown(where)} {problem}".rstrip())
    found = [*clients(os.environ, Path.home(), url, Path.cwd()), *frameworks()]
    if not found:
        _line("clients", "neither a client nor a framework that I know is installed here")
    for finding in found:
        for name, words in _describe(finding, ledger):
            _line(name, words)
    if ledger is not None:
        ledger.close()
    unreadable = ledger is None and problem != NOT_THERE
    sys.exit(1 if unreadable or any(finding.wrong for finding in found) else 0)


def _describe(finding: Finding, ledger: Ledger | None) -> Iterator[tuple[str, str]]:
    yield finding.name, finding.how
    session = last_session(ledger, finding.products) if ledger else None
    if session is not None:
        yield "", describe_session(session, time())
    elif ledger is not None:
        yield "", "no request of it is in the ledger"


def _ledger(where: str) -> tuple[Ledger | None, str]:
    """The ledger, or what is wrong with it; never made by looking for it."""
    try:
        file = file_of(where)
        if file is not None and not file.exists():
            return None, NOT_THERE
        return open_store(where, os.environ), ""
    except StateCompError as error:
        return None, f"cannot be read: {error}"


def _shown(where: str) -> str:
    """A database's address may hold a password."""
    return where.partition("://")[0] if where.startswith("postgres") else where


def _line(name: str, words: str) -> None:
    click.echo(f"{name:{WIDTH}} {words}")
