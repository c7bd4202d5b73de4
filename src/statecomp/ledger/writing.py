"""Writing the account: one request with all that belongs to it."""

from __future__ import annotations

import json
import zlib
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from statecomp.history.identity import digest
from statecomp.ledger.audit import Entry, LedgerFailed, Regret, Request, Told
from statecomp.ledger.database import Connection, Row, marks
from statecomp.ledger.log import body_of, commit_of
from statecomp.ledger.pages import (
    Known,
    Pages,
    SeenHistory,
    StoredMessage,
    holds_any,
    message_in,
    written,
)

OF_HISTORY = ""
"""The owner of pages that are a session's history; a commit owns its originals."""
TITLE = 120
"""Characters that are kept of a title.  Half a secret is none by its shape: it is masked whole."""
_INSERT_REQUEST = (
    "INSERT INTO requests (session, number, when_s, protocol, model, mode, raw_tokens,"
    " sent_tokens, raw_dollars, sent_dollars, input, cached, written, output, status,"
    " first_change, grid, note, size, outside, records)"
)


@dataclass(frozen=True, slots=True)
class RequestRows:
    """A request as rows: masked, compressed and written out before the transaction begins."""

    session: Row
    request: Row
    entries: tuple[tuple[Row, tuple[StoredMessage, ...]], ...]
    regrets: tuple[Regret, ...]
    history: tuple[StoredMessage, ...]


def recorded(pages: Pages, told: Told, seen: SeenHistory) -> RequestRows:
    session, request, known = told.session, told.request, seen.secrets
    if session.id != request.session:
        raise LedgerFailed(f"the request is of session {request.session}, not {session.id}")
    model, client = pages.text(session.model, known), pages.text(session.client, known)
    about = {"client": client, "title": pages.text(session.title, known)[:TITLE]}
    about |= {"protocol": session.protocol, "model": model}
    about |= {"parent": session.parent, "family": session.family}
    return RequestRows(
        (session.id, session.tenant, json.dumps(about), session.started_s, session.last_s),
        _request_row(request, pages, known),
        tuple(
            (_entry_row(e, session.id, pages, known), _originals(e, pages, known))
            for e in told.entries
        ),
        tuple(replace(regret, detail=pages.text(regret.detail, known)) for regret in told.regrets),
        seen.pages if told.messages and not told.stored else (),
    )


def write(connection: Connection, records: Sequence[RequestRows]) -> None:
    """Requests in the order they came in, in as few statements as it takes."""
    _write_sessions(connection, [record.session for record in records])
    numbers = _write_requests(connection, [record.request for record in records])
    for record, number in zip(records, numbers, strict=True):
        _write_rest(connection, record, number)


def _write_rest(connection: Connection, record: RequestRows, number: int) -> None:
    name = str(record.session[0])
    for row, originals in record.entries:
        connection.execute(
            "INSERT INTO entries (session, commit_id, when_s, state, body, size)"
            " VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (session, commit_id) DO UPDATE SET"
            " when_s = excluded.when_s, body = excluded.body, size = excluded.size, state = CASE"
            " WHEN entries.state IN ('undone', 'suspect') THEN entries.state"
            " ELSE excluded.state END",
            row,
        )
        _write_pages(connection, name, str(row[1]), originals)
    if record.regrets:
        _write_regrets(connection, record, name, number)
    if record.history:
        _write_pages(connection, name, OF_HISTORY, record.history)


def _write_regrets(connection: Connection, record: RequestRows, name: str, number: int) -> None:
    connection.many(
        "INSERT INTO regrets (session, name, request, commit_id, kind, detail)"
        " VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (session, name) DO NOTHING",
        [
            _regret_row(r, name, number if r.request == record.request[1] else 0)
            for r in record.regrets
        ],
    )


