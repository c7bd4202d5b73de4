"""Pages for judges: the whole history, what was done, and the answers under letters."""

from __future__ import annotations

from random import Random
from string import ascii_uppercase

from statecomp_bench.desk.question import fenced
from statecomp_bench.nextsteps.answers import NextAnswer, answered, verdicts_of, written
from statecomp_bench.nextsteps.folder import NextFolder, put
from statecomp_bench.nextsteps.prepare import template
from statecomp_bench.readers.lines import append_line


def judging_pages(folder: NextFolder) -> list[str]:
    """A page for each moment whose readers have all answered; those that were made stay."""
    answers = {page.name: answer for page, answer in answered(folder)}
    known, made = folder.letters(), []
    for moment, pages in folder.by_moment().items():
        names = [page.name for page in pages]
        if moment in known or not answers.keys() >= set(names):
            continue
        Random(moment).shuffle(names)
        letters = dict(zip(ascii_uppercase, names, strict=False))
        put(folder.judging_file(moment), _page(folder, moment, letters, answers))
        append_line(folder.path / "letters.jsonl", {"moment": moment, "letters": letters})
        made.append(moment)
    return made


def _page(
    folder: NextFolder, moment: str, letters: dict[str, str], answers: dict[str, NextAnswer]
) -> str:
    facts = folder.facts(moment)
    shown = (f"## {letter}\n\n{fenced(answers[name].action)}" for letter, name in letters.items())
    return template("judge.md").substitute(
        count=len(letters),
        view=facts["history"],
        recorded=facts["recorded"],
        uses="; ".join(facts["uses"]),
        answers="\n".join(shown),
    )


def unjudged(folder: NextFolder) -> list[str]:
    """Moments with a page for judges and no usable verdict."""
    return [
        moment
        for moment, letters in folder.letters().items()
        if verdicts_of(written(folder.verdict_file(moment)) or "", letters)[1]
    ]
