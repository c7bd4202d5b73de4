"""What an object is called: by a field of its own, or by the text that stands in its place."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain

from statecomp.records.extracting.decode import Json
from statecomp.records.extracting.listing.columns import counted
from statecomp.records.extracting.pieces import one_line

LONGEST_NAME = 80
DEEPEST = 4
LIST_CHARS = 240
DETAIL = 24

CALLED = ("filename", "name", "title", "subject", "label", "plain_text", "text", "path", "login")
_NAMES = ("name", "title", "subject")
_TITLES = ("title", "name", "rich_text", "text")
_PEOPLE = frozenset({"parent", "owner", "author", "committer", "user", "creator", "sender", "icon"})
_KEPT_APART = ("id", "number", "key", "sha", "code")
_PASSING = frozenset(
    {"request_id", "trace_id", "node_id", "session_id", "object", "type", "next_cursor", "has_more"}
)
_IDENTITY = re.compile(
    r"(?:\A|.*[_.\-A-Za-z])(?:id|name|title|number|sha|path|key|code|login|email|subject|file|"
    r"filename|label|sku|ref)\Z",
    re.IGNORECASE,
)


def identity(value: Mapping[str, Json]) -> str:
    """The field that tells an object from others of its kind, as `key: value`: its name if any."""
    if name := called(value):
        return name
    plain = [
        (str(key), one_line(shown(inner)))
        for key, inner in value.items()
        if not isinstance(inner, dict | list | bool) and key not in _PASSING
    ]
    short = {key: text for key, text in plain if text and len(text) <= LONGEST_NAME}
    exact = (key for key in _KEPT_APART if key in short)
    alike = (key for key in short if _IDENTITY.match(key))
    found = next(chain(exact, alike, short), None)
    if not found:
        return ""
    kind = value.get("type")
    kind = f"{kind}; " if found == "id" and isinstance(kind, str) else ""
    return f"{kind}{found}: {short[found]}"


def called(value: Mapping[str, Json]) -> str:
    """`key: name` of an object that has a name, at hand or inside it; else nothing."""
    if name := own_name(value):
        return name
    found = next(_titles(value, DEEPEST), None) or next(_children(value), None)
    return f"{found[0]}: {found[1]}" if found else ""


def own_name(value: Mapping[str, Json]) -> str:
    """The name among an object's own fields; of a file, where it is."""
    path, name = value.get("path"), value.get("name")
    if isinstance(path, str) and isinstance(name, str) and path.endswith(f"/{name}"):
        return f"path: {one_line(path)}"
    for key in CALLED:
        inner = value.get(key)
        if isinstance(inner, str) and (text := one_line(inner)) and len(text) <= LONGEST_NAME:
            return f"{key}: {text}"
    # A long name still tells a thing from others, its kind does not.
    long = next((key for key in _NAMES if isinstance(value.get(key), str) and value[key]), "")
    return f"{long}: {_short(value[long])}" if long else ""


def _titles(value: Json, depth: int) -> Iterator[tuple[str, str]]:
    """Texts in runs, as pages hold them; titles before other texts."""
    if not isinstance(value, dict) or not depth:
        return
    for key in _TITLES:
        if text := spoken(value.get(key)):
            kind = value.get("type")
            yield (kind if isinstance(kind, str) and kind in value else key), _short(text)
    inner = sorted(
        (pair for pair in value.items() if isinstance(pair[1], dict)),
        key=lambda pair: not (isinstance(pair[1].get("title"), list)),
    )
    for name, child in inner:
        for key, text in _titles(child, depth - 1):
            yield (name if key in _TITLES and name != "properties" else key), text


def _children(value: Mapping[str, Json]) -> Iterator[tuple[str, str]]:
    for name, child in value.items():
        if isinstance(child, dict) and name not in _PEOPLE:
            for key in ("title", "name"):
                if isinstance(child.get(key), str) and child[key].strip():
                    yield f"{name} {key}", _short(child[key])


def _short(text: str) -> str:
    text = one_line(text)
    if len(text) <= LONGEST_NAME:
        return text
    told = text[:LONGEST_NAME].rpartition(" ")[0].rstrip(",;:") or text[:LONGEST_NAME]
    return f"{told} ..."


