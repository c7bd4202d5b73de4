"""Data as objects: each field with its name, all fields of one object under that object's name."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from statecomp.records.extracting.decode import Json
from statecomp.records.extracting.lengthy import MANY as MANY_NUMBERS
from statecomp.records.extracting.lengthy import briefly, is_numeric, numbers_told
from statecomp.records.extracting.listing.columns import CELL, Path, grid_of
from statecomp.records.extracting.listing.things import (
    HOLLOW,
    SILENT,
    is_patched,
    is_silent,
    name_of,
    table_of_objects,
)
from statecomp.records.extracting.pieces import (
    LONGEST,
    Form,
    Owner,
    Piece,
    clipped,
    labelled,
    one_line,
    shortened,
    word_set,
)
from statecomp.records.extracting.reading.naming import (
    identity,
    is_tag,
    listed,
    own_name,
    plainly,
    shown,
    spoken,
)

DEEPEST = 40
GOES_ON = "..."
MANY = 6
LIST_CHARS = 120
"""A list of values is cut into runs of about this length, each with the name of the list."""

Cut = Callable[[str], Sequence[Piece]]

_FILLERS = frozenset(
    {("object", "list"), ("object", "block"), ("object", "page"), ("type", "block"),
     ("type", "text"), ("color", "default"), ("type", "page_or_database"), ("type", "file")}
)  # fmt: skip
_JSON_TYPES = word_set("string object integer array boolean number")
_SCHEMA = word_set("""
    type description required format properties items enum default _truncated example
    additionalProperties minimum maximum anyOf oneOf title
