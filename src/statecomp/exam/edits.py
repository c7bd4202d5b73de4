"""What was changed into what: edits by a tool, diffs, and scripts that were written anew."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from statecomp.exam.text import folded
from statecomp.history.given import argument_object
from statecomp.history.interaction import Interaction

SHORTEST, LONGEST, MOST_LINES, MOST_PAIRED = 12, 140, 600, 12
ALIKE = 0.75
"""Two lines that share less are not one line and its new wording."""
_OLD = ("old_str", "old_string", "oldText", "old_text", "old")
_NEW = ("new_str", "new_string", "newText", "new_text", "new")
_PATHS = ("path", "file_path", "filename", "file", "filePath")
_CONTENT = ("content", "file_text", "contents", "text")
_HEREDOC = re.compile(
    r"cat\s*>\s*(?P<path>[\w./~-]+)\s*<<-?\s*['\"]?(?P<end>\w+)['\"]?\n(?P<body>.*?)\n(?P=end)",
    re.DOTALL,
)
_EDIT = re.compile(
    r"^edit (?P<first>\d+):(?P<last>\d+)\s*\n(?P<body>.*?)\nend_of_edit", re.DOTALL | re.MULTILINE
)
_SED = re.compile(
    r"\bsed\s+-i\S*\s+(?:-e\s+)?(?P<q>['\"])s(?P<d>[/|#,])(?P<old>.+?)(?P=d)(?P<new>.+?)(?P=d)g?(?P=q)"
    r"\s+(?P<path>[\w./~-]+)"
)
_OPENED = re.compile(r"^\[File: (?P<path>\S+)", re.MULTILINE)
_WORD = re.compile(r"\w+")
_GUTTER = re.compile(r"^(\d+):(.*)$", re.MULTILINE)


@dataclass(frozen=True)
class Change:
    """One line, as it was and as it is, in the file it stands in; `step` made the change."""

    step: int
    path: str
    old: str
    new: str


def changes_of(span: Iterable[Interaction]) -> Iterator[Change]:
    """Changes that hold at the end of the span: what was changed again counts as it is last."""
    found: list[Change] = []
    versions: dict[str, str] = {}
    shown: dict[int, str] = {}
    for member in span:
        for path, old, new in _replaced(member, versions, shown):
            found += _lines_changed(member.number, path, old, new)
        if _OPENED.search(member.observed):
            shown = {int(n): line for n, line in _GUTTER.findall(member.observed)}
    undone = {(change.path, folded(change.old)) for change in found}
    seen: set[tuple[str, str]] = set()
    for change in reversed(found):
        key = (change.path, folded(change.old))
        if key not in seen and (change.path, folded(change.new)) not in undone:
            seen.add(key)
            yield change


Rewording: TypeAlias = tuple[str, str, str]
"""A path, the old text and the new one."""


def _replaced(
    member: Interaction, versions: dict[str, str], shown: Mapping[int, str]
) -> Iterator[Rewording]:
    """Each edit of one step, however it was made; remembers what was written."""
    for arguments in (argument_object(call.arguments) for call in member.calls):
        yield from _by_tool(arguments, versions)
    yield from _by_shell(member, versions)
    yield from _by_numbers(member, shown)


def _by_tool(arguments: Mapping[str, Any], versions: dict[str, str]) -> Iterator[Rewording]:
    """A tool was given old and new text, several of both, or all of a file."""
    path = next((str(arguments[key]) for key in _PATHS if key in arguments), "")
    edits = arguments.get("edits")
    for edit in [arguments, *(edits if isinstance(edits, list) else ())]:
        if isinstance(edit, dict) and (pair := _old_and_new(edit)):
            yield path, *pair
    content = next((arguments[key] for key in _CONTENT if key in arguments), None)
    if path and isinstance(content, str):
        yield from _anew(path, content, versions)


def _by_shell(member: Interaction, versions: dict[str, str]) -> Iterator[Rewording]:
    """A command wrote a file anew, or had `sed` replace something in it."""
    action = "\n".join((member.said, *(_unescaped(call.arguments) for call in member.calls)))
    for written in _HEREDOC.finditer(action):
        yield from _anew(written["path"], written["body"], versions)
    for edit in _SED.finditer(action):
        yield edit["path"], edit["old"], edit["new"]


def _by_numbers(member: Interaction, shown: Mapping[int, str]) -> Iterator[Rewording]:
    """Lines were named by the numbers they had when the file was shown."""
    opened = _OPENED.search(member.observed)
    for edit in _EDIT.finditer(member.said) if opened else ():
        lines = range(int(edit["first"]), int(edit["last"]) + 1)
        old = "\n".join(shown[number] for number in lines if number in shown)
        if opened and old:
            yield opened["path"], old, edit["body"]


def _anew(path: str, content: str, versions: dict[str, str]) -> Iterator[Rewording]:
    if path in versions and versions[path] != content:
        yield path, versions[path], content
    versions[path] = content


def _old_and_new(edit: Mapping[str, Any]) -> tuple[str, str] | None:
    old = next((edit[key] for key in _OLD if key in edit), None)
    new = next((edit[key] for key in _NEW if key in edit), None)
    return (old, new) if isinstance(old, str) and isinstance(new, str) else None


def _lines_changed(step: int, path: str, old: str, new: str) -> Iterator[Change]:
    """Single lines that became single lines; a line that moved or stayed is not changed."""
    before, after = old.splitlines()[:MOST_LINES], new.splitlines()[:MOST_LINES]
    kept = {folded(line) for line in after}
    stood = {folded(line) for line in before}
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
    for tag, i, j, k, m in matcher.get_opcodes():
        if tag != "replace":
            continue
        for was, now in _rewritten(before[i:j], after[k:m]):
            if folded(was) not in kept and folded(now) not in stood:
                yield Change(step, path, was.strip(), now.strip())


def _rewritten(before: Sequence[str], after: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Each line of a block with the one most like it among those that took its place."""
    for was in before[:MOST_PAIRED]:
        alike = [(_likeness(was, now), now) for now in after[:MOST_PAIRED] if _is_change(was, now)]
        best = max(alike, default=(0.0, ""))
        if best[0] >= ALIKE:
            yield was, best[1]


def _likeness(was: str, now: str) -> float:
    return difflib.SequenceMatcher(None, folded(was), folded(now)).ratio()


def _is_change(was: str, now: str) -> bool:
    was, now = folded(was), folded(now)
    if not all(SHORTEST <= len(line) <= LONGEST for line in (was, now)) or was in now:
        return False
    return _WORD.findall(was) != _WORD.findall(now)  # more than punctuation and blanks


def _unescaped(arguments: str) -> str:
    return arguments.replace("\\n", "\n").replace('\\"', '"')
