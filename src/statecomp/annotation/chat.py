"""Both stages by a chat model: any OpenAI-compatible or Anthropic endpoint."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from statecomp.annotation.asking import CONCURRENCY, WINDOW_TOKENS, Asker, Expected, Spending
from statecomp.annotation.journal import Journal
from statecomp.annotation.judge import RECORD_TOKENS, judge_question, read_judgments
from statecomp.annotation.labels import Label
from statecomp.annotation.records import Judgment, Reading
from statecomp.annotation.review import ANSWER_TOKENS, defensible, read_review, review_question
from statecomp.llm.chat import Chat
from statecomp.tokens import ESTIMATE


@dataclass(frozen=True)
class ChatAnnotator:
    """Both stages by a chat model: bounded prompts, a journal, a limit on calls under way."""

    chat: Chat
    journal: Journal
    concurrency: int = CONCURRENCY
    window_tokens: int = WINDOW_TOKENS
    spending: Spending = field(default_factory=Spending)

    @property
    def name(self) -> str:
        return f"chat:{self.chat.model}"

    @property
    def asker(self) -> Asker:
        return Asker(self.chat, self.journal, self.concurrency, spending=self.spending)

    def judge_all(self, reading: Reading) -> Iterator[Sequence[Judgment]]:
        questions = [judge_question(reading, k, self.window_tokens) for k in reading.checkpoints]
        answers = self.asker.answers(questions)
        for checkpoint, answer in zip(reading.checkpoints, answers, strict=True):
            yield read_judgments(answer, checkpoint)

    def review_all(
        self, reading: Reading, judgments: Mapping[int, Sequence[Judgment]]
    ) -> Iterator[Label]:
        """Interactions with nothing to choose from are KEEP without a question."""
        open_numbers = [n for n, made in judgments.items() if defensible(made)]
        questions = [
            review_question(reading, n, judgments[n], self.window_tokens) for n in open_numbers
        ]
        answers = dict(zip(open_numbers, self.asker.answers(questions), strict=True))
        for number in judgments:
            if number in answers:
                yield read_review(answers[number], reading, number, self.name)
            else:
                reason = "no checkpoint is supported by evidence and free of vetoes"
                yield Label(reading.id, number, None, reason=reason, annotator=self.name)


def expected(readings: Sequence[Reading], window_tokens: int) -> Expected:
    """What annotating would take: stage 1 exactly, stage 2 as if every interaction were open."""
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
    return Expected(calls, input_tokens, output_tokens)
