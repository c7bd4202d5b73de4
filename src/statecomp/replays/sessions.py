"""Long sessions out of recorded runs: one person who asks for one thing after another.

Recorded runs are short, and under prompt caching money is saved in long conversations.  A session
is one conversation made of several runs: what opens the first of them, then the tasks and
interactions of each in turn.  Three things are changed so that every protocol accepts it:

- A later run's system messages are dropped where the session has said the same already, and else
  stand in front of its first user message, inside it.
- A run that another one follows ends answered: what it left open gets "[no result recorded]".
- A call id that an earlier run of the session has used gets a number behind it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import Any, Protocol, TypeVar

from statecomp.annotation.labels import Label, Labels
from statecomp.errors import BadInput
from statecomp.history.interaction import JsonObject
from statecomp.history.trajectory import Trajectory
from statecomp.wire.content import blocks, text_of
from statecomp.wire.pairing import NO_BEGINNING, NO_RESULT, RecordedMessage
from statecomp.wire.protocol import Group, Wire
from statecomp.wire.providers import provider_named, wire_named

MIXED = "mixed"
OPENING_ROLES = ("system", "developer")
ID_KEYS = ("id", "call_id", "tool_call_id", "tool_use_id", "approval_request_id")


@dataclass(frozen=True, slots=True)
class SessionPart:
    """One run of a session; `before` counts the session's interactions in front of it."""

    run: str
    before: int
    interactions: int

    @property
    def last(self) -> int:
        """The session's checkpoint that is the run's own last one."""
        return self.before + self.interactions


@dataclass(frozen=True)
class JoinedRuns(Trajectory):
    """A conversation of several runs; `group` is that of the first."""

    parts: tuple[SessionPart, ...] = ()


class Described(Protocol):
    """What decides which runs stand together; also known of runs that are not in memory."""

    @property
    def protocol(self) -> str: ...

    @property
    def domain(self) -> str: ...

    @property
    def group(self) -> str: ...


Run = TypeVar("Run", bound=Described)


def anything(task: str) -> Hashable:
    """Every task may stand beside every other."""
    return None


def joined(
    runs: Iterable[Trajectory], size: int, key: Callable[[str], Hashable] = anything
) -> Iterator[JoinedRuns]:
    """Sessions of `size` runs of one protocol, in the order the runs come."""
    return map(session_of, batches(runs, size, key))


def batches(
    runs: Iterable[Run], size: int, key: Callable[[str], Hashable] = anything
) -> Iterator[list[Run]]:
    """Which runs become one session: `size` of one protocol, whose groups have an equal `key`.

    Runs of one domain stand together as long as there are enough of them; what is left over is
    joined across domains, and the last batch of each kind may be smaller.
    """
    waiting: dict[tuple[Hashable, str], list[Run]] = {}
    for run in runs:
        kind = (run.protocol, key(run.group)), run.domain
        waiting.setdefault(kind, []).append(run)
        if len(waiting[kind]) == size:
            yield waiting.pop(kind)
    left: dict[Hashable, list[Run]] = {}
    for (must_agree, _), some in waiting.items():
        left.setdefault(must_agree, []).extend(some)
    for rest in left.values():
        yield from (rest[start : start + size] for start in range(0, len(rest), size))


def session_of(runs: Sequence[Trajectory]) -> JoinedRuns:
    """One conversation of these runs, which must speak one protocol."""
    first = runs[0]
    wire = wire_named(first.protocol)
    messages: list[JsonObject] = []
    parts: list[SessionPart] = []
    said: set[str] = set()
    taken: set[str] = set()
    for run in runs:
        if run.protocol != first.protocol:
            problem = f"{run.id!r} is {run.protocol} and {first.id!r} is {first.protocol}"
            raise BadInput(f"{problem}; a conversation has one protocol", file=run.source)
        groups = list(wire.groups(run.messages))
        own = list(run.messages) if run is runs[-1] else _answered(groups, wire)
        own = _with_new_ids(own, taken)
        messages += _continued(own, said, wire) if parts else _opened(own, said)
        interactions = sum(not group.role for group in groups)
        parts.append(SessionPart(run.id, parts[-1].last if parts else 0, interactions))
    domains = {run.domain for run in runs}
    return JoinedRuns(
        id=first.id if len(runs) == 1 else f"{first.id} +{len(runs) - 1}",
        messages=tuple(messages),
        protocol=first.protocol,
        domain=first.domain if len(domains) == 1 else MIXED,
        group=first.group,
        source=first.source,
        parts=tuple(parts),
    )


