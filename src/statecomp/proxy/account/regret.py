"""Later steps that wanted something a commit had taken, or, observed, would have taken.

A step is judged by the view it was made from: that of the request whose answer it is.  It regrets
a commit when it repeats a call and is told what had stood only in the replaced interactions, or
when it uses an identifier that the agent had learned and that stands nowhere in that view.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from statecomp.controller.states import tip
from statecomp.history.facts import facts_of
from statecomp.history.history import History
from statecomp.history.interaction import Interaction, Segment
from statecomp.history.repeats import call_key, told
from statecomp.history.text import COMMON
from statecomp.ledger.audit import RegretKind
from statecomp.ledger.commits import Commit, bytes_of
from statecomp.recent import LruCache, Weighed
from statecomp.replays.safety import action_identifiers, stands_in

MOST_STEPS = 50
LONGEST = 200


@dataclass(frozen=True, slots=True)
class FoundReturns:
    commit: str
    kind: RegretKind
    detail: str


@dataclass
class RegretMeter:
    """Remembers from which view each state was answered, and judges each step once."""

    _sent: Weighed[tuple[str, str], tuple[Commit, ...]] = field(
        default_factory=lambda: Weighed(2048, bytes_of)
    )
    _judged: LruCache[tuple[str, str], bool] = field(default_factory=lambda: LruCache(4096))

    def sent(self, tenant: str, raw: History, applied: tuple[Commit, ...]) -> None:
        """This history was sent with these commits in it (or would have been)."""
        if applied:
            self._sent.put((tenant, tip(raw)), applied)

    def look(
        self, tenant: str, raw: History, replay: Callable[[History, Sequence[Commit]], History]
    ) -> list[FoundReturns]:
        """What the steps that are new in this history regret."""
        found: list[FoundReturns] = []
        for place in self._new_steps(tenant, raw):
            before = History(raw.segments[:place])
            applied = self._sent.get((tenant, tip(before)))
            if applied:
                upto = History(raw.segments[: place + 1])
                found += regrets(upto, replay(before, applied), applied)
        return found

    def _new_steps(self, tenant: str, raw: History) -> list[int]:
        new: list[int] = []
        for place in range(len(raw.segments) - 1, -1, -1):
            segment = raw.segments[place]
            if not isinstance(segment, Interaction):
                continue
            if segment.locked and place == len(raw.segments) - 1:
                continue  # its results may still come, and with them another id
            key = (tenant, segment.id)
            if len(new) == MOST_STEPS or self._judged.get(key):
                break
            self._judged.put(key, True)  # noqa: FBT003  a set with an order
            new.append(place)
        return new[::-1]


def regrets(raw: History, view: History, applied: Sequence[Commit]) -> Iterator[FoundReturns]:
    """What the last step of `raw`, made from `view`, wanted from what was replaced."""
    step = raw.segments[-1]
    if not isinstance(step, Interaction):
        return
    sources = {s.id: s for s in raw.segments[:-1] if isinstance(s, Interaction)}
    yield from _repeated(raw, applied)
    for name in missing(step, raw.segments[:-1], view):
        for commit in applied:
            taken = (facts_of(sources[s]) for s in commit.sources if s in sources)
            if any(name in facts.own or name in facts.observed for facts in taken):
                yield FoundReturns(commit.id, "lost identifier", name[:LONGEST])
                break


def missing(step: Interaction, before: Sequence[Segment], view: History) -> Iterator[str]:
    """What replay calls broken (see `replay.safety`), for one step: the identifiers it uses, had
    learned from an observation, and could not read in its view.
    """
    used = sorted(action_identifiers(step) - COMMON)
    held = [(segment.id, facts_of(segment)) for segment in before] if used else []
    visible = {segment.id for segment in view.segments}
    originals = {segment.id for segment in before}
    for name in used:
        holders = [(s, facts) for s, facts in held if name in facts.own or name in facts.observed]
        learned = bool(holders) and name not in holders[0][1].own
        if not learned or any(s in visible for s, _ in holders):
            continue
        if not stands_in(name, view, originals):
            yield name


def _repeated(raw: History, applied: Sequence[Commit]) -> Iterator[FoundReturns]:
    """Calls of the last step that were answered as before, in what was replaced and nowhere else.

    Another answer to the same call is news, and no regret.
    """
    *past, (step, again) = told(raw.interactions)
    replaced = {source: commit.id for commit in applied for source in commit.sources}
    standing = {
        call_key(call) for held, _ in past if held.id not in replaced for call in held.calls
    }
    gone = {one: replaced[held.id] for held, known in past if held.id in replaced for one in known}
    asked = {call_key(call): call for call in step.calls}
    for one in again:
        call = asked.pop((one.name, one.arguments), None)
        if call is not None and one in gone and (one.name, one.arguments) not in standing:
            yield FoundReturns(
                gone[one], "repeated call", f"{call.name} {call.arguments}"[:LONGEST]
            )
