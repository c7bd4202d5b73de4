"""What was taken and what was sent: the two things no later word may change.

A commit claims its sources, and a chapter the commits it is over.  Two commits of one run may not
claim the same, or the later would change what the earlier made of a history that has gone out.
Branches of a run share sources and judge them each for themselves, so a source can be claimed once
in each `branch`; the tables allow no two claims in one.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Sequence

from statecomp.ledger.commits import Claim, Commit, is_free
from statecomp.ledger.database import Connection, Row, chunks, marks


def claim(
    connection: Connection, tenant: str, at: str, commits: Sequence[Commit], chain: Sequence[str]
) -> bool:
    """Claim all that a transaction claims, or nothing; whether it was free."""
    sources = [name for commit in commits for name in commit.claims]
    taken = list(_claimed(connection, tenant, sources))
    if not is_free([found for _, found in taken], chain):
        return False
    branch = Counter(source for source, _ in taken)
    _insert(
        connection,
        # A source twice in one transaction is the caller's mistake, and nobody else's loss.
        [(tenant, name, branch[name], at, len(chain)) for name in dict.fromkeys(sources)],
    )
    return True


def claim_what_stands(connection: Connection) -> None:
    """For a ledger from before there were claims.  Its commits stay, overlaps and all."""
    rows = connection.execute("SELECT tenant, at_id, body FROM commits ORDER BY version, place")
    branch: Counter[tuple[str, str]] = Counter()
    claims: list[Row] = []
    for tenant, at, body in rows:
        for source in dict.fromkeys(json.loads(body)[0]):
            claims.append((tenant, source, branch[tenant, source], at, 0))
            branch[tenant, source] += 1
    _insert(connection, claims)


def release(connection: Connection) -> None:
    """Free the sources of transactions that were deleted."""
    connection.execute(
        "DELETE FROM claims WHERE NOT EXISTS (SELECT 1 FROM commits"
        " WHERE commits.tenant = claims.tenant AND commits.at_id = claims.at_id)"
    )


def sent(connection: Connection, tenant: str, seen: str) -> tuple[str, ...] | None:
    """The commits that stood in this history when it first went out; None if it did not yet."""
    rows = connection.execute(
        "SELECT commits FROM sent WHERE tenant = ? AND seen = ?", (tenant, seen)
    )
    return tuple(json.loads(rows[0][0])) if rows else None


def send(connection: Connection, tenant: str, seen: str, commits: Sequence[str]) -> tuple[str, ...]:
    """Write down what goes out, unless something went out before; what stands now."""
    connection.execute(
        "INSERT INTO sent (tenant, seen, commits, when_s) VALUES (?, ?, ?, ?)"
        " ON CONFLICT (tenant, seen) DO NOTHING",
        (tenant, seen, json.dumps(list(commits)), time.time()),
    )
    return sent(connection, tenant, seen) or ()


def _claimed(
    connection: Connection, tenant: str, sources: Sequence[str]
) -> list[tuple[str, Claim]]:
    found: list[tuple[str, Claim]] = []
    for chunk in chunks(sources):
        rows = connection.execute(
            "SELECT source, at_id, depth FROM claims"
            f" WHERE tenant = ? AND source IN ({marks(chunk)})",
            (tenant, *chunk),
        )
        found += [(source, Claim(at, depth)) for source, at, depth in rows]
    return found


def _insert(connection: Connection, claims: Sequence[Row]) -> None:
    connection.many(
        "INSERT INTO claims (tenant, source, branch, at_id, depth) VALUES (?, ?, ?, ?, ?)", claims
    )
