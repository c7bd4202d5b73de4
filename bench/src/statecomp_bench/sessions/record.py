"""A session as a sample file holds it."""

from __future__ import annotations

from typing import Any

from statecomp.history.interaction import JsonObject
from statecomp_bench.sessions.session import Held, WorkSession


def as_sample(session: WorkSession, held: Held) -> JsonObject:
    """One run in the layout of `samples/`; `outcome` is what the checkers said."""
    rewards: dict[str, Any] = dict(held.rewards)
    return {
        "id": f"sample-{session.name}",
        "domain": "Mixed",
        "subdomain": ", ".join(errand.name for errand in session.errands),
        "source_repo": "statecomp",
        "license": "Apache-2.0",
        "scaffold": "statecomp-bench",
        "model": "scripted",
        "task": session.errands[0].words,
        "group": f"statecomp-{session.name}",
        "outcome": {"success": all(reward == 1.0 for reward in rewards.values())},
        "style": "tool-calls",
        "messages": held.run.messages,
    }
