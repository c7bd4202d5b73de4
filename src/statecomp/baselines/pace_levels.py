"""PACE's four levels of detail: who writes them, and what stands in where nobody does."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, Protocol

from statecomp.baselines.writing import prompt, question_about
from statecomp.errors import SummaryFailed
from statecomp.history.interaction import Interaction
from statecomp.history.situation import Situation
from statecomp.llm.answer import json_object
from statecomp.llm.chat import ChatFailed
from statecomp.llm.side import SideChannel
from statecomp.llm.transcript import cut
from statecomp.records.extract import ExtractiveSummarizer
from statecomp.tokens import ESTIMATE, TokenCounter

INPUT_CHARS = 32_000
OUTPUT_TOKENS = 3_000
SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "detailed": {"type": "string"},
        "brief": {"type": "string"},
        "keywords": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["detailed", "brief", "keywords"],
    "additionalProperties": False,
}
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")
_TELLING = re.compile(r"\d|https?://|^\s*[-*•]")


class Level(IntEnum):
    """How much of a chunk is shown."""

    PLACEHOLDER = 0
    BRIEF = 1
    DETAILED = 2
    FULL = 3


@dataclass(frozen=True, slots=True)
class Levels:
    """One chunk at every level; the placeholder follows from its step."""

    detailed: str
    brief: str


class LevelWriter(Protocol):
    def write(self, task: str, chunk: Interaction) -> Levels:
        """Raises SummaryFailed, and the rule-based levels stand in."""
        ...


@dataclass(frozen=True)
class ChatLevels:
    channel: SideChannel

    def write(self, task: str, chunk: Interaction) -> Levels:
        question = cut(question_about(task, "", (chunk,)), INPUT_CHARS)
        system = prompt("pace_levels")
        try:
            answer = self.channel.ask(
                "levels", system, question, max_tokens=OUTPUT_TOKENS, schema=SCHEMA
            )
            said = json_object(answer)
        except (ChatFailed, ValueError) as error:
            raise SummaryFailed(f"no levels were written: {error}") from error
        detailed, brief = said.get("detailed"), said.get("brief")
        if not isinstance(detailed, str) or not isinstance(brief, str) or not brief.strip():
            raise SummaryFailed("the levels are not the texts that were asked for")
        words = said.get("keywords")
        keywords = ", ".join(map(str, words)) if isinstance(words, list) else ""
        return Levels(detailed.strip() or brief.strip(), f"{brief.strip()} [{keywords}]")


@dataclass(frozen=True)
class ExtractLevels:
    """The local substitute: an extract of a third, and its first lines."""

    count: TokenCounter = ESTIMATE

    def write(self, task: str, chunk: Interaction) -> Levels:
        record = ExtractiveSummarizer(0.33, name_worth=0, dense=0, count=self.count).summarize(
            (chunk,), Situation()
        )
        if not record:
            raise SummaryFailed("nothing in this step is worth an extract")
        lines = [line for line in record.body.splitlines() if line.startswith("- ")]
        return Levels(record.body, cut(" ".join(line[2:] for line in lines[:2]), 300))


def by_rules(text: str) -> Levels:
    """What stands in until, or where no, levels were written: the method's own fallback."""
    lines = text.splitlines()
    head, tail = math.ceil(len(lines) * 0.3), math.floor(len(lines) * 0.2)
    kept = [
        line
        for place, line in enumerate(lines)
        if place < head or place >= len(lines) - tail or _TELLING.search(line)
    ]
    return Levels("\n".join(kept)[:2_000], " ".join(sentences(text, 2))[:400])


def sentences(text: str, number: int) -> list[str]:
    return [part for part in _SENTENCE.split(text.strip()) if part][:number]
