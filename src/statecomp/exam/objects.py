"""JSON objects in what tools answered, also inside strings of other JSON, and Python's own form."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from statecomp.exam.facts import FactGroup, FactKind, FactRow
from statecomp.history.interaction import Interaction

DEEPEST, MOST_OBJECTS, MOST_TRIES = 6, 400, 60
LONGEST_VALUE = 80
_NAMED = """
    name title path email full_name filename subject label username slug sku symbol key
    order_id product_id user_id number id url
"""
_NAMES = tuple(_NAMED.split())
_NAMING = re.compile(r"(?<!request)(?<!node)(?<!server)(?<!action)(?<!category)_(?:id|name)\Z")
_OPENING = re.compile(r"[{\[]")
_DECODER = json.JSONDecoder()


def objects_of(text: str) -> Iterator[Mapping[str, Any]]:
    """Every object of a text, the outer before the inner; those in a list one by one."""
    found = 0
    for value in _values(text):
        for item in _inside(value, 0):
            yield item
            found += 1
            if found >= MOST_OBJECTS:
                return


def _values(text: str) -> Iterator[Any]:
    """Whatever can be decoded; where the outside is cut off, its parts."""
    place, tries = 0, 0
    while tries < MOST_TRIES and (opening := _OPENING.search(text, place)):
        start = opening.start()
        try:
            value, place = _DECODER.raw_decode(text, start)
        except (ValueError, RecursionError):
            tries += 1
            value, place = _python_value(text, start)
        if isinstance(value, dict | list):
            yield value


def _python_value(text: str, start: int) -> tuple[Any, int]:
    """A dict or list as Python prints it, if it ends on its line."""
    stop = text.find("\n", start)
    line = text[start : stop if stop >= 0 else len(text)].rstrip()
    if len(line) > 4 and line[1] in "'{" and line[-1] in "}]" and len(line) < 20_000:
        try:
            return ast.literal_eval(line), start + len(line)
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            pass
    return None, start + 1


def _inside(value: Any, depth: int) -> Iterator[Mapping[str, Any]]:
    if depth > DEEPEST:
        return
    if isinstance(value, dict):
        if value and all(isinstance(key, str) for key in value):
            yield value
        for inner in value.values():
            yield from _inside(inner, depth + 1)
    elif isinstance(value, list):
        for inner in value:
            yield from _inside(inner, depth + 1)
    elif isinstance(value, str) and value.lstrip()[:1] in ("{", "[") and len(value) > 20:
        for inner in _values(value):
            yield from _inside(inner, depth + 1)


def object_groups(span: Iterable[Interaction]) -> Iterator[FactGroup]:
    """The objects of a span by what they are made of: one call each, or one list, is the same.

    A field that had two values for one name is left out: nobody can say which is meant.
    """
    shapes: dict[frozenset[str], dict[str, FactRow]] = {}
    for member in span:
        for item in objects_of(member.observed):
            values = dict(_scalars(item, ""))
            name_field = _naming(values)
            if name_field is None or len(values) < 2:
                continue
            name = values.pop(name_field)
            entries = shapes.setdefault(frozenset({name_field, *values}), {})
            known = entries.get(name)
            if known:
                values = {f: v for f, v in values.items() if known.values.get(f) == v}
            entries[name] = FactRow(member.number, name, values, json.dumps(item)[:4000])
    for group in shapes.values():
        yield FactGroup(FactKind.OBJECT, list(group.values()))


def _scalars(item: Mapping[str, Any], prefix: str) -> Iterator[tuple[str, str]]:
    """Short values by field; those of an inner object under a dotted name."""
    for key, value in item.items():
        if isinstance(value, dict) and not prefix:
            yield from _scalars(value, f"{key}.")
        elif isinstance(value, bool | int | float):
            yield f"{prefix}{key}", json.dumps(value)
        elif isinstance(value, str) and 0 < len(value) <= LONGEST_VALUE and "\n" not in value:
            yield f"{prefix}{key}", value


def _naming(values: Mapping[str, str]) -> str | None:
    """The field that tells this object from others of its kind."""
    for known in _NAMES:
        if known in values and len(values[known]) >= 3:
            return known
    return next(
        (field for field, value in values.items() if _NAMING.search(field) and len(value) >= 3),
        None,
    )
