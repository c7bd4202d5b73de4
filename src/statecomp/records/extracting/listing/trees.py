"""Folders drawn as a tree: each file with the folders it is in, which its own line leaves out."""

from __future__ import annotations

import re
from collections.abc import Sequence

from statecomp.records.extracting.reading.nesting import ended

FEWEST = 3
"""Branches that make a tree."""
UNKNOWN = "..."
"""Stands for folders that are above what was shown."""

_BRANCH = re.compile(r"(?P<before>[\s│|]*)(?:├|└|\+|`|\|)(?:──|--)\s?(?P<name>\S.*?)\s*\Z")


def pathed(lines: Sequence[str]) -> Sequence[str]:
    """The lines with a path for each file of a tree; a folder stands before what is in it."""
    if not any("── " in line or "-- " in line for line in lines[:40]):
        return lines
    branches = [_BRANCH.match(line[:400]) for line in lines]
    if sum(map(bool, branches)) < FEWEST:
        return lines
    told: list[str] = []
    above: list[tuple[int, str]] = []
    for place, (line, branch) in enumerate(zip(lines, branches, strict=True)):
        if not branch:
            above = []
            told.append(line)
            continue
        depth, name = len(branch["before"]), branch["name"].rstrip("/")
        ended(above, depth)
        folder = above[-1][1] if above else UNKNOWN
        path = f"{folder}/{name}" if above or depth else name
        above.append((depth, path))
        following = branches[place + 1] if place + 1 < len(lines) else None
        if not following or len(following["before"]) <= depth:
            told.append(path)
    return told
