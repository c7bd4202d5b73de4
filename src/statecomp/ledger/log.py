"""The commit log in a database, one tenant's view of it.

What was found is remembered in the process, and stays right when another process appends or undoes:
every change of the log raises `version` in one row, and commits carry the version they came with,
so a reader asks for the version and forgets the states decided since.  Undoing and deleting change
`epoch`, and then everything is forgotten.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from threading import Lock
from types import MappingProxyType
from typing import Any, NamedTuple

from statecomp.history.identity import digest
from statecomp.ledger import claims
from statecomp.ledger.commits import ENTRY_BYTES, NAME_BYTES, Commit, bytes_of
from statecomp.ledger.database import Connection, Database, Row, chunks, marks
from statecomp.recent import Weighed

HISTORIES, NEWS = 1024, 8
"""Histories of which is remembered what stands in them, and how many states may be new in one."""
REMEMBERED_STATES = 65_536
NOTHING_HELD: Mapping[str, str] = MappingProxyType({})


class StateCommits(NamedTuple):
    """The live commits of one state; `version` orders the states by when they were decided."""

    version: int
    commits: tuple[Commit, ...]


NOTHING_FOUND = StateCommits(0, ())


class FoundBefore(NamedTuple):
    """The states of a history as it was last asked for, and those that have commits."""

    ids: tuple[str, ...] = ()
    states: tuple[StateCommits, ...] = ()

    def weight(self) -> int:
        return ENTRY_BYTES + NAME_BYTES * len(self.ids)


class LogMemory:
    """What this process has read of the log, and which states it has used since last asked."""

    def __init__(self, size: int = REMEMBERED_STATES) -> None:
        self.lock = Lock()
        self.tell_epoch: Callable[[int], None] = lambda epoch: None
        self.mark: tuple[int, int] = (-1, -1)
        self.states: Weighed[tuple[str, str], StateCommits] = Weighed(
            size, lambda found: bytes_of(found.commits)
        )
        # (tenant, last state) -> a history up to there, and what was found in it.
        self.found: Weighed[tuple[str, str], FoundBefore] = Weighed(HISTORIES, FoundBefore.weight)
        self.held: dict[str, Mapping[str, str]] = {}
        self._used: set[tuple[str, str]] = set()

    def refresh(self, connection: Connection) -> tuple[int, int]:
        """Forget what has changed; the mark under which what is read from now on is right."""
        mark = read_mark(connection)
        with self.lock:
            seen = self.mark
        same = mark[1] == seen[1]
        if same and mark[0] <= seen[0]:
            return seen  # another thread saw this, or more, before us
        decided = _decided_since(connection, seen[0]) if same else []
        with self.lock:
            if same and self.mark == seen:
                self.states.drop(decided)
            else:
                # Some other step was taken meanwhile, and `decided` does not belong to it.
                self.states.clear()
            self.found.clear()
            self.held.clear()
            self.mark = mark
        if not same:
            self.tell_epoch(mark[1])
        return mark

    def begun(self, tenant: str, ids: tuple[str, ...]) -> FoundBefore:
        """What is known of the longest beginning of these: a history grows by a step or two."""
        ends = [(tenant, state) for state in ids[-NEWS:]]
        with self.lock:
            known = self.found.get_all(ends)
            for end in reversed(ends):
                if end in known and known[end].ids == ids[: len(known[end].ids)]:
                    self._used.update((tenant, one.commits[0].at) for one in known[end].states)
                    return known[end]
        return FoundBefore()

    def keep(
        self, mark: tuple[int, int], tenant: str, now: FoundBefore, before: FoundBefore
    ) -> None:
        """Remember a history as it is `now`, in the place of what it was `before`."""
        if now.ids == before.ids:
            return
        with self.lock:
            if self.mark == mark:
                self.found.drop([(tenant, before.ids[-1])] if before.ids else [])
                self.found.put((tenant, now.ids[-1]), now)

    def known(self, tenant: str, ids: Sequence[str]) -> tuple[list[StateCommits], list[str]]:
        """What is remembered of these states, and the ones that are not."""
        keys = [(tenant, state) for state in ids]
        with self.lock:
            known = self.states.get_all(keys)
            telling = {key: entry for key, entry in known.items() if entry.commits}
            self._used.update(telling)
        if len(known) == len(keys):
            return list(telling.values()), []
        return list(telling.values()), [key[1] for key in keys if key not in known]

    def learn(self, mark: tuple[int, int], tenant: str, news: Mapping[str, StateCommits]) -> None:
        """Remember what was read since `mark`, unless the log has moved on meanwhile."""
        with self.lock:
            self._used.update((tenant, state) for state, entry in news.items() if entry.commits)
            if self.mark != mark:
                return
            self.states.put_all({(tenant, state): entry for state, entry in news.items()})

    def take_used(self) -> set[tuple[str, str]]:
        with self.lock:
            used, self._used = self._used, set()
        return used


@dataclass(frozen=True, slots=True)
class SqlLog:
    """A CommitLog; the memory is shared by all logs of one ledger."""

    database: Database
    memory: LogMemory
    tenant: str

    def find(self, ids: Sequence[str]) -> Sequence[Commit]:
        wanted = tuple(dict.fromkeys(ids))

        def work(connection: Connection) -> list[StateCommits]:
            mark = self.memory.refresh(connection)
            before = self.memory.begun(self.tenant, wanted)
            found, missing = self.memory.known(self.tenant, wanted[len(before.ids) :])
            found += before.states
            if missing:
                held = self._held(connection, mark)
                news = dict.fromkeys(missing, NOTHING_FOUND)
                news.update(live_at(connection, self.tenant, missing, held))
                self.memory.learn(mark, self.tenant, news)
                found += [entry for entry in news.values() if entry.commits]
            now = FoundBefore(wanted, tuple(found))
            self.memory.keep(mark, self.tenant, now, before)
            return found

        found = sorted(self.database.look(work))
        return [commit for entry in found for commit in entry.commits]

    def append(
        self, at: str, commits: Sequence[Commit], chain: Sequence[str] = ()
    ) -> Sequence[Commit]:
        if not commits:
            return self.find([at])
        rows = [_row(self.tenant, at, place, commit) for place, commit in enumerate(commits)]

        def work(connection: Connection) -> tuple[Commit, ...]:
            # The row lock comes first: whoever waits for it sees what the winner wrote.
            version = next_version(connection)
            held = held_by(connection, self.tenant)
            decided = connection.execute(
                "SELECT 1 FROM commits WHERE tenant = ? AND at_id = ?", (self.tenant, at)
            )
            taken = decided or any(s in held for commit in commits for s in commit.sources)
            if taken or not claims.claim(connection, self.tenant, at, commits, chain):
                return live_at(connection, self.tenant, [at], held).get(at, NOTHING_FOUND).commits
            connection.many(
                "INSERT INTO commits"
                " (tenant, at_id, place, id, body, when_s, used_s, state, version)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, 'live', ?)",
                [(*row, version) for row in rows],
            )
            return tuple(commits)

        return self.database.write(work)

    def sent(self, seen: str) -> Sequence[str] | None:
        return self.database.look(lambda c: claims.sent(c, self.tenant, seen))

    def send(self, seen: str, commits: Sequence[str]) -> Sequence[str]:
        return self.database.write(lambda c: claims.send(c, self.tenant, seen, commits))

    def held(self, ids: Sequence[str]) -> Mapping[str, str]:
        def work(connection: Connection) -> Mapping[str, str]:
            return self._held(connection, self.memory.refresh(connection))

        held = self.database.look(work)
        return {name: held[name] for name in ids if name in held} if held else {}

    def refused(self, sources: Sequence[str]) -> bool:
        values = (self.tenant, digest(*sources))
        sql = "SELECT 1 FROM refused WHERE tenant = ? AND span = ?"
        return bool(self.database.look(lambda c: c.execute(sql, values)))

    def refuse(self, sources: Sequence[str], reason: str) -> None:
        # Why is not written down: it may quote what was refused, and nobody would read it.
        values = (self.tenant, digest(*sources), json.dumps(""), time.time())
        sql = (
            "INSERT INTO refused (tenant, span, reason, when_s) VALUES (?, ?, ?, ?)"
            " ON CONFLICT (tenant, span) DO NOTHING"
        )
        self.database.write(lambda c: c.execute(sql, values))

    def _held(self, connection: Connection, mark: tuple[int, int]) -> Mapping[str, str]:
        """All that is held of this tenant: little, because people undo by hand."""
        with self.memory.lock:
            known = self.memory.held.get(self.tenant)
        if known is None:
            known = held_by(connection, self.tenant)
            with self.memory.lock:
                if self.memory.mark == mark:
                    self.memory.held[self.tenant] = known
        return known


def read_mark(connection: Connection) -> tuple[int, int]:
    ((version, epoch),) = connection.execute("SELECT version, epoch FROM log_mark")
    return version, epoch


def next_version(connection: Connection) -> int:
    """Begin a change of the log; changes wait for each other here."""
    connection.execute("UPDATE log_mark SET version = version + 1")
    return read_mark(connection)[0]


def live_at(
    connection: Connection, tenant: str, ids: Sequence[str], held: Mapping[str, str]
) -> dict[str, StateCommits]:
    """Live commits by state.  None that stands for something held: that is raw again for good."""
    found: dict[str, StateCommits] = {}
    for chunk in chunks(ids):
        rows = connection.execute(
            "SELECT at_id, id, body, version FROM commits"
            f" WHERE tenant = ? AND state = 'live' AND at_id IN ({marks(chunk)})"
            " ORDER BY version, place",
            (tenant, *chunk),
        )
        for at, *rest, version in rows:
            commit = commit_of((at, *rest))
            if held and not held.keys().isdisjoint(commit.sources):
                continue
            found[at] = StateCommits(version, (*found.get(at, NOTHING_FOUND).commits, commit))
    return found


def held_by(connection: Connection, tenant: str) -> Mapping[str, str]:
    rows = connection.execute("SELECT source, reason FROM held WHERE tenant = ?", (tenant,))
    return {source: json.loads(reason) for source, reason in rows} or NOTHING_HELD


def commit_of(row: Row) -> Commit:
    """From `at_id, id, body`."""
    at, name, body = row
    sources, first, last, text, source_tokens, summary_tokens, *over = json.loads(body)
    told = (tuple(sources), first, last, text, source_tokens, summary_tokens)
    return Commit(name, at, *told, tuple(over[0]) if over else ())


def body_of(commit: Commit) -> str:
    """All but the names it is found by; ASCII, so that any text comes back byte for byte."""
    told: tuple[Any, ...] = (commit.sources, commit.first, commit.last, commit.text)
    told = (*told, commit.source_tokens, commit.summary_tokens)
    return json.dumps((*told, commit.over) if commit.over else told)


def _row(tenant: str, at: str, place: int, commit: Commit) -> Row:
    now = time.time()
    return (tenant, at, place, commit.id, body_of(commit), now, now)


def _decided_since(connection: Connection, version: int) -> list[tuple[str, str]]:
    rows = connection.execute("SELECT tenant, at_id FROM commits WHERE version > ?", (version,))
    return [(tenant, at) for tenant, at in rows]
