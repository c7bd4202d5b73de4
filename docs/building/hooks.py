"""What the site's build does beside mkdocs: navigation by pattern, tables read off the code.

A line `<!-- table: recipes -->` on a page becomes what `tables.TABLES["recipes"]` says now, so no
such table can be older than the code.  A public name that the reference leaves out, or that has no
docstring, ends the build.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import Files
from mkdocs.structure.pages import Page
from public import problems
from tables import TABLES

MARKER = re.compile(r"^<!-- table: ([\w-]+) -->$", re.MULTILINE)


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Patterns of the navigation become pages."""
    docs = Path(config.docs_dir)
    named = {entry for entry in _entries(config.nav) if "*" not in entry}
    config.nav = _expanded(config.nav, docs, named)
    return config


def on_pre_build(config: MkDocsConfig) -> None:
    if found := problems(Path(config.docs_dir) / "reference" / "api.md"):
        raise PluginError("\n".join(found))


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    docs = Path(config.docs_dir)

    def table(marker: re.Match[str]) -> str:
        if marker[1] not in TABLES:
            known = ", ".join(TABLES)
            raise PluginError(f"{page.file.src_uri}: no table {marker[1]!r}; known are {known}")
        return TABLES[marker[1]](docs)

    return MARKER.sub(table, markdown)


def _entries(nav: Any) -> Iterator[str]:
    if isinstance(nav, str):
        yield nav
    for inner in nav.values() if isinstance(nav, dict) else nav if isinstance(nav, list) else ():
        yield from _entries(inner)


def _expanded(nav: Any, docs: Path, named: set[str]) -> Any:
    if isinstance(nav, dict):
        return {title: _expanded(inner, docs, named) for title, inner in nav.items()}
    if not isinstance(nav, list):
        return nav
    pages: list[Any] = []
    for entry in nav:
        if isinstance(entry, str) and "*" in entry:
            found = sorted(path.relative_to(docs).as_posix() for path in docs.glob(entry))
            pages += [page for page in found if page not in named]
        else:
            pages.append(_expanded(entry, docs, named))
    return pages
