"""Both stages by a chat model: any OpenAI-compatible or Anthropic endpoint."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from threading import Lock

from statecomp.annotate.journal import Journal
from statecomp.annotate.judge import (
    RECORD_TOKENS,
    Answer,
    Question,
    judge_question,
    read_judgments,
)
from statecomp.annotate.labels import Label
from statecomp.annotate.records import Judgment, Reading
from statecomp.annotate.review import ANSWER_TOKENS, defensible, read_review, review_question
from statecomp.controller.prices import Prices
from statecomp.history.identity import digest
from statecomp.llm.chat import NOTHING_USED, Chat, ChatFailed, Usage
from statecomp.tokens import ESTIMATE


@dataclass
class Spending:
    """What the calls of this session were billed; answers from the journal cost nothing again."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    _lock: Lock = field(default_factory=Lock, repr=False)

    def add(self, usage: Usage) -> None:
        with self._lock:
            self.calls += 1
            self.input_tokens += usage.input_tokens
            self.output_tokens += usage.output_tokens

    def dollars(self, prices: Prices) -> float:
        return prices.side_dollars(self.input_tokens, self.output_tokens)


@dataclass(frozen=True)
class ChatAnnotator:
    """Both stages by a chat model: bounded prompts, a journal, a limit on calls under way.

    An answer is written to the journal before it is used, so a killed run asks nothing twice.
    """

    chat: Chat
    journal: Journal
    concurrency: int = 4
    window_tokens: int = 100_000
    deadline_s: float = 300.0
    spending: Spending = field(default_factory=Spending)

    @property
    def name(self) -> str:
        return f"chat:{self.chat.model}"

    def judge_all(self, reading: Reading) -> Iterator[Sequence[Judgment]]:
        questions = [judge_question(reading, k, self.window_tokens) for k in reading.checkpoints]
        for checkpoint, answer in zip(reading.checkpoints, self._answers(questions), strict=True):
            yield read_judgments(answer, checkpoint)

    def review_all(
        self, reading: Reading, judgments: Mapping[int, Sequence[Judgment]]
    ) -> Iterator[Label]:
        """Interactions with nothing to choose from are KEEP without a question."""
        open_numbers = [n for n, made in judgments.items() if defensible(made)]
        questions = [
            review_question(reading, n, judgments[n], self.window_tokens) for n in open_numbers
        ]
        answers = dict(zip(open_numbers, self._answers(questions), strict=True))
        for number in judgments:
            if number in answers:
                yield read_review(answers[number], reading, number, self.name)
            else:
                reason = "no checkpoint is supported by evidence and free of vetoes"
                yield Label(reading.id, number, None, reason=reason, annotator=self.name)

    def _answers(self, questions: Sequence[Question]) -> Iterator[Answer]:
        pool = ThreadPoolExecutor(self.concurrency)
        try:
            yield from pool.map(self._answer, questions)
        finally:
            # One question that cannot be answered ends the run; what is under way still lands in
            # the journal, what has not begun is not paid for.
            pool.shutdown(cancel_futures=True)

    def _answer(self, question: Question) -> Answer:
        # Named by content: a changed run or prompt is another question, the same one never is.
        content = digest(self.chat.model, question.system, question.prompt)
        key = f"{question.key}:{content}"
        known = self.journal.get(key)
        if known is not None:
            return Answer(str(known["text"]), str(known.get("problem", "")))
        answer, usage = self._ask(question)
        self.spending.add(usage)
        self.journal.put(key, asdict(answer))
        return answer

    def _ask(self, question: Question) -> tuple[Answer, Usage]:
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
            return Answer(problem=str(error)), error.usage
        return Answer(completion.text), completion.usage


@dataclass(frozen=True)
class Forecast:
    """What annotating would take: stage 1 exactly, stage 2 as if every interaction were open."""

    calls: int
    input_tokens: int
    output_tokens: int

    def dollars(self, prices: Prices) -> float:
        return prices.side_dollars(self.input_tokens, self.output_tokens)


def forecast(readings: Sequence[Reading], window_tokens: int) -> Forecast:
    calls = input_tokens = output_tokens = 0
    for reading in readings:
        for checkpoint in reading.checkpoints:
            question = judge_question(reading, checkpoint, window_tokens)
            calls += 1
            input_tokens += ESTIMATE(question.system) + ESTIMATE(question.prompt)
            output_tokens += min(RECORD_TOKENS * (checkpoint - 1), question.max_tokens)
        for number in range(1, reading.last):
            question = review_question(reading, number, (), window_tokens)
            calls += 1
            # The judgments are not there yet: one line a checkpoint, and one cited step.
            judged = 60 * (reading.last - number)
            input_tokens += ESTIMATE(question.system) + ESTIMATE(question.prompt) + judged
            output_tokens += ANSWER_TOKENS // 4
    return Forecast(calls, input_tokens, output_tokens)
