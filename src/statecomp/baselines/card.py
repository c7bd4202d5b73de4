"""What a person should know of a strategy before comparing it with another."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Card:
    """One strategy in words: when it acts, on what, at whose cost, and where the facts are from.

    `calls` are the model calls it makes beside the agent's, and what runs where no model is given;
    `tools` are offered to the agent; `inferred` are choices no published source states.
    """

    name: str
    title: str
    trigger: str
    unit: str
    calls: str = "none"
    tools: tuple[str, ...] = ()
    source: str = ""
    inferred: str = ""
