"""A memory of ACM: the range that was folded, and who writes its text, a model or an extract."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from statecomp.baselines.writing import ExtractiveWriter, prompt, question_about
from statecomp.errors import SummaryFailed
from statecomp.history.facts import FactIndex
from statecomp.history.interaction import Interaction
from statecomp.llm.chat import ChatFailed
from statecomp.llm.side import SideChannel
from statecomp.tokens import ESTIMATE, TokenCounter

MEMORY_TOKENS, LEAST_CHARACTERS = 4_096, 50
_BLOCK = re.compile(r"<memory>(.*)</memory>", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Saved:
    """A range that was folded: its raw interactions, by reference, and what the agent reads."""

    number: int
    span: tuple[Interaction, ...]
    text: str

    @property
    def ids(self) -> frozenset[str]:
        return frozenset(member.id for member in self.span)


@dataclass(frozen=True)
class BlockWriter:
    """Asks for one tagged block, a second time if it is malformed; then takes what was said."""

    channel: SideChannel

    def write(self, task: str, before: str, span: Sequence[Interaction], rest: FactIndex) -> str:
        question = question_about(task, before, span)
        answer = ""
        for _ in range(2):
            try:
                answer = self.channel.ask(
                    "memory",
                    prompt("acm_memory"),
                    question,
                    max_tokens=MEMORY_TOKENS,
                ).strip()
            except ChatFailed as error:
                raise SummaryFailed(f"the memory call gave no answer: {error}") from error
            found = _BLOCK.search(answer)
            if found and "<memory>" not in found[1] and len(found[1].strip()) >= LEAST_CHARACTERS:
                return found[1].strip()
        if not answer:
            raise SummaryFailed("the memory call answered with nothing")
        return answer


@dataclass(frozen=True)
class LocalBlocks:
    """The same two sections without a model: an extract, and the agent's last visible words."""

    count: TokenCounter = ESTIMATE

    def write(self, task: str, before: str, span: Sequence[Interaction], rest: FactIndex) -> str:
        size = sum(self.count(member.text) for member in span)
        room = min(MEMORY_TOKENS, max(128, size // 4))
        known = ExtractiveWriter(room, self.count).write(task, before, span, rest)
        spoken = [member.said for member in span if member.said]
        thoughts = f"\nThoughts:\n{spoken[-1][:600]}" if spoken else ""
        return f"Knowledge state:\n{known}{thoughts}"
