"""Source code and diffs: cut into runs of lines that belong together, each under its definition."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from statecomp.records.extracting.lengthy import briefly
from statecomp.records.extracting.pieces import Form, Owner, Piece, clipped, wordless

BLOCK_LINES, BLOCK_CHARS = 8, 420
WIDEST = 400
"""Characters of a line of code; a wider one is minified or data."""

_DEFINES = re.compile(
    r"\s*(?:(?:export|default|public|private|protected|static|final|abstract|async|pub(?:\(\w+\))?|"
    r"unsafe|inline|virtual)\s+)*(?:def|class|function|func|fn|interface|struct|enum|impl|trait|"
    r"module|namespace|type)\s+\w|"
    r"\s*(?:public|private|protected|static)\s[\w<>\[\], .?]{1,80}\w\s*\(|"
    r"\w[\w *]{0,40}\s\**\w+\([^;]{0,200}\)\s*\{\s*\Z"
)
_CODE = re.compile(
    r"\s*(?:(?:def|class|import|from|return|if|for|while|try|except|else|elif|with|public|private|"
    r"protected|static|const|let|var|function|func|fn|use|package|struct|enum|impl|match|case|"
    r"switch|raise|throw|yield|async|await|export|print|echo|#include|#define)\b|@\w|//|/\*|\*/|\*\s|"
    r"#!|(?:SELECT|INSERT|UPDATE|DELETE|CREATE|DROP|ALTER|WHERE|GROUP BY|ORDER BY|JOIN|LEFT|INNER|"
    r"WHEN|END|CASE|FROM|WITH|UNION|LIMIT|ELSE|AND|OR|VALUES|HAVING|SET|ON|--)\b|[}\])]+[;,]?\s*\Z)|"
    # One instruction of a disassembly means little without its neighbours.
    r"\s*(?:\.\w{1,12}:)?(?:0x)?[0-9a-f]{5,16}:?(?:\s+<\+\d+>:)?\s+[0-9a-f]{2}|"
    r"(?:=>)?\s*0x[0-9a-f]{4,16}(?: <[^>]{1,80}>)?:\s+[a-z]{2,8}\b|"
    r"\s*[0-9a-f]{1,5}:\s+[0-9a-f]{2}(?: |\t|\Z)|[0-9a-f]{16} <.*>:\s*\Z|"
    r".*(?:[;{]|\):|\) \{|=>|[\w\])\"'],)\s*\Z|"
    r"\s*[\w.\[\]\"']{1,60} [-+*/|]?= \S|"
    r"\s*[\w.]{1,80}\(.*\)\s*\Z"
)
_MATCH = re.compile(r"(?:Line \d+|[\w./-]{1,200}:\d+):")  # what a search found stands line by line
_HUNK = re.compile(r"@@ ")
_FILE = re.compile(r"(?:diff --git |--- |\+\+\+ |index [0-9a-f]{6})")


def is_code(lines: Sequence[str]) -> bool:
    """Whether most of the lines read like a program."""
    told = [line for line in lines if line.strip()][:400]
    if len(told) < 3 or sum(1 for line in told if _MATCH.match(line)) * 2 > len(told):
        return False
    marked = sum(1 for line in told if len(line) < WIDEST and _CODE.match(line))
    indented = sum(1 for line in told if line[:1] in " \t")
    return marked * 2 > len(told) or (marked * 3 > len(told) and indented * 3 > len(told))


_ASSIGNS = re.compile(
    r"\s*[\w.\[\]\"']{1,60} [-+*/|]?= \S|\s*#\s|.*[;{]\s*\Z|\s*[\w.]{1,80}\(.*\)\s*\Z"
)


def is_line_of_code(line: str) -> bool:
    """Whether a line among sentences is one of a program, or a comment in it."""
    return len(line) < WIDEST and bool(_ASSIGNS.match(line))


_CLOSES = re.compile(r"\s*[)}\]]+[;,]?\s*\Z")


def blocks(lines: Sequence[str], title: str = "") -> Iterator[Piece]:
    """Runs of lines between blank lines and definitions, each owned by the definition it is in.

    All keep their margin: how deep a line stands is what it is of.
    """
    base = min((_margin(line) for line in lines if line.strip()), default=0)
    owner, margin = Owner(title), -1
    held: list[str] = []
    for line in lines:
        defines = len(line) < WIDEST and _DEFINES.match(line)
        full = len(held) >= BLOCK_LINES or sum(map(len, held)) > BLOCK_CHARS
        if held and (defines or (full and not _CLOSES.match(line)) or not line.strip()):
            yield from _block(held, owner, base)
            held = []
        if defines:
            owner, margin = Owner(f"{title} in `{line.strip()}`".strip()), _margin(line)
        elif not held and line.strip() and _margin(line) <= margin and line.strip()[0] not in "})]":
            owner, margin = Owner(title), -1
        if line.strip():
            held.append(line.rstrip())
    yield from _block(held, owner, base)


def _block(held: Sequence[str], owner: Owner, base: int) -> Iterator[Piece]:
    text = "\n".join(clipped(briefly(line[base:], WIDEST), WIDEST) for line in held)
    if not wordless(text):
        inside = not owner.label.endswith(f"in `{held[0].strip()}`")
        yield Piece(text, Form.CODE, owner if inside and owner.label else None)


def _margin(line: str) -> int:
    return len(line) - len(line.lstrip())


def is_diff(lines: Sequence[str]) -> bool:
    return any(_HUNK.match(line) for line in lines[:40]) and any(
        line[:1] in "+-" for line in lines[:200]
    )


def hunks(lines: Sequence[str]) -> Iterator[Piece]:
    """What was taken out and put in, hunk by hunk, under the file it is of."""
    owner, held = Owner(""), list[str]()
    for line in lines:
        begins = _HUNK.match(line) or _FILE.match(line)
        if held and (begins or len(held) >= 2 * BLOCK_LINES):
            yield from _hunk(held, owner)
            held = []
        if _FILE.match(line):
            if line.startswith("+++ ") or not owner.label:
                owner = Owner(line.removeprefix("+++ ").strip())
        elif not begins:
            held.append(clipped(briefly(line.rstrip(), WIDEST), WIDEST))
    yield from _hunk(held, owner)


def _hunk(held: Sequence[str], owner: Owner) -> Iterator[Piece]:
    """The changed lines; what stands around them unchanged is in the file."""
    changed = [line for line in held if line[:1] in "+-"]
    kept = changed if changed else list(held)
    if kept and not wordless("".join(kept)):
        yield Piece("\n".join(kept), Form.DIFF, owner if owner.label else None)
