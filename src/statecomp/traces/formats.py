"""The formats that can be imported; a new one is a file that makes a `Format`, and a line here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from statecomp.traces import (
    claude_code,
    codex,
    jsonl,
    mini_swe_agent,
    openhands,
    requests,
    swe_agent,
)
from statecomp.traces.format import Format

# The more a format says of itself, the earlier it is asked; request logs say least.
FORMATS: tuple[Format, ...] = (
    claude_code.FORMAT,
    codex.FORMAT,
    mini_swe_agent.FORMAT,
    swe_agent.FORMAT,
    openhands.FORMAT,
    jsonl.FORMAT,
    requests.FORMAT,
)
BY_NAME = {each.name: each for each in FORMATS}


def format_of(records: Sequence[Any]) -> Format | None:
    """The format of a file that begins with these values."""
    return next((each for each in FORMATS if each.recognises(records)), None)
