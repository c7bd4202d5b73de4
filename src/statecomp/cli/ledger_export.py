"""A user's own traffic as training data: sessions as runs, regretted commits as KEEP labels."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from statecomp.annotation.labels import Label, Veto
from statecomp.errors import BadInput
from statecomp.ledger.audit import Entry, Regret, Request, Session
from statecomp.ledger.own import Account
from statecomp.traces.jsonl import run_of
from statecomp.traces.records import Origin, as_record, build
from statecomp.wire.pairing import RecordedMessage as Recorded

ANNOTATOR = "regret"


def run_record(ledger: Account, session: Session) -> Mapping[str, Any] | BadInput:
    """The last raw history of a session as a run in our layout, or why it cannot be one."""
    requests = ledger.requests(session.id)
    # Sessions on the same task must not be parted by a split, so they share its name.
    origin = Origin(
        source="ledger",
        scaffold=session.client,
        group=session.title or session.id,
        model=session.model,
        task=session.title,
    )
    messages = [Recorded(message) for message in ledger.messages(session.id)]
    recorded = {"requests": [_cost_of(request) for request in requests]}
    record = as_record(build(origin, session.id, session.protocol, messages, recorded))
    try:
        run_of(record)
    except BadInput as problem:
        return problem.at(field=f"session {session.id}")
    return record


def keep_labels(ledger: Account, session: Session) -> Iterator[Label]:
    """KEEP for every interaction of a regretted commit; the veto is the step that wanted it."""
    regretted: dict[str, list[Regret]] = {}
    for regret in ledger.regrets(session.id):
        regretted.setdefault(regret.commit, []).append(regret)
    steps = {request.number: _step(request) for request in ledger.requests(session.id)}
    seen: set[int] = set()
    for entry in ledger.entries(session.id):
        regrets = regretted.get(entry.commit.id, [])
        for number in range(entry.commit.first, entry.commit.last + 1) if regrets else ():
            if number not in seen:
                seen.add(number)
                yield _label(entry, number, regrets, steps)


def _label(entry: Entry, number: int, regrets: Sequence[Regret], steps: Mapping[int, int]) -> Label:
    vetoes = (
        Veto(steps.get(r.request) or entry.commit.last + 1, f"{r.kind}: {r.detail}")
        for r in regrets
    )
    return Label(
        run=entry.session,
        number=number,
        boundary=None,
        veto=tuple(vetoes),
        reason=f"commit {entry.commit.id} replaced it and was regretted",
        annotator=ANNOTATOR,
    )


def _step(request: Request) -> int:
    """The last interaction of a request: the one that was judged with it."""
    return max((cell.number for cell in request.grid), default=0)


def _cost_of(request: Request) -> dict[str, Any]:
    """What a request cost; its grid is about our decisions, not about the run."""
    return {
        name: value
        for name, value in asdict(request).items()
        if name not in ("grid", "session", "protocol") and value not in ("", None)
    }
