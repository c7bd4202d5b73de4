"""Small real values for the ledger: commits, requests and sessions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from statecomp.history.interaction import JsonObject
from statecomp.ledger.audit import Cell, Entry, Request, Session, Totals
from statecomp.ledger.commits import Commit
from statecomp.ledger.pages import Known
from statecomp.tokens.usage import Usage
from statecomp.traces.secrets import Masker

SECRET = "ghp_" + "a1B2c3D4e5" * 4


def masked(message: JsonObject, known: Known) -> JsonObject:
    found: JsonObject = Masker().masked(message, known)
    return found


def commit(
    at: str, place: int = 0, text: str = "what was done", sources: Sequence[str] = ()
) -> Commit:
    """The commit number `place` of the transaction at a state, over two interactions of its own."""
    first = 1 + 2 * place
    given = tuple(sources) or (f"{at}/i{first}", f"{at}/i{first + 1}")
    return Commit(f"{at}-{place}", at, given, first, first + 1, text, 4000, 300)


def transaction(at: str, size: int = 2, text: str = "what was done") -> list[Commit]:
    return [commit(at, place, f"{text} {place}") for place in range(size)]


def session(name: str = "run", *, tenant: str = "t", last_s: float = 1_000.0) -> Session:
    about = ("agent/1.0", f"task of {name}", "openai-chat", "gpt-5")
    return Session(name, tenant, *about, started_s=1_000.0, last_s=last_s, totals=Totals())


def request(name: str = "run", number: int = 1, **given: Any) -> Request:
    values: dict[str, Any] = {
        "session": name,
        "number": number,
        "when_s": 1_000.0 + number,
        "protocol": "openai-chat",
        "model": "gpt-5",
        "mode": "compress",
        "raw_tokens": 1000,
        "sent_tokens": 400,
        "raw_dollars": 0.5,
        "sent_dollars": 0.75,
        "usage": Usage(400, 100, 50, 20),
        "status": 200,
        "first_change": 1,
        "grid": (Cell(1, "summarised", 0.9), Cell(2, "kept", 0.25), Cell(3, "locked")),
        "note": "",
    }
    return Request(**{**values, **given})


def entry(of: Commit, name: str = "run", **given: Any) -> Entry:
    values: dict[str, Any] = {
        "when_s": 1_001.0,
        "scores": {of.first: 0.9, of.last: 0.75},
        "ruling": {"saves": 12.5, "pays": True},
        "originals": ({"role": "tool", "content": f"output of {of.id}"},),
    }
    return Entry(of, name, **{**values, **given})


def chat(length: int, start: str = "do it") -> list[dict[str, Any]]:
    steps = [{"role": "assistant", "content": f"{start} step {place}"} for place in range(length)]
    return [{"role": "user", "content": start}, *steps]
