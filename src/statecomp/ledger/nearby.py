"""What this machine sent, in a file of its own, beside a store behind a network.

While that store does not answer, workers of one machine must still send the same bytes for one
history, and so must those that take the place of a killed one.  The file holds names of commits by
history, the first word standing, and the commits themselves.  It is a copy: the store's word stands
above it, and what was undone or purged there is forgotten here.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from statecomp.ledger import claims
from statecomp.ledger.audit import LedgerFailed
from statecomp.ledger.commits import Commit
from statecomp.ledger.database import Connection, Database, Row, chunks, marks
from statecomp.ledger.log import body_of, commit_of
from statecomp.ledger.sqlite import private_file

KEPT_S = 86_400.0
"""A store is seldom away for longer, and who comes back after that finds no warm cache either."""
OWED_S = 30 * KEPT_S
SWEEP_EVERY = 1024
WAIT_S = 1.0
NO_EPOCH = -1
_TABLES = (
    """CREATE TABLE IF NOT EXISTS sent (
        tenant TEXT NOT NULL, seen TEXT NOT NULL, commits TEXT NOT NULL, owed INTEGER NOT NULL,
        when_s REAL NOT NULL, PRIMARY KEY (tenant, seen)) WITHOUT ROWID""",
    "CREATE INDEX IF NOT EXISTS sent_owed ON sent (tenant) WHERE owed",
    """CREATE TABLE IF NOT EXISTS commits (
        tenant TEXT NOT NULL, at_id TEXT NOT NULL, bodies TEXT NOT NULL, when_s REAL NOT NULL,
        PRIMARY KEY (tenant, at_id))""",
    "CREATE TABLE IF NOT EXISTS epoch (one INTEGER PRIMARY KEY, epoch INTEGER NOT NULL)",
)
Result = TypeVar("Result")
Names = tuple[str, ...]


class NearbyFile:
    """Safe to share between threads and processes; raises LedgerFailed where it cannot be used."""

    def __init__(self, path: Path) -> None:
        self._database = Database(private_file(str(path), WAIT_S, _TABLES))
        self.epoch = NO_EPOCH  # of the store, as this process last read it
        self._writes = 0
        self._sweep()

    def of(self, tenant: str) -> Nearby:
        return Nearby(self, tenant)

    def at_epoch(self, epoch: int) -> None:
        """Told by whoever reads the store: with another epoch something was taken back in it."""
        self.epoch = epoch
        try:
            if self.look(_epoch) != epoch:
                self._begin(epoch)
        except LedgerFailed:
            return  # the next one who reads tells it again

    def forget(self) -> None:
        """All but what is owed; workers go on with it when they have read the store."""
        self._begin(NO_EPOCH)

    def look(self, work: Callable[[Connection], Result]) -> Result:
        return self._database.look(work)

    def write(self, work: Callable[[Connection], Result]) -> Result:
        self._writes += 1
        if self._writes % SWEEP_EVERY == 0:
            self._sweep()
        return self._database.write(work)

    def close(self) -> None:
        self._database.close()

    def _begin(self, epoch: int) -> None:
        self.write(lambda c: _begin(c, epoch))
        # What was deleted must not stay readable beside the file either.
        tidy = self._database.dialect.tidy
        self.look(lambda c: [c.execute(statement) for statement in tidy])

    def _sweep(self) -> None:
        now = time.time()
        old = {"sent WHERE NOT owed AND": KEPT_S, "sent WHERE": OWED_S, "commits WHERE": KEPT_S}
        self._database.write(
            lambda c: [
                c.execute(f"DELETE FROM {rows} when_s < ?", (now - kept_s,))
                for rows, kept_s in old.items()
            ]
        )


@dataclass(frozen=True, slots=True)
class Nearby:
    """One tenant's part of the file."""

    file: NearbyFile
    tenant: str

    @property
    def epoch(self) -> int:
        """With another one all that was kept is to be kept again."""
        return self.file.epoch

    def first(self, seen: str, commits: Sequence[str]) -> Names:
        """Say what goes out for a history, unless another worker of this machine did before."""
        row = (self.tenant, seen, json.dumps(list(commits)), time.time())

        def work(connection: Connection) -> Names | None:
            connection.execute(
                "INSERT INTO sent (tenant, seen, commits, owed, when_s) VALUES (?, ?, ?, 1, ?)"
                " ON CONFLICT (tenant, seen) DO NOTHING",
                row,
            )
            return claims.sent(connection, self.tenant, seen)

        return self.file.write(work) or tuple(commits)

    def settle(self, seen: str, commits: Sequence[str]) -> None:
        """The store's word, which it has: nothing is owed to it any more."""
        row = (self.tenant, seen, json.dumps(list(commits)), time.time())
        self.file.write(
            lambda c: c.execute(
                "INSERT INTO sent (tenant, seen, commits, owed, when_s) VALUES (?, ?, ?, 0, ?)"
                " ON CONFLICT (tenant, seen) DO UPDATE SET commits = excluded.commits, owed = 0",
                row,
            )
        )

    def said(self, seen: str) -> Names | None:
        return self.file.look(lambda c: claims.sent(c, self.tenant, seen))

    def owed(self, most: int) -> dict[str, Names]:
        """What went out for which histories, and the store was not told; also by workers gone."""
        sql = "SELECT seen, commits FROM sent WHERE tenant = ? AND owed LIMIT ?"
        rows = self.file.look(lambda c: c.execute(sql, (self.tenant, most)))
        return {seen: tuple(json.loads(commits)) for seen, commits in rows}

    def keep(self, news: Mapping[str, Sequence[Commit]]) -> None:
        """What stands at these states; nothing does where there is nothing."""
        rows = [(self.tenant, at, _packed(new), time.time()) for at, new in news.items() if new]
        gone = [(self.tenant, at) for at, new in news.items() if not new]

        def work(connection: Connection) -> None:
            if _epoch(connection) != self.file.epoch:
                return  # read before something was taken back
            connection.many("DELETE FROM commits WHERE tenant = ? AND at_id = ?", gone)
            connection.many("INSERT OR REPLACE INTO commits VALUES (?, ?, ?, ?)", rows)

        self.file.write(work)

    def find(self, ids: Sequence[str]) -> dict[str, tuple[Commit, ...]]:
        def work(connection: Connection) -> list[Row]:
            found: list[Row] = []
            for chunk in chunks(ids):
                found += connection.execute(
                    "SELECT at_id, bodies FROM commits"
                    f" WHERE tenant = ? AND at_id IN ({marks(chunk)})",
                    (self.tenant, *chunk),
                )
            return found

        return {at: _unpacked(at, bodies) for at, bodies in self.file.look(work)}


def _epoch(connection: Connection) -> int:
    rows = connection.execute("SELECT epoch FROM epoch")
    return int(rows[0][0]) if rows else NO_EPOCH


def _begin(connection: Connection, epoch: int) -> None:
    connection.execute("DELETE FROM commits")
    connection.execute("DELETE FROM sent WHERE NOT owed")
    connection.execute("INSERT OR REPLACE INTO epoch VALUES (1, ?)", (epoch,))


def _packed(commits: Sequence[Commit]) -> str:
    return json.dumps([(commit.id, body_of(commit)) for commit in commits])


def _unpacked(at: str, bodies: str) -> tuple[Commit, ...]:
    return tuple(commit_of((at, name, body)) for name, body in json.loads(bodies))
