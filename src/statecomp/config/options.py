"""What a person wrote after a name, read once and strictly."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from statecomp.errors import BadInput
from statecomp.tokens import ESTIMATE, TokenCounter

Number = TypeVar("Number", int, float)


@dataclass(frozen=True)
class Settings:
    """What all strategies of one command share."""

    count: TokenCounter = ESTIMATE
    environ: Mapping[str, str] = field(default_factory=dict)


class Options:
    """The `key=value` part of a spec; every key must be used, and used as what it is."""

    def __init__(self, spec: str, text: str) -> None:
        self._spec = spec
        self._values: dict[str, str] = {}
        for part in filter(None, text.split(",")):
            key, equals, value = part.partition("=")
            if not equals:
                raise BadInput(f"has {part!r} where key=value belongs", field=f"strategy {spec!r}")
            self._values[key.strip()] = value.strip()

    def text(self, key: str, default: str) -> str:
        return self._values.pop(key, default)

    def whole(self, key: str, default: int) -> int:
        return self._number(key, default, int)

    def real(self, key: str, default: float) -> float:
        return self._number(key, default, float)

    def _number(self, key: str, default: Number, kind: Callable[[str], Number]) -> Number:
        value = self._values.pop(key, None)
        if value is None:
            return default
        try:
            return kind(value)
        except ValueError:
            problem = f"has {key}={value}, which is not a number"
            raise BadInput(problem, field=f"strategy {self._spec!r}") from None

    def done(self) -> None:
        if self._values:
            unknown = ", ".join(self._values)
            raise BadInput(f"has unknown options: {unknown}", field=f"strategy {self._spec!r}")
