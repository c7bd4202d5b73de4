"""The tree of a Claude Code session: which messages stood before which.

One answer of the model is written as several lines that share a message id, one content block
each; the results of parallel calls hang on different ones of them.  So the lines of one answer and
all results of its calls are one node, and a path through the nodes is what the model saw.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from statecomp.history.interaction import JsonObject
from statecomp.traces.records import listed, mapping, only, without
from statecomp.wire.anthropic.blocks import REMINDER, kind_of
from statecomp.wire.content import blocks, text_of
from statecomp.wire.pairing import RecordedMessage

# What every line repeats of the session or says only to link lines; the rest is kept by message.
_LINKS = frozenset(
    {"type", "message", "parentUuid", "logicalParentUuid", "isSidechain", "sessionId", "agentId"}
    | {"cwd", "gitBranch", "version", "entrypoint", "userType", "slug", "teamName"}
)


@dataclass(slots=True, eq=False)
class Node:
    """The lines of one message, those with the results of its calls, and what was then said as the
    system.
    """

    lines: list[Mapping[str, Any]]
    results: list[Mapping[str, Any]] = field(default_factory=list)
    reminders: list[Mapping[str, Any]] = field(default_factory=list)
    parent: Node | None = None
    compaction: Mapping[str, Any] | None = None

    @property
    def role(self) -> str:
        return str(self.lines[0]["message"].get("role") or self.lines[0].get("type"))

    @property
    def uuid(self) -> str:
        return str(self.lines[0].get("uuid") or "")

    @property
    def meta(self) -> bool:
        return bool(self.lines[0].get("isMeta"))

    @property
    def compacts(self) -> bool:
        return bool(self.lines[0].get("isCompactSummary"))

    @property
    def message(self) -> JsonObject:
        """The whole message; a block that was written twice stands in it once."""
        first = self.lines[0]["message"]
        if len(self.lines) == 1:
            return {"role": self.role, "content": first.get("content")}
        seen: list[Any] = []
        for line in self.lines:
            for block in blocks(line["message"].get("content")):
                if block not in seen:
                    seen.append(block)
        return {"role": self.role, "content": seen}

    def entries(self) -> Iterator[RecordedMessage]:
        last = self.lines[-1]
        # The first line of an answer has the time it began; only the last has the final usage.
        about = {**_beside(last), **only(("timestamp", "uuid"), self.lines[0])}
        about |= without(("role", "content", "type"), mapping(last["message"]))
        yield RecordedMessage(self.message, {k: v for k, v in about.items() if v is not None})
        for line in self.results:
            message = {"role": "user", "content": line["message"].get("content")}
            yield RecordedMessage(message, _beside(line))
        for line in self.reminders:
            about = only(("timestamp", "uuid"), line)
            yield RecordedMessage({"role": "system", "content": _rendered(line)}, about)


def _rendered(line: Mapping[str, Any]) -> str:
    """The words of an attachment as they were sent: as the system's they stand in no tags."""
    texts = (text_of(mapping(part).get("content")) for part in listed(line.get("rendered")))
    opening, closing = REMINDER
    bare = (text.strip().removeprefix(opening).removesuffix(closing).strip() for text in texts)
    return "\n\n".join(filter(None, bare))


def _beside(line: Mapping[str, Any]) -> dict[str, Any]:
    return {k: v for k, v in line.items() if k not in _LINKS and v not in (None, False, [], {})}


@dataclass(slots=True)
class Tree:
    nodes: list[Node]
    model: str
    by_uuid: Mapping[str, Node]

    def paths(self) -> list[list[Node]]:
        """The conversation that was last gone on with, then each other way the model answered."""
        parents = {id(node.parent) for node in self.nodes}
        leaves = [node for node in self.nodes if id(node) not in parents]
        main = _climb(self.nodes[-1])
        taken = {id(node) for node in main}
        found = [main]
        for leaf in leaves:
            path = _climb(leaf)
            own = [node for node in path if id(node) not in taken]
            if any(node.role == "assistant" for node in own):
                found.append(path)
                taken |= {id(node) for node in own}
        return found

    def abandoned(self) -> list[JsonObject]:
        """Messages on no path: what a user typed and took back before the model answered."""
        taken = {id(node) for path in self.paths() for node in path}
        return [node.message for node in self.nodes if id(node) not in taken]

    def with_preserved(self, window: Sequence[Node]) -> list[Node]:
        """A window with the messages that its compaction kept word for word, behind the summary."""
        kept = mapping(mapping(window[0].compaction).get("preservedSegment"))
        head = self.by_uuid.get(str(kept.get("headUuid")))
        tail = self.by_uuid.get(str(kept.get("tailUuid")))
        if head is None or tail is None:
            return list(window)
        path = _climb(tail)
        segment = path[path.index(head) :] if head in path else []
        return [window[0], *(n for n in segment if n not in window), *window[1:]]