def mask_again(
    connection: Connection, pages: Pages, session: str, known: Known, new: Collection[str]
) -> None:
    """What this session's commits were stored with before the `new` ones of its secrets were known.

    The pages that held them are deleted now, unless some other session has the very same.
    """
    rows = connection.execute(
        "SELECT u.owner, u.place, p.name, p.body FROM page_uses u JOIN pages p ON p.name = u.page"
        " WHERE u.session = ? AND u.owner <> ?",
        (session, OF_HISTORY),
    )
    told: list[str] = []
    for owner, place, name, body in rows:
        message = message_in(body)
        page = pages.page(message, known) if holds_any(message, new) else None
        if page is not None and page.name != name:
            told.append(name)
            _add_pages(connection, [page])
            connection.execute(
                "UPDATE page_uses SET page = ? WHERE session = ? AND owner = ? AND place = ?",
                (page.name, session, owner, place),
            )
    entries = connection.execute(
        "SELECT commit_id, body FROM entries WHERE session = ?", (session,)
    )
    for commit, body in entries:
        at, told_of, *rest = json.loads(body)
        stored = commit_of((at, commit, told_of))
        if holds_any(stored.text, new):
            masked = replace(stored, text=pages.text(stored.text, known))
            again = written((at, body_of(masked), *rest))
            connection.execute(
                "UPDATE entries SET body = ?, size = ? WHERE session = ? AND commit_id = ?",
                (again, len(again), session, commit),
            )
    drop_pages(connection, told)
    regrets = connection.execute("SELECT name, detail FROM regrets WHERE session = ?", (session,))
    for name, detail in regrets:
        again = json.dumps(pages.text(json.loads(detail), known))
        if again != detail:
            connection.execute(
                "UPDATE regrets SET detail = ? WHERE session = ? AND name = ?",
                (again, session, name),
            )


def drop_pages(connection: Connection, names: Sequence[str]) -> None:
    """Delete these pages where nothing uses them any more."""
    connection.many(
        "DELETE FROM pages WHERE name = ?"
        " AND NOT EXISTS (SELECT 1 FROM page_uses WHERE page = pages.name)",
        [(name,) for name in dict.fromkeys(names)],
    )


def _add_pages(connection: Connection, pages: Iterable[StoredMessage]) -> None:
    # In one order everywhere, so that two writers of the same pages cannot wait for each other.
    connection.many(
        "INSERT INTO pages (name, body, size) VALUES (?, ?, ?) ON CONFLICT (name) DO NOTHING",
        sorted((page.name, page.body, len(page.body)) for page in set(pages)),
    )


def _write_sessions(connection: Connection, rows: Sequence[Row]) -> None:
    """First of all: their rows' locks keep deleting and writing a session apart."""
    latest = {row[0]: row for row in rows}
    connection.execute(
        "INSERT INTO sessions (id, tenant, about, started_s, last_s)"
        f" VALUES {_places(latest.values())}"
        " ON CONFLICT (id) DO UPDATE SET about = excluded.about, last_s = CASE"
        " WHEN excluded.last_s > sessions.last_s THEN excluded.last_s ELSE sessions.last_s END",
        [value for row in latest.values() for value in row],
    )
    found = connection.execute(
        f"SELECT id, tenant FROM sessions WHERE id IN ({marks(latest)})", list(latest)
    )
    owners: dict[str, str] = dict(found)
    for name, tenant, *_ in rows:
        if owners[name] != tenant:
            raise LedgerFailed(f"session {name} belongs to another tenant")


def _write_requests(connection: Connection, rows: Sequence[Row]) -> list[int]:
    """Under which numbers."""
    # What was told before stands at its number or behind it; a long session is not searched.
    known = connection.execute(
        "SELECT session, number, when_s FROM requests WHERE "
        + " OR ".join(["(session = ? AND number >= ? AND (number = ? OR when_s = ?))"] * len(rows)),
        [value for s, number, when_s, *_ in rows for value in (s, number, number, when_s)],
    )
    if known or len({row[:2] for row in rows}) < len(rows):
        return [_write_request(connection, row) for row in rows]
    connection.execute(
        f"{_INSERT_REQUEST} VALUES {_places(rows)}", [value for row in rows for value in row]
    )
    return [int(row[1]) for row in rows]


