"""Histories drawn as words: `p` pinned, `r` ready, `k` keep, `o` an open call.

`shape` reads a history back: `p` pinned, `r`/`k` interactions by the score they were given, `s`
summary.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from statecomp.history.history import History
from statecomp.history.interaction import Interaction, Pinned
from statecomp.history.situation import Situation
from statecomp.records.record import Record
from statecomp.wire.assemble import parse
from statecomp.wire.openai_chat.wire import OpenAIChat

Message: TypeAlias = dict[str, Any]
BULK = "the quick brown fox jumps over the lazy dog " * 30


def step(
    name: str, arguments: str, answer: str | None, *, call_id: str, said: str | None = None
) -> list[Message]:
    """One interaction as chat messages: a call, and its answer unless that is still to come."""
    function = {"name": name, "arguments": arguments}
    call = {"id": call_id, "type": "function", "function": function}
    made: list[Message] = [{"role": "assistant", "content": said, "tool_calls": [call]}]
    if answer is not None:
        made.append({"role": "tool", "tool_call_id": call_id, "content": answer})
    return made


def chat_of(word: str, bulk: str = BULK) -> list[Message]:
    """The word as chat messages; each interaction is one tool call with a bulky result."""
    messages: list[Message] = []
    for place, letter in enumerate(word):
        if letter == "p":
            messages.append({"role": "user", "content": f"request {place}"})
            continue
        name = "read" if letter == "r" else "look"
        answer = None if letter == "o" else bulk
        messages += step(name, f'{{"n": {place}}}', answer, call_id=f"c{place}")
    return messages


def history_of(word: str, bulk: str = BULK) -> History:
    """The word as a history."""
    return parse(chat_of(word, bulk), OpenAIChat())


def shape(history: History) -> str:
    """The history as a word; `s` is a summary."""
    letters = []
    for segment in history.segments:
        if isinstance(segment, Pinned):
            letters.append("p")
        elif isinstance(segment, Interaction):
            open_call = "o" if segment.locked else "k"
            letters.append("r" if segment.calls[0].name == "read" else open_call)
        else:
            letters.append("s")
    return "".join(letters)


class WordScorer:
    """Scores an interaction by the letter it was drawn with."""

    def score(self, history: History) -> Mapping[str, float]:
        return {i.id: float(i.calls[0].name == "read") for i in history.interactions}


@dataclass
class OneLiner:
    """A summariser that says which interactions it saw, and remembers how often it was asked."""

    calls: int = 0

    def summarize(self, span: Sequence[Interaction], situation: Situation) -> Record:
        self.calls += 1
        return Record(facts=(f"interactions {span[0].number} to {span[-1].number} were done",))
