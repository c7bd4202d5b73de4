"""The ledger that a command is about, and what people name in it by its beginning."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from statecomp.config.places import data_folder, nearby_of, open_store, store_url
from statecomp.errors import BadInput
from statecomp.ledger.audit import Entry, Session
from statecomp.ledger.nearby import NearbyFile
from statecomp.ledger.open import file_of
from statecomp.ledger.own import Account, account_of
from statecomp.proxy.sessions import salt_of, viewer_named

ALL = 1_000_000
VIEW_TOKEN = "STATECOMP_VIEW_TOKEN"


@contextmanager
def opened(store: str) -> Iterator[Account]:
    """The ledger that is there; looking at one does not make one.

    With a view token in STATECOMP_VIEW_TOKEN, what that tenant sees of it.
    """
    file = file_of(store_url(store, os.environ))
    if file is not None and not file.exists():
        raise BadInput(
            "is not there; it is made by statecomp serve, or name another with --store",
            file=str(file),
        )
    ledger = open_store(store, os.environ)
    url = store_url(store, os.environ)
    try:
        yield account_of(ledger, viewer_named(os.environ.get(VIEW_TOKEN, ""), _salt(url)))
    finally:
        ledger.close()


def forget_nearby(store: str) -> None:
    """What was purged from a ledger behind a network leaves this machine too."""
    url = store_url(store, os.environ)
    if file_of(url) is not None:
        return
    path = nearby_of(salt_of(url, data_folder(os.environ)), os.environ)
    if path.exists():
        nearby = NearbyFile(path)
        nearby.forget()
        nearby.close()


def _salt(url: str) -> bytes:
    return salt_of(url, data_folder(os.environ)) if os.environ.get(VIEW_TOKEN) else b""


def session_named(ledger: Account, beginning: str) -> Session:
    exact = ledger.session(beginning)
    if exact is not None:
        return exact
    found = [one for one in ledger.sessions(ALL) if one.id.startswith(beginning)]
    if len(found) != 1:
        problem = "several sessions begin" if found else "no session begins"
        raise BadInput(f"{problem} with {beginning!r}; see statecomp sessions")
    return found[0]


def entry_named(ledger: Account, beginning: str) -> Entry:
    entry = ledger.entry(beginning)
    if entry is None:
        raise BadInput(f"no commit, or more than one, begins with {beginning!r}; see statecomp log")
    return entry
