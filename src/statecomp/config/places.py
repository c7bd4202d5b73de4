"""Where this user's files are, and what is kept there."""

from __future__ import annotations

import logging
import sys
from collections.abc import Mapping
from pathlib import Path

from statecomp.history.identity import digest
from statecomp.history.interaction import JsonObject
from statecomp.ledger.audit import LedgerFailed
from statecomp.ledger.ledger import Ledger
from statecomp.ledger.nearby import NearbyFile
from statecomp.ledger.open import open_ledger
from statecomp.ledger.pages import Known
from statecomp.traces.secrets import Masker

LOG = logging.getLogger("statecomp.config")
LEDGER = "ledger.sqlite"
NEARBY = "nearby"
STORE = "STATECOMP_STORE"


def data_folder(environ: Mapping[str, str]) -> Path:
    """What is kept until someone deletes it; an address in XDG_DATA_HOME must be absolute."""
    chosen = environ.get("XDG_DATA_HOME", "")
    if Path(chosen).is_absolute():
        return Path(chosen) / "statecomp"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support" / "statecomp"
    if sys.platform == "win32":
        return Path(environ.get("LOCALAPPDATA", str(Path.home()))) / "statecomp"
    return Path.home() / ".local" / "share" / "statecomp"


def store_url(given: str, environ: Mapping[str, str]) -> str:
    """What `--store` says, else STATECOMP_STORE, else the ledger in the user's data folder."""
    return given or environ.get(STORE, "") or str(data_folder(environ) / LEDGER)


def open_store(given: str, environ: Mapping[str, str]) -> Ledger:
    """The ledger a person means, with secrets masked in whatever it stores."""
    return open_ledger(store_url(given, environ), mask=_masked)


def nearby_of(salt: bytes, environ: Mapping[str, str]) -> Path:
    """The file beside a ledger behind a network, for whoever shares its salt."""
    return data_folder(environ) / f"{NEARBY}-{digest(salt.hex())[:16]}.sqlite"


def open_nearby(ledger: Ledger, salt: bytes, environ: Mapping[str, str]) -> NearbyFile | None:
    """None where this machine keeps no files: then each process has its own memory only."""
    try:
        nearby = NearbyFile(nearby_of(salt, environ))
    except LedgerFailed as error:
        LOG.warning("workers of this machine share nothing while the ledger is away: %s", error)
        return None
    ledger.copied_to(nearby)
    return nearby


def _masked(message: JsonObject, known: Known) -> JsonObject:
    found: JsonObject = Masker().masked(message, known)
    return found
