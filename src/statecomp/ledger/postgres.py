"""One ledger for several workers and machines, in a schema of its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import psycopg
from psycopg.conninfo import conninfo_to_dict

from statecomp.ledger.audit import LedgerFailed
from statecomp.ledger.database import Connection, Rows, SqlDialect
from statecomp.ledger.schema import migrate

_SCHEMA = "statecomp"
_EXISTS = (
    f"SELECT count(*) FROM pg_tables WHERE schemaname = '{_SCHEMA}' AND tablename = 'migrations'"
)
_BEGIN = "BEGIN ISOLATION LEVEL READ COMMITTED"
# Any number will do; it is this product's among all that lock by number.
_LOCK = "SELECT pg_advisory_xact_lock(8484001)"
_STATEMENT_S = 30


class _Postgres:
    """A connection that speaks `?`, and commits only when told to."""

    def __init__(self, address: str, wait_s: float) -> None:
        self._raw = psycopg.connect(
            address,
            autocommit=True,
            prepare_threshold=None,  # poolers between us and the server may change connections
            connect_timeout=max(2, round(wait_s)),  # libpq takes no less
            tcp_user_timeout=round(wait_s * 1000),
            keepalives_idle=30,
            application_name="statecomp",
        )

    def execute(self, sql: str, values: Sequence[Any] = ()) -> Rows:
        cursor = self._raw.execute(_translated(sql), values or None)
        return cursor.fetchall() if cursor.description else []

    def many(self, sql: str, rows: Sequence[Sequence[Any]]) -> None:
        with self._raw.cursor() as cursor:
            cursor.executemany(_translated(sql), rows)

    def stale(self) -> bool:
        return self._raw.closed

    def close(self) -> None:
        self._raw.close()


def postgres_dialect(address: str, wait_s: float) -> SqlDialect:
    """The ledger in the database at this address (a `postgresql://` URL)."""
    place, password = _place(address)

    def opened() -> Connection:
        return _opened(address, wait_s)

    def explained(error: Exception) -> str:
        told = (str(error).strip() or type(error).__name__).splitlines()[0]
        told = told.replace(password, "***") if password else told
        if _lost(error):
            return f"the ledger at {place} cannot be reached ({told}); check that it is running"
        return f"the ledger at {place} cannot be used ({told})"

    return SqlDialect(
        open=opened,
        errors=(psycopg.Error, UnicodeEncodeError),
        lost=_lost,
        explain=explained,
        begin_read="BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
        begin_write=_BEGIN,
        lock_sessions="LOCK TABLE sessions IN SHARE ROW EXCLUSIVE MODE",
        wait_s=wait_s,
    )


def _opened(address: str, wait_s: float) -> Connection:
    connection = _Postgres(address, wait_s)
    try:
        connection.execute(f"SET lock_timeout = {round(wait_s * 1000)}")
        connection.execute(f"SET statement_timeout = {_STATEMENT_S * 1000}")
        connection.execute(f"SET search_path TO {_SCHEMA}")
        ((exists,),) = connection.execute(_EXISTS)
        if not exists:
            _make_schema(connection)
        migrate(connection, exists=bool(exists), begin=_BEGIN, lock=_LOCK)
    except BaseException:
        connection.close()
        raise
    return connection


def _make_schema(connection: Connection) -> None:
    """`IF NOT EXISTS` alone is not enough where two workers start together."""
    connection.execute(_BEGIN)
    connection.execute(_LOCK)
    connection.execute(f"CREATE SCHEMA IF NOT EXISTS {_SCHEMA}")
    connection.execute("COMMIT")


def _place(address: str) -> tuple[str, str]:
    """Where it is, for people, and the password, which no sentence may repeat."""
    try:
        parts = conninfo_to_dict(address)
    except psycopg.Error:
        # The driver's own words repeat the address, password and all.
        raise LedgerFailed(
            "the --store is no PostgreSQL address; write postgresql://user@host:5432/database"
        ) from None
    host, port = parts.get("host") or "localhost", parts.get("port") or 5432
    return f"{host}:{port}/{parts.get('dbname') or ''}", str(parts.get("password") or "")


def _lost(error: Exception) -> bool:
    """The connection is gone, or the server wants the transaction again; not: it said no."""
    code = getattr(error, "sqlstate", None)
    if code is None:
        return isinstance(error, psycopg.OperationalError | psycopg.InterfaceError)
    return str(code).startswith(("08", "40", "53300", "57P"))


def _translated(sql: str) -> bytes:
    # As bytes the driver takes it without asking where it came from: from this package, and values
    # never stand in it.
    return sql.replace("?", "%s").encode()
