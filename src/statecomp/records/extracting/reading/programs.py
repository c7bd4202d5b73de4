"""Programs that were sent: which it is, and what it is where it is too long to stand whole."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from statecomp.history.interaction import Interaction
from statecomp.history.text import COMMON, Kind, identifiers
from statecomp.records.extracting.arguments import RUN_KEYS, acted, command_of
from statecomp.records.extracting.code import is_code, is_line_of_code
from statecomp.records.extracting.lengthy import briefly
from statecomp.records.extracting.pieces import COMMANDS, FENCED, LONGEST, cut_off, one_line

TELLING, BEGINNING, AROUND = 40, 90, 400
"""Characters of lines that tell what a program does, of the beginning of another text, and of
commands with programs inside them."""
PURPOSE, PLACES, MOST = 150, 120, 60
"""Characters of what a program says of itself, or of its outermost lines, and of what it names; of
more names the first are looked at."""

_COMMENT = re.compile(r"(\s*)(?:#|//|--|/\*+)\s+(\w.*)")
_DOCUMENTED = re.compile(r"""\s*[rf]?(?:\"{3}|'{3})\s*(\w[^\n]*)""")
_BEGINS = re.compile(
    r"(?:import|from \S+ import|using|package|#|//|--|const \w+ = require|[)}\]]|\W*\Z)"
)
"""A line that every program begins with, a comment, or one that only closes what is open."""
_MAKES = re.compile(
    r"\b(?:to_(?:csv|excel|json|parquet)|save|dump|write|out(?:put)?|target|dest)(?:_\w*)?\b|"
    r"""['"][wax]b?['"]""",
    re.IGNORECASE,
)
_HEREDOC = re.compile(r"[ \t]*<<-?[ \t]*(['\"]?)([A-Za-z_]\w*)\1")
_ARGUMENT = re.compile(r"(?<=\s-[ce]\s)(['\"])(.*)\1", re.DOTALL)
"""A program inside a command: what is sent to another, or is its argument."""
_NAME = re.compile(r"(?=.*[^A-Za-z])(?=.*[A-Za-z]{2})[\w./@:-]+\Z")
_METHOD = re.compile(r"\.\w+\Z|\W*\d")
"""What looks like a path and is none: `.split`, `/1e9`."""


def program_of(member: Interaction) -> str:
    """What a step ran: the argument of its first call that is run, or the fence it ended with.

    Of a message of data it is what its one act runs; of several nobody knows which failed.
    """
    if member.calls:
        return command_of(member.calls[0])
    if message := acted(member.said):
        acts = message[0] if isinstance(message[0], list) else [message[0]]
        given = [act for act in acts if isinstance(act, dict)]
        sent = [str(act[key]) for act in given for key in RUN_KEYS if key in act]
        return sent[0] if len(sent) == 1 else ""
    return str((FENCED.findall(member.said) or [""])[-1])


def inner_of(program: str) -> str:
    """What an interpreter was sent: the program inside a command, or all of it."""
    return next((body for _, body in _parts(program) if body), program)


def described(text: str, *, runs: bool = False) -> str:
    """A program by its length, by what its comments say it does and by the places it names.

    Of commands those around it stand as they are.  What `runs` is a program; another text is told
    by how it begins, and nothing of a line or two.
    """
    if "\n" not in text.strip():
        return ""
    parts = list(_parts(text))
    if len(parts) > 1 and sum(len(around) for around, _ in parts) < AROUND:
        told = "".join(
            f"{around}[{_of_program(body)}]" if "\n" in body.strip() else f"{around}{body}"
            for around, body in parts
        )
        return "; ".join(map(one_line, filter(str.strip, told.split("\n"))))
    if (runs and text.lstrip()[0] != "<") or is_code(text.split("\n")):
        return _of_program(text)
    lines = _lines(text)
    begins = cut_off(briefly(one_line(text), LONGEST), BEGINNING)
    return f'{len(lines)} lines, beginning "{begins}"' if len(lines) > COMMANDS else ""


