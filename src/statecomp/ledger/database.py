"""Transactions on a database, whichever it is; connections in reserve, and failures in words.

Everything above speaks one SQL; what SQLite and PostgreSQL do differently is a `SqlDialect`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence, Sized
from contextlib import contextmanager
from dataclasses import dataclass
from threading import BoundedSemaphore, Lock
from typing import Any, Protocol, TypeVar

from statecomp.ledger.audit import LedgerFailed

Result = TypeVar("Result")
Row = tuple[Any, ...]
Rows = list[Row]
CHUNK = 500
"""So many values one statement takes, whichever database it is."""


class Connection(Protocol):
    """One conversation with the database; `?` stands for a value."""

    def execute(self, sql: str, values: Sequence[Any] = ()) -> Rows: ...

    def many(self, sql: str, rows: Sequence[Sequence[Any]]) -> None: ...

    def stale(self) -> bool:
        """Whether what it was opened on is no longer there."""
        ...

    def close(self) -> None: ...


@dataclass(frozen=True)
class SqlDialect:
    """What one kind of database does its own way.

    `errors` are what its driver raises; `lost` says whether the connection is of no use after one;
    `explain` turns one into a sentence.  `lock_sessions` keeps writers of sessions out while some
    are deleted.
    """

    open: Callable[[], Connection]
    errors: tuple[type[Exception], ...]
    lost: Callable[[Exception], bool]
    explain: Callable[[Exception], str]
    begin_read: str
    begin_write: str
    lock_sessions: str = ""
    tidy: tuple[str, ...] = ()
    connections: int = 8
    one_writer: bool = False
    wait_s: float = 2.0
    rest_s: float = 1.0


class Database:
    """Safe to share between threads.  What goes wrong is LedgerFailed, and nothing is half done.

    After a failed attempt to open, further calls fail at once for `rest_s`: a database that is away
    must not cost every request its timeout.
    """

    def __init__(self, dialect: SqlDialect) -> None:
        self.dialect = dialect
        self._idle: list[Connection] = []
        self._lock = Lock()
        self._free = BoundedSemaphore(dialect.connections)
        self._writing = Lock()
        self._closed = False
        self._away = ""
        self._away_until = 0.0

    def look(self, work: Callable[[Connection], Result]) -> Result:
        """Statements by themselves: the quickest way to read."""
        return self._do("", work)

    def read(self, work: Callable[[Connection], Result]) -> Result:
        """Statements that see one and the same state of the database."""
        return self._do(self.dialect.begin_read, work)

    def write(self, work: Callable[[Connection], Result]) -> Result:
        """A transaction.  It may be run twice where a connection broke, so it must not mind."""
        if not self.dialect.one_writer:
            return self._do(self.dialect.begin_write, work)
        # Threads of one process queue here; the file's own lock is polled and knows no order.
        if not self._writing.acquire(timeout=self.dialect.wait_s):
            raise LedgerFailed("the ledger is busy with other writes of this process")
        try:
            return self._do(self.dialect.begin_write, work)
        finally:
            self._writing.release()

    def close(self) -> None:
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
        for connection in idle:
            self._end(connection)

    def _do(self, begin: str, work: Callable[[Connection], Result]) -> Result:
        with self._turn():
            connection = self._reserve()
            if connection is not None:
                try:
                    return self._transact(connection, begin, work)
                except self.dialect.errors as error:
                    if not self.dialect.lost(error):
                        raise LedgerFailed(self.dialect.explain(error)) from error
            # None in reserve, or it broke while it lay there: once more on a new one.
            connection = self._opened()
            try:
                return self._transact(connection, begin, work)
            except self.dialect.errors as error:
                raise LedgerFailed(self.dialect.explain(error)) from error

    def _transact(
        self, connection: Connection, begin: str, work: Callable[[Connection], Result]
    ) -> Result:
        begun = False
        try:
            if not begin:
                result = work(connection)
            else:
                connection.execute(begin)
                begun = True
                result = work(connection)
                connection.execute("COMMIT")
        except BaseException as error:
            self._recover(connection, begun, error)
            raise
        self._give_back(connection)
        return result

    def _recover(self, connection: Connection, begun: bool, error: BaseException) -> None:
        """Back to where the transaction began; a connection that cannot do that is ended."""
        broken = isinstance(error, self.dialect.errors) and self.dialect.lost(error)
        try:
            if begun and not broken:
                connection.execute("ROLLBACK")
        except self.dialect.errors:
            # Some failures, such as a full disk, have rolled it back already.
            broken = self.dialect.connections > 1
        if broken:
            self._end(connection)
        else:
            self._give_back(connection)

    @contextmanager
    def _turn(self) -> Iterator[None]:
        if not self._free.acquire(timeout=self.dialect.wait_s):
            raise LedgerFailed("the ledger is busy: all its connections are in use")
        try:
            yield
        finally:
            self._free.release()

    def _reserve(self) -> Connection | None:
        while True:
            with self._lock:
                if self._closed:
                    raise LedgerFailed("the ledger is closed")
                connection = self._idle.pop() if self._idle else None
            if connection is None or not connection.stale():
                return connection
            self._end(connection)

    def _opened(self) -> Connection:
        if time.monotonic() < self._away_until:
            raise LedgerFailed(self._away)
        try:
            return self.dialect.open()
        except self.dialect.errors as error:
            failed = LedgerFailed(self.dialect.explain(error))
            self._stay_away(failed)
            raise failed from error
        except LedgerFailed as failed:
            self._stay_away(failed)
            raise

    def _stay_away(self, failed: LedgerFailed) -> None:
        self._away = str(failed)
        self._away_until = time.monotonic() + self.dialect.rest_s

    def _give_back(self, connection: Connection) -> None:
        with self._lock:
            if not self._closed:
                self._idle.append(connection)
                return
        self._end(connection)

    def _end(self, connection: Connection) -> None:
        try:
            connection.close()
        except self.dialect.errors:
            return


def chunks(names: Sequence[str]) -> Iterator[Sequence[str]]:
    """As many at a time as a statement takes."""
    for start in range(0, len(names), CHUNK):
        yield names[start : start + CHUNK]


def marks(values: Sized) -> str:
    """A place for each value."""
    return ", ".join("?" * len(values))
