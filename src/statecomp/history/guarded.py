"""A pattern that is tried only where a text has one of the words it cannot do without."""

from __future__ import annotations

import re


class Guarded:
    """Looks through a text in any case for a pattern that `needs` one of some words.

    A pattern for which capitals are like small letters is tried anew at each character; to ask for
    a few words first takes a tenth of the time, and most texts have none of them.
    """

    def __init__(self, pattern: str, needs: str, flags: int = 0) -> None:
        self._pattern = re.compile(pattern, re.IGNORECASE | flags)
        self._needs = needs.split("|")

    def search(self, text: str) -> re.Match[str] | None:
        plain = text.casefold()
        needed = any(word in plain for word in self._needs)
        return self._pattern.search(text) if needed else None
