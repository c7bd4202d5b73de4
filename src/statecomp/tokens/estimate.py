"""The estimate: a tokenizer's habits counted in bytes, with nothing but the text.

Python's `re` needs about 60 ns a match, too slow for one match a token.  Mapping every byte to its
kind and counting a few patterns of kinds needs 1 to 2 ns a byte and pattern, all of it in C.  The
weights were fitted midway between OpenAI's cl100k_base and o200k_base.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

from statecomp.tokens.counter import TokenCounter

_CHUNK: Final = 1 << 16  # characters; bounds the memory, and its byte tables stay in the cache


def _kind(byte: int) -> str:
    """a lower, A upper, 0 digit, - rule characters, . other ASCII marks, x part of non-ASCII."""
    char = chr(byte)
    if byte >= 0x80:
        return "x"
    for kind, found in (("a", char.islower()), ("A", char.isupper()), ("0", char.isdigit())):
        if found:
            return kind
    if char in " \t\n":
        return char
    if char == "\r":
        return "\n"
    # Runs of these are drawn as rules and headings, and become one token; runs of others do not.
    return "-" if char in "-=#*_~" else "."


def _table(choose: Callable[[int], str]) -> bytes:
    return "".join(map(choose, range(256))).encode("ascii")


# All weights are thousandths of a token: whole numbers give the same count on every machine.
# None is negative, and every pattern is a run or a change of kind, so a longer text never counts
# less, and joining two texts adds at most what can begin at the seam.

# The start of a run of these kinds.  Non-ASCII bytes are letters here: an accent ends no word.
_RUNS: Final = (("aAx", 942), ("0", 694), ("-.", 640), ("\n", 726))
_RUN_BITS: Final = bytes(
    sum(1 << bit for bit, (kinds, _) in enumerate(_RUNS) if _kind(byte) in kinds)
    for byte in range(256)
)
_RUN_PATTERNS: Final = tuple((bytes([1 << bit]), weight) for bit, (_, weight) in enumerate(_RUNS))

_KINDS: Final = _table(_kind)
_KIND_PATTERNS: Final = (
    (b"a" * 7, 345),  # longer words are rarer, and come in pieces
    (b"a" * 16, 8141),  # hardly ever a word: random letters, about two to a token
    (b"A", 127),
    (b"A" * 16, 7763),
    (b"aA", 851),  # camelCase, base64
    (b"AAa", 2521),
    (b"0", 338),  # three digits a token
    (b" 0", 1191),  # a number does not take the space before it, as a word does
    (b" .", 483),
    (b"..", 276),
    (b"--", 159),
    (b".-", 2401),
    (b"\t", 1333),
)

# A word takes one space before it; a longer run of blanks is a token of its own.
_BLANKS: Final = _table(lambda byte: " " if _kind(byte) in " \t" else ".")
_BLANK_PATTERNS: Final = ((b".  ", 327), (b" " * 16, 182))

# First byte of a UTF-8 sequence -> weight of the character.  (first, last, weight)
_SCRIPTS: Final = (
    (0xC2, 0xC2, 1308),  # Latin-1 marks: § © « »
    (0xC3, 0xC9, 1900),  # accented Latin; most of it pays for words that are not English
    (0xCA, 0xCD, 2000),  # phonetic and combining
    (0xCE, 0xCF, 624),  # Greek
    (0xD0, 0xD3, 425),  # Cyrillic
    (0xD4, 0xD7, 784),  # Armenian, Hebrew
    (0xD8, 0xDB, 475),  # Arabic
    (0xDC, 0xDF, 1500),  # Syriac, Thaana, N'Ko: about a token a byte
    (0xE0, 0xE0, 749),  # Indic, Thai
    (0xE1, 0xE1, 1117),  # Georgian, Khmer, Vietnamese
    (0xE2, 0xE2, 764),  # dashes, quotes, arrows, boxes
    (0xE3, 0xE3, 654),  # kana
    (0xE4, 0xE9, 861),  # Han
    (0xEA, 0xED, 498),  # Hangul; lone surrogates end up here too
    (0xEE, 0xEF, 800),  # private use, full-width forms
    (0xF0, 0xF4, 2772),  # emoji and everything else beyond the first plane
)


def _script_of(byte: int) -> str:
    for number, (first, last, _) in enumerate(_SCRIPTS):
        if first <= byte <= last:
            return chr(ord("A") + number)
    return "."


_SCRIPT_TABLE: Final = _table(_script_of)
_SCRIPT_PATTERNS: Final = tuple(
    (chr(ord("A") + number).encode(), weight) for number, (_, _, weight) in enumerate(_SCRIPTS)
)


def _weigh(kinds: bytes, patterns: Iterable[tuple[bytes, int]]) -> int:
    return sum(weight * kinds.count(pattern) for pattern, weight in patterns)


def _run_starts(data: bytes) -> bytes:
    """The bit of its kind where a run starts, zero elsewhere."""
    # One number of 8 bits a byte: shifting it by 8 puts every byte above its successor's place,
    # which compares all neighbours at once.
    bits = int.from_bytes(data.translate(_RUN_BITS), "little")
    return (bits & ~(bits << 8)).to_bytes(len(data), "little")


def _milli_tokens(text: str) -> int:
    """The estimate for one chunk, in thousandths."""
    # Lone surrogates occur in what tools print; the strict codec would raise on them.
    data = text.encode("utf-8", "surrogatepass")
    total = _weigh(data.translate(_KINDS), _KIND_PATTERNS)
    total += _weigh(data.translate(_BLANKS), _BLANK_PATTERNS)
    total += _weigh(_run_starts(data), _RUN_PATTERNS)
    if len(data) != len(text):
        total += _weigh(data.translate(_SCRIPT_TABLE), _SCRIPT_PATTERNS)
    return total


@dataclass(frozen=True, slots=True)
class _Estimate:
    name: str = "estimate"
    exact: bool = False

    def __call__(self, text: str) -> int:
        if not text:
            return 0
        starts = range(0, len(text), _CHUNK)
        total = sum(_milli_tokens(text[start : start + _CHUNK]) for start in starts)
        return max(1, (total + 500) // 1000)


ESTIMATE: Final[TokenCounter] = _Estimate()
