"""Summaries by a chat model: one question a span, and nothing of the answer is taken on trust."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields
from importlib.resources import files
from typing import Any

from statecomp.errors import SummaryFailed
from statecomp.history.facts import FactIndex
from statecomp.history.interaction import Interaction
from statecomp.llm.answer import json_object
from statecomp.llm.client import NOTHING_USED, Chat, ChatFailed, Usage
from statecomp.llm.record import Record
from statecomp.llm.transcript import transcript
from statecomp.tokens import ESTIMATE

HEADINGS = tuple(heading.name for heading in fields(Record))

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {name: {"type": "array", "items": {"type": "string"}} for name in HEADINGS},
    "required": list(HEADINGS),
    "additionalProperties": False,
}


class ChatSummarizer:
    """A Summarizer that asks a chat; whatever goes wrong is SummaryFailed, with the reason.

    `on_side_call` hears what every billed call cost, also those whose answer could not be used.
    `limit_chars` keeps a span with huge observations within the window of the model.
    """

    def __init__(
        self,
        chat: Chat,
        *,
        max_tokens: int = 4096,
        deadline_s: float = 30.0,
        count: Callable[[str], int] = ESTIMATE,
        limit_chars: int | None = None,
        on_side_call: Callable[[str, Usage], None] | None = None,
    ) -> None:
        self._chat = chat
        self._max_tokens = max_tokens
        self._deadline_s = deadline_s
        self._count = count
        self._limit_chars = limit_chars
        self._on_side_call = on_side_call
        self._system = files("statecomp.llm").joinpath("prompts", "summarize.md").read_text("utf-8")

    def summarize(self, span: Sequence[Interaction], rest: FactIndex) -> Record:
        """What the model says of the span, if it is shorter than the span itself."""
        answer = self._ask(transcript(span, limit_chars=self._limit_chars))
        record = parse_record(answer)
        written = self._count(record.body)
        source = self._count("\n".join(interaction.text for interaction in span))
        if written >= source:
            raise SummaryFailed(
                f"the summary takes {written:,} tokens, its source takes {source:,}"
            )
        return record

    def _ask(self, prompt: str) -> str:
        try:
            completion = self._chat.ask(
                self._system,
                prompt,
                max_tokens=self._max_tokens,
                schema=SCHEMA,
                deadline_s=self._deadline_s,
            )
        except ChatFailed as error:
            if error.usage != NOTHING_USED:
                self._charge(error.usage)
            raise SummaryFailed(f"the summariser gave no answer: {error}") from error
        self._charge(completion.usage)
        return completion.text

    def _charge(self, usage: Usage) -> None:
        if self._on_side_call is not None:
            self._on_side_call("summary", usage)


def parse_record(answer: str) -> Record:
    """The record in a model's answer: a JSON object, bare or in a fenced block.

    Keys we do not know are left aside; a heading that is missing has no entries.
    """
    try:
        value = json_object(answer)
    except ValueError as error:
        raise SummaryFailed(f"the summary {error}") from error
    record = Record(**{name: _entries(name, value.get(name, [])) for name in HEADINGS})
    if not record:
        raise SummaryFailed("the summary is empty")
    return record


def _entries(name: str, value: object) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(entry, str) for entry in value):
        raise SummaryFailed(f"the summary's {name!r} is not a list of strings")
    return tuple(line for line in map(_line, value) if line)


def _line(entry: str) -> str:
    """One entry as one line of text that can be encoded: a record has no other kind."""
    joined = " ".join(part.strip() for part in entry.splitlines())
    return joined.encode("utf-8", "replace").decode("utf-8").strip()
