"""What lies outside the workspace: the person who asked, and services.  They say some things once.

A case lists `Scene`s.  The first one whose tool and pattern fit a call answers it: its first answer
the first time, its second the second, its last one from then on.  So a token is shown once, a page
has changed when it is opened again, a queue is empty when it was read, and a person who has
answered a question says so.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

ASK, HTTP = "ask_user", "http"
NOBODY = {
    ASK: "I do not know either. Please go by the documents.",
    HTTP: "404 not found\n",
}


@dataclass(frozen=True, slots=True)
class Scene:
    """`pattern` is looked for in a question, or in "METHOD URL BODY" of a request."""

    tool: str
    pattern: str
    answers: tuple[str, ...]


class OutsideWorld:
    """The scenes of one run, and what was asked of them so far."""

    def __init__(self, scenes: Sequence[Scene] = ()) -> None:
        self._scenes = tuple(scenes)
        self._times: Counter[int] = Counter()
        self.calls: list[str] = []

    @property
    def tools(self) -> frozenset[str]:
        """Those this case has a use for."""
        return frozenset(scene.tool for scene in self._scenes)

    def call(self, tool: str, arguments: Mapping[str, Any]) -> str:
        said = _said(tool, arguments)
        self.calls.append(said)
        for place, scene in enumerate(self._scenes):
            if scene.tool == tool and re.search(scene.pattern, said, re.IGNORECASE):
                self._times[place] += 1
                return scene.answers[min(self._times[place], len(scene.answers)) - 1]
        return NOBODY[tool]


def _said(tool: str, arguments: Mapping[str, Any]) -> str:
    """A call on one line, as a log would have it."""
    names = ("question",) if tool == ASK else ("method", "url", "body")
    words = [" ".join(str(arguments.get(name, "")).split()) for name in names]
    return " ".join((tool, *words)).strip()
