"""Finding many words in a text in one pass over it, however many they are.

A pattern of alternatives tries each of them at every place; a tool output with a password in each
line would take time that grows with its square.  This is the automaton of Aho and Corasick over
runs of letters and digits and single other characters, so a word is found only where it stands
alone, never inside a longer run.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator

_PART = re.compile(r"[A-Za-z0-9]+|[^A-Za-z0-9]")
_LEAF: dict[str, int] = {}
FEW = 32
"""So many words are looked for one by one, at once, before a text is taken apart."""


class ManyWords:
    """Replaces words where they stand alone; of words that overlap, all are covered."""

    def __init__(self, words: Iterable[str]) -> None:
        self._words = [word for word in words if word]
        self._next: list[dict[str, int]] = [_LEAF]  # of each state: part -> state behind it
        self._found = [""]  # of each state: the longest word that ends there
        for word in self._words:
            self._found[self._entered(word)] = word
        self._elsewhere = self._linked()

    def replaced(self, text: str, instead: Callable[[str], str]) -> str:
        if len(self._words) <= FEW and not any(word in text for word in self._words):
            return text
        out: list[str] = []
        behind = 0
        for start, stop, word in _apart(self._places(text)):
            out += (text[behind:start], instead(word))
            behind = stop
        return "".join((*out, text[behind:])) if out else text

    def _places(self, text: str) -> Iterator[tuple[int, int, str]]:
        """Start, end and word, by their ends."""
        state, following, elsewhere, found = 0, self._next, self._elsewhere, self._found
        for match in _PART.finditer(text):
            part = match[0]
            while state and part not in following[state]:
                state = elsewhere[state]
            state = following[state].get(part, 0)
            if state and (word := found[state]):
                yield match.end() - len(word), match.end(), word

    def _entered(self, word: str) -> int:
        """The state behind a word, made where it is new."""
        state = 0
        for part in _PART.findall(word):
            if part not in self._next[state]:
                if self._next[state] is _LEAF:
                    self._next[state] = {}
                self._next[state][part] = len(self._next)
                self._next.append(_LEAF)
                self._found.append("")
            state = self._next[state][part]
        return state

    def _linked(self) -> list[int]:
        """For each state the longest other one that it ends with: the search goes on from there."""
        elsewhere = [0] * len(self._next)
        waiting = deque(self._next[0].values())
        while waiting:
            state = waiting.popleft()
            for part, behind in self._next[state].items():
                other = elsewhere[state]
                while other and part not in self._next[other]:
                    other = elsewhere[other]
                elsewhere[behind] = self._next[other].get(part, 0)
                self._found[behind] = self._found[behind] or self._found[elsewhere[behind]]
                waiting.append(behind)
        return elsewhere


def _apart(places: Iterable[tuple[int, int, str]]) -> list[tuple[int, int, str]]:
    """Places that do not overlap: those that did become one, with the longest word's name."""
    apart: list[tuple[int, int, str]] = []
    for start, stop, word in places:
        while apart and start < apart[-1][1]:
            before = apart.pop()
            start, word = min(start, before[0]), max(before[2], word, key=len)
        apart.append((start, stop, word))
    return apart
