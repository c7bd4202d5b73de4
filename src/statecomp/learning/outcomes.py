"""What became of each step that was replaced: somebody came back for it, took it back, or did not.

Only what can be seen: a step nobody asked for again may still have been missed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from statecomp.annotation.labels import Label, Veto
from statecomp.history.interaction import Interaction
from statecomp.ledger.audit import Entry, Regret, Request
from statecomp.ledger.own import Account

QUIET = 20
"""Steps after a replacement without a return, from which on it counts as one nobody needed."""

Fate: TypeAlias = Literal["returned", "undone", "quiet", "open"]


@dataclass(frozen=True, slots=True)
class StepOutcome:
    """One replaced step.  `since` is the checkpoint it was replaced at, `needed` the step that came
    back for it, 0 where none did; `score` is what the router had said of it."""

    number: int
    since: int
    fate: Fate
    score: float | None = None
    needed: int = 0
    commit: str = ""
    router: str = ""


@dataclass(frozen=True)
class SessionAccount:
    """What the ledger tells of one session, read once."""

    requests: Sequence[Request]
    entries: Sequence[Entry]
    regrets: Sequence[Regret]

    @classmethod
    def of(cls, ledger: Account, session: str) -> SessionAccount:
        return cls(ledger.requests(session), ledger.entries(session), ledger.regrets(session))

    @property
    def last(self) -> int:
        """The latest step of the session."""
        return max((last_step(request) for request in self.requests), default=0)


def outcomes(
    told: SessionAccount, steps: Mapping[int, Interaction] | None = None
) -> Iterator[StepOutcome]:
    """Of every step that some commit stood for; what a provider refused says nothing.

    With the `steps` of the session a return is put down to the step it was for; without them to
    all that the commit stood for.
    """
    at = {request.when_s: last_step(request) + 1 for request in told.requests}
    by_number = {request.number: last_step(request) for request in told.requests}
    regretted: dict[str, list[Regret]] = {}
    for regret in told.regrets:
        regretted.setdefault(regret.commit, []).append(regret)
    for entry in told.entries:
        if entry.state == "suspect":
            continue
        since = at.get(entry.when_s, entry.commit.last + 2)
        wanted = _wanted(entry, regretted.get(entry.commit.id, ()), by_number, steps or {})
        for number in range(entry.commit.first, entry.commit.last + 1):
            yield StepOutcome(
                number,
                since,
                _fate(entry, number in wanted, told.last - since),
                entry.scores.get(number),
                wanted.get(number, 0),
                entry.commit.id,
                str(entry.ruling.get("router", "")),
            )


def last_step(request: Request) -> int:
    """The last interaction of a request: the one that was judged with it."""
    return max((cell.number for cell in request.grid), default=0)


def _fate(entry: Entry, returned: bool, steps: int) -> Fate:
    if returned:
        return "returned"
    if entry.state == "undone":
        return "undone"
    return "quiet" if steps >= QUIET and entry.state == "live" else "open"


def _wanted(
    entry: Entry,
    regrets: Sequence[Regret],
    by_number: Mapping[int, int],
    steps: Mapping[int, Interaction],
) -> dict[int, int]:
    """Which of a commit's steps were come back for, and the latest step that did."""
    found: dict[int, int] = {}
    for regret in regrets:
        step = by_number.get(regret.request, 0) or entry.commit.last + 1
        span = range(entry.commit.first, entry.commit.last + 1)
        named = [n for n in span if n in steps and _holds(steps[n], regret)]
        for number in named or span:
            found[number] = max(found.get(number, 0), step)
    return found


def meant(span: Sequence[Interaction], regret: Regret) -> Sequence[Interaction]:
    """The steps of a span that it was for; all of them where that cannot be told."""
    return [step for step in span if _holds(step, regret)] or span


def _holds(step: Interaction, regret: Regret) -> bool:
    if regret.kind == "lost identifier":
        return regret.detail in step.text
    # The detail of a repeated call is its name and arguments, cut.
    return any(f"{c.name} {c.arguments}".startswith(regret.detail) for c in step.calls)


ANNOTATOR = "outcome"


def seen(label: Label, found: Sequence[StepOutcome]) -> Label:
    """The label as what was seen corrects it; where that contradicts itself, the step stays.

    Who came back at step m needed it at every checkpoint up to m.  What was undone stays for good.
    What nobody came back for was READY when it was replaced.
    """
    boundary = label.boundary
    quiet = [one.since for one in found if one.fate == "quiet"]
    if quiet:
        earliest = max(min(quiet), label.number + 1)
        boundary = earliest if boundary is None else min(boundary, earliest)
    needed = max((one.needed for one in found if one.fate == "returned"), default=0)
    if boundary is not None and boundary <= needed:
        boundary = needed + 1
    if any(one.fate == "undone" for one in found):
        boundary = None
    if boundary == label.boundary:
        return label
    veto = (Veto(needed, "came back for it"),) if needed else ()
    reason = "what was seen after it was replaced speaks against the rules"
    return replace(
        label, boundary=boundary, evidence=(), veto=veto, reason=reason, annotator=ANNOTATOR
    )
