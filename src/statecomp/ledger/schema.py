"""The tables, and how an older ledger becomes a current one.

One text for both databases: SQLite takes the types of PostgreSQL by their affinity, and keeps bytes
as bytes whatever the column says.  Free text is stored as JSON in ASCII: recorded tool output holds
lone surrogates and NULs, which a column of text cannot carry.

Two halves.  The log (`log_mark`, `commits`, `claims`, `sent`, `held`, `refused`) decides what goes
out.  The account (everything else) is for people, and nothing in the log refers to it.

`log_mark` is one row.  `version` grows by one with every change of the log, and its row lock puts
the changes in order; `epoch` changes too when commits were undone or deleted.
"""

from __future__ import annotations

from collections.abc import Callable
from secrets import randbits

from statecomp.ledger.audit import LedgerFailed
from statecomp.ledger.claims import claim_what_stands
from statecomp.ledger.database import Connection

_FIRST = (
    """CREATE TABLE log_mark (
        one BIGINT PRIMARY KEY, version BIGINT NOT NULL, epoch BIGINT NOT NULL)""",
    """CREATE TABLE commits (
        tenant TEXT NOT NULL, at_id TEXT NOT NULL, place BIGINT NOT NULL, id TEXT NOT NULL,
        version BIGINT NOT NULL, state TEXT NOT NULL,
        body TEXT NOT NULL, when_s DOUBLE PRECISION NOT NULL, used_s DOUBLE PRECISION NOT NULL,
        PRIMARY KEY (tenant, at_id, place))""",
    "CREATE INDEX commits_by_id ON commits (id)",
    "CREATE INDEX commits_by_version ON commits (version)",
    """CREATE TABLE held (
        tenant TEXT NOT NULL, source TEXT NOT NULL, reason TEXT NOT NULL,
        PRIMARY KEY (tenant, source))""",
    """CREATE TABLE refused (
        tenant TEXT NOT NULL, span TEXT NOT NULL, reason TEXT NOT NULL,
        when_s DOUBLE PRECISION NOT NULL, PRIMARY KEY (tenant, span))""",
    """CREATE TABLE sessions (
        id TEXT PRIMARY KEY, tenant TEXT NOT NULL, about TEXT NOT NULL,
        started_s DOUBLE PRECISION NOT NULL, last_s DOUBLE PRECISION NOT NULL)""",
    "CREATE INDEX sessions_by_time ON sessions (last_s)",
    """CREATE TABLE requests (
        session TEXT NOT NULL, number BIGINT NOT NULL, when_s DOUBLE PRECISION NOT NULL,
        protocol TEXT NOT NULL, model TEXT NOT NULL, mode TEXT NOT NULL,
        raw_tokens BIGINT NOT NULL, sent_tokens BIGINT NOT NULL,
        raw_dollars DOUBLE PRECISION NOT NULL, sent_dollars DOUBLE PRECISION NOT NULL,
        input BIGINT NOT NULL, cached BIGINT NOT NULL, written BIGINT NOT NULL,
        output BIGINT NOT NULL, status BIGINT NOT NULL, first_change BIGINT,
        grid BYTEA NOT NULL, note TEXT NOT NULL, size BIGINT NOT NULL,
        PRIMARY KEY (session, number))""",
    """CREATE TABLE entries (
        session TEXT NOT NULL, commit_id TEXT NOT NULL, when_s DOUBLE PRECISION NOT NULL,
        state TEXT NOT NULL, body TEXT NOT NULL, size BIGINT NOT NULL,
        PRIMARY KEY (session, commit_id))""",
    "CREATE INDEX entries_by_commit ON entries (commit_id)",
    """CREATE TABLE regrets (
        session TEXT NOT NULL, name TEXT NOT NULL, request BIGINT NOT NULL,
        commit_id TEXT NOT NULL, kind TEXT NOT NULL, detail TEXT NOT NULL,
        PRIMARY KEY (session, name))""",
    "CREATE TABLE pages (name TEXT PRIMARY KEY, body BYTEA NOT NULL, size BIGINT NOT NULL)",
    # `owner` is empty for the history of a session, or the commit whose originals they are.
    """CREATE TABLE page_uses (
        session TEXT NOT NULL, owner TEXT NOT NULL, place BIGINT NOT NULL, page TEXT NOT NULL,
        PRIMARY KEY (session, owner, place))""",
    "CREATE INDEX page_uses_by_page ON page_uses (page)",
)
_OUTSIDE = ("ALTER TABLE requests ADD COLUMN outside BIGINT NOT NULL DEFAULT 0",)
_RECORDS = ("ALTER TABLE requests ADD COLUMN records DOUBLE PRECISION NOT NULL DEFAULT 0",)
# The primary keys are the rule: no source twice in a branch, no history sent in two ways.
_FIRST_WINS = (
    """CREATE TABLE claims (
        tenant TEXT NOT NULL, source TEXT NOT NULL, branch BIGINT NOT NULL, at_id TEXT NOT NULL,
        depth BIGINT NOT NULL, PRIMARY KEY (tenant, source, branch))""",
    """CREATE TABLE sent (
        tenant TEXT NOT NULL, seen TEXT NOT NULL, commits TEXT NOT NULL,
        when_s DOUBLE PRECISION NOT NULL, PRIMARY KEY (tenant, seen))""",
    "CREATE INDEX sent_by_time ON sent (when_s)",
    claim_what_stands,
)
# No table changes: commits may be over others, which an older statecomp cannot read.
_CHAPTERS: tuple[str, ...] = ()
_Step = str | Callable[[Connection], None]
MIGRATIONS: tuple[tuple[_Step, ...], ...] = (_FIRST, _OUTSIDE, _FIRST_WINS, _RECORDS, _CHAPTERS)
"""Never edited once released: a change of the tables is one more."""


def migrate(connection: Connection, *, exists: bool, begin: str, lock: str) -> None:
    """Bring the tables to the newest known layout, in one transaction; a newer one is refused."""
    if exists and _number(connection) == len(MIGRATIONS):
        return
    connection.execute(begin)
    try:
        if lock:
            connection.execute(lock)
        connection.execute("CREATE TABLE IF NOT EXISTS migrations (number BIGINT PRIMARY KEY)")
        _advance(connection, _number(connection))
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def _advance(connection: Connection, known: int) -> None:
    if known > len(MIGRATIONS):
        raise LedgerFailed(
            f"the ledger has layout {known}, written by a newer statecomp; this one knows layout"
            f" {len(MIGRATIONS)}: upgrade it, or name another --store"
        )
    for number in range(known, len(MIGRATIONS)):
        for step in MIGRATIONS[number]:
            if isinstance(step, str):
                connection.execute(step)
            else:
                step(connection)
        connection.execute("INSERT INTO migrations (number) VALUES (?)", (number + 1,))
    # A random start tells a ledger from one that stood in its place before.
    connection.execute(
        "INSERT INTO log_mark (one, version, epoch) VALUES (1, 0, ?) ON CONFLICT (one) DO NOTHING",
        (randbits(62),),
    )


def _number(connection: Connection) -> int:
    ((number,),) = connection.execute("SELECT coalesce(max(number), 0) FROM migrations")
    return int(number)
