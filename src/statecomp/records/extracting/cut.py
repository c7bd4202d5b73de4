"""Recognising what a text is, and cutting it accordingly."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import chain, groupby

from statecomp.records.extracting import code, objects, prose
from statecomp.records.extracting.decode import Json, decoded, lines_of_data, parted, spelled
from statecomp.records.extracting.listing.outlines import outlined
from statecomp.records.extracting.listing.trees import pathed
from statecomp.records.extracting.pieces import Form, Piece
from statecomp.records.extracting.reading import snapshot
from statecomp.records.extracting.reading.noise import telling
from statecomp.records.extracting.reading.page import elements, is_page

NESTED = 2
"""Texts inside data inside texts: so many levels are cut by what they are."""

WRAPPED = 10
"""Lines of a text whose own breaks are escaped; a longer one holds such a text among others."""

_ESCAPED_BREAK = re.compile(r"\\r\\n|\\n|\\r")


def cut(body: Json, depth: int = NESTED) -> list[Piece]:
    """The pieces of a payload: of data or of text."""
    if isinstance(body, str):
        return list(_text(body, depth))
    return list(_data(body, depth))


def _data(data: Json, depth: int) -> Iterator[Piece]:
    yield from objects.pieces_of(data, lambda text: cut(text, depth - 1))


def _text(text: str, depth: int) -> Iterator[Piece]:
    if depth > 0:
        if (each := lines_of_data(text)) is not None:
            yield from _data(list(each), depth)
            return
        before, data, after = parted(text)
        if data is not None:
            yield from chain(_plain(before), _data(data, depth), _after(after, data, depth))
            return
    # Data is read first: its escapes are its own.
    plain = unescaped(text)
    if plain is not text:
        yield from _text(plain, depth)
    elif depth >= 0 and (outline := outlined(text.split("\n"))) is not None:
        yield from _data(outline, depth)
    else:
        yield from _plain(text)


def _after(text: str, before: Json, depth: int) -> Iterator[Piece]:
    """What follows data: words, other data, or the same once more, which is left out."""
    again = parted(text)[1] if text.strip() else None
    if again is None:
        yield from _plain(text)
    elif again != before:
        yield from _text(text, depth - 1)


def _plain(text: str) -> Iterator[Piece]:
    if not text.strip():
        return
    written = text.split("\n")
    if snapshot.is_tree(written):
        around, tree = snapshot.parted(written)
        yield from prose.pieces_of(telling(around), _value)
        yield from _of_page(snapshot.pieces_of(tree))
        return
    page = is_page(written)
    lines = [
        snapshot.undressed(line) for line in telling(elements(written) if page else pathed(written))
    ]
    if page:
        yield from _of_page(prose.pieces_of(lines, _value))
    elif code.is_diff(lines):
        yield from code.hunks(lines)
    elif code.is_code(lines):
        yield from code.blocks(lines, data=_value)
    else:
        yield from prose.pieces_of(lines, _value)


def _of_page(pieces: Iterable[Piece]) -> Iterator[Piece]:
    """The pieces of a page, with an empty one where some are left out: what is around them did not
    stand side by side.
    """
    for left_out, run in groupby(pieces, key=_says_little):
        yield from (Piece("", Form.LINE),) if left_out else run


_TORN = re.compile(r"[a-z]+\b|[,.;:)\]}]")


def _says_little(piece: Piece) -> bool:
    """Whether it is a word or two: an entry of a menu, a button, a label; or a sentence's end."""
    text = piece.text
    if piece.form not in (Form.LINE, Form.RULE):
        return False
    return len(text.split()) < 3 or bool(_TORN.match(text) and ", link: " not in text)


def _value(key: str, text: str) -> list[Piece]:
    """The fields of a value that is data itself, under its name: `Row 2: {...}`."""
    data = spelled(text) if "\n" in text else decoded(text)
    if data is None:
        return []
    return list(objects.pieces_of(data, lambda inner: cut(inner, 0), key))


def unescaped(text: str) -> str:
    """Text whose line breaks were escaped by a JSON or repr wrapper, as lines again."""
    breaks = text.count("\n")
    if breaks > WRAPPED or text.count("\\n") <= breaks:
        return text
    return _ESCAPED_BREAK.sub("\n", text).replace('\\"', '"').replace("\\t", " ")
