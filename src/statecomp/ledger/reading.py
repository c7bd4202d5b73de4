"""Reading the account back as values."""

from __future__ import annotations

import json
import zlib
from collections.abc import Sequence
from typing import Any

from statecomp.history.interaction import JsonObject
from statecomp.ledger.audit import (
    Cell,
    Entry,
    EntryState,
    Regret,
    Request,
    Session,
    Sums,
    Totals,
)
from statecomp.ledger.database import Connection, Row
from statecomp.ledger.log import commit_of, held_by
from statecomp.ledger.pages import message_in
from statecomp.ledger.writing import OF_HISTORY
from statecomp.tokens.usage import Usage

_OBSERVED = "r.mode = 'observe'"
_SUMS = ", ".join(
    f"coalesce(sum({column}), 0)"
    for column in (
        *("r.raw_tokens", f"CASE WHEN {_OBSERVED} THEN r.raw_tokens ELSE r.sent_tokens END"),
        *("r.raw_dollars", f"CASE WHEN {_OBSERVED} THEN r.raw_dollars ELSE r.sent_dollars END"),
        *("r.input", "r.cached", "r.written", "r.output"),
        *(
            f"CASE WHEN {_OBSERVED} THEN {value} ELSE 0 END"
            for value in ("1", "r.raw_tokens", "r.sent_tokens", "r.raw_dollars", "r.sent_dollars")
        ),
        *("r.outside", "r.records"),
    )
)
# What was only observed, or taken back, is no commit that stands.
_LIVE = (
    "SELECT count(*) FROM entries e JOIN sessions o ON o.id = e.session"
    " LEFT JOIN commits c ON c.tenant = o.tenant AND c.id = e.commit_id"
    " WHERE coalesce(c.state, e.state) = 'live' AND e.state <> 'observed'"
)
_ONLY_OBSERVED = "SELECT count(*) FROM entries e WHERE e.state = 'observed'"
_REGRETS = (
    "SELECT count(*) FROM regrets g LEFT JOIN requests o"
    " ON o.session = g.session AND o.number = g.request"
    " WHERE coalesce(o.mode, '') {which} 'observe'"
)
_REGRETTED, _WOULD_REGRET = (_REGRETS.format(which=which) for which in ("<>", "="))
_SESSIONS = (
    "SELECT s.id, s.tenant, s.about, s.started_s, s.last_s,"
    " (SELECT l.note FROM requests l WHERE l.session = s.id ORDER BY l.number DESC LIMIT 1),"
    f" ({_LIVE} AND e.session = s.id), ({_REGRETTED} AND g.session = s.id),"
    f" ({_ONLY_OBSERVED} AND e.session = s.id), ({_WOULD_REGRET} AND g.session = s.id),"
    f" count(r.number), {_SUMS}"
    " FROM (SELECT * FROM sessions {chosen}) s LEFT JOIN requests r ON r.session = s.id"
    " GROUP BY s.id, s.tenant, s.about, s.started_s, s.last_s"
    " ORDER BY s.last_s DESC, s.id"
)
_ENTRIES = (
    "SELECT e.session, e.commit_id, e.when_s, coalesce(c.state, e.state), e.body, s.tenant"
    " FROM entries e JOIN sessions s ON s.id = e.session"
    " LEFT JOIN commits c ON c.tenant = s.tenant AND c.id = e.commit_id"
    " AND e.state <> 'observed'"
)


def sessions(connection: Connection, limit: int, tenant: str = "") -> list[Session]:
    mine, values = ("WHERE tenant = ? ", (tenant, limit)) if tenant else ("", (limit,))
    chosen = f"{mine}ORDER BY last_s DESC, id LIMIT ?"
    return [_session(row) for row in connection.execute(_SESSIONS.format(chosen=chosen), values)]


def session(connection: Connection, name: str) -> Session | None:
    rows = connection.execute(_SESSIONS.format(chosen="WHERE id = ?"), (name,))
    return _session(rows[0]) if rows else None


def totals(connection: Connection, tenant: str = "") -> Totals:
    def mine(table: str) -> str:
        return (
            f"{table}.session IN (SELECT id FROM sessions WHERE tenant = ?)" if tenant else "TRUE"
        )

    counted = ((_LIVE, "e"), (_REGRETTED, "g"), (_ONLY_OBSERVED, "e"), (_WOULD_REGRET, "g"))
    counts = ", ".join(f"({sql} AND {mine(table)})" for sql, table in counted)
    (row,) = connection.execute(
        f"SELECT {counts}, count(*), {_SUMS} FROM requests r WHERE {mine('r')}",
        (tenant,) * (len(counted) + 1) if tenant else (),
    )
    return _totals(row)


def record_dollars(
    connection: Connection, since_s: float, tenant: str = "", session: str = ""
) -> float:
    ours = " AND session IN (SELECT id FROM sessions WHERE tenant = ?)" if tenant else ""
    its = " AND session = ?" if session else ""
    sum_of = "SELECT coalesce(sum(records), 0) FROM requests WHERE when_s >= ?"
    given = (since_s, *filter(None, (tenant, session)))
    (row,) = connection.execute(sum_of + ours + its, given)
    return float(row[0])


def requests(connection: Connection, name: str, after: int = 0) -> list[Request]:
    rows = connection.execute(
        "SELECT session, number, when_s, protocol, model, mode, raw_tokens, sent_tokens,"
        " raw_dollars, sent_dollars, input, cached, written, output, status, first_change, grid,"
        " note, outside, records FROM requests WHERE session = ? AND number > ? ORDER BY number",
        (name, after),
    )
    return [_request(row) for row in rows]


def last_number(connection: Connection, name: str) -> int:
    rows = connection.execute("SELECT max(number) FROM requests WHERE session = ?", (name,))
    return int(rows[0][0] or 0)


