"""The shares of an exam: by writer, half, stratum and kind."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from statecomp.exam.facts import FactKind
from statecomp.exam.lines import ReaderOutcome
from statecomp.exam.measures import NONE, WHOLE, Integrity, Share
from statecomp.exam.questions import PLAIN, USED
from statecomp.exam.sitting import ExamSheet, Paper
from statecomp.exam.spans import HALVES

ALL = "all"


@dataclass(frozen=True)
class Shares:
    """How many questions were answered how."""

    right: int = 0
    missing: int = 0
    misleading: int = 0

    @property
    def asked(self) -> int:
        return self.right + self.missing + self.misleading

    def plus(self, outcome: ReaderOutcome) -> Shares:
        return Shares(
            self.right + (outcome is ReaderOutcome.RIGHT),
            self.missing + (outcome is ReaderOutcome.MISSING),
            self.misleading + (outcome is ReaderOutcome.MISLEADING),
        )

    def as_json(self) -> dict[str, Any]:
        whole = max(1, self.asked)
        return {
            "n": self.asked,
            "right": self.right / whole,
            "missing": self.missing / whole,
            "misleading": self.misleading / whole,
        }


Place = tuple[str, str, str]
"""Half, stratum, kind; each may be ALL."""


@dataclass
class ExamTally:
    """All sheets of one writer."""

    shares: dict[Place, Shares] = field(default_factory=dict)
    source_tokens: int = 0
    record_tokens: int = 0
    spans: int = 0
    refused: int = 0
    misled: int = 0
    integrity: dict[str, Integrity] = field(default_factory=dict)
    false_failed: dict[str, Share] = field(default_factory=dict)

    def add(self, paper: Paper, sheet: ExamSheet) -> None:
        if sheet.refused:
            self.refused += 1
            return
        self.spans += 1
        self.source_tokens += paper.source_tokens
        self.record_tokens += sheet.tokens
        self.misled += any(found.outcome is ReaderOutcome.MISLEADING for found in sheet.findings)
        for half in (paper.half, ALL):
            self.integrity[half] = self.integrity.get(half, WHOLE) + sheet.integrity
            self.false_failed[half] = self.false_failed.get(half, NONE) + sheet.false_failed
        for question, finding in zip(paper.questions, sheet.findings, strict=True):
            for place in _places(paper.half, question.stratum, question.kind):
                self.shares[place] = self.shares.get(place, Shares()).plus(finding.outcome)

    @property
    def kept(self) -> float:
        return self.record_tokens / max(1, self.source_tokens)

    def rows(self) -> Iterator[tuple[Place, Shares]]:
        """Kinds and strata over both halves, then the halves."""
        kinds = (*map(str, FactKind), ALL)
        order = [(ALL, stratum, kind) for stratum in (USED, PLAIN, ALL) for kind in kinds]
        order += [(half, ALL, ALL) for half in HALVES]
        return ((place, self.shares[place]) for place in order if place in self.shares)

    def as_json(self) -> dict[str, Any]:
        return {
            "tokens_kept": self.kept,
            "spans": self.spans,
            "refused": self.refused,
            "spans_with_something_misleading": self.misled,
            "label_integrity": {h: _share(i.labelled) for h, i in self.integrity.items()},
            "owner_integrity": {h: _share(i.owned) for h, i in self.integrity.items()},
            "false_failed": {h: _share(s) for h, s in self.false_failed.items()},
            "shares": [
                {"half": half, "stratum": stratum, "kind": kind, **shares.as_json()}
                for (half, stratum, kind), shares in sorted(self.shares.items())
            ],
        }


def tallies(papers: Iterable[Paper], writers: Sequence[str]) -> Mapping[str, ExamTally]:
    found = {name: ExamTally() for name in writers}
    for paper in papers:
        for name, sheet in paper.sheets.items():
            if name in found:
                found[name].add(paper, sheet)
    return found


def _places(half: str, stratum: str, kind: str) -> Iterator[Place]:
    return ((h, s, str(k)) for h in (half, ALL) for s in (stratum, ALL) for k in (kind, ALL))


def _share(share: Share) -> dict[str, int]:
    return {"part": share.part, "whole": share.whole}
