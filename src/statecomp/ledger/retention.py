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
from statecomp.ledger.database import Connection, Database, chunks, marks
from statecomp.ledger.log import commit_of, next_version

DAY_S = 86_400.0
AT_ONCE = 256
"""Pages that are deleted in one transaction."""
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
    database: Database, limits: RetentionLimits, now_s: float, used: Iterable[tuple[str, str]]
) -> int:
    """Hold the limits; how many bytes that freed.  `used` are states that were used lately.

    What is looked through is only read, and sessions go a part at a time: whoever writes down what
    goes out waits for none of it long.
    """
    aged, idle = now_s - limits.max_age_days * DAY_S, now_s - limits.idle_commit_days * DAY_S
    database.write(lambda c: _forget_old(c, used, now_s, aged))
    if database.look(
        lambda c: c.execute("SELECT 1 FROM commits WHERE used_s < ? LIMIT 1", (idle,))
    ):
        database.write(lambda c: _forget_idle(c, idle))
    lock, before = database.dialect.lock_sessions, 0
    while (freed := database.write(lambda c: _delete_some(c, lock, before_s=aged))) is not None:
        before += freed
    over = database.look(stored_bytes) - limits.max_bytes
    left = over
    while left > 0 and (freed := database.write(lambda c: _delete_some(c, lock))) is not None:
        left -= freed
    return before + over - left


def _forget_old(
    connection: Connection, used: Iterable[tuple[str, str]], now_s: float, aged: float
) -> None:
    mark_used(connection, used, now_s)
    for table in ("refused", "sent"):
        connection.execute(f"DELETE FROM {table} WHERE when_s < ?", (aged,))


def _forget_idle(connection: Connection, idle: float) -> None:
    forget(connection)
    connection.execute("DELETE FROM commits WHERE used_s < ?", (idle,))
    release(connection)


def _delete_some(connection: Connection, lock: str, *, before_s: float | None = None) -> int | None:
    """Of the oldest session: bytes freed; None where none is old enough, or it is the only one."""
    if lock:
        connection.execute(lock)
    rows = connection.execute("SELECT id, last_s FROM sessions ORDER BY last_s, id LIMIT 2")
    if not rows or (len(rows) < 2 if before_s is None else rows[0][1] >= before_s):
        return None
    name = str(rows[0][0])
    some = "SELECT owner, place, page FROM page_uses WHERE session = ? LIMIT ?"
    uses = connection.execute(some, (name, AT_ONCE))
    if len(uses) < AT_ONCE:
        return delete_sessions(connection, [name])
    connection.many(
        "DELETE FROM page_uses WHERE session = ? AND owner = ? AND place = ?",
        [(name, owner, place) for owner, place, _ in uses],
    )
    return ROW_BYTES * len(uses) + _drop_unused(connection, [page for *_, page in uses])


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
    total = sum(_sum_of_sizes(connection, table) for table in ("pages", "requests", "entries"))
    ((uses,),) = connection.execute("SELECT count(*) FROM page_uses")
    return total + int(uses) * ROW_BYTES


def delete_sessions(connection: Connection, names: Sequence[str]) -> int:
    """With all they hold; how many bytes that frees, as `stored_bytes` counts them."""
    freed = 0
    for chunk in chunks(names):
        theirs = f"WHERE session IN ({marks(chunk)})"
        uses = _names(connection, f"SELECT page FROM page_uses {theirs}", chunk)
        for table in ("requests", "entries"):
            freed += _sum_of_sizes(connection, f"{table} {theirs}", chunk)
        for table in _OF_A_SESSION:
            connection.execute(f"DELETE FROM {table} {theirs}", chunk)
        connection.execute(f"DELETE FROM sessions WHERE id IN ({marks(chunk)})", chunk)
        freed += ROW_BYTES * len(uses) + _drop_unused(connection, uses)
    return freed


def _drop_unused(connection: Connection, pages: Sequence[str]) -> int:
    freed = 0
    for chunk in chunks(list(dict.fromkeys(pages))):
        unused = (
            f"pages WHERE name IN ({marks(chunk)})"
            " AND NOT EXISTS (SELECT 1 FROM page_uses WHERE page = pages.name)"
        )
        freed += _sum_of_sizes(connection, unused, chunk)
        connection.execute(f"DELETE FROM {unused}", chunk)
    return freed


def _sum_of_sizes(connection: Connection, rows: str, values: Sequence[object] = ()) -> int:
    ((found,),) = connection.execute(f"SELECT coalesce(sum(size), 0) FROM {rows}", values)
    return int(found)


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
