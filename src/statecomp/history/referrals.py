"""Answers that only point back, and what they point to.

Some clients do not show an unchanged file twice: the second reading is answered by a sentence that
sends the agent to the first.  The agent then has nothing if the first was replaced.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from statecomp.history.given import NotGiven, given
from statecomp.history.interaction import Call, Interaction

POINTS_BACK = "the client answered a later call by pointing to it"
SHORT_CHARS = 400
"""An answer that points back says little else; a reminder of the client's may follow it."""

_UNCHANGED = re.compile(r"\bunchanged since (?:your |the |its )?last read\b", re.IGNORECASE)
_points_back = _UNCHANGED.search
_PATHS = ("file_path", "path", "filePath", "filename", "file")


def pointed_to(interactions: Sequence[Interaction]) -> Mapping[str, str]:
    """The interactions that later answers send the agent to, by id, each with the reason to stay.

    What counts as last is the newest reading of the same file that was answered in full: clients
    remember one reading a file.
    """
    seen_all = (seen for interaction in interactions for seen in interaction.observations)
    if not any(len(seen.text) <= SHORT_CHARS and _points_back(seen.text) for seen in seen_all):
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
    return [
        seen.call_id
        for seen in interaction.observations
        if len(seen.text) <= SHORT_CHARS and _points_back(seen.text)
    ]


def _file(call: Call) -> str:
    try:
        named = given(call.arguments)
    except NotGiven:
        return ""
    if not isinstance(named, Mapping):
        return ""
    return next((str(named[name]) for name in _PATHS if named.get(name)), "")
