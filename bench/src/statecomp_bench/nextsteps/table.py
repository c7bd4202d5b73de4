"""What readers made of each strategy's views."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from statecomp_bench.nextsteps.answers import NextAnswer, Verdict, answered, verdicts_of, written
from statecomp_bench.nextsteps.folder import MomentPage, NextFolder


@dataclass(frozen=True)
class NextLine:
    """One strategy over the moments that have been judged."""

    strategy: str
    count: int
    tokens: float
    good: int
    less: int
    wrong: int
    missing: float
    misleading: int
    looks_up: int

    @property
    def score(self) -> float:
        """The mean score, of 2."""
        return (2 * self.good + self.less) / self.count if self.count else 0.0


def lines(folder: NextFolder) -> list[NextLine]:
    answers = {page.name: answer for page, answer in answered(folder)}
    verdicts = judged(folder)
    groups: dict[str, list[MomentPage]] = {}
    for page in folder.require():
        if page.name in verdicts:
            groups.setdefault(page.strategy, []).append(page)
    return [_line(spec, pages, answers, verdicts) for spec, pages in groups.items()]


def judged(folder: NextFolder) -> dict[str, Verdict]:
    """Verdicts by page, of the moments in which every page has one: pairs must be whole."""
    found: dict[str, Verdict] = {}
    for moment, letters in folder.letters().items():
        given, problem = verdicts_of(written(folder.verdict_file(moment)) or "", letters)
        if not problem:
            found.update(given)
    return found


def problems(folder: NextFolder) -> Iterator[str]:
    """What was answered or judged and cannot be used as it should."""
    for page, answer in answered(folder):
        if answer.problem:
            yield f"page {page.name}: {answer.problem}"
    for moment, letters in folder.letters().items():
        text = written(folder.verdict_file(moment))
        if text is not None and (problem := verdicts_of(text, letters)[1]):
            yield f"verdict {moment}: {problem}"


def _line(
    strategy: str,
    pages: Sequence[MomentPage],
    answers: Mapping[str, NextAnswer],
    verdicts: Mapping[str, Verdict],
) -> NextLine:
    scores = [verdicts[page.name].score for page in pages]
    given = [answers[page.name] for page in pages]
    return NextLine(
        strategy,
        len(pages),
        fmean(page.tokens for page in pages),
        scores.count(2),
        scores.count(1),
        scores.count(0),
        fmean(len(answer.missing) for answer in given),
        sum(bool(answer.misleading) for answer in given),
        sum(verdicts[page.name].looks_up for page in pages),
    )
