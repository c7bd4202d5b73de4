"""Claude Code sessions: one JSON record a line, linked into a tree by `uuid` and `parentUuid`.

Compaction: a session is cut into context windows.  The window before a compaction is one run; the
next begins with the summary the model was given (and the messages the compaction preserved), and
`recorded.continues` names the run before it.  A sub-agent (its own file, or side-chain records in
the session's file) is a run of its own in its parent's group; `recorded.parent` names the parent.
A conversation that was rewound and taken another way is one run a way: what the model saw on each.
Records that are no messages (attachments, hooks, titles, snapshots) are in `recorded.events`, but
for the requests newer versions write down a second time.  Where an attachment says how it was sent
to the model as the system's words, it is a message too; older versions do not keep those words.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from statecomp.errors import BadInput
from statecomp.history.trajectory import Trajectory
from statecomp.traces.claude_tree import Node, Tree, tree_of
from statecomp.traces.format import Format
from statecomp.traces.records import Origin, build, task_of, without
from statecomp.wire.anthropic.pairing import paired
from statecomp.wire.pairing import RecordedMessage

NAME = "claude-code"
SPOKEN = ("user", "assistant")
_SESSION = ("cwd", "gitBranch", "version", "entrypoint", "userType", "slug", "teamName")
_LINKED = ("uuid", "parentUuid", "sessionId", "isSidechain")
KNOWN = frozenset(
    {"user", "assistant", "system", "summary", "progress", "attachment", "queue-operation"}
    | {"file-history-snapshot", "custom-title", "ai-title", "agent-name", "last-prompt", "tag"}
    | {"permission-mode", "pr-link", "mode", "worktree-state", "agent-setting", "agent-color"}
    | {"content-replacement", "marble-origami-commit", "marble-origami-snapshot", "speculation"}
    | {"atis-latch", "tools-used", "cost-state", "api-request"}
)
REPEATED = ("api-request-blob", "api-request-shape")


def recognises(records: Sequence[Any]) -> bool:
    return any(
        isinstance(record, Mapping)
        and record.get("type") in SPOKEN
        and isinstance(record.get("message"), Mapping)
        and any(name in record for name in _LINKED)
        for record in records
    )


def runs(records: Iterable[Any], source: str) -> Iterator[Trajectory | BadInput]:
    threads: dict[str, list[Mapping[str, Any]]] = {}
    sides: dict[str, str] = {}  # uuid of a side-chain record -> its thread
    for record in records:
        if not isinstance(record, Mapping):
            yield BadInput("holds a record that is no JSON object", file=source)
            continue
        threads.setdefault(_thread(record, sides), []).append(record)
    every = (record for thread in threads.values() for record in thread)
    session = next((str(r["sessionId"]) for r in every if r.get("sessionId")), "")
    for name, thread in threads.items():
        yield from _thread_runs(name, thread, session, source)


def _thread(record: Mapping[str, Any], sides: dict[str, str]) -> str:
    """Which agent's conversation a record belongs to; the main one's name is empty."""
    if not record.get("isSidechain"):
        return ""
    parent, uuid = str(record.get("parentUuid") or ""), str(record.get("uuid") or "")
    name = str(record.get("agentId") or sides.get(parent) or uuid or "side")
    sides[uuid] = name
    return name


def _thread_runs(
    agent: str, records: Sequence[Mapping[str, Any]], session: str, source: str
) -> Iterator[Trajectory | BadInput]:
    tree = tree_of(records)
    if not any(node.role == "assistant" for node in tree.nodes):
        if any(node.role == "user" for node in tree.nodes):
            yield BadInput("holds no message of a model", file=source)
        return
    main = f"{NAME}-{session or tree.nodes[0].uuid or 'session'}"
    base = f"{main}-agent-{agent}" if agent else main
    events = [r for r in records if not _is_message(r) and r.get("type") not in REPEATED]
    context = {
        "session": session,
        "agent": agent,
        "parent": main if agent else "",
        **{name: r[name] for r in reversed(records) for name in _SESSION if r.get(name)},
    }
    group = Origin(source=source, scaffold="Claude Code", group=main, model=tree.model)
    for place, path in enumerate(tree.paths()):
        run_id = base if place == 0 else f"{base}-branch-{place}"
        about = {**context, "branch_of": base if place else ""}
        if place == 0:
            about |= {"abandoned": tree.abandoned(), "events": events, "unknown": _unknown(events)}
        yield from _windows(tree, path, run_id, group, about)


def _is_message(record: Mapping[str, Any]) -> bool:
    return record.get("type") in SPOKEN and isinstance(record.get("message"), Mapping)


def _unknown(events: Iterable[Mapping[str, Any]]) -> dict[str, int]:
    found: dict[str, int] = {}
    for record in events:
        kind = str(record.get("type"))
        if kind not in KNOWN:
            found[kind] = found.get(kind, 0) + 1
    return found


def _windows(
    tree: Tree, path: Sequence[Node], run_id: str, origin: Origin, recorded: Mapping[str, Any]
) -> Iterator[Trajectory]:
    """A run for each context window of a conversation."""
    windows = _cut(path)
    unasked = windows.pop() if len(windows) > 1 and not _answered(windows[-1]) else []
    task = task_of(node.message for node in path if not node.meta and not node.compacts)
    before = ""
    for place, window in enumerate(windows):
        nodes = tree.with_preserved(window)
        entries = paired(_system_last(entry for n in nodes for entry in n.entries()))
        name = run_id if place == 0 else f"{run_id}.{place + 1}"
        about = dict(recorded) if place == 0 else without(("events", "unknown"), recorded)
        about |= {"continues": before, "compaction": window[0].compaction}
        if place == len(windows) - 1:
            about["unasked"] = [node.message for node in unasked]
        yield build(replace(origin, task=task), name, "anthropic", _plain(entries), about)
        before = name


def _system_last(entries: Iterable[RecordedMessage]) -> list[RecordedMessage]:
    """What was said as the system goes out in one message, behind all of the user's."""
    out: list[RecordedMessage] = []
    said: list[RecordedMessage] = []
    for entry in entries:
        if entry.message["role"] == "system":
            said.append(entry)
            continue
        if entry.message["role"] == "assistant":
            out += _joined(said)
            said = []
        out.append(entry)
    return [*out, *_joined(said)]


def _joined(said: Sequence[RecordedMessage]) -> list[RecordedMessage]:
    text = "\n\n".join(str(entry.message["content"]) for entry in said)
    return [RecordedMessage({"role": "system", "content": text}, said[0].about)] if said else []


def _cut(path: Sequence[Node]) -> list[list[Node]]:
    windows: list[list[Node]] = [[]]
    for node in path:
        if node.compacts and windows[-1]:
            windows.append([])
        windows[-1].append(node)
    return windows


def _answered(window: Sequence[Node]) -> bool:
    """Whether the model was asked again before the session ended."""
    return any(node.role == "assistant" for node in window)


def _plain(entries: Sequence[RecordedMessage]) -> list[RecordedMessage]:
    """Messages as a request holds them: their role and content."""
    return [
        RecordedMessage({"role": e.message["role"], "content": e.message["content"]}, e.about)
        for e in entries
    ]


FORMAT = Format(NAME, "Claude Code sessions", recognises, runs)
