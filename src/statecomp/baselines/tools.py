"""What strategies with tools share: arguments as they come, and the simplest use as data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from statecomp.errors import BadInput
from statecomp.history.given import argument_object
from statecomp.history.interaction import Call, JsonObject

When: TypeAlias = Literal["missing", "bulky", "gauge", "reading"]


@dataclass(frozen=True, slots=True)
class Use:
    """When an agent without judgement of its own calls a tool, and with which arguments.

    `missing`: a value it needs stands in no message it was given.  `bulky`: the newest observation
    has at least `least` characters and its values are used up.  `gauge`: the number in `pattern`,
    read from the newest observation, is at least `least`.  `reading`: with a call of its own that
    reads something for the first time (`tool` is empty then: these arguments join that call's);
    what is not in the answer is read again without them.

    In `arguments` the text "$need" stands for a description of what is needed, and "$found" for
    what `pattern` finds: its group in the newest message it matches, or, where a list is asked for,
    the groups of all matches whose line or paragraph shares a word with the need.
    """

    tool: str
    when: When
    arguments: Mapping[str, Any] = field(default_factory=dict)
    pattern: str = ""
    least: int = 0


def text(description: str) -> JsonObject:
    return {"type": "string", "description": description}


def whole(description: str, low: int, high: int, default: int) -> JsonObject:
    return {
        "type": "integer",
        "description": f"{description} ({low}-{high}, {default} unless given)",
        "minimum": low,
        "maximum": high,
    }


class Arguments:
    """The arguments of one call; a model writes them, so nothing about them is certain.

    Each reader raises BadInput with a sentence that the model can act on.
    """

    def __init__(self, call: Call) -> None:
        self._values: Mapping[str, Any] = argument_object(call.arguments)

    def text(self, key: str, default: str | None = None) -> str:
        value = self._values.get(key, default)
        if not isinstance(value, str) or (default is None and not value.strip()):
            raise BadInput("must be a text that is not empty", field=key)
        return value

    def whole(self, key: str, low: int, high: int, default: int | None = None) -> int:
        """A whole number; one outside its bounds becomes the nearest bound."""
        value = self._values.get(key, default)
        if isinstance(value, bool) or not isinstance(value, int):
            raise BadInput("must be a whole number", field=key)
        return max(low, min(high, value))

    def wholes(self, key: str, most: int) -> list[int]:
        value = self._values.get(key)
        numbers = value if isinstance(value, list) else [value]
        if not numbers or any(isinstance(n, bool) or not isinstance(n, int) for n in numbers):
            raise BadInput("must be a list of whole numbers", field=key)
        if len(numbers) > most:
            raise BadInput(f"takes at most {most} numbers", field=key)
        return list(dict.fromkeys(numbers))

    def choice(self, key: str, known: tuple[str, ...], default: str) -> str:
        value = self._values.get(key, default)
        if value not in known:
            raise BadInput(f"must be one of {', '.join(known)}", field=key)
        return str(value)
