"""Data as objects: each field with its name, all fields of one object under that object's name."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from statecomp.llm.extracting.decode import Json
from statecomp.llm.extracting.pieces import LONGEST, Form, Owner, Piece, one_line
from statecomp.llm.extracting.reading.naming import (
    identity,
    is_tag,
    listed,
    own_name,
    plainly,
    shown,
    spoken,
)

DEEPEST = 40
LIST_CHARS = 120
"""A list of values is cut into runs of about this length, each with the name of the list."""

Cut = Callable[[str], Sequence[Piece]]

_UNSAID = """
    request_id trace_id node_id parents annotations created_by last_edited_by verification
    tree committer avatar _truncated href
"""
_SILENT = frozenset(_UNSAID.split())
"""What a service tells its own logs, and what no later step looks anything up by."""
_LINKS = re.compile(r"_urls?\Z")
_FILLERS = frozenset(
    {("object", "list"), ("object", "block"), ("object", "page"), ("type", "block"),
     ("type", "text"), ("color", "default"), ("type", "page_or_database"), ("type", "file")}
)  # fmt: skip
_JSON_TYPES = frozenset({"string", "object", "integer", "array", "boolean", "number"})
_SCHEMA_KEYS = """
    type description required format properties items enum default _truncated example
    additionalProperties minimum maximum anyOf oneOf title
"""
_SCHEMA = frozenset(_SCHEMA_KEYS.split())
_SAYS_NOTHING = """
    properties rich_text text content plain_text data results result value node attributes
    fields items entries records rows object
"""
_HOLLOW = frozenset(_SAYS_NOTHING.split())


def _says_nothing(path: tuple[str, ...]) -> bool:
    """An address is data, unless it is that of who made a commit."""
    if path[-2:-1] == ("author",) and path[-1] == "email":
        return True
    return bool(path) and path[-1] in _SILENT


def pieces_of(data: Json, cut: Cut, label: str = "") -> Iterator[Piece]:
    """The fields of every object in the data; long texts inside it are cut by `cut`."""
    yield from _Reader(cut).read(data, (), Owner(label), 0)


class _Reader:
    def __init__(self, cut: Cut) -> None:
        self._cut = cut

    def read(self, value: Json, path: tuple[str, ...], owner: Owner, depth: int) -> Iterator[Piece]:
        if depth > DEEPEST:
            return
        if isinstance(value, dict):
            yield from self._read_object(value, path, owner, depth)
        elif isinstance(value, list):
            yield from self._read_list(value, path, owner, depth)
        elif not _says_nothing(path) and (*path[-1:], value) not in _FILLERS:
            yield from self._read_value(shown(value), path, owner)

    def _read_object(
        self, value: Mapping[str, Json], path: tuple[str, ...], owner: Owner, depth: int
    ) -> Iterator[Piece]:
        if path and (plain := plainly(value)) is not value:
            yield from self.read(plain, path, owner, depth + 1)
            return
        if _is_schema(value):
            return
        if value and all(isinstance(v, dict) and _is_schema(v) for v in value.values()):
            yield from self._read_values(list(value), path, owner)
            return
        if not owner.label:
            owner = Owner(identity(value))
        patched = "patch" in value or "blob_url" in value
        nameless = not path and not own_name(value)
        for key, inner in value.items():
            if _is_silent(str(key), inner) or (patched and key == "sha"):
                continue
            if nameless and isinstance(inner, dict) and (own := own_name(inner)):
                # `{"content": {...}, "commit": {...}}` is two things.
                yield from self.read(inner, (), Owner(own), depth + 1)
            else:
                yield from self.read(inner, (*path, str(key)), owner, depth + 1)

    def _read_list(
        self, value: Sequence[Json], path: tuple[str, ...], owner: Owner, depth: int
    ) -> Iterator[Piece]:
        if text := spoken(value):
            yield from self._read_value(text, path, owner)
        elif not any(isinstance(inner, dict | list) for inner in value):
            yield from self._read_values([shown(inner) for inner in value], path, owner)
        elif all(not isinstance(inner, dict) for inner in value):
            for inner in value:
                cells = inner if isinstance(inner, list) else [inner]
                # A list of lists is a table; a row is kept whole.
                row = one_line(", ".join(shown(cell) for cell in cells))
                if row.strip(", "):
                    yield Piece(row[: 2 * LONGEST], Form.ROW, owner)
        elif all(isinstance(inner, dict) and is_tag(inner) for inner in value):
            yield from self._read_values([shown(inner["name"]) for inner in value], path, owner)
        else:
            name = name_of(path)
            if names := listed(value, "" if name.lower() in _HOLLOW else name):
                yield Piece(f"{owner.label}; {names}" if owner.label else names, Form.LIST)
            for inner in value:
                own = identity(inner) if isinstance(inner, dict) else ""
                label = "; ".join(part for part in (_outer(owner, path), own) if part)
                yield from self.read(inner, (), Owner(label), depth + 1)

    def _read_values(
        self, values: Sequence[str], path: tuple[str, ...], owner: Owner
    ) -> Iterator[Piece]:
        """A list of plain values, cut between them."""
        key, run, length = name_of(path), list[str](), 0
        for value in filter(None, map(one_line, values)):
            if run and length + len(value) > LIST_CHARS:
                yield Piece(_field(key, ", ".join(run)), Form.FIELD, owner)
                run, length = [], 0
            run.append(value)
            length += len(value) + 2
        if run:
            yield Piece(_field(key, ", ".join(run)), Form.FIELD, owner)

    def _read_value(self, text: str, path: tuple[str, ...], owner: Owner) -> Iterator[Piece]:
        if not text.strip():
            return
        key = name_of(path)
        if len(text) <= LONGEST and text.count("\n") < 2:
            yield Piece(_field(key, one_line(text)), Form.FIELD, owner)
            return
        own = "; ".join(part for part in (owner.label, f"{key}:" if key else "") if part)
        outer = Owner(own)
        inner: dict[Owner, Owner] = {}
        for piece in self._cut(text):
            held = piece.owner
            if held is None:
                yield Piece(piece.text, piece.form, outer)
            else:
                if held not in inner:
                    inner[held] = Owner("; ".join(p for p in (own, held.label) if p))
                yield Piece(piece.text, piece.form, inner[held])


def _outer(owner: Owner, path: tuple[str, ...]) -> str:
    """What a list stands in: the object it is of, and its name there."""
    name = name_of(path)
    if not owner.label:
        return name if name.lower() not in _HOLLOW else ""
    return f"{owner.label}; {name}" if name else owner.label


def _is_schema(value: Mapping[str, Json]) -> bool:
    """Whether it says what a value may be, as tools describe their arguments."""
    kind = value.get("type")
    known = isinstance(kind, str) and kind in _JSON_TYPES
    return known and len(value) > 1 and value.keys() <= _SCHEMA


def _is_silent(key: str, value: Json) -> bool:
    if key in _SILENT or _LINKS.search(key):
        return True
    return key == "url" and isinstance(value, str) and "//api." in value


def name_of(path: Sequence[str]) -> str:
    """The names that lead to a value, without those that say nothing."""
    telling = [part for part in path if part.lower() not in _HOLLOW]
    return " ".join(telling[-3:] if telling else path[-1:])


def _field(key: str, text: str) -> str:
    return f"{key}: {text}" if key else text
