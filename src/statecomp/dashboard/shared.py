"""The files of the page, and what it shares with the replay report: one look, one set of tools.

The report is a single file that loads nothing, so its style and its tools live in that file; the
dashboard serves the same lines on their own.
"""

from __future__ import annotations

import mimetypes
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files

from statecomp.history.identity import digest

PAGE = "index.html"
_TYPES = {".html": "text/html", ".css": "text/css", ".js": "text/javascript"}
_TOOLS = ("/* ---- small tools ---- */", "/* ---- header ---- */")
_EXPORTED = (
    "brief, byId, change, clamp, counted, el, fill, minus, niceTicks, percent, shorten, svg,"
    " visible, whole"
)


@dataclass(frozen=True, slots=True)
class StaticFile:
    """A file as it is served; `tag` changes with its content."""

    body: bytes
    media_type: str
    tag: str


def static_files() -> Mapping[str, StaticFile]:
    """Everything the page loads, by name: what is not in here cannot be asked for."""
    folder = files("statecomp.dashboard").joinpath("static")
    texts = {item.name: item.read_text("utf-8") for item in folder.iterdir() if item.is_file()}
    report = files("statecomp.replays").joinpath("report.html").read_text("utf-8")
    texts["report.css"] = between(report, "<style>", "</style>")
    texts["tools.js"] = _module(between(report, *_TOOLS))
    return {name: _served(name, text) for name, text in texts.items()}


def between(text: str, start: str, stop: str) -> str:
    """What stands between two marks; both must be there."""
    _, found, rest = text.partition(start)
    inner, ended, _ = rest.partition(stop)
    if not found or not ended:
        raise LookupError(f"the report has nothing between {start!r} and {stop!r} any more")
    return inner


def _module(tools: str) -> str:
    return f'const SVG = "http://www.w3.org/2000/svg";\n{tools}\nexport {{ {_EXPORTED} }};\n'


def _served(name: str, text: str) -> StaticFile:
    suffix = name[name.rindex(".") :]
    media_type = _TYPES.get(suffix) or mimetypes.guess_type(name)[0] or "text/plain"
    return StaticFile(text.encode("utf-8"), media_type, f'"{digest(text)}"')
