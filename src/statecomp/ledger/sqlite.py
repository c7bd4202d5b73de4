"""A ledger in one file of its owner, or in memory."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Sequence
from functools import partial
from itertools import count
from pathlib import Path
from threading import Lock
from typing import Any

from statecomp.ledger.audit import LedgerFailed
from statecomp.ledger.database import Connection, Rows, SqlDialect
from statecomp.ledger.schema import migrate

MEMORY = ":memory:"
_EXISTS = "SELECT count(*) FROM sqlite_master WHERE name = 'migrations'"
_BEGIN = "BEGIN IMMEDIATE"
_MAKING = Lock()
# NORMAL syncs at checkpoints of the WAL, not at every commit.  A killed process loses nothing.  A
# power failure may take the last commits back whole: then the raw history goes out again, which is
# valid; an fsync in every request would be paid for always.
_SETTINGS = (
    "PRAGMA synchronous = NORMAL",
    "PRAGMA secure_delete = ON",  # what was purged must not stay readable in the file
    "PRAGMA journal_size_limit = 16777216",
    "PRAGMA temp_store = MEMORY",
)
_FULL = (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR)
_LOCKED = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
_DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
_FORBIDDEN = (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM)


class _Sqlite:
    """A connection that knows which file it was opened on."""

    def __init__(self, path: str, wait_s: float) -> None:
        self._path = path
        self._raw = sqlite3.connect(
            path, timeout=wait_s, isolation_level=None, check_same_thread=False
        )
        self._file = None if path == MEMORY else _identity(path)

    def execute(self, sql: str, values: Sequence[Any] = ()) -> Rows:
        return self._raw.execute(sql, values).fetchall()

    def many(self, sql: str, rows: Sequence[Sequence[Any]]) -> None:
        self._raw.executemany(sql, rows)

    def stale(self) -> bool:
        """Someone moved the file away or put another in its place."""
        return self._file is not None and _identity(self._path) != self._file

    def close(self) -> None:
        self._raw.close()


def sqlite_dialect(path: str, wait_s: float) -> SqlDialect:
    """The ledger in this file, which is made when it is not there; `:memory:` makes none."""
    return _dialect(path, wait_s, partial(_with_ledger, path))


def private_file(path: str, wait_s: float, tables: Sequence[str]) -> SqlDialect:
    """A file of its owner with tables of its own, each made `IF NOT EXISTS`."""

    def prepared(connection: Connection) -> None:
        for table in tables:
            connection.execute(table)

    return _dialect(path, wait_s, prepared)


def _dialect(path: str, wait_s: float, prepare: Callable[[Connection], None]) -> SqlDialect:
    in_memory = path == MEMORY

    def opened() -> Connection:
        return _opened(path, wait_s, prepare)

    def explained(error: Exception) -> str:
        return _explained(error, path)

    return SqlDialect(
        open=opened,
        # A lone surrogate in an id cannot be encoded: not the driver's error, but its cause.
        errors=(sqlite3.Error, UnicodeEncodeError, OverflowError),
        lost=lambda error: not in_memory and _code(error) in (*_DAMAGED, sqlite3.SQLITE_IOERR),
        explain=explained,
        begin_read="BEGIN",
        begin_write=_BEGIN,
        tidy=("PRAGMA incremental_vacuum", "PRAGMA wal_checkpoint(TRUNCATE)"),
        connections=1 if in_memory else 8,
        one_writer=True,
        wait_s=wait_s,
    )


def _opened(path: str, wait_s: float, prepare: Callable[[Connection], None]) -> Connection:
    if path != MEMORY:
        _make_private(Path(path))
    connection = _Sqlite(path, wait_s)
    try:
        if connection.execute("PRAGMA page_count") == [(0,)]:
            connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
            connection.execute("PRAGMA journal_mode = WAL")
        for setting in _SETTINGS:
            connection.execute(setting)
        prepare(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def _with_ledger(path: str, connection: Connection) -> None:
    ((exists,),) = connection.execute(_EXISTS)
    if not exists and connection.execute("SELECT 1 FROM sqlite_master"):
        raise LedgerFailed(f"{path} is another program's database; name another --store")
    migrate(connection, exists=bool(exists), begin=_BEGIN, lock="")


def _make_private(path: Path) -> None:
    """A file only its owner can read; SQLite gives the files beside it the same permissions.

    A file that is there is not opened here: closing it again would drop the locks that this
    process holds on it, which is how SQLite files get damaged.
    """
    try:
        with _MAKING:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            try:
                os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
            except FileExistsError:
                if path.stat().st_mode & 0o077:
                    path.chmod(0o600)
    except OSError as error:
        raise LedgerFailed(
            f"the ledger {path} cannot be opened ({error.strerror}); name another --store"
        ) from error


def _identity(path: str) -> tuple[int, int] | None:
    try:
        found = os.stat(path)  # noqa: PTH116  every read asks; building a Path costs more
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _code(error: Exception) -> int:
    return (getattr(error, "sqlite_errorcode", None) or 0) & 0xFF


def _explained(error: Exception, path: str) -> str:
    code = _code(error)
    if code in _LOCKED:
        return f"the ledger {path} is locked by another process; try again when that has ended"
    if code in _FULL:
        return f"the ledger {path} cannot be written, the disk may be full: make room ({error})"
    if code in _DAMAGED:
        return (
            f"the ledger {path} is damaged ({error}) and was left as it is; start a new one with"
            f" --store {_beside(path)}, or move it away"
        )
    if code in _FORBIDDEN:
        return f"the ledger {path} cannot be opened ({error}); check who owns it and its folder"
    return f"the ledger {path} cannot be used ({error})"


def _beside(path: str) -> Path:
    """A name in the same folder that nobody has taken."""
    taken = Path(path)
    names = (taken.with_name(f"{taken.stem}-{number}{taken.suffix}") for number in count(2))
    return next(name for name in names if not name.exists())