def _parts(text: str) -> Iterator[tuple[str, str]]:
    """Commands, each with the program inside it that follows; the last with none."""
    if found := _ARGUMENT.search(text):
        yield text[: found.start()], found[2]
        yield text[found.end() :], ""
        return
    lines, held, place = text.split("\n"), list[str](), 0
    ends = {line.strip(): number for number, line in enumerate(lines)} if "<<" in text else {}
    while place < len(lines):
        begins = _HEREDOC.search(lines[place]) if ends else None
        end = ends.get(begins[2], 0) if begins else 0
        if begins and end > place:
            around = f"{lines[place][: begins.start()]}{lines[place][begins.end() :]} "
            yield "\n".join((*held, around)), "\n".join(lines[place + 1 : end])
            held, place = [""], end
        else:
            held.append(lines[place])
        place += 1
    yield "\n".join(held), ""


def _lines(text: str) -> list[str]:
    return [line for line in text.split("\n") if line.strip()]


def _of_program(text: str) -> str:
    lines = _lines(text)
    says = [*_documented(text), *_comments(lines)]
    says += _outermost(lines) if sum(map(len, says)) < TELLING else ()
    said = "; ".join(_fitting(says))
    works = [line for line in lines if not _BEGINS.match(line.lstrip())]
    # What it makes is looked for first, if there is not room for all.
    names = ", ".join(_places(sorted(works, key=lambda line: not _MAKES.search(line)), said))
    told = (f"{len(lines)} lines", said and f'"{said}"', names and f"with {names}")
    return ", ".join(filter(None, told))


def _documented(text: str) -> Sequence[str]:
    found = _DOCUMENTED.match(text)
    return [found[1].strip().rstrip("\"'")] if found else []


def _comments(lines: Sequence[str]) -> Sequence[str]:
    """The comments that stand furthest out: they say what its parts do."""
    found = [m for line in lines if (m := _COMMENT.match(line)) and not is_line_of_code(m[2])]
    margin = min((len(comment[1]) for comment in found), default=0)
    return [m[2].removesuffix("*/").rstrip() for m in found if len(m[1]) == margin]


def _outermost(lines: Sequence[str]) -> Sequence[str]:
    """The lines that stand furthest out, and as many deeper ones as it takes to say something."""
    bare = ((line, line.strip()) for line in lines)
    told = [
        (line.index(text), text.rstrip(" ;:{(")) for line, text in bare if not _BEGINS.match(text)
    ]
    for depth in sorted({margin for margin, _ in told}):
        outer = [text for margin, text in told if margin <= depth]
        if sum(map(len, outer)) >= TELLING:
            return outer
    return [text for _, text in told]


def _fitting(said: Sequence[str]) -> Iterator[str]:
    """What is said, once each, while it fits; of the first its beginning at least."""
    room = PURPOSE
    lines = (briefly(one_line(line), LONGEST) for line in said)
    for place, line in enumerate(dict.fromkeys(lines)):
        if len(line) > room:
            begins = line[:room].rpartition(" ")[0] if room > TELLING or not place else ""
            yield f"{begins} ...".lstrip()
            return
        room -= len(line)
        yield line


def _places(lines: Sequence[str], said: str) -> Iterator[str]:
    """The paths, the addresses and the names in quotes it works with, while they fit."""
    text = "\n".join(lines)
    known = identifiers(text)
    places = [name for name, kind in known.items() if kind in (Kind.PATH, Kind.URL)]
    quoted = [name for name, kind in known.items() if kind is Kind.QUOTED and _NAME.match(name)]
    names = [*dict.fromkeys((*places, *quoted))][:MOST]
    room = PLACES
    for name in names:
        part = any(name != other and name in other for other in names)
        bare = name[0] not in "/~." and not (
            f"'{name}" in text or f'"{name}' in text
        )  # `sum/total`
        if name in COMMON or name in said or part or bare or _METHOD.match(name):
            continue
        if len(name) <= room:
            room -= len(name)
            yield name
