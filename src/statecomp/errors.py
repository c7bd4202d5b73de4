"""Everything this package raises on purpose.

StateCompError
├── BadInput              a file, record or field we were given cannot be used
│   ├── InvalidHistory    messages that no protocol rule can make sense of
│   └── NotSupported      adapters: a framework, or a version of it, that was not proved
├── ScoringFailed         no scores: the controller returns the history it was given
├── SummaryFailed         no summary: the span stays as it was
│   └── Objection         records.record: its writer wants steps of it kept, and recorded the rest
├── ChatFailed            llm.chat: a model gave no usable answer
│   └── QuestionFailed    llm.chat: to this question; another may be answered
├── LedgerFailed          ledger.audit: the ledger cannot be read or written now; requests go on
├── JudgingFailed         proxy.judging: no decision: the last good view goes out
└── WorkersLost           workers.engine: workers died, or cannot be reached
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


class StateCompError(Exception):
    """Base of all errors raised on purpose; its text is one sentence for a person."""


class BadInput(StateCompError):
    """Input that cannot be used; says where it stands and what is wrong with it."""

    def __init__(self, problem: str, *, file: str = "", line: int = 0, field: str = "") -> None:
        self.problem = problem
        self.file = file
        self.line = line
        self.field = field
        super().__init__(str(self))

    def __str__(self) -> str:
        where = ", ".join(
            part
            for part in (self.file, f"line {self.line}" if self.line else "", self.field)
            if part
        )
        return f"{where}: {self.problem}" if where else self.problem

    def at(self, *, file: str = "", line: int = 0, field: str = "") -> BadInput:
        """The same problem with a more precise place; what is known already stays."""
        return type(self)(
            self.problem,
            file=self.file or file,
            line=self.line or line,
            field=self.field or field,
        )

    def advising(self, advice: str) -> BadInput:
        """The same problem, with what to do about it."""
        return type(self)(
            f"{self.problem}; {advice}", file=self.file, line=self.line, field=self.field
        )


class InvalidHistory(BadInput):
    """Messages that cannot be read as a history of their protocol."""


class ScoringFailed(StateCompError):
    """Features or scores could not be computed; nothing may be replaced now."""


class SummaryFailed(StateCompError):
    """A summary could not be had, or must not be used; its span stays as it was."""


@contextmanager
def needing(sentence: str, *, field: str = "") -> Iterator[None]:
    """Around imports: a library that is not installed is a sentence that says what to install."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise BadInput(f"{sentence} ({error.name} is missing)", field=field) from error
