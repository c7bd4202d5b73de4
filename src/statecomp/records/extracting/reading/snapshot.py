"""A page as a tree of its elements, as browsers' tools print it: things whole, each on one line.

`- listitem:` with its words, prices and links far below it is one thing.  A price without the thing
it is of misleads, so the highest element that holds one thing and fits a line becomes the line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from statecomp.records.extracting.pieces import (
    LONGEST,
    Form,
    Owner,
    Piece,
    clipped,
    one_line,
    word_set,
    wordless,
)
from statecomp.records.extracting.reading.nesting import ended

FEWEST = 3
"""Elements that make a tree."""
SAID = 0.7
"""The share of an element's words that its name says already: a radio button and its label."""
ENTRY = 4
"""Words that an entry of a menu has fewer of."""
OPTIONS = 8
"""Choices of a list that are told; of more nobody reads all."""

_NODE = re.compile(
    r"""(?P<margin>\s*)- (?P<quote>['"]?)(?P<role>/?[a-z]+)\b"""
    r"""(?: "(?P<name>(?:[^"\\]|\\.)*)")?(?P<marks>(?: \[[^\]]{0,80}\]){0,6})"""
    r"""(?P=quote)(?::(?: (?P<text>.*))?)?\Z"""
)
_THINGS = word_set("listitem row article radio checkbox paragraph option menuitem treeitem")
_ASKS = word_set("radio checkbox button textbox searchbox combobox switch tab slider")
_SECTIONS = word_set("region main article listitem row group dialog list table form complementary")
"""What a heading inside holds for no longer than they last."""
_MENUS = word_set("navigation banner contentinfo menubar menu")
_WORDS = word_set("text generic superscript emphasis strong")
_STATE = re.compile(r"\[(checked|disabled|selected|expanded|pressed)\b")
_FOUND = re.compile(r"(Span \d+: )(- .*)\Z")


@dataclass(slots=True)
class _Node:
    """An element while the tree is read; it does not leave this module."""

    role: str
    words: str
    state: str = ""
    margin: int = -1
    url: str = ""
    inside: list[_Node] = field(default_factory=list)


def is_tree(lines: Sequence[str]) -> bool:
    """Whether most lines are elements of a page with the marks that browsers' tools give them."""
    if not any(map(_is_marked, lines)):
        return False  # as most texts: no line of theirs is read as an element
    told = [line for line in lines if line.strip()]
    nodes = [line for line in told if _NODE.match(line[:4000])]
    return sum(map(_is_marked, nodes)) >= FEWEST and len(nodes) * 2 > len(told)


def _is_marked(line: str) -> bool:
    return "[ref=" in line or "- generic" in line


def undressed(line: str) -> str:
    """A line of a search through a page, without the marks of the element it found."""
    found = _FOUND.match(line[:4000]) if line.startswith("Span ") else None
    node = _node_of(found[2]) if found else None
    return f"{found[1]}{node.words}" if found and node and node.words else line


def parted(lines: Sequence[str]) -> tuple[list[str], list[str]]:
    """The lines around a tree, and those of the tree."""
    around, tree = list[str](), list[str]()
    for line in lines:
        (tree if _NODE.match(line[:4000]) else around).append(line)
    return around, tree


def pieces_of(lines: Sequence[str]) -> Iterator[Piece]:
    """A line for each thing of the page, below the heading or the group it stands under."""
    yield from _told(_tree(lines), _Heading())


def _node_of(line: str) -> _Node | None:
    match = _NODE.match(line[:4000])
    if not match:
        return None
    words = match["name"] or match["text"] or ""
    if match["quote"] == "'":
        words = words.replace("''", "'")
    words = one_line(words.replace('\\"', '"'))
    if len(words) > 1 and words[0] == words[-1] == '"':
        words = words[1:-1]
    state = ", ".join(_STATE.findall(match["marks"]))
    node = _Node(match["role"], words, state, len(match["margin"]))
    if match["name"] and match["text"]:
        node.inside.append(_Node("text", one_line(match["text"])))
    return node


