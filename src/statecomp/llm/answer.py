"""The JSON in a model's answer."""

from __future__ import annotations

import json
import re
from typing import Any

_FENCED = re.compile(r"^```(?:json)?[ \t]*\n(.*?)\n[ \t]*```[ \t]*$", re.DOTALL | re.MULTILINE)


def json_object(answer: str) -> dict[str, Any]:
    """The object a model wrote, bare or in a fenced block; ValueError where there is none."""
    fenced = None if answer.lstrip().startswith("{") else _FENCED.search(answer)
    try:
        value = json.loads(fenced[1] if fenced else answer)
    except (ValueError, RecursionError) as error:
        raise ValueError("is not JSON") from error
    if not isinstance(value, dict):
        raise ValueError("is JSON, but no object")
    return value
