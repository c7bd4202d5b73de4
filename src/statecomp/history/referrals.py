"""Answers that only point back, and what they point to.

Some clients do not show an unchanged file twice: the second reading is answered by a sentence that
sends the agent to the first.  The agent then has nothing if the first was replaced.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from statecomp.history.given import argument_object
from statecomp.history.interaction import Call, Interaction, Observation

POINTS_BACK = "the client answered a later call by pointing to it"
SHORT_CHARS = 400
"""An answer that points back says little else; a reminder of the client's may follow it."""

_UNCHANGED = re.compile(r"\bunchanged since (?:your |the |its )?last read\b", re.IGNORECASE)
_PATHS = ("file_path", "path", "filePath", "filename", "file")


def pointed_to(interactions: Sequence[Interaction]) -> Mapping[str, str]:
    """The interactions that later answers send the agent to, by id, each with the reason to stay.

    What counts as last is the newest reading of the same file that was answered in full: clients
    remember one reading a file.
    """
    if not any(map(_stubs, interactions)):
        return {}
    latest: dict[tuple[str, str], str] = {}
    found: dict[str, str] = {}
    for interaction in interactions:
        stubs = _stubs(interaction)
        answered = {seen.call_id for seen in interaction.observations}
        for call in interaction.calls:
            key = call.name, _file(call)
            if not key[1] or call.id not in answered:
                continue
            if call.id not in stubs:
                latest[key] = interaction.id
            elif key in latest:
                found[latest[key]] = POINTS_BACK
    return found


def _stubs(interaction: Interaction) -> list[str]:
    """The calls that were answered by pointing back."""
    return [seen.call_id for seen in interaction.observations if _points_back(seen)]


def _points_back(seen: Observation) -> bool:
    return len(seen.text) <= SHORT_CHARS and _UNCHANGED.search(seen.text) is not None


def _file(call: Call) -> str:
    given = argument_object(call.arguments)
    return next((str(given[name]) for name in _PATHS if given.get(name)), "")