def labels_of(run: Trajectory, labels: Labels) -> Mapping[int, Label]:
    """The labels of a run, or of every run of a session with the session's own numbers."""
    if not isinstance(run, JoinedRuns):
        return labels.get(run.id, {})
    return {
        part.before + number: _moved(label, run.id, part.before)
        for part in run.parts
        for number, label in checked(labels.get(part.run, {}), part.interactions).items()
    }


def checked(labels: Mapping[int, Label], interactions: int) -> Mapping[int, Label]:
    """The labels of one run, which has so many interactions; others are those of another run."""
    for number, label in labels.items():
        if not 1 <= number <= interactions:
            problem = f"is {number} in run {label.run!r}, which holds {interactions} interactions"
            raise BadInput(problem, field="i")
    return labels


def _moved(label: Label, session: str, by: int) -> Label:
    return replace(
        label,
        run=session,
        number=label.number + by,
        boundary=None if label.boundary is None else label.boundary + by,
        evidence=tuple(replace(evidence, at=evidence.at + by) for evidence in label.evidence),
        veto=tuple(replace(veto, at=veto.at + by) for veto in label.veto),
    )


def _answered(groups: Sequence[Group], wire: Wire) -> list[JsonObject]:
    """A run's messages in which its last interaction is complete, so that another may follow."""
    messages = [message for group in groups for message in group.messages]
    last = groups[-1] if groups else None
    if last is None or last.role:
        return messages
    if last.locked:
        (speaking,) = wire.write_summary(NO_RESULT)
        around = [speaking, *last.messages, speaking]
        paired = provider_named(wire.name).paired([RecordedMessage(message) for message in around])
        return messages[: -len(last.messages)] + [entry.message for entry in paired[1:-1]]
    if provider_named(wire.name).user_answers and not last.observations:
        # Else the next run's task would be read as the answer to this action.
        return [*messages, *wire.write_summary(NO_RESULT)]
    return messages


def _opened(messages: Sequence[JsonObject], said: set[str]) -> Sequence[JsonObject]:
    said.update(text_of(message.get("content")) for message in _opening(messages))
    return messages


def _continued(messages: Sequence[JsonObject], said: set[str], wire: Wire) -> Sequence[JsonObject]:
    """A later run's messages, from its first user message on."""
    opening = _opening(messages)
    rest = messages[len(opening) :]
    texts = [text_of(message.get("content")) for message in opening]
    words = "\n\n".join(text for text in texts if text not in said)
    said.update(texts)
    if not rest or rest[0].get("role") != "user":
        return [*wire.write_summary(words or NO_BEGINNING), *rest]
    return [_prefixed(rest[0], words, wire), *rest[1:]] if words else rest


def _opening(messages: Sequence[JsonObject]) -> list[JsonObject]:
    return list(takewhile(lambda message: message.get("role") in OPENING_ROLES, messages))


def _prefixed(message: JsonObject, words: str, wire: Wire) -> JsonObject:
    content = message.get("content")
    if isinstance(content, str):
        return {**message, "content": f"{words}\n\n{content}"}
    (written,) = wire.write_summary(words)
    return {**message, "content": [*blocks(written["content"]), *blocks(content)]}


def _with_new_ids(messages: list[JsonObject], taken: set[str]) -> list[JsonObject]:
    """The messages with new call ids where others have theirs; all ids then count as taken."""
    own: set[str] = set()

    def note(name: str) -> str:
        own.add(name)
        return name

    for message in messages:
        _named(message, note)
    new = {name: _free(name, taken | own) for name in own & taken}
    taken |= {new.get(name, name) for name in own}
    if not new:
        return messages
    return [_named(message, lambda name: new.get(name, name)) for message in messages]


def _free(name: str, taken: set[str]) -> str:
    number = 2
    while f"{name}_{number}" in taken:
        number += 1
    return f"{name}_{number}"


def _named(holder: JsonObject, name: Callable[[str], str]) -> JsonObject:
    """A message or block whose ids went through `name`; arguments of calls are not looked into."""
    changed = {key: name(holder[key]) for key in ID_KEYS if isinstance(holder.get(key), str)}
    parts: dict[str, Any] = {
        key: [_named(entry, name) if isinstance(entry, Mapping) else entry for entry in holder[key]]
        for key in ("tool_calls", "content")
        if isinstance(holder.get(key), list | tuple)
    }
    caller = holder.get("caller")
    if isinstance(caller, Mapping) and isinstance(caller.get("tool_id"), str):
        parts["caller"] = {**caller, "tool_id": name(caller["tool_id"])}
    return {**holder, **changed, **parts}
