"""Questions to a chat model that are paid for once: bounded, in the journal before they are used.

A killed run asks nothing twice.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from threading import Lock

from statecomp.annotation.journal import Journal
from statecomp.annotation.judge import JudgeAnswer, JudgeQuestion
from statecomp.controller.prices import Prices
from statecomp.history.identity import digest
from statecomp.llm.chat import NOTHING_USED, Chat, ChatFailed, ChatUsage

CONCURRENCY = 4
WINDOW_TOKENS = 100_000
"""What a model is asked at once, and can read at once, where nobody says otherwise."""


@dataclass
class Spending:
    """What the calls of this session were billed; answers from the journal cost nothing again."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    _lock: Lock = field(default_factory=Lock, repr=False)

    def add(self, usage: ChatUsage) -> None:
        with self._lock:
            self.calls += 1
            self.input_tokens += usage.input_tokens
            self.output_tokens += usage.output_tokens

    def dollars(self, prices: Prices) -> float:
        return prices.side_dollars(self.input_tokens, self.output_tokens)


@dataclass(frozen=True)
class Expected:
    """What asking would take."""

    calls: int
    input_tokens: int
    output_tokens: int

    def __add__(self, other: Expected) -> Expected:
        return Expected(
            self.calls + other.calls,
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
        )

    def dollars(self, prices: Prices) -> float:
        return prices.side_dollars(self.input_tokens, self.output_tokens)


@dataclass(frozen=True)
class Asker:
    """A chat model with a journal, and a limit on calls under way."""

    chat: Chat
    journal: Journal
    concurrency: int = CONCURRENCY
    deadline_s: float = 300.0
    spending: Spending = field(default_factory=Spending)

    def answers(self, questions: Sequence[JudgeQuestion]) -> Iterator[JudgeAnswer]:
        """In the order of the questions."""
        pool = ThreadPoolExecutor(self.concurrency)
        try:
            yield from pool.map(self._answer, questions)
        finally:
            # One question that cannot be answered ends the run; what is under way still lands in
            # the journal, what has not begun is not paid for.
            pool.shutdown(cancel_futures=True)

    def _answer(self, question: JudgeQuestion) -> JudgeAnswer:
        # Named by content: a changed run or prompt is another question, the same one never is.
        content = digest(self.chat.model, question.system, question.prompt)
        key = f"{question.key}:{content}"
        known = self.journal.get(key)
        if known is not None:
            return JudgeAnswer(str(known["text"]), str(known.get("problem", "")))
        answer, usage = self._ask(question)
        self.spending.add(usage)
        self.journal.put(key, asdict(answer))
        return answer

    def _ask(self, question: JudgeQuestion) -> tuple[JudgeAnswer, ChatUsage]:
        """An answer that was billed but is no use (cut off, refused) is kept like any other.

        Asking the same again would most likely be paid for again with the same result; only a
        question that got no answer at all is worth another try, and ends the run for now.
        """
        try:
            completion = self.chat.ask(
                question.system,
                question.prompt,
                max_tokens=question.max_tokens,
                schema=question.schema,
                deadline_s=self.deadline_s,
            )
        except ChatFailed as error:
            if error.usage == NOTHING_USED:
                raise
            return JudgeAnswer(problem=str(error)), error.usage
        return JudgeAnswer(completion.text), completion.usage
