"""Objects of a list as the cells of a table: what each is called, and its short values."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from statecomp.records.extracting.decode import Json
from statecomp.records.extracting.listing.columns import READ, Path, Table, table_of
from statecomp.records.extracting.pieces import one_line, word_set
from statecomp.records.extracting.reading.naming import called, plainly, shown, spoken

SILENT = word_set("""
    request_id trace_id node_id parents annotations created_by last_edited_by verification
    tree committer avatar _truncated href
""")
"""What a service tells its own logs, and what no later step looks anything up by."""
_LINKS = re.compile(r"_urls?\Z")
HOLLOW = word_set("""
    properties rich_text text content plain_text data results result value node attributes
    fields items entries records rows object
""")
"""Names of fields that say nothing of what stands in them."""


def table_of_objects(values: Sequence[Json]) -> Table | None:
    if not all(isinstance(value, dict) for value in values):
        return None
    return table_of([_thing(value) for value in values], name_of)


def _thing(value: Mapping[str, Json]) -> dict[Path, str]:
    """The cells of an object, and what it is called where no field of its own says so."""
    cells = dict(_cells(value, (), 4))
    name = called(value).partition(": ")[2]
    return {("name",): name, **cells} if name else cells


def _cells(value: Json, path: Path, depth: int) -> Iterator[tuple[Path, str]]:
    """The short values of an object, those inside it too; of things in a list their names."""
    if isinstance(value, dict):
        plain = plainly(value) if path else value
        if plain is not value:
            yield from _cells(plain, path, depth)
        elif depth:
            for key, inner in value.items():
                if not is_silent(str(key), inner) and not (key == "sha" and is_patched(value)):
                    yield from _cells(inner, (*path, str(key)), depth - 1)
        return
    text = _in_a_cell(value)
    if text:
        # What is cut must not end as if that were all of it.
        yield path, text if len(text) <= READ else f"{text[:READ].rpartition(' ')[0]} ..."


def _in_a_cell(value: Json) -> str:
    if not isinstance(value, list):
        return one_line(shown(value))
    if text := spoken(value):
        return text
    if all(isinstance(inner, dict) for inner in value):
        return ", ".join(called(inner).partition(": ")[2] or "?" for inner in value).strip("?, ")
    return ", ".join(one_line(shown(inner)) for inner in value)


def is_patched(value: Mapping[str, Json]) -> bool:
    """Whether it is a file of a commit, which nobody goes by its hash."""
    return "patch" in value or "blob_url" in value


def is_silent(key: str, value: Json) -> bool:
    if key in SILENT or (key != "html_url" and _LINKS.search(key)):
        return True
    return key == "url" and isinstance(value, str) and "//api." in value


def name_of(path: Sequence[str]) -> str:
    """The names that lead to a value, without those that say nothing."""
    telling = [part for part in path if part.lower() not in HOLLOW]
    return " ".join(telling[-3:] if telling else path[-1:])
