"""Histories drawn as words: `p` pinned, `r` ready, `k` keep, `o` an open call.

`shape` reads a history back: `p` pinned, `r`/`k` interactions by the score they were given, `s`
summary.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from statecomp.history.history import History
from statecomp.history.interaction import Interaction, Pinned
from statecomp.history.situation import Situation
from statecomp.llm.record import Record
from statecomp.wire.assemble import parse
from statecomp.wire.openai_chat.wire import OpenAIChat

BULK = "the quick brown fox jumps over the lazy dog " * 30


def chat_of(word: str, bulk: str = BULK) -> list[dict[str, Any]]:
    """The word as chat messages; each interaction is one tool call with a bulky result."""
    messages: list[dict[str, Any]] = []
    for place, letter in enumerate(word):
        if letter == "p":
            messages.append({"role": "user", "content": f"request {place}"})
            continue
        call = {"id": f"c{place}", "type": "function"}
        function = {"name": "read" if letter == "r" else "look", "arguments": f'{{"n": {place}}}'}
        messages.append(
            {"role": "assistant", "content": None, "tool_calls": [{**call, "function": function}]}
        )
        if letter != "o":
            messages.append({"role": "tool", "tool_call_id": f"c{place}", "content": bulk})
    return messages


def history_of(word: str, bulk: str = BULK) -> History:
    return parse(chat_of(word, bulk), OpenAIChat())


def shape(history: History) -> str:
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
