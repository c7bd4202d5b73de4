"""The names of states: where a decision was made, and in which histories it holds."""

from __future__ import annotations

from statecomp.history.history import History
from statecomp.history.identity import digest
from statecomp.history.interaction import Interaction, Pinned, Summary
from statecomp.ledger.commits import Commit


def tip(history: History) -> str:
    """The id of the last answered interaction: a decision made here holds wherever it stands.

    What the user said behind it is not in the name: some clients write their instruction anew at
    the end of every request, and a state named by it would never come again.
    """
    for segment in reversed(history.segments):
        if isinstance(segment, Summary):
            return segment.sources[-1]
        if isinstance(segment, Interaction) and _is_answered(segment):
            return segment.id
    return last_seen(history)


def last_seen(history: History) -> str:
    """The id of the last thing the agent has seen, the user's words too: names one request."""
    for segment in reversed(history.segments):
        if isinstance(segment, Summary):
            return segment.sources[-1]
        if not isinstance(segment, Pinned) or segment.role not in ("system", "developer"):
            return segment.id
    return ""


def chain_to(at: str, history: History) -> list[str]:
    """The ids of the run up to and with `at`, without what is said from outside the chain."""
    ids = [
        segment.id
        for segment in history.segments
        if not isinstance(segment, Pinned) or segment.role not in ("system", "developer")
    ]
    return ids[: ids.index(at) + 1] if at in ids else ids


def decided_at(commit: Commit, history: History) -> bool:
    """Whether a commit was made in this very state, with the last words of the user in sight."""
    seen = last_seen(history)
    if commit.at == seen:
        return True
    here = commit.at == tip(history)
    return here and commit.id == commit_name(seen, digest(commit.text, *commit.sources))


def _is_answered(interaction: Interaction) -> bool:
    """An open call may still get its result, and the interaction another id with it."""
    answered = {observation.call_id for observation in interaction.observations}
    return all(call.id in answered for call in interaction.calls)


def commit_name(seen: str, summary: str) -> str:
    """Of the commit that put this summary there, in the state that ends with what was seen."""
    return digest(seen, summary)[:16]