def _climb(node: Node | None) -> list[Node]:
    path: list[Node] = []
    seen: set[int] = set()
    while node is not None and id(node) not in seen:
        seen.add(id(node))
        path.append(node)
        node = node.parent
    return path[::-1]


def tree_of(records: Sequence[Mapping[str, Any]]) -> Tree:
    """Nodes in the order of the file; records that are no messages only link."""
    maker = _Maker()
    for record in records:
        maker.add(record)
    return Tree(maker.nodes, maker.model, maker.by_uuid)


class _Maker:
    def __init__(self) -> None:
        self.nodes: list[Node] = []
        self.model = ""
        self.by_uuid: dict[str, Node] = {}
        self._by_message: dict[str, Node] = {}
        self._by_call: dict[str, Node] = {}
        self._links: dict[str, str] = {}  # uuid of any record -> the uuid before it
        self._boundary: Mapping[str, Any] | None = None

    def add(self, record: Mapping[str, Any]) -> None:
        uuid = str(record.get("uuid") or "")
        if uuid and uuid in self._links:
            return  # a resumed session repeats what it was resumed from
        before = record.get("logicalParentUuid") or record.get("parentUuid")
        self._links[uuid] = str(before or "")
        if record.get("subtype") == "compact_boundary":
            self._boundary = mapping(record.get("compactMetadata"))
        if record.get("renderedRole") == "system" and _rendered(record):
            owner = self._before(record)
            if owner is not None:
                owner.reminders.append(record)
        message = record.get("message")
        if record.get("type") not in ("user", "assistant") or not isinstance(message, Mapping):
            return
        node = self._node(record, message)
        if uuid:
            self.by_uuid[uuid] = node

    def _node(self, record: Mapping[str, Any], message: Mapping[str, Any]) -> Node:
        kinds = [block for block in blocks(message.get("content")) if isinstance(block, Mapping)]
        if record["type"] == "user":
            for block in kinds:
                owner = self._by_call.get(str(block.get("tool_use_id", "")))
                if kind_of(block) == "tool_result" and owner is not None:
                    owner.results.append(record)
                    return owner
            return self._new(record)
        message_id = str(message.get("id") or "")
        node = self._by_message.get(message_id) if message_id else None
        if node is None:
            node = self._new(record)
            if message_id:
                self._by_message[message_id] = node
        else:
            node.lines.append(record)
        self._by_call |= {str(b.get("id")): node for b in kinds if kind_of(b) == "tool_use"}
        if message.get("model") not in (None, "<synthetic>"):
            self.model = str(message["model"])
        return node

    def _new(self, record: Mapping[str, Any]) -> Node:
        node = Node([record], parent=self._before(record))
        if record.get("isCompactSummary"):
            node.compaction, self._boundary = self._boundary or {}, None
            # The summary stands for all that came before, even where it has no parent.
            node.parent = node.parent or (self.nodes[-1] if self.nodes else None)
        self.nodes.append(node)
        return node

    def _before(self, record: Mapping[str, Any]) -> Node | None:
        """The nearest message before a record; what has no links follows the line before it."""
        if "parentUuid" not in record and "logicalParentUuid" not in record:
            return self.nodes[-1] if self.nodes else None
        place = self._links.get(str(record.get("uuid") or ""), "")
        for _ in range(len(self._links) + 1):
            if not place or place in self.by_uuid:
                return self.by_uuid.get(place)
            if place not in self._links:
                # The file begins in the middle, or lost a line.
                return self.nodes[-1] if self.nodes else None
            place = self._links[place]
        return None