def _tree(lines: Sequence[str]) -> _Node:
    root = _Node("page", "")
    held: list[tuple[int, _Node]] = []
    for node in filter(None, map(_node_of, lines)):
        ended(held, node.margin)
        above = held[-1][1] if held else root
        if node.role == "/url":
            above.url = node.words
        else:
            above.inside.append(node)
            held.append((node.margin, node))
    return root


def _words(node: _Node) -> str:
    """All words of an element once: what its name says its parts need not say again."""
    told = [node.words] if node.words else []
    joint, text = (" | " if node.role == "row" else " "), node.words
    several = False
    for inner in node.inside:
        words = _words(inner)
        # A value that stood in another column stands here again: none of them may shift.
        value = " " not in words and any(map(str.isdigit, words))
        if words and not _said(words, told[: bool(node.words)] if value else told):
            told.append(words)
            apart = several and _is_several(inner) and joint == " "
            several = _is_several(inner)
            text = f"{text}{'; ' if apart else joint}{words}" if text else words
    return text


def _is_several(node: _Node) -> bool:
    """Whether it holds a value with its label, or more: the next one is no part of it."""
    told = [words for words in map(_words, node.inside) if words]
    return len(told) > 1 and any(any(map(str.isdigit, words)) for words in told)


def _said(words: str, told: Sequence[str]) -> bool:
    """Whether most of the words, and every number among them, were said before."""
    known, new = set(" ".join(told).split()), words.split()
    again = sum(1 for word in new if word in known)
    return again >= SAID * len(new) and all(
        word in known for word in new if any(map(str.isdigit, word))
    )


def _urls(node: _Node) -> Iterator[str]:
    if node.url:
        yield node.url
    for inner in node.inside:
        yield from _urls(inner)


def _things(node: _Node) -> int:
    return sum((inner.role in _THINGS) + _things(inner) for inner in node.inside)


def _headed(node: _Node) -> bool:
    return any(inner.role == "heading" or _headed(inner) for inner in node.inside)


class _Heading:
    """The heading that what follows stands below."""

    def __init__(self) -> None:
        self.owner: Owner | None = None


def _told(node: _Node, under: _Heading) -> Iterator[Piece]:
    run: list[_Node] = []
    for inner in node.inside:
        if _inline(inner):
            run.append(inner)
            continue
        yield from _line(run, under)
        run = []
        if inner.role == "heading":
            under.owner = Owner(clipped(_words(inner), LONGEST))
        elif _whole(inner):
            yield from (p for p in _line([inner], under) if not _in_menu(inner, p))
        elif not (inner.role in ("combobox", "listbox") and _things(inner) > OPTIONS):
            before = under.owner
            if inner.words:
                under.owner = Owner(clipped(inner.words, LONGEST))
            told = _told(inner, under)
            yield from (p for p in told if not _in_menu(inner, p))
            if inner.words or inner.role in _SECTIONS | _MENUS:
                under.owner = before
    yield from _line(run, under)


def _in_menu(node: _Node, piece: Piece) -> bool:
    """Whether it is an entry of a menu: a word or two and where they lead."""
    return node.role in _MENUS and len(piece.text.partition(", link: ")[0].split()) < ENTRY


def _inline(node: _Node) -> bool:
    """Whether it is words among words."""
    return node.role in _WORDS and all(inner.role == "text" for inner in node.inside)


def _whole(node: _Node) -> bool:
    return not node.inside or (
        len(_words(node)) <= LONGEST and _things(node) < 2 and not _headed(node)
    )


def _line(nodes: Sequence[_Node], under: _Heading) -> Iterator[Piece]:
    text = " ".join(filter(None, map(_words, nodes)))
    if wordless(text) or text == (under.owner.label if under.owner else ""):
        return
    node = nodes[0]
    if node.role in _ASKS:
        text = f"{node.role}: {text}"
    if node.state:
        text = f"{text} ({node.state})"
    urls = list(dict.fromkeys(url for one in nodes for url in _urls(one)))
    if len(urls) == 1:
        text = f"{text}, link: {urls[0]}"
    yield Piece(clipped(text, 2 * LONGEST), Form.LINE, under.owner)
