"""What a person wrote after a name, read once and strictly."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TypeAlias, TypeVar

from statecomp.controller.prices import PriceBook, Prices
from statecomp.errors import BadInput
from statecomp.llm.chat import Chat
from statecomp.records.extract import ExtractiveSummarizer
from statecomp.records.writing.writer import RECORD_DEADLINE_S
from statecomp.strategy import StrategyFactory
from statecomp.tokens import ESTIMATE, TokenCounter
from statecomp.wire.chats import open_chat

Number = TypeVar("Number", int, float)


@dataclass(frozen=True)
class Settings:
    """What all strategies of one command share.

    `prices` are those everything is billed at, `book` has them by model, for models not known yet.
    `chats` are known by name, beside those that an address names: a bench lends its acting model.
    """

    count: TokenCounter = ESTIMATE
    environ: Mapping[str, str] = field(default_factory=dict)
    prices: Prices | None = None
    book: PriceBook | None = None
    chats: Mapping[str, Chat] = field(default_factory=dict)

    def chat(self, spec: str) -> Chat:
        """The chat of a name in `chats`, or the one "openai:MODEL[@BASE_URL]" names."""
        return self.chats[spec] if spec in self.chats else open_chat(spec, environ=self.environ)


class Options:
    """The `key=value` part of a spec; every key must be used, and used as what it is."""

    def __init__(self, spec: str, text: str) -> None:
        self._place = f"strategy {spec!r}"
        self._values: dict[str, str] = {}
        self._known: list[str] = []
        for part in filter(None, text.split(",")):
            key, equals, value = part.partition("=")
            if not equals:
                raise BadInput(f"has {part!r} where key=value belongs", field=self._place)
            self._values[key.strip()] = value.strip()

    @classmethod
    def given(cls, name: str, values: Mapping[str, object]) -> Options:
        """Options that were read one by one, by what has this name; None was not given."""
        options = cls(name, "")
        options._place = name
        options._values = {key: str(value) for key, value in values.items() if value is not None}
        return options

    def __contains__(self, key: str) -> bool:
        """Whether it was written, and not read yet."""
        return key in self._values

    def text(self, key: str, default: str) -> str:
        given = self._taken(key)
        return default if given is None else given

    def switch(self, key: str, *, default: bool) -> bool:
        words = ("on", "off") if default else ("off", "on")
        return self.one_of(key, *words) == "on"

    def one_of(self, key: str, *known: str) -> str:
        """One of several words; the first is the default."""
        value = self.text(key, known[0])
        if value not in known:
            raise BadInput(f"is {value!r}; known are {', '.join(known)}", field=key)
        return value

    def whole(self, key: str, default: int) -> int:
        return self._number(key, default, int)

    def real(self, key: str, default: float) -> float:
        return self._number(key, default, float)

    def _number(self, key: str, default: Number, kind: Callable[[str], Number]) -> Number:
        value = self._taken(key)
        if value is None:
            return default
        with suppress(ValueError):
            if math.isfinite(number := kind(value)):
                return number
        problem = f"has {key}={value}, which is not a number"
        raise BadInput(problem, field=self._place)

    def _taken(self, key: str) -> str | None:
        """What was written behind a key, which from now on is used."""
        self._known.append(key)
        return self._values.pop(key, None)

    def done(self) -> None:
        """To be called when all keys were read; refuses what is left, and names the known ones."""
        if self._values:
            known = ", ".join(dict.fromkeys(self._known)) or "none"
            problem = f"has unknown options: {', '.join(self._values)}; known are {known}"
            raise BadInput(problem, field=self._place)


Builder: TypeAlias = Callable[[Options, Settings], StrategyFactory]


def chat_of(options: Options, settings: Settings) -> Chat | None:
    """`chat=SPEC` or `records=chat:SPEC`; None is `records=extract`, the default."""
    spec = options.text("chat", "")
    name, _, rest = options.text("records", f"chat:{spec}" if spec else "extract").partition(":")
    if name not in ("extract", "chat"):
        problem = f"is {name!r}; known are extract and chat:openai:MODEL"
        raise BadInput(problem, field="records")
    return settings.chat(rest) if name == "chat" else None


def record_wait_of(options: Options) -> float:
    """Seconds a model may take for its record."""
    seconds = options.real("records_wait", RECORD_DEADLINE_S)
    if not 0.0 < seconds < math.inf:  # also false for NaN
        raise BadInput(f"must be a number of seconds above 0, not {seconds}", field="records_wait")
    return seconds


def extract_of(options: Options, usual: ExtractiveSummarizer) -> ExtractiveSummarizer:
    """An extract as long as the `usual` one, unless the options say otherwise."""
    return ExtractiveSummarizer(
        budget=options.real("budget", usual.budget),
        name_worth=options.whole("name_worth", usual.name_worth),
        dense=options.whole("dense", usual.dense),
    )
