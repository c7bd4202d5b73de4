"""The elements of a page, by what they do to the words in them, and what they give besides."""

from __future__ import annotations

import re
from collections.abc import Mapping
from urllib.parse import unquote

from statecomp.history.text import Kind
from statecomp.records.extracting.markup.lines import Sort
from statecomp.records.extracting.pieces import word_set
from statecomp.records.extracting.reading.page import told_briefly

SPAN = 40
"""Columns or rows that a cell may take."""


UNSEEN = word_set("script style svg noscript iframe object video audio canvas")
NOTHING = word_set("area base col embed link meta param source track")
MENUS = word_set("nav footer header")
MENU_ROLES = word_set("navigation banner contentinfo menu menubar")
LISTS, ROWS = word_set("ul ol menu"), word_set("tr table")
SECTIONS = word_set("article aside dialog footer li nav section td th")
"""What a title inside holds for no longer than they last."""
BLOCKS = SECTIONS.union(
    MENUS,
    word_set(
        "address blockquote center dd details div dl fieldset figure form main menu ol select"
    ),
    word_set("table tr ul"),
)
SORTS: Mapping[str, Sort] = {
    "p": Sort.PARAGRAPH,
    "dt": Sort.TERM,
    "option": Sort.CHOICE,
    "pre": Sort.VERBATIM,
    "button": Sort.FIELD,
    "textarea": Sort.FIELD,
    **{f"h{level}": Sort.TITLE for level in range(1, 7)},
}
"""Elements that hold lines of a sort."""
BREAKS = SORTS.keys() | word_set(
    "body br caption figcaption head hr html legend summary tbody tfoot thead title"
)
"""Elements that begin a line and are no part of the page themselves."""
ASKED = word_set("select td th form")
"""Elements of which more is asked than where they begin and end."""
_CELLS = word_set("td th")
ENDED: Mapping[str, tuple[frozenset[str], frozenset[str]]] = {
    "li": (word_set("li"), LISTS),
    "dd": (word_set("dd"), word_set("dl")),
    "dt": (word_set("dd"), word_set("dl")),
    "tr": (word_set("tr"), word_set("table")),
    "td": (_CELLS, ROWS),
    "th": (_CELLS, ROWS),
}
"""What an element that need not be ended is ended by, and what that cannot reach beyond."""
_NOWHERE = ("javascript:", "#", "data:", "about:", "?")
_PASSED_ON = re.compile(r"[?&](?:q|url|uddg)=(https?(?::|%3A)[^&]+)", re.IGNORECASE)
"""An address inside that of somebody who counts who goes there."""


def is_place(name: str, kind: Kind) -> bool:
    return kind in (Kind.URL, Kind.ID) or (kind is Kind.PATH and name.startswith("/"))


def address_of(given: str) -> str:
    """Where a link leads; nothing where that is the page itself, or depends on the visit."""
    told = given.removeprefix("mailto:")
    if found := _PASSED_ON.search(told):
        told = unquote(found[1])
    briefly = told_briefly(told)
    cut = briefly != told and "://" not in told  # half an address of the same place
    return "" if cut or told.lower().startswith(_NOWHERE) else briefly


def name_of(given: Mapping[str, str]) -> str:
    return given.get("aria-label") or given.get("name") or given.get("placeholder") or ""


def span_of(given: str) -> int:
    return min(SPAN, max(1, int(given))) if given.isdecimal() and len(given) < 5 else 1
