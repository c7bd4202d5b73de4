"""Request bodies as texts that were read: what is kept of one goes out in its own characters.

JSON that is read and written again is another text: 1.10 becomes 1.1, -0 becomes 0, of two equal
keys one is left.  So where each message stands is remembered, and a rewritten body is put together
from pieces of the one that came.  What stands in it as it stood in an earlier one is recognised,
not read.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn

from statecomp.history.patient_json import LONG, TooManyFields, dumps, raw_decode


class Unreadable(Exception):
    """The body is not the JSON object it should be; it goes out as it came."""


def _refuse(constant: str) -> NoReturn:
    raise ValueError(constant)


TWICE = "the body has a field twice"
_NOTHING = object()
_quick = json.JSONDecoder(parse_constant=_refuse).raw_decode
_MARK = '"cache_control"'
_SPACE = re.compile(r"[ \t\n\r]*")


@dataclass(frozen=True, slots=True)
class Document:
    """A body that was read; `values` says where each of its fields has its value.

    `text` is empty where it came in another encoding than UTF-8, and must be written anew.
    `array` is where the list of messages begins, and the messages stand at `begins` to `ends`,
    counted from there.  `news` is how much of the text was not recognised, `marked` where the
    client first asks for something to be cached, or -1, and `lists` how many brackets and braces
    open in it at most.
    """

    text: str
    body: Mapping[str, Any]
    key: str = ""
    values: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    begins: Sequence[int] = ()
    ends: Sequence[int] = ()
    news: int = field(default=0, compare=False)
    marked: int = -1
    lists: int = field(default=0, compare=False)

    @property
    def array(self) -> tuple[int, int]:
        return self.values.get(self.key, (0, 0))

    def written(self, body: Mapping[str, Any]) -> bytes:
        """Another body made of this one: what is the same object in both goes out as it came."""
        changed = {name for name in body if body[name] is not self.body.get(name, _NOTHING)}
        if not self.text or self.body.keys() - body.keys():
            return written(body)
        pieces: list[str] = []
        behind = 0
        for name, (start, stop) in sorted(self.values.items(), key=lambda item: item[1]):
            if name in changed:
                value = self._listed(body[name]) if name == self.key else _plain(body[name])
                pieces += (self.text[behind:start], value)
                behind = stop
        end = self.text.rindex("}")
        added = [f"{_plain(name)}:{_plain(body[name])}" for name in body if name not in self.body]
        comma = "," if self.values and added else ""
        pieces += (self.text[behind:end], comma + ",".join(added), self.text[end:])
        return "".join(pieces).encode()

    def _listed(self, messages: Any) -> str:
        """The list of messages; those that came stand in it as they came."""
        if not isinstance(messages, list | tuple) or not self.ends:
            return _plain(messages)
        places = {id(message): n for n, message in enumerate(self.body[self.key])}
        return f"[{','.join(self._own(places.get(id(m)), m) for m in messages)}]"

    def _own(self, place: int | None, message: Any) -> str:
        if place is None:
            return _plain(message)
        start = self.array[0]
        return self.text[start + self.begins[place] : start + self.ends[place]]


def read(text: str, key: str, known: Document | None = None) -> Document:
    """Raises Unreadable."""
    try:
        return _Reading(text, key, known).document()
    except TooManyFields as error:
        raise Unreadable(f"the body cannot be read: {error}") from None
    except (ValueError, RecursionError):
        raise Unreadable("the body is not JSON") from None


def read_bytes(body: bytes, key: str) -> Document:
    """Raises Unreadable."""
    try:
        return read(body.decode(), key)
    except UnicodeDecodeError:
        return Document("", parsed(body))


def parsed(body: bytes) -> Mapping[str, Any]:
    """A body in any encoding that JSON may have."""
    try:
        text = body.decode(json.detect_encoding(body), "surrogatepass")
    except UnicodeDecodeError:
        raise Unreadable("the body is not JSON") from None
    return read(text, "").body


def written(body: Mapping[str, Any]) -> bytes:
    """A body as SDKs write theirs; raises ValueError for what JSON has no number for."""
    return _plain(body).encode()


def _plain(value: Any) -> str:
    """JSON as SDKs write it; a lone surrogate can only go out escaped."""
    text = dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    try:
        text.encode()
    except UnicodeEncodeError:
        return dumps(value, separators=(",", ":"), allow_nan=False)
    return text


class _Reading:
    """One pass over a text; what is known of an earlier one is skipped."""

    def __init__(self, text: str, key: str, known: Document | None) -> None:
        self._text, self._key = text, key
        self._scan = _quick if len(text) <= LONG else raw_decode(text, _refuse)
        self._known = known if known is not None and known.ends else None
        self._body: dict[str, Any] = {}
        self._values: dict[str, tuple[int, int]] = {}
        self._begins: list[int] = []
        self._ends: list[int] = []
        self._just_listed = False
        self._recognised = self._alike = 0  # characters of messages, and from the very beginning

    def document(self) -> Document:
        place = self._space(0)
        if self._text[place : place + 1] != "{":
            self._scan(self._text, place)
            raise Unreadable("the body is not a JSON object")
        place = self._fields(place)
        if self._space(place) != len(self._text):
            raise ValueError
        found = (self._text, self._body, self._key, self._values, self._begins, self._ends)
        news = len(self._text) - self._recognised
        return Document(*found, news, self._marked(), self._lists())

    def _lists(self) -> int:
        """Counted in what is new only; what took the place of something else counts beside it."""
        known, start = self._known, 0
        if known is not None and self._recognised:
            start = self._values[self._key][0] + self._recognised
        before = known.lists if known is not None and start else 0
        return before + self._text.count("[", start) + self._text.count("{", start)

    def _marked(self) -> int:
        """Looked for in what is new only: looking through all of it costs as much as reading it."""
        known, behind = self._known, max(0, self._alike - len(_MARK))
        if known is not None and 0 <= known.marked < behind:
            return known.marked
        return self._text.find(_MARK, behind)

    def _fields(self, place: int) -> int:
        """From the brace to behind its match."""
        behind = self._skipped_head()
        if not behind:
            place = self._space(place + 1)
            if self._text[place : place + 1] == "}":
                return place + 1
            behind = self._field(place)
        while not (end := self._skipped_end()):
            mark = self._text[behind : behind + 1]
            if mark == "}":
                return behind + 1
            if mark != ",":
                raise ValueError
            behind = self._field(self._space(behind + 1))
        return end

    def _field(self, place: int) -> int:
        """One name with its value; the place of what follows."""
        if self._text[place : place + 1] != '"':
            raise ValueError
        name, place = self._scan(self._text, place)
        place = self._space(place)
        if self._text[place : place + 1] != ":":
            raise ValueError
        start = self._space(place + 1)
        if name in self._values:
            raise Unreadable(TWICE)
        if name == self._key and self._text[start : start + 1] == "[":
            return self._listed(start)
        value, stop = self._scan(self._text, start)
        self._body[name], self._values[name] = value, (start, stop)
        return self._space(stop)

    def _listed(self, start: int) -> int:
        value, stop = self._list(start)
        self._body[self._key], self._values[self._key] = value, (start, stop)
        self._just_listed = True
        return self._space(stop)

    def _list(self, start: int) -> tuple[list[Any], int]:
        same = self._common(start)
        found: list[Any] = []
        if same:
            known = self._known
            assert known is not None
            found = list(known.body[self._key][:same])
            self._begins, self._ends = list(known.begins[:same]), list(known.ends[:same])
            self._recognised = self._ends[-1]
            place = self._space(start + self._ends[-1])
        else:
            place = self._space(start + 1)
            if self._text[place : place + 1] == "]":
                return found, place + 1
            place = self._message(place, start, found)
        while (mark := self._text[place : place + 1]) == ",":
            place = self._message(self._space(place + 1), start, found)
        if mark != "]":
            raise ValueError
        return found, place + 1

    def _message(self, place: int, start: int, found: list[Any]) -> int:
        value, stop = self._scan(self._text, place)
        found.append(value)
        self._begins.append(place - start)
        self._ends.append(stop - start)
        return self._space(stop)

    def _common(self, start: int) -> int:
        """How many leading messages stand here as they stood there."""
        known = self._known
        if known is None:
            return 0
        there, ends = known.array[0], known.ends

        def alike(count: int) -> bool:
            end = ends[count - 1]
            return self._text.startswith(known.text[there : there + end], start)

        if alike(len(ends)):
            count = len(ends)
        else:
            count = bisect_right(range(1, len(ends)), 0, key=lambda n: 0 if alike(n) else 1)
        # What ends with a brace is whole, whatever follows.
        return count if count and known.text[there + ends[count - 1] - 1] == "}" else 0

    def _skipped_head(self) -> int:
        """Behind the list, when all before it is as it was."""
        known = self._known
        if known is None:
            return 0
        start = known.array[0]
        if not self._text.startswith(known.text[: start + 1]):
            return 0
        for name, place in known.values.items():
            if place[0] < start:
                self._body[name], self._values[name] = known.body[name], place
        behind = self._listed(start)
        self._alike = start + self._recognised
        return behind

    def _skipped_end(self) -> int:
        """Behind the whole object, when all behind the list is as it was."""
        known = self._known
        if known is None or not self._just_listed:
            return 0
        self._just_listed = False
        start, stop = self._values[self._key][1], known.array[1]
        if self._text[start:] != known.text[stop:]:
            return 0
        shift = start - stop
        for name, (begins, ends) in known.values.items():
            if begins >= stop:
                if name in self._values:
                    raise Unreadable(TWICE)
                self._values[name] = (begins + shift, ends + shift)
                self._body[name] = known.body[name]
        return known.text.rindex("}") + 1 + shift

    def _space(self, place: int) -> int:
        found = _SPACE.match(self._text, place)
        return found.end() if found else place