def entries(connection: Connection, name: str) -> list[Entry]:
    rows = connection.execute(f"{_ENTRIES} WHERE e.session = ? ORDER BY e.when_s", (name,))
    return [_entry(connection, row) for row in rows]


def entry(connection: Connection, beginning: str, tenant: str = "") -> Entry | None:
    if tenant:
        return _own_entry(connection, beginning, tenant)
    name = _only_one(connection, beginning)
    if name is None:
        return None
    rows = connection.execute(
        f"{_ENTRIES} WHERE e.commit_id = ? ORDER BY e.when_s DESC LIMIT 1", (name,)
    )
    return _entry(connection, rows[0]) if rows else _unaccounted(connection, name)


def _own_entry(connection: Connection, beginning: str, tenant: str) -> Entry | None:
    """As if there were no other tenants; a commit without an account is nobody's to be seen."""
    rows = connection.execute(
        f"{_ENTRIES} WHERE s.tenant = ? AND substr(e.commit_id, 1, ?) = ? ORDER BY e.when_s DESC",
        (tenant, len(beginning), beginning),
    )
    rows = [row for row in rows if row[1] == beginning] or rows
    return _entry(connection, rows[0]) if len({row[1] for row in rows}) == 1 else None


def regrets(connection: Connection, name: str) -> list[Regret]:
    rows = connection.execute(
        "SELECT session, request, commit_id, kind, detail FROM regrets WHERE session = ?"
        " ORDER BY request, name",
        (name,),
    )
    return [Regret(name, at, commit, kind, json.loads(text)) for _, at, commit, kind, text in rows]


def messages(connection: Connection, name: str, owner: str = OF_HISTORY) -> list[JsonObject]:
    rows = connection.execute(
        "SELECT p.body FROM page_uses u JOIN pages p ON p.name = u.page"
        " WHERE u.session = ? AND u.owner = ? ORDER BY u.place",
        (name, owner),
    )
    return [message_in(body) for (body,) in rows]


def _only_one(connection: Connection, beginning: str) -> str | None:
    """The commit id that this is, or the only one that begins so."""
    if not beginning:
        return None
    for table, column in (("entries", "commit_id"), ("commits", "id")):
        if connection.execute(f"SELECT 1 FROM {table} WHERE {column} = ? LIMIT 1", (beginning,)):
            return beginning
    begins = "substr({0}, 1, ?) = ?"
    rows = connection.execute(
        f"SELECT commit_id FROM entries WHERE {begins.format('commit_id')}"
        f" UNION SELECT id FROM commits WHERE {begins.format('id')} LIMIT 2",
        (len(beginning), beginning) * 2,
    )
    return str(rows[0][0]) if len(rows) == 1 else None


def _unaccounted(connection: Connection, name: str) -> Entry:
    """A commit that goes out although nobody holds the account of it any more."""
    (row,) = connection.execute(
        "SELECT at_id, id, body, when_s, state FROM commits WHERE id = ? ORDER BY when_s LIMIT 1",
        (name,),
    )
    *commit, when_s, state = row
    return Entry(commit_of(tuple(commit)), "", when_s, state)


def _entry(connection: Connection, row: Row) -> Entry:
    name, commit_id, when_s, state, body, tenant = row
    at, commit, scores, ruling = json.loads(body)
    found = commit_of((at, commit_id, commit))
    return Entry(
        found,
        name,
        when_s,
        _state(state, found.sources, held_by(connection, tenant).keys()),
        dict(scores),
        ruling,
        tuple(messages(connection, name, commit_id)),
    )


def _state(state: EntryState, sources: Sequence[str], held: Any) -> EntryState:
    """A live commit over something held is not applied, so it is as good as undone."""
    return "undone" if state == "live" and not held.isdisjoint(sources) else state


def _request(row: Row) -> Request:
    (name, number, when_s, protocol, model, mode), rest = row[:6], row[6:]
    (raw, sent, raw_dollars, sent_dollars), rest = rest[:4], rest[4:]
    usage, (status, first_change, grid, note, outside, records) = rest[:4], rest[4:]
    return Request(
        *(name, number, when_s, protocol, model, mode, raw, sent, raw_dollars, sent_dollars),
        Usage(*usage),
        status,
        first_change,
        tuple(Cell(*cell) for cell in json.loads(zlib.decompress(grid))),
        json.loads(note),
        outside,
        records,
    )


def _session(row: Row) -> Session:
    name, tenant, about, started_s, last_s, note = row[:6]
    told = json.loads(about)
    return Session(
        name,
        tenant,
        *(told["client"], told["title"], told["protocol"], told["model"]),
        started_s=started_s,
        last_s=last_s,
        totals=_totals(row[6:]),
        note=json.loads(note) if note else "",
        parent=told.get("parent", ""),
        family=told.get("family", ""),
    )


def _totals(row: Row) -> Totals:
    (commits, regretted, would_commit, would_regret), rest = row[:4], row[4:]
    (count, *sums), usage, rest = rest[:5], rest[5:9], rest[9:]
    (seen, *would), (outside, records) = rest[:-2], rest[-2:]
    return Totals(
        *_amounts(count, *sums, commits, regretted),
        Usage(*map(int, usage)),
        Sums(*_amounts(seen, *would, would_commit, would_regret)),
        int(outside),
        float(records),
    )


def _amounts(*row: Any) -> tuple[int, int, int, float, float, int, int]:
    """The fields of `Sums`; PostgreSQL sums whole numbers as decimals."""
    count, raw, sent, raw_dollars, sent_dollars, commits, regretted = row
    dollars = float(raw_dollars), float(sent_dollars)
    return int(count), int(raw), int(sent), *dollars, int(commits), int(regretted)
