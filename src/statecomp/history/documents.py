"""Documents that the user tells the agent to go by, and where the agent read them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

from statecomp.history.interaction import Interaction
from statecomp.history.kinds import failed, kind_of
from statecomp.history.text import argument_text
from statecomp.history.windows import found

# Bounded, and begun only where a path can begin: messages and arguments may hold whole files.
_DOCUMENT = re.compile(
    r"(?<![\w.~/-])[\w.~/-]{1,200}\.(?:md|mdx|txt|rst|adoc|org)\b|"
    r"\b(?:AGENTS|CLAUDE|CONTRIBUTING|README)\b"
)
DOCUMENT_TOKENS = 3000
"""A longer document is a manual to look things up in; rules to go by are shorter."""


def documents_in(text: str) -> list[str]:
    """What a text names as a document to read."""
    return list(found(_DOCUMENT, text))


def readings(asked: Iterable[str], steps: Sequence[Interaction]) -> Mapping[str, Interaction]:
    """The newest reading of every document that these messages of the user name, by its path."""
    named: dict[str, set[str]] = {}  # by their last part: a message may list thousands
    for name in documents_in("\n".join(asked)):
        named.setdefault(name.rpartition("/")[2], set()).add(name)
    newest: dict[str, Interaction] = {}
    for step in steps if named else ():
        for path in _read(step):
            alike = named.get(path.rpartition("/")[2], ())
            if any(path == name or path.endswith(f"/{name}") for name in alike):
                newest[path] = step
    return newest


def _read(step: Interaction) -> Sequence[str]:
    """The documents an interaction shows."""
    if step.tokens > DOCUMENT_TOKENS:
        return ()
    paths = [path for call in step.calls for path in _paths(call.arguments)]
    shows = paths and kind_of(step) in ("read", "run") and not failed(step)
    return paths if shows else ()


@lru_cache(maxsize=4096)
def _paths(arguments: str) -> tuple[str, ...]:
    return tuple(documents_in(argument_text(arguments)))
