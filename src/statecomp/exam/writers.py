"""Who writes the records that are examined: the package's own writers, and plain ways to shorten.

The baselines get the length of a record that was really written, and the same numbered steps.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from statecomp.baselines.llmlingua2 import Lingua
from statecomp.errors import SummaryFailed
from statecomp.exam.spans import Exam
from statecomp.history.facts import FactIndex
from statecomp.history.interaction import Interaction
from statecomp.history.situation import Situation
from statecomp.records.verify import verify
from statecomp.strategy import Summarizer

Count: TypeAlias = Callable[[str], int]
TRIES = 9
"""Halvings in the search for a length; the last changes it by a fifth of a percent."""


class ExamWriter(Protocol):
    """Writes the record of a span, as long as it likes or, if a baseline, of `tokens`."""

    def write(self, exam: Exam, tokens: int) -> str:
        """The body of the record; raises SummaryFailed."""
        ...


@dataclass(frozen=True)
class RecordWriter:
    """A summariser of the package with the fact ledger behind it, as the controller asks it."""

    summarizer: Summarizer

    def write(self, exam: Exam, tokens: int) -> str:
        situation = Situation(FactIndex(exam.rest), exam.before, exam.after)
        record = self.summarizer.summarize(exam.span, situation)
        return verify(record, exam.span, situation).body


@dataclass(frozen=True)
class Given:
    """Records that were written elsewhere, by the name of their span."""

    records: Mapping[str, str]

    def write(self, exam: Exam, tokens: int) -> str:
        if exam.name not in self.records:
            raise SummaryFailed(f"no record was given for {exam.name}")
        return self.records[exam.name]


@dataclass(frozen=True)
class Cut:
    """The beginning of each call and of each output, the same share of all."""

    count: Count

    def write(self, exam: Exam, tokens: int) -> str:
        def shortened(text: str, share: float) -> str:
            return text[: int(len(text) * share)]

        return _fitted(exam.span, shortened, tokens, self.count)


@dataclass(frozen=True)
class TokenChoice:
    """LLMLingua-2's choice of tokens at the rate that fits; forced ones can make it longer."""

    lingua: Lingua

    def write(self, exam: Exam, tokens: int) -> str:
        return _fitted(exam.span, self.lingua.compress, tokens, self.lingua.count, tries=4)


def _fitted(
    span: Sequence[Interaction],
    shortened: Callable[[str, float], str],
    tokens: int,
    count: Count,
    tries: int = TRIES,
) -> str:
    """The longest of at most `tokens` that halving the share finds, or the shortest there is."""
    low, high = 0.0, 1.0
    best = shortest = ""
    for _ in range(tries):
        share = (low + high) / 2
        body = "\n".join(_entry(member, shortened, share) for member in span)
        if count(body) <= tokens:
            low, best = share, body
        else:
            high, shortest = share, body
    return best or shortest


def _entry(member: Interaction, shortened: Callable[[str, float], str], share: float) -> str:
    """A numbered step as records have it: what was done, an arrow, what came of it."""
    action, observed = (shortened(text, share) for text in (member.action, member.observed))
    text = f"{action.strip()} -> {observed.strip()}"
    return "- {}. {}".format(member.number, text.replace("\n", "\n  "))
