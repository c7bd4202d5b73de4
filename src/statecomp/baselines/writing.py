"""Texts the baselines have written: by a chat, or by the extractive summariser in its place."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any, Protocol

from statecomp.errors import SummaryFailed
from statecomp.history.facts import FactIndex
from statecomp.history.interaction import Interaction, JsonObject
from statecomp.history.situation import Situation
from statecomp.llm.chat import ChatFailed
from statecomp.llm.side import SideChannel
from statecomp.llm.transcript import transcript
from statecomp.records.extract import ExtractiveSummarizer
from statecomp.records.record import Record
from statecomp.tokens import ESTIMATE, TokenCounter

LIMIT_CHARS = 400_000
"""Of a transcript: about half a window; longer payloads are cut in the middle, and say so."""


def prompt(name: str) -> str:
    """One of the prompts that lie beside this module."""
    return files("statecomp.baselines").joinpath("prompts", f"{name}.md").read_text("utf-8")


def tool(name: str, says: str, required: Sequence[str] = (), **properties: Any) -> JsonObject:
    """A tool for the agent, as an OpenAI function; each property is a JSON schema."""
    parameters = {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }
    function = {"name": name, "description": says, "parameters": parameters}
    return {"type": "function", "function": function}


class Writer(Protocol):
    """Writes what stays of some interactions."""

    def write(self, task: str, before: str, span: Sequence[Interaction], rest: FactIndex) -> str:
        """A text for the span and for `before`, an earlier text that it replaces or continues.

        `rest` knows the identifiers of what stays.  Raises SummaryFailed.
        """
        ...


def plain(record: Record) -> str:
    return record.body


@dataclass(frozen=True)
class ExtractiveWriter:
    """The local substitute for a model: about `tokens` chosen from the source, no side calls.

    `rereads` says whether the text takes the place of an earlier one, which then is source too.
    """

    tokens: int
    count: TokenCounter = ESTIMATE
    form: Callable[[Record], str] = plain
    rereads: bool = True

    def write(self, task: str, before: str, span: Sequence[Interaction], rest: FactIndex) -> str:
        carried = before if self.rereads else ""
        fresh = sum(self.count(member.text) for member in span)
        # A model asked to be much shorter than its source would be; half may be what is carried.
        room = min(self.tokens - min(self.count(carried), self.tokens // 2), fresh // 3)
        summarizer = ExtractiveSummarizer(
            room / max(1, fresh), name_worth=0, dense=0, count=self.count
        )
        record = summarizer.summarize(span, Situation(rest))
        if not record:
            raise SummaryFailed("nothing in these steps is worth a summary")
        return merged(carried, self.form(record), self.tokens, self.count)


def merged(before: str, after: str, room: int, count: TokenCounter) -> str:
    """Two texts of headed entries as one; the oldest entries go where it would not fit."""
    old, new = _headed(before), _headed(after)
    while any(old.values()):
        titles = dict.fromkeys((*old, *new))
        lines = ((title, *old.get(title, ()), *new.get(title, ())) for title in titles)
        text = "\n".join("\n".join(block) for block in lines if len(block) > 1)
        if count(text) <= room:
            return text
        longest = max(old.values(), key=len)
        del longest[: max(1, len(longest) // 10)]
    return after


def _headed(text: str) -> dict[str, list[str]]:
    """The entries of a text by the heading they stand under."""
    found: dict[str, list[str]] = {}
    title = ""
    for line in text.splitlines():
        if line.startswith("- "):
            found.setdefault(title, []).append(line)
        else:
            title = line
    return found


@dataclass(frozen=True)
class ChatWriter:
    """Asks a chat; `parse` makes a text of its answer or raises SummaryFailed."""

    channel: SideChannel
    kind: str
    system: str
    max_tokens: int
    parse: Callable[[str], str] = str.strip
    schema: Mapping[str, Any] | None = None

    def write(self, task: str, before: str, span: Sequence[Interaction], rest: FactIndex) -> str:
        question = question_about(task, before, span)
        try:
            answer = self.channel.ask(
                self.kind,
                self.system,
                question,
                max_tokens=self.max_tokens,
                schema=self.schema,
            )
        except ChatFailed as error:
            raise SummaryFailed(f"the {self.kind} call gave no answer: {error}") from error
        text = self.parse(answer)
        if not text:
            raise SummaryFailed(f"the {self.kind} call answered with nothing")
        return text


def question_about(task: str, before: str, span: Sequence[Interaction]) -> str:
    """Task, earlier text and steps as one prompt of labelled parts."""
    parts = [("Task of the agent", task), ("Written earlier", before)]
    labelled = [f"{label}:\n{text}" for label, text in parts if text]
    steps = (transcript(span, limit_chars=LIMIT_CHARS),) if span else ()
    return "\n\n".join((*labelled, *steps))