""")


_ANSWERED = word_set("data results result rows items entries records")
_INSIDE = frozenset({("id",)})
"""Told of things inside a row of a table: what their own ids are nobody asks."""
_ORDINAL = re.compile(r"(?:\w{1,12} )?#?\d{1,6}")
"""A label such as "Row 3" says which, and not of what: its name goes with it."""


def pieces_of(data: Json, cut: Cut, label: str = "") -> Iterator[Piece]:
    """The fields of every object in the data; long texts inside it are cut by `cut`."""
    return _ObjectReader(cut).read(data, (), Owner(label), 0)


class _ObjectReader:
    """Reads one thing; what a table says of it already (`told`) is not said again."""

    def __init__(self, cut: Cut, told: frozenset[Path] = frozenset()) -> None:
        self._cut = cut
        self._told = told

    def read(self, value: Json, path: tuple[str, ...], owner: Owner, depth: int) -> Iterator[Piece]:
        if value in ({}, []) and path and path[-1] in _ANSWERED:
            # That it went well says nothing of what was found.
            yield Piece(f"{path[-1]}: none", Form.FIELD, owner)
            return
        if depth > DEEPEST or (path in self._told and not _holds_objects(value)):
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
        # Inside a thing that is named they are its own properties.
        if not owner.label and (things := _keyed(value)):
            yield from self._read_things(things, path, owner, depth)
            return
        section = name_of(path) if path and path[-1].lower() not in HOLLOW else ""
        if not owner.label and section and not own_name(value):
            # Of settings in sections none says what the others are of.
            owner, path = Owner(section), ()
        elif not owner.label:
            owner = Owner(identity(value))
        elif not path and _ORDINAL.fullmatch(owner.label) and (own := identity(value)):
            owner = Owner(f"{owner.label}; {own}")
        patched = is_patched(value)
        nameless = not path and not section and not own_name(value)
        for key, inner in value.items():
            if is_silent(str(key), inner) or (patched and key == "sha"):
                continue
            thing = nameless and isinstance(inner, dict) and plainly(inner) is inner
            own = own_name(inner) if thing else ""
            if own:
                # `{"content": {...}, "commit": {...}}` is two things.
                label = own if str(key).lower() in HOLLOW else f"{key}; {own}"
                yield from self.read(inner, (), Owner(label), depth + 1)
            else:
                yield from self.read(inner, (*path, str(key)), owner, depth + 1)

    def _read_list(
        self, value: Sequence[Json], path: tuple[str, ...], owner: Owner, depth: int
    ) -> Iterator[Piece]:
        if text := spoken(value):
            yield from self._read_value(text, path, owner)
            yield from _links(value, owner)
        elif not any(isinstance(inner, dict | list) for inner in value):
            yield from self._read_values([shown(inner) for inner in value], path, owner)
        elif all(not isinstance(inner, dict) for inner in value):
            for inner in value:
                cells = inner if isinstance(inner, list) else [inner]
                # A list of lists is a table; a row is kept whole.
                row = briefly(one_line(", ".join(shown(cell) for cell in cells)), LONGEST)
                if row.strip(", "):
                    yield Piece(clipped(row, 2 * LONGEST), Form.ROW, owner)
        elif all(isinstance(inner, dict) and is_tag(inner) for inner in value):
            yield from self._read_values([shown(inner["name"]) for inner in value], path, owner)
            if len(value) >= MANY and (table := table_of_objects(value)):
                yield from table.below(_title(_outer(owner, path)))
        elif pairs := _pairs(value):
            for key, inner in pairs:
                yield from self.read(inner, (*path, key), owner, depth + 1)
        else:
            yield from self._read_things(value, path, owner, depth)

    def _read_things(
        self, value: Sequence[Json], path: tuple[str, ...], owner: Owner, depth: int
    ) -> Iterator[Piece]:
        name = name_of(path)
        outer = _outer(owner, path)
        if sheet := grid_of(value) if all(map(_is_cell, value)) else None:
            yield from sheet.below(_title(outer))
            return
        if told := listed(value, "" if name.lower() in HOLLOW else name):
            yield Piece(labelled(owner.label, told), Form.LIST)
        # What each of many has three of says little of any.
        table = table_of_objects(value) if len(value) >= MANY or not self._told else None
        yield from table.below(_title(outer)) if table else ()
        reader = _ObjectReader(self._cut, table.told if table else self._told and _INSIDE)
        for place, inner in enumerate(value, start=1):
            own = identity(inner) if isinstance(inner, dict) else ""
            if not own and len(value) > 1:
                own = f"item {place}"  # nothing else tells it from the others
            yield from reader.read(inner, (), Owner(labelled(outer, own)), depth + 1)

    def _read_values(
        self, values: Sequence[str], path: tuple[str, ...], owner: Owner
    ) -> Iterator[Piece]:
        """A list of plain values, cut between them; of many numbers how many there are."""
        key, run, length = name_of(path), list[str](), 0
        if len(values) > MANY_NUMBERS and is_numeric(values):
            values = [numbers_told(values)]
        for value in filter(None, map(one_line, values)):
            if run and length + len(value) > LIST_CHARS:
                yield Piece(_field(key, ", ".join(run)), Form.FIELD, owner)
                run, length = [GOES_ON], 0  # the rest of a list must not look like its beginning
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
        own = labelled(owner.label, f"{key}:" if key else "")
        owners: dict[Owner | None, Owner] = {}
        for piece in self._cut(text):
            held = piece.owner
            if held not in owners:
                owners[held] = Owner(labelled(own, held.label if held else ""))
            yield Piece(piece.text, piece.form, owners[held])


def _says_nothing(path: tuple[str, ...]) -> bool:
    """An address is data, unless it is that of who made a commit."""
    return bool(path) and (path[-1] in SILENT or path[-2:] == ("author", "email"))


def _links(runs: Sequence[Json], owner: Owner) -> Iterator[Piece]:
    """Where the words of a text lead."""
    for run in runs:
        if isinstance(target := run.get("href"), str) and target:
            words = shortened(one_line(str(run.get("plain_text"))), CELL)
            yield Piece(f"{words}, link: {target}", Form.FIELD, owner)


_PAIR = word_set("id key name value display_key display_value")


def _pairs(values: Sequence[Json]) -> list[tuple[str, Json]]:
    """Names and values, where that is all the things of a list are; else nothing."""
    found = []
    for value in values:
        known = value if isinstance(value, dict) and "value" in value else {}
        name = known.get("key") or known.get("name")
        if not isinstance(name, str) or not known.keys() <= _PAIR:
            return []
        found.append((name, known["value"]))
    return found


_PROPERTY = frozenset({"name", "type"})
"""Keys of what is a property of one thing, or is called by a name of its own."""


def _keyed(value: Mapping[str, Json]) -> list[Json]:
    """Many things of one make, each below its key, as a list of things that are called by it."""
    things = [inner for inner in value.values() if isinstance(inner, dict)]
    if len(value) < MANY or len(things) < len(value):
        return []
    plain = (
        {key for key, inner in thing.items() if not isinstance(inner, dict | list)}
        for thing in things
    )
    shared = set.intersection(*plain)
    if len(shared) < 2 or any(_PROPERTY & thing.keys() or own_name(thing) for thing in things):
        return []
    return [{"name": key, **thing} for key, thing in zip(value, things, strict=True)]


def _is_cell(value: Json) -> bool:
    return isinstance(value, dict) and "address" in value


def _holds_objects(value: Json) -> bool:
    return isinstance(value, list) and any(
        isinstance(inner, dict) and not is_tag(inner) for inner in value
    )


def _outer(owner: Owner, path: tuple[str, ...]) -> str:
    """What a list stands in: the object it is of, and its name there."""
    name = name_of(path)
    return labelled(owner.label, name if owner.label or name.lower() not in HOLLOW else "")


def _title(outer: str) -> str:
    return f"{outer}:" if outer else ""


def _is_schema(value: Mapping[str, Json]) -> bool:
    """Whether it says what a value may be, as tools describe their arguments."""
    kind = value.get("type")
    known = isinstance(kind, str) and kind in _JSON_TYPES
    return known and len(value) > 1 and value.keys() <= _SCHEMA


def _field(key: str, text: str) -> str:
    return f"{key}: {text}" if key else text
