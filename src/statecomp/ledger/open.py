"""From what a person writes after `--store` to a ledger."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import unquote

from statecomp.ledger.audit import LedgerFailed
from statecomp.ledger.database import Connection, Database, SqlDialect
from statecomp.ledger.ledger import Ledger
from statecomp.ledger.pages import Mask
from statecomp.ledger.retention import RetentionLimits
from statecomp.ledger.sqlite import MEMORY, sqlite_dialect

WAIT_S = 4.0
DEFAULT_LIMITS = RetentionLimits()
_SQLITE = "sqlite:///"
_POSTGRES = ("postgresql://", "postgres://")


def open_ledger(
    url: str,
    *,
    mask: Mask | None = None,
    limits: RetentionLimits = DEFAULT_LIMITS,
    wait_s: float = WAIT_S,
) -> Ledger:
    """A path, `sqlite:///PATH`, `:memory:` or `postgresql://...`; made when it is not there.

    `mask` takes the secrets out of what is stored, and must be given for whatever outlives the
    process.  Nothing waits longer than about `wait_s` for someone else's lock.
    """
    dialect = _dialect(url, wait_s)
    if mask is None and url != MEMORY:
        raise LedgerFailed("a ledger that lasts needs mask=, which takes secrets out of messages")
    database = Database(dialect)
    database.look(_answer)
    return Ledger(database, mask or (lambda message, known: message), limits)


def file_of(url: str) -> Path | None:
    """The file a ledger lives in, where it lives in one."""
    if url == MEMORY or url.startswith(_POSTGRES):
        return None
    path = unquote(url.removeprefix(_SQLITE)) if url.startswith(_SQLITE) else url
    if "://" in path:
        scheme = path.partition("://")[0]
        raise LedgerFailed(f"no ledger can be kept in {scheme}://; known are a path and postgresql")
    if not path:
        raise LedgerFailed("the --store is empty; name a file, or postgresql://...")
    return Path(path)


def _dialect(url: str, wait_s: float) -> SqlDialect:
    if url.startswith(_POSTGRES):
        return _postgres(url, wait_s)
    return sqlite_dialect(str(file_of(url) or MEMORY), wait_s)


def _postgres(url: str, wait_s: float) -> SqlDialect:
    try:
        from statecomp.ledger.postgres import postgres_dialect
    except ImportError as error:
        told = str(error).splitlines()[0]
        raise LedgerFailed(
            f"a PostgreSQL ledger needs psycopg: pip install 'statecomp[postgres]' ({told})"
        ) from error
    return postgres_dialect(url, wait_s)


def _answer(connection: Connection) -> None:
    """Opening is proof enough: the tables are there and current."""