def _write_request(connection: Connection, row: Row) -> int:
    """A request told again replaces what was told; two workers that counted alike are put apart."""
    session, number, when_s, *rest = row
    known = connection.execute(
        "SELECT number, when_s FROM requests"
        " WHERE session = ? AND number >= ? AND (number = ? OR when_s = ?)",
        (session, number, number, when_s),
    )
    if same := [place for place, when in known if when == when_s]:
        number = same[0]
        connection.execute(
            "DELETE FROM requests WHERE session = ? AND number = ?", (session, number)
        )
    elif known:
        ((number,),) = connection.execute(
            "SELECT max(number) + 1 FROM requests WHERE session = ?", (session,)
        )
    again = (session, number, when_s, *rest)
    connection.execute(f"{_INSERT_REQUEST} VALUES {_places([again])}", again)
    return int(number)


def _places(rows: Collection[Row]) -> str:
    return ", ".join(f"({marks(row)})" for row in rows)


def _write_pages(
    connection: Connection, session: str, owner: str, pages: Sequence[StoredMessage]
) -> None:
    """Only what differs from what stands there."""
    rows = connection.execute(
        "SELECT page FROM page_uses WHERE session = ? AND owner = ? ORDER BY place",
        (session, owner),
    )
    known = [name for (name,) in rows]
    start = _first_difference(known, [page.name for page in pages])
    if start < len(known):
        connection.execute(
            "DELETE FROM page_uses WHERE session = ? AND owner = ? AND place >= ?",
            (session, owner, start),
        )
    news = pages[start:]
    _add_pages(connection, news)
    connection.many(
        "INSERT INTO page_uses (session, owner, place, page) VALUES (?, ?, ?, ?)",
        [(session, owner, place, page.name) for place, page in enumerate(news, start)],
    )
    drop_pages(connection, known[start:])  # they may hold what is now known to be a secret


def _first_difference(old: Sequence[str], new: Sequence[str]) -> int:
    pairs = zip(old, new, strict=False)
    short = min(len(old), len(new))
    return next((place for place, (a, b) in enumerate(pairs) if a != b), short)


def _request_row(request: Request, pages: Pages, known: Known) -> Row:
    cells = json.dumps(request.grid)
    grid = zlib.compress(cells.encode("ascii"), 3)
    usage = request.usage
    note = json.dumps(pages.text(request.note, known))
    return (
        *(request.session, request.number, request.when_s),
        *(request.protocol, _column(pages.text(request.model, known)), request.mode),
        *(request.raw_tokens, request.sent_tokens, request.raw_dollars, request.sent_dollars),
        *(usage.input, usage.cached, usage.written, usage.output),
        *(request.status, request.first_change, grid, note, len(grid) + len(note)),
        *(request.outside_tokens, request.record_dollars),
    )


def _column(text: str) -> str:
    """What a client wrote, as a column of text can carry it."""
    return text.replace("\0", " ").encode("utf-8", "replace").decode()


def _entry_row(entry: Entry, session: str, pages: Pages, known: Known) -> Row:
    commit = replace(entry.commit, text=pages.text(entry.commit.text, known))
    told: tuple[Any, ...] = (
        *(commit.at, body_of(commit)),
        *(list(entry.scores.items()), json.loads(pages.mapping(entry.ruling, known))),
    )
    body = written(told)
    return (session, commit.id, entry.when_s, entry.state, body, len(body))


def _originals(entry: Entry, pages: Pages, known: Known) -> tuple[StoredMessage, ...]:
    return tuple(pages.page(message, known) for message in entry.originals)


def _regret_row(regret: Regret, session: str, number: int) -> Row:
    request = number or regret.request
    name = digest(str(request), regret.commit, regret.kind, regret.detail)
    detail = json.dumps(regret.detail)
    return (session, name, request, regret.commit, regret.kind, detail)
