"""Files that a listing named and nobody has opened: work may be waiting there."""

from __future__ import annotations

import re
from collections.abc import Sequence

from statecomp.history.facts import facts_of
from statecomp.history.interaction import Interaction
from statecomp.history.situation import Situation
from statecomp.history.text import Kind, identifiers
from statecomp.records.extracting.reading.actions import action_of
from statecomp.records.extracting.units import of_step, parts_of

SHOWN = 8
LISTED = 40
"""A listing of more files is a search through a tree, not a folder to work through."""

LONGEST_CALL = 300
"""Characters of a call that lists a folder; a longer one is a program."""

_LISTING = re.compile(
    r"(?<![\w/.-])(?:ls|dir|tree|find)\b(?!\()|\b(?:glob|list_\w*|list\w*director\w*)\b",
    re.IGNORECASE,
)
_FILE = re.compile(r"[\w@+~./-]{1,120}\.[A-Za-z]\w{0,7}\Z")


def unread(span: Sequence[Interaction], situation: Situation, said: str = "") -> tuple[str, ...]:
    """One entry for each listing of the span with files left, those the user names first.

    None of a listing of which a file that is left was `said` already.
    """
    listings = [(member, files) for member in span if (files := _listed(member))]
    if not listings:
        return ()
    steps = (*span, *situation.interactions)
    opened = {_base(name) for member in steps for name in facts_of(member).own if "." in name}
    asked = "\n".join(situation.asked)
    entries = []
    told: set[str] = set()
    for member, files in listings:
        left = [name for name in files if _base(name) not in opened and name not in told]
        if left and len(files) <= LISTED and not any(_base(name) in said for name in left):
            told.update(left)
            left.sort(key=lambda name: _base(name) not in asked)
            more = f" and {len(left) - SHOWN} more" if len(left) > SHOWN else ""
            entries.append(f"{member.number}: listed, not read: {', '.join(left[:SHOWN])}{more}")
    return tuple(entries)


@of_step
def _listed(member: Interaction) -> list[str]:
    action = action_of(member)
    # Data names files for other reasons: those that a commit removed, those that hold a match.
    data = member.observed.lstrip()[:1] in ("{", "[") or action[:1] == "{"
    # A program that goes through a folder tells of what it did with its files.
    if data or len(action) > LONGEST_CALL or not _LISTING.search(action):
        return []
    names = identifiers(_shown_by_listings(member)[:20_000]).items()
    return [name for name, kind in names if kind is Kind.PATH and _FILE.match(name)]


def _shown_by_listings(member: Interaction) -> str:
    """What was answered; of several calls at once only by those that list."""
    if len(member.calls) < 2:
        return "\n".join(payload.text for payload in parts_of(member).payloads)
    lists = {
        call.id for call in member.calls if _LISTING.search(f"{call.name} {call.arguments[:300]}")
    }
    return "\n".join(seen.text for seen in member.observations if seen.call_id in lists)


def _base(name: str) -> str:
    return name.rstrip("/").rpartition("/")[2]
