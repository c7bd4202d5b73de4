"""From what the ledger holds to what the page shows, as plain JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from json import dumps, loads
from math import isfinite
from typing import Any

from statecomp.dashboard.reasons import gate_words
from statecomp.errors import StateCompError
from statecomp.explain import kind_of
from statecomp.history.interaction import JsonObject
from statecomp.ledger.audit import Cell, Entry, Regret, Request, Session
from statecomp.ledger.commits import Commit
from statecomp.ledger.own import Account
from statecomp.records.writing.credit import midnight_s, today
from statecomp.wire.protocol import Group
from statecomp.wire.providers import wire_named
from statecomp.writers import ModelRecords

Json = dict[str, Any]
LISTED = 500
LABEL = 120
_LETTERS = {"kept": "k", "summarised": "s", "locked": "l"}
ABSENT = "."
SENT_LESS, WOULD_SEND_LESS = "sent less", "would be sent less"
UNTOLD = "no reason was kept"


def overview(ledger: Account, records: ModelRecords | None = None) -> Json:
    """Totals over everything, and the latest sessions; and what records by a model may cost."""
    budget = None
    if records is not None:
        spent = ledger.record_dollars(midnight_s(today()))
        budget = {"today": spent, "day": _limit(records.day_dollars)}
    return {
        "records": budget,
        "totals": asdict(ledger.totals()),
        "sessions": [session_json(session) for session in ledger.sessions(LISTED)],
        "listed": LISTED,
    }


def _limit(dollars: float) -> float | None:
    return dollars if isfinite(dollars) else None


def session_json(session: Session) -> Json:
    """A session without tenant and family: hashes that say nothing to a person."""
    unnamed = ("tenant", "family")
    return {name: value for name, value in asdict(session).items() if name not in unnamed}


def session_detail(
    ledger: Account, session: Session, after: int, records: ModelRecords | None = None
) -> Json:
    """One session; of its requests those with a number above `after`, and no others are read.

    A commit was decided at the request of the same `when_s`.
    """
    regrets = ledger.regrets(session.id)
    regretted = Counter(regret.commit for regret in regrets)
    parent = ledger.session(session.parent) if session.parent else None
    entries = ledger.entries(session.id)
    within = chapters(entries)
    return {
        "session": session_json(session),
        "record_limit": _limit(records.session_dollars) if records is not None else None,
        "parent": session_json(parent) if parent else None,
        "labels": labels(ledger.messages(session.id), session.protocol),
        "requests": [_request(request) for request in ledger.requests(session.id, after=after)],
        "commits": [
            {**_brief(entry, within), "regrets": regretted[entry.commit.id]} for entry in entries
        ],
        "regrets": [_regret(regret) for regret in regrets],
    }


def commit_detail(ledger: Account, entry: Entry) -> Json:
    """Everything a person needs to argue with one commit."""
    session = ledger.session(entry.session) if entry.session else None
    regrets = ledger.regrets(entry.session) if entry.session else ()
    mine = [_regret(regret) for regret in regrets if regret.commit == entry.commit.id]
    others = ledger.entries(entry.session) if entry.session else ()
    return {
        **_brief(entry, chapters(others)),
        "session": entry.session,
        "at": entry.commit.at,
        "interactions": len(entry.commit.sources),
        "gate": gate_words(entry.ruling),
        "router": str(entry.ruling.get("router", "")),
        "summary": entry.commit.text,
        "original": original(entry, session.protocol if session else ""),
        "regretted": mine,
        "regrets": len(mine),
    }


def chapters(entries: Sequence[Entry]) -> Mapping[str, Commit]:
    """For each commit the live one that took its place, with its steps among others."""
    return {
        name: entry.commit
        for entry in entries
        if entry.state == "live"
        for name in entry.commit.over
    }


def steps_of(commit: Commit) -> str:
    return str(commit.first) if commit.first == commit.last else f"{commit.first}-{commit.last}"


def fate(request: Request) -> str:
    """What became of a request, in words that many share: sent less, or why not."""
    if request.sent_tokens < request.raw_tokens:
        return WOULD_SEND_LESS if request.mode == "observe" else SENT_LESS
    return kind_of(request.note) or UNTOLD


def fates(requests: Sequence[Request]) -> list[tuple[str, int]]:
    """How many requests had which fate, the commonest first."""
    return Counter(map(fate, requests)).most_common()


def labels(messages: Sequence[JsonObject], protocol: str) -> list[str]:
    """One line for each interaction, in order, that lets a person recognise it."""
    return [_one_line(group) for group in _groups(messages, protocol) if not group.role]


def original(entry: Entry, protocol: str) -> list[Json]:
    """The replaced messages, interaction by interaction, each as a list of named texts."""
    groups = _groups(entry.originals, protocol)
    if groups:
        first = entry.commit.first
        return [
            {"number": number, "parts": [{"kind": k, "text": t} for k, t in _parts(group)]}
            for number, group in enumerate(groups, first)
        ]
    # Not readable as interactions: shown as they are stored.
    parts = [{"kind": _kind(m), "text": dumps(m, default=str)} for m in entry.originals]
    return [{"number": None, "parts": parts}] if parts else []


def states(grid: Sequence[Cell]) -> str:
    """One letter for each interaction, in the order of their numbers."""
    found = {cell.number: _LETTERS[cell.state] for cell in grid}
    return "".join(found.get(number, ABSENT) for number in range(1, max(found, default=0) + 1))


def scores(grid: Sequence[Cell]) -> list[float | None] | None:
    """As `states`; None where no interaction has a score."""
    found = {cell.number: _finite(cell.score) for cell in grid}
    if all(score is None for score in found.values()):
        return None
    return [found.get(number) for number in range(1, max(found) + 1)]


def _request(request: Request) -> Json:
    return {
        "number": request.number,
        "when_s": request.when_s,
        "model": request.model,
        "mode": request.mode,
        "status": request.status,
        "raw": request.raw_tokens,
        "sent": request.sent_tokens,
        "outside": request.outside_tokens,
        "raw_dollars": request.raw_dollars,
        "sent_dollars": request.sent_dollars,
        "record_dollars": request.record_dollars,
        "usage": asdict(request.usage),
        "states": states(request.grid),
        "scores": scores(request.grid),
        "note": request.note,
        "kind": fate(request),
    }


def _brief(entry: Entry, within: Mapping[str, Commit]) -> Json:
    commit = entry.commit
    chapter = within.get(commit.id) if entry.state == "live" else None
    given = [score for score in entry.scores.values() if _finite(score) is not None]
    return {
        "id": commit.id,
        "first": commit.first,
        "last": commit.last,
        "source_tokens": commit.source_tokens,
        "summary_tokens": commit.summary_tokens,
        "state": entry.state,
        "within": steps_of(chapter) if chapter else "",
        "when_s": entry.when_s,
        "scores": [[number, _finite(score)] for number, score in sorted(entry.scores.items())],
        "lowest": min(given, default=None),
        "writer": str(entry.ruling.get("writer", "")),
    }


def _regret(regret: Regret) -> Json:
    return {name: value for name, value in asdict(regret).items() if name != "session"}


def _groups(messages: Sequence[JsonObject], protocol: str) -> list[Group]:
    """Nothing where they cannot be read: masking may have changed what a rule rests on."""
    try:
        return list(wire_named(protocol).groups(messages))
    except StateCompError:
        return []


def _parts(group: Group) -> Iterator[tuple[str, str]]:
    if group.role:
        yield group.role, group.text
        return
    told = [("reasoning", group.reasoning), ("said", group.said)]
    told += [(f"call: {call.name}", call.arguments) for call in group.calls]
    told += [("error" if o.is_error else "result", o.text) for o in group.observations]
    yield from ((kind, text) for kind, text in told if text or kind.startswith("call"))


def _one_line(group: Group) -> str:
    calls = (f"{call.name} {_values(call.arguments)}" for call in group.calls)
    line = " ".join(" ".join([*calls, group.said]).split())
    return line if len(line) <= LABEL else f"{line[: LABEL - 1]}…"


def _values(arguments: str) -> str:
    """What a call was made with, without the quotes and names that all calls of a tool share."""
    try:
        given = loads(arguments)
    except (ValueError, RecursionError):
        return arguments
    if not isinstance(given, dict):
        return arguments
    return " ".join(value if isinstance(value, str) else dumps(value) for value in given.values())


def _kind(message: Mapping[str, Any]) -> str:
    return str(message.get("role") or message.get("type") or "message")


def _finite(score: float | None) -> float | None:
    return round(score, 4) if score is not None and isfinite(score) else None
