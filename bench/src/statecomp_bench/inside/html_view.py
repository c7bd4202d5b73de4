"""Views of a page for somebody who repairs it: tree, outline, links, images, forms, styles."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from html.parser import HTMLParser

VOID = frozenset(
    {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "wbr"}
)
FIELDS = ("input", "select", "textarea")
HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")


@dataclass
class Element:
    """One start tag: where it stands, what it carries, and the text inside it."""

    tag: str
    line: int
    depth: int
    attributes: Mapping[str, str]
    pieces: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        return " ".join("".join(self.pieces).split())

    def __str__(self) -> str:
        attributes = "".join(f' {name}="{value}"' for name, value in self.attributes.items())
        return f"{self.line:4d}: <{self.tag}{attributes}>"


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.elements: list[Element] = []
        self._open: list[Element] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = {name: value or "" for name, value in attrs}
        element = Element(tag, self.getpos()[0], len(self._open), attributes)
        self.elements.append(element)
        if tag not in VOID:
            self._open.append(element)

    def handle_endtag(self, tag: str) -> None:
        for place in range(len(self._open) - 1, -1, -1):
            if self._open[place].tag == tag:
                del self._open[place:]
                return

    def handle_data(self, data: str) -> None:
        for element in self._open:
            element.pieces.append(data)


def elements(markup: str, *tags: str) -> list[Element]:
    """All elements in order, or those with one of the tags."""
    reader = _Reader()
    reader.feed(markup)
    reader.close()
    return [e for e in reader.elements if not tags or e.tag in tags]


def _tree(markup: str) -> Iterator[str]:
    for element in elements(markup):
        name = element.attributes.get("id")
        classes = "".join(f".{c}" for c in element.attributes.get("class", "").split())
        mark = f"#{name}" if name else ""
        yield f"{element.line:4d}: {'  ' * element.depth}{element.tag}{mark}{classes}"


def _outline(markup: str) -> Iterator[str]:
    for element in elements(markup, "html", "title", "meta", *HEADINGS):
        if element.tag == "html":
            yield f"lang: {element.attributes.get('lang', '(none)')}"
        elif element.tag == "meta":
            yield str(element)
        else:
            yield f"{element.line:4d}: {element.tag} {element.text or '(empty)'}"


def _links(markup: str) -> Iterator[str]:
    for element in elements(markup, "a", "link", "script"):
        target = element.attributes.get("href", element.attributes.get("src"))
        yield f"{element.line:4d}: {element.tag} -> {target} {element.text[:60]!r}"


def _forms(markup: str) -> Iterator[str]:
    """Fields with the text of the label that names them."""
    labels = {e.attributes.get("for", ""): e.text for e in elements(markup, "label")}
    for element in elements(markup, "form", "button", *FIELDS):
        name = element.attributes.get("aria-label") or (
            labels.get(element.attributes.get("id", "-"), "")
            if element.tag in FIELDS
            else element.text
        )
        yield str(element) + ("" if element.tag == "form" else f" name: {name or '(none)'}")


def _styles(markup: str) -> Iterator[str]:
    for element in elements(markup):
        if "style" in element.attributes or "class" in element.attributes:
            yield str(element)


VIEWS: Mapping[str, Callable[[str], str]] = {
    "tree": lambda markup: "\n".join(_tree(markup)),
    "outline": lambda markup: "\n".join(_outline(markup)),
    "links": lambda markup: "\n".join(_links(markup)),
    "images": lambda markup: "\n".join(map(str, elements(markup, "img"))),
    "forms": lambda markup: "\n".join(_forms(markup)),
    "styles": lambda markup: "\n".join(_styles(markup)),
}
