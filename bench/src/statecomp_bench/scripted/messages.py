"""What a scripted model says and calls, as a message of chat completions."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from statecomp_bench.scripted.asking import NUMBER
from statecomp_bench.scripted.sight import PlanSight


def next_id(sight: PlanSight) -> int:
    numbers = (NUMBER.findall(c.id)[-1:] for turn in sight.turns for c in turn.calls)
    return max((int(found[0]) for found in numbers if found), default=0) + 1


def message_of(
    said: str, calls: Sequence[tuple[str, Mapping[str, Any]]], number: int
) -> dict[str, Any]:
    entries = [
        {
            "id": f"call_{number + place:04d}",
            "type": "function",
            "function": {"name": name, "arguments": json.dumps(arguments)},
        }
        for place, (name, arguments) in enumerate(calls)
    ]
    message: dict[str, Any] = {"role": "assistant", "content": said}
    return {**message, "tool_calls": entries} if entries else message
