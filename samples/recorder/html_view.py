"""What a reader of markup would look for in a page: outline, links, forms, images, ids."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from html.parser import HTMLParser

VOID = frozenset({"area", "base", "br", "col", "hr", "img", "input", "link", "meta", "source"})
FIELDS = frozenset({"input", "select", "textarea"})


@dataclass(frozen=True)
class Element:
    """One start tag: where it stands, what it carries, and the text inside it."""

    tag: str
    line: int
    depth: int
    attributes: Mapping[str, str]
    text: str = ""


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, int, int, dict[str, str], list[str]]] = []
        self._open: list[int] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = {name: value or "" for name, value in attrs}
        self.found.append((tag, self.getpos()[0], len(self._open), attributes, []))
        if tag not in VOID:
            self._open.append(len(self.found) - 1)

    def handle_endtag(self, tag: str) -> None:
        names = [self.found[index][0] for index in self._open]
        if tag in names:
            del self._open[len(names) - 1 - names[::-1].index(tag) :]

    def handle_data(self, data: str) -> None:
        for index in self._open:
            self.found[index][4].append(data)


def elements(markup: str) -> tuple[Element, ...]:
    reader = _Reader()
    reader.feed(markup)
    reader.close()
    return tuple(
        Element(tag, line, depth, attributes, " ".join("".join(text).split()))
        for tag, line, depth, attributes, text in reader.found
    )


def _select(markup: str, *tags: str) -> list[Element]:
    return [element for element in elements(markup) if element.tag in tags]


def _tag(element: Element) -> str:
    attributes = "".join(f' {name}="{value}"' for name, value in element.attributes.items())
    return f"{element.line:4d}: <{element.tag}{attributes}>"


def tree(markup: str) -> str:
    """Every element, indented by depth."""
    lines = []
    for element in elements(markup):
        ident = element.attributes.get("id")
        marks = f"#{ident}" if ident else ""
        names = "".join(f".{name}" for name in element.attributes.get("class", "").split())
        lines.append(f"{element.line:4d}: {'  ' * element.depth}{element.tag}{marks}{names}")
    return "\n".join(lines)


def outline(markup: str) -> str:
    """Title, language and headings."""
    lines = []
    for element in _select(markup, "html", "title", "h1", "h2", "h3", "h4", "h5", "h6"):
        if element.tag == "html":
            lines.append(f"lang: {element.attributes.get('lang', '(none)')}")
        else:
            lines.append(f"{element.line:4d}: {element.tag} {element.text or '(empty)'}")
    return "\n".join(lines)


def links(markup: str) -> str:
    targets = ((e, e.attributes.get("href")) for e in _select(markup, "a", "link"))
    return "\n".join(f"{e.line:4d}: {e.tag} -> {href} {e.text!r}" for e, href in targets)


def images(markup: str) -> str:
    return "\n".join(_tag(element) for element in _select(markup, "img"))


def forms(markup: str) -> str:
    """Fields with the text of the label that names them."""
    labels = {e.attributes.get("for", ""): e.text for e in _select(markup, "label")}
    lines = []
    for element in _select(markup, "form", "button", *FIELDS):
        name = element.attributes.get("aria-label") or element.text
        if element.tag in FIELDS:
            name = element.attributes.get("aria-label") or labels.get(
                element.attributes.get("id", "-"), ""
            )
        suffix = "" if element.tag == "form" else f" name: {name or '(none)'}"
        lines.append(f"{_tag(element)}{suffix}")
    return "\n".join(lines)


def ids(markup: str) -> str:
    named = (element for element in elements(markup) if "id" in element.attributes)
    return "\n".join(f"{e.line:4d}: {e.tag}#{e.attributes['id']}" for e in named)


VIEWS: Mapping[str, Callable[[str], str]] = {
    "tree": tree,
    "outline": outline,
    "links": links,
    "images": images,
    "forms": forms,
    "ids": ids,
}
