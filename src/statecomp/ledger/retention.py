"""How long the account is kept, and taking commits back.

Limits delete the account, the oldest sessions first, and never what goes out: the log holds its own
copy of every commit, in tables that refer to no session.  A commit goes by a clock of its own, when
no request has used it for `idle_commit_days`.  What went out for a history is known for as long as
the account is: after that no cache and no client remembers it either.  Only `purge`, which a person
asks for, takes the commits of a session with it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from statecomp.ledger.audit import EntryState
from statecomp.ledger.claims import release
from statecomp.ledger.database import Connection, chunks, marks
from statecomp.ledger.log import commit_of, next_version

DAY_S = 86_400.0
SWEPT_AT_ONCE = 64
ROW_BYTES = 256  # of a row with its places in two indexes
_OF_THE_LOG = ("commits", "claims", "sent", "held", "refused")
_OF_A_SESSION = ("requests", "entries", "regrets", "page_uses")


@dataclass(frozen=True, slots=True)
class RetentionLimits:
    """What the ledger may hold.  The latest session is never deleted by size."""

    max_age_days: float = 30.0
    max_bytes: int = 2 * 1024**3
    idle_commit_days: float = 180.0


def sweep(
    connection: Connection,
    limits: RetentionLimits,
    now_s: float,
    used: Iterable[tuple[str, str]],
    lock: str,
) -> int:
    """Hold the limits; how many sessions were deleted.  `used` are states that were used lately."""
    if lock:
        connection.execute(lock)
    mark_used(connection, used, now_s)
    aged = (now_s - limits.max_age_days * DAY_S,)
    old = _names(connection, "SELECT id FROM sessions WHERE last_s < ?", aged)
    deleted = delete_sessions(connection, old)
    for table in ("refused", "sent"):
        connection.execute(f"DELETE FROM {table} WHERE when_s < ?", aged)
    idle = (now_s - limits.idle_commit_days * DAY_S,)
    if connection.execute("SELECT 1 FROM commits WHERE used_s < ? LIMIT 1", idle):
        forget(connection)
        connection.execute("DELETE FROM commits WHERE used_s < ?", idle)
        release(connection)
    drop_unused(connection)
    while stored_bytes(connection) > limits.max_bytes:
        ((count,),) = connection.execute("SELECT count(*) FROM sessions")
        # A part at a time, so that no more goes than has to.
        part = min(SWEPT_AT_ONCE, max(1, count // 8), count - 1)
        if part < 1:
            break
        oldest = "SELECT id FROM sessions ORDER BY last_s, id LIMIT ?"
        deleted += delete_sessions(connection, _names(connection, oldest, (part,)))
        drop_unused(connection)
    return deleted


def mark_used(connection: Connection, used: Iterable[tuple[str, str]], now_s: float) -> None:
    connection.many(
        "UPDATE commits SET used_s = ? WHERE tenant = ? AND at_id = ?",
        [(now_s, *state) for state in sorted(used)],
    )


def purge(connection: Connection, session: str, before_s: float | None, lock: str) -> int:
    """Sessions with all they hold, commits included; without a condition, everything there is."""
    if lock:
        connection.execute(lock)
    forget(connection)
    if not session and before_s is None:
        count = len(_names(connection, "SELECT id FROM sessions", ()))
        for table in ("sessions", *_OF_A_SESSION, "pages", *_OF_THE_LOG):
            connection.execute(f"DELETE FROM {table}")
        return count
    conditions = {"id = ?": session or None, "last_s < ?": before_s}
    given = {sql: value for sql, value in conditions.items() if value is not None}
    chosen = f"SELECT id FROM sessions WHERE {' AND '.join(given)}"
    names = _names(connection, chosen, tuple(given.values()))
    _delete_commits(connection, names)
    release(connection)
    delete_sessions(connection, names)
    drop_unused(connection)
    return len(names)


def take_back(
    connection: Connection, commit: str, tenant: str, state: EntryState, reason: str
) -> bool:
    """What the commit stood for is held from now on; whether there is such a commit."""
    forget(connection)
    known = _sources(connection, commit, tenant)
    for owner, sources in known.items():
        connection.many(
            "INSERT INTO held (tenant, source, reason) VALUES (?, ?, ?)"
            " ON CONFLICT (tenant, source) DO UPDATE SET reason = excluded.reason",
            [(owner, source, json.dumps(reason)) for source in sources],
        )
        # The word of a person stands above that of a failed request.
        connection.execute(
            "UPDATE commits SET state = ? WHERE tenant = ? AND id = ? AND state <> 'undone'",
            (state, owner, commit),
        )
        connection.execute(
            "UPDATE entries SET state = ? WHERE commit_id = ? AND state <> 'undone'"
            " AND session IN (SELECT id FROM sessions WHERE tenant = ?)",
            (state, commit, owner),
        )
    return bool(known)


def forget(connection: Connection) -> None:
    """Tell every reader that what it remembers of the log may no longer be so."""
    next_version(connection)
    connection.execute("UPDATE log_mark SET epoch = epoch + 1")


def stored_bytes(connection: Connection) -> int:
    """About what the account takes up: contents as they are stored, and what each row costs."""
    total = 0
    for table in ("pages", "requests", "entries"):
        ((found,),) = connection.execute(f"SELECT coalesce(sum(size), 0) FROM {table}")
        total += int(found)
    ((uses,),) = connection.execute("SELECT count(*) FROM page_uses")
    return total + int(uses) * ROW_BYTES


def delete_sessions(connection: Connection, names: Sequence[str]) -> int:
    for chunk in chunks(names):
        for table in _OF_A_SESSION:
            connection.execute(f"DELETE FROM {table} WHERE session IN ({marks(chunk)})", chunk)
        connection.execute(f"DELETE FROM sessions WHERE id IN ({marks(chunk)})", chunk)
    return len(names)


def drop_unused(connection: Connection) -> None:
    connection.execute(
        "DELETE FROM pages WHERE NOT EXISTS (SELECT 1 FROM page_uses WHERE page = pages.name)"
    )


def _delete_commits(connection: Connection, names: Sequence[str]) -> None:
    """The commits these sessions decided; those another session decided too stay for it."""
    for chunk in chunks(names):
        listed = marks(chunk)
        connection.execute(
            "DELETE FROM commits WHERE EXISTS ("
            "SELECT 1 FROM entries e JOIN sessions s ON s.id = e.session"
            " WHERE e.commit_id = commits.id AND s.tenant = commits.tenant"
            f" AND e.session IN ({listed})) AND NOT EXISTS ("
            "SELECT 1 FROM entries e JOIN sessions s ON s.id = e.session"
            " WHERE e.commit_id = commits.id AND s.tenant = commits.tenant"
            f" AND e.session NOT IN ({listed}))",
            (*chunk, *chunk),
        )


def _sources(connection: Connection, commit: str, tenant: str) -> dict[str, tuple[str, ...]]:
    """What a commit stands for, by tenant: as it is in the log, or as it was only observed."""
    logged = connection.execute(
        "SELECT tenant, at_id, id, body FROM commits WHERE id = ?", (commit,)
    )
    observed = connection.execute(
        "SELECT s.tenant, e.body FROM entries e JOIN sessions s ON s.id = e.session"
        " WHERE e.commit_id = ?",
        (commit,),
    )
    found = {
        owner: commit_of(("", commit, json.loads(body)[1])).sources for owner, body in observed
    }
    found |= {owner: commit_of(tuple(row)).sources for owner, *row in logged}
    # Where nothing is rewritten a tenant's log has a name of its own (see `proxy.tenants`).
    mine = ("", tenant, f"observed-{tenant}")
    return {owner: s for owner, s in found.items() if not tenant or owner in mine}


def _names(connection: Connection, sql: str, values: Sequence[object]) -> list[str]:
    return [str(name) for (name,) in connection.execute(sql, values)]
