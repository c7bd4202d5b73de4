"""Blocks of `Key: value` lines: each is a thing, several of one kind are rows of a table."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeAlias

from statecomp.records.extracting.listing.columns import Path, kind_of, table_of
from statecomp.records.extracting.pieces import (
    Data,
    Form,
    Owner,
    Piece,
    labelled,
    one_line,
    shortened,
)
from statecomp.records.extracting.reading.layout import opens
from statecomp.records.extracting.reading.naming import CALLED, LONGEST_NAME, listed
from statecomp.records.extracting.reading.nesting import margin_of

EMPTY_KEY = re.compile(r"\s*[\w\"'][\w .\"'-]{0,40}:\s*(?:null|\"\"|''|None|\[\]|\{\}|n/a)?,?\s*\Z")
KEY_VALUE = re.compile(
    r"\s*(?!Line \d+:)[*_]{0,2}[A-Za-z][\w .()/&'-]{0,40}[*_]{0,2}:[*_]{0,2}\s+\S"
)
NUMBERED = re.compile(r"\A\s*(?:\d{1,4}[.)]|[-*•])\s+(?=\S)")
ENDS_IN_DATA = re.compile(r"([^\[{]{1,80}): ([\[{].*[\]}])\Z")
_SAID_TWICE = re.compile(r"\[([^\s\[\]]{4,400})\]\(\1\)")
_BOLD_KEY = re.compile(r"\*\*([^*:\n]{1,40}):\*\*")


Block: TypeAlias = tuple[int, Sequence[str], Owner | None]
"""Where lines of `Key: value` stand, the lines, and the heading they stand below."""
Placed: TypeAlias = tuple[int, Iterable[Piece]]
"""Pieces and the line they begin at."""


def fields_end(lines: Sequence[str], start: int) -> int:
    margin, stop = margin_of(lines[start]), start
    if (item := NUMBERED.match(lines[start])) and start + 1 < len(lines):
        # The first field of a thing may stand behind its number, the others below it.
        deeper = margin_of(lines[start + 1]) > margin
        if not deeper or not KEY_VALUE.match(lines[start][item.end() :]):
            return start
        margin, stop = margin_of(lines[start + 1]), start + 1
    while (
        stop < len(lines)
        and (len(lines[stop]) < 400 or ENDS_IN_DATA.match(lines[stop].strip()))
        and KEY_VALUE.match(lines[stop])
        and margin_of(lines[stop]) == margin
        and not opens(lines, stop)
    ):
        stop += 1
    return stop


def things_in(lines: Sequence[str]) -> list[tuple[int, Sequence[str]]]:
    """The things of a block, and where each begins: one for each time its first key comes again.

    A block is one thing where a key would come twice in a part, or stand alone in one.
    """
    keys = [line.partition(":")[0].strip() for line in lines]
    starts = [place for place, key in enumerate(keys) if key == keys[0]]
    parts = [slice(a, b) for a, b in zip(starts, [*starts[1:], len(lines)], strict=True)]
    own = [keys[part] for part in parts]
    if len(parts) > 1 and all(len(part) == len(set(part)) > 1 for part in own):
        return [(part.start, lines[part]) for part in parts]
    return [(0, lines)]


def _fields(
    lines: Sequence[str], outer: Owner | None, data: Data, known: frozenset[Path]
) -> Iterator[Piece]:
    """A block of `Key: value` lines is one thing: its first line says which."""
    told: list[str] = []
    for line in (undressed(one_line(line)) for line in lines if not EMPTY_KEY.match(line)):
        key, _, value = line.partition(": ")
        inner = data(f"{told[0]}; {key}" if told else key, value) if value[:1] in "{[" else ()
        yield from inner
        if not inner:
            told.append(line)
    if not told:
        return
    label = told[0] if len(told[0]) <= 200 else ""
    owner = Owner(labelled(outer.label if outer else "", label))
    for line in told:
        if (line.partition(": ")[0].strip("*_ "),) not in known:
            yield Piece(line, Form.FIELD, owner)


def rows_and_fields(blocks: Sequence[Block], data: Data) -> Iterator[Placed]:
    """Blocks of one kind below one heading as rows; what no row says as the fields of each."""
    blocks = _below_gaps(blocks)
    kinds: dict[tuple[Owner | None, str], list[Block]] = {}
    for block in blocks:
        kinds.setdefault((block[2], _first_key(block)), []).append(block)
    for (owner, _), group in kinds.items():
        table = table_of([cells_of(lines) for _, lines, _ in group], " ".join)
        if table:
            yield group[0][0], table.below(owner.label if owner else "")
        for place, lines, _ in group:
            yield place, _fields(lines, owner, data, table.told if table else frozenset())


def cells_of(lines: Sequence[str]) -> dict[Path, str]:
    """What `Key: value` lines say, a key's first value for good."""
    found: dict[Path, str] = {}
    for key, value in map(_pair, lines):
        if value:
            found.setdefault((key,), value)
    return found


def _first_key(block: Block) -> str:
    return block[1][0].partition(":")[0].strip()


def _below_gaps(blocks: Sequence[Block]) -> list[Block]:
    """The blocks, the first of a kind without a title that is said of them all.

    A gap ends what "Search results:" names, and what stands below it is one of several.
    """
    kinds: dict[str, list[Block]] = {}
    for block in blocks:
        kinds.setdefault(_first_key(block), []).append(block)
    heads = {
        place
        for (place, _, owner), *others in kinds.values()
        if owner and owner.label.endswith(":") and others[1:] and not any(b[2] for b in others)
    }
    return [(at, lines, None if at in heads else owner) for at, lines, owner in blocks]


def counted_blocks(blocks: Sequence[Block]) -> Iterator[Placed]:
    """How many blocks of fields there are of the first one's kind, and what they are called."""
    pairs = [[_pair(line) for line in lines] for _, lines, _ in blocks]
    keys = [key for key, _ in pairs[0]] if pairs else []
    named = next((key for key in keys if key.lower() in CALLED), keys[0] if keys else "")
    alike = (dict(each) for each in pairs if each[0][0] == keys[0])
    names = [each[named] for each in alike if named in each]
    text = listed([{"name": shortened(name, LONGEST_NAME)} for name in names])
    if len(names) > 1 and text and kind_of(named) in ("name", "id", "address"):
        told = text.replace(" listed:", f" listed by {named}:", 1)
        yield blocks[0][0], (Piece(told, Form.LIST),)


def _pair(line: str) -> tuple[str, str]:
    key, _, value = undressed(one_line(line)).partition(": ")
    return key.strip("*_ "), value


def undressed(text: str) -> str:
    """Without a link that is written twice, and without bold marks around a key."""
    text = _SAID_TWICE.sub(r"\1", text) if "](" in text else text
    return _BOLD_KEY.sub(r"\1:", text) if ":**" in text else text
