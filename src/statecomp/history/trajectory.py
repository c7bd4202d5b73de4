"""A recorded run: who did what on which task, message by message."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from statecomp.history.interaction import JsonObject


@dataclass(frozen=True)
class Trajectory:
    """One recording.  `protocol` names the wire protocol of `messages`.

    `group` names the task: several runs can share one, and no split may part them.  `about` holds
    everything else the record says.
    """

    id: str
    messages: tuple[JsonObject, ...]
    protocol: str = "openai-chat"
    domain: str = ""
    group: str = ""
    source: str = ""
    about: Mapping[str, Any] = field(default_factory=dict)