def spoken(value: Json) -> str:
    """A text that is kept as runs, each with its own dress; nothing where it is something else."""
    if not isinstance(value, list) or not value:
        return ""
    runs = [part.get("plain_text") for part in value if isinstance(part, dict)]
    whole = len(runs) == len(value) and all(isinstance(run, str) for run in runs)
    return one_line("".join(map(str, runs))) if whole else ""


def listed(values: Sequence[Json], what: str = "") -> str:
    """How many objects there are and what they are called; what does not fit is counted."""
    objects = [value for value in values if isinstance(value, dict)]
    names = list(counted([name for value in objects if (name := _listed(value))]))
    if len(names) == len(objects) and len(names) <= LIST_CHARS // 8:
        details = list(map(_detail, objects))
        full = [f"{name}{more}" for name, more in zip(map(_listed, objects), details, strict=True)]
        # Beside some names only, a value would be theirs and not the others'.
        names = full if all(details) and sum(map(len, full)) <= LIST_CHARS else names
    told: list[str] = []
    for name in names:
        if sum(map(len, told)) + len(name) > LIST_CHARS:
            break
        told.append(name)
    if not told:
        return ""
    nameless = sum(1 for value in objects if not _listed(value))
    more = len(names) - len(told) + len(values) - len(objects) + nameless
    if len(values) == 1 and not called(objects[0]):
        return ""  # its fields say more than one of its values
    if len(values) == 1:
        return f"{what}: {told[0]}" if what else told[0]
    count = f"{len(values)} {what} listed" if what else f"{len(values)} listed"
    return f"{count}: {', '.join(told)}" + (f" and {more} more" if more else "")


def _listed(value: Mapping[str, Json]) -> str:
    """Its name; an id says nothing in a list, but the kind of thing does."""
    name = called(value).partition(": ")[2] or str(value.get("type") or "")
    if not name and not id_alone(found := identity(value)):
        key, _, told = found.partition(": ")
        # A count says nothing without its field.
        name = told if _IDENTITY.match(key) or not told else f"{key} {told}"
    status = value.get("status")
    return f"{name} ({status})" if name and isinstance(status, str) and len(status) < 20 else name


_TAG = frozenset({"id", "name", "color", "description"})
_PROPERTY = frozenset({"id", "name", "description", "type"})


def is_tag(value: Mapping[str, Json]) -> bool:
    """Whether it is a choice out of a list: little more than a name."""
    return {"id", "name"} <= value.keys() <= _TAG


def plainly(value: Mapping[str, Json]) -> Json:
    """What a property holds, without its wrapping; the object itself where it is no property."""
    if is_tag(value):
        return value["name"]
    kind = value.get("type")
    if isinstance(kind, str) and kind in value and value.keys() <= _PROPERTY | {kind}:
        return kind if value[kind] == {} else value[kind]
    if value.keys() == {"text", "value"}:
        return f"{shown(value['text'])} ({shown(value['value'])})"  # `"distance": {"text": "3 km"`
    return value


def _detail(value: Mapping[str, Json]) -> str:
    """One number or date of an object that has few values."""
    inside = value.get("properties")
    fields = inside if isinstance(inside, dict) else value
    if fields is value and len(value) > 4:
        return ""
    known = _listed(value)
    found = [
        f" ({key} {shown(plain)})"
        for key, inner in fields.items()
        if isinstance(plain := plainly(inner) if isinstance(inner, dict) else inner, str)
        and 0 < len(plain) <= DETAIL
        and plain not in known
        and not _IDENTITY.match(str(key))
        and key not in _PASSING
    ]
    return next((text for text in found if text[-2].isdigit()), "")


_ID = re.compile(r"(?:\w+; )?[\w ]*?(?:id|sha|ID|Id|cursor): \S+\Z|[0-9a-f-]{16,}\Z")


def id_alone(text: str) -> bool:
    """Whether it is an id and nothing that says of what."""
    return bool(_ID.match(text))


def shown(value: Json) -> str:
    if value is None:
        return ""
    return str(value).lower() if isinstance(value, bool) else str(value)
