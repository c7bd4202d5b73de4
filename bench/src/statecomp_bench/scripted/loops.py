"""Lines of a program that differ in a few words are one loop over these words, as people write it.

A program that asks eight tables the same is not eight times as long.  What differs is looked for in
the text of whole blocks, so that a chain of look-ups for one name is one turn of the loop.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from string import ascii_lowercase

WORD = re.compile(r"[A-Za-z0-9]+")
MARK = "@"
MOST_WORDS = len(ascii_lowercase)
QUOTES = "'''"
LOOP = re.compile(
    rf"for one in (\[[^\n]*\]):\n    exec\(filled\(r{QUOTES}(.*?){QUOTES}, one\)\)\n", re.S
)
FILL = """\
def filled(text, words):
    return re.sub('@([a-z])', lambda m: words[ord(m[1]) - 97], text)
"""


def looped(blocks: Sequence[str]) -> str:
    """The blocks, those alike in one loop each, where that makes it shorter; order is kept else."""
    alike: dict[str, list[str]] = {}
    for block in blocks:
        alike.setdefault(WORD.sub(MARK, block), []).append(block)
    plain = "".join(blocks)
    shorter = FILL + "".join(map(_loop, alike.values()))
    return shorter if len(shorter) < len(plain) else plain


def unrolled(code: str) -> str:
    """A program with its loops written out."""
    return LOOP.sub(lambda m: "".join(_turns(m)), code)


def _loop(blocks: Sequence[str]) -> str:
    """One loop over what differs; words that always change together are one."""
    rows = [WORD.findall(block) for block in blocks]
    columns = [tuple(row[place] for row in rows) for place in range(len(rows[0]))]
    varying = list(dict.fromkeys(c for c in columns if len(set(c)) > 1))
    plain = "".join(blocks)
    if not 0 < len(varying) <= MOST_WORDS or MARK in plain or QUOTES in plain:
        return plain
    names = {column: f"{MARK}{ascii_lowercase[n]}" for n, column in enumerate(varying)}
    words = iter(columns)

    def marked(match: re.Match[str]) -> str:
        return names.get(next(words), match[0])

    template = WORD.sub(marked, blocks[0])
    turns = list(zip(*varying, strict=True))
    loop = f"for one in {turns!r}:\n    exec(filled(r{QUOTES}{template}{QUOTES}, one))\n"
    return loop if len(loop) < len(plain) else plain


def _turns(match: re.Match[str]) -> Iterator[str]:
    template = match[2]
    for words in ast.literal_eval(match[1]):
        yield re.sub(f"{MARK}([a-z])", lambda m: words[ord(m[1]) - ord("a")], template)  # noqa: B023
