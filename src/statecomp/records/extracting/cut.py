"""Recognising what a text is, and cutting it accordingly."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import chain, groupby

from statecomp.records.extracting import code, objects, prose
from statecomp.records.extracting.decode import Json, decoded, lines_of_data, parted, spelled
from statecomp.records.extracting.listing.outlines import outlined
from statecomp.records.extracting.listing.trees import pathed
from statecomp.records.extracting.markup.hypertext import PageText
from statecomp.records.extracting.markup.things import in_values
from statecomp.records.extracting.pieces import Form, Owner, Piece
from statecomp.records.extracting.reading import snapshot
from statecomp.records.extracting.reading.layout import ITEM
from statecomp.records.extracting.reading.noise import telling
from statecomp.records.extracting.reading.page import elements, is_page

NESTED = 2
"""Texts inside data inside texts: so many levels are cut by what they are."""

WRAPPED = 10
"""Lines of a text whose own breaks are escaped; a longer one holds such a text among others."""

_ESCAPED_BREAK = re.compile(r"\\r\\n|\\n|\\r")


def cut(body: Json, depth: int = NESTED, *, read: bool = False) -> list[Piece]:
    """The pieces of a payload: of data or of text; markup in values is told as it `read`s."""
    if isinstance(body, str):
        return list(_text(body, depth, read))
    return list(_data(body, depth, read))


def _data(data: Json, depth: int, read: bool) -> Iterator[Piece]:
    if read:
        data = in_values(data)
    yield from objects.pieces_of(data, lambda text: cut(text, depth - 1))


def _text(text: str, depth: int, read: bool) -> Iterator[Piece]:
    if isinstance(text, PageText):
        lines = telling(text.split("\n"))
        yield from _without_scraps(prose.pieces_of(lines, _value, wrapped=False))
        return
    if depth > 0:
        if each := lines_of_data(text):
            yield from _data(each, depth, read)
            return
        before, data, after = parted(text)
        if data is not None:
            inside = _data(data, depth, read)
            if after.strip() and after[0] not in "\r\n":
                # Data that breaks off in the middle of a line does not say what it all lists.
                inside = (piece for piece in inside if piece.form is not Form.LIST)
            yield from chain(_plain(before), inside, _after(after, data, depth, read))
            return
    # Data is read first: its escapes are its own.
    if (plain := unescaped(text)) is not text:
        yield from _text(plain, depth, read)
    elif depth >= 0 and (data := outlined(text.split("\n"))):
        yield from _data(data, depth, read)
    else:
        yield from _plain(text)


def _after(text: str, before: Json, depth: int, read: bool) -> Iterator[Piece]:
    """What follows data: words, other data, or the same once more, which is left out."""
    again = parted(text)[1] if text.strip() else None
    if again is None:
        yield from _plain(text)
    elif again != before:
        yield from _text(text, depth - 1, read)


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


def _without_scraps(pieces: Iterable[Piece]) -> Iterator[Piece]:
    """The pieces of a page, with an empty one for a word or two that nothing tells of.

    An item of a list is told by the others, and what stands directly below a title by that.
    """
    owner: Owner | None = None
    for piece in pieces:
        titled, owner = piece.owner is not owner, piece.owner
        scrap = piece.form is Form.LINE and len(piece.text.split()) < 3
        left_out = scrap and not titled and not ITEM.match(piece.text)
        yield Piece("", Form.LINE) if left_out else piece


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
