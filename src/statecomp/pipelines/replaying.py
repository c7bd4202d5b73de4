"""Strategies over recorded runs: what each would have sent, saved and broken."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import compress
from pathlib import Path
from typing import Any

from statecomp.annotation.labels import Labels, labels_in
from statecomp.config import Settings, strategy_factory
from statecomp.config.folds import SameRouters, same_routers
from statecomp.controller.prices import Prices, shipped_prices
from statecomp.errors import BadInput
from statecomp.history.trajectory import Trajectory
from statecomp.pipelines.runs import ChosenRuns, OnBad, Runs, stop
from statecomp.replays.document import replay_document
from statecomp.replays.report import report_data, report_html
from statecomp.replays.run import NO_LABELS, RunReplay, Survey, replay_run, survey
from statecomp.replays.safety import common_identifiers
from statecomp.replays.sessions import batches, checked, joined
from statecomp.replays.table import StrategyRow, rows
from statecomp.replays.timing import LabelSource
from statecomp.tokens import TokenCounter, counter_for
from statecomp.workers.engine import Engine, Progress, silent
from statecomp.workers.local import IN_PROCESS

DEFAULT = ("statecomp",)


@dataclass(frozen=True)
class Replayed:
    """Every run under every strategy, and what the dollars and labels are those of."""

    runs: tuple[RunReplay, ...]
    prices: Prices
    count: TokenCounter
    labels: LabelSource | None = None

    @property
    def rows(self) -> Sequence[StrategyRow]:
        """The table: one row for each strategy, the uncompressed runs first."""
        return rows(self.runs, self.prices)

    def document(self) -> dict[str, Any]:
        """All numbers, as `statecomp replay --json` writes them."""
        return replay_document(self.runs, self.prices, self.count, self.labels)

    def report(self, title: str = "replay") -> str:
        """One self-contained page, as `statecomp replay --report` writes it."""
        counter = self.count.name
        data = report_data(self.runs, self.prices, title=title, counter=counter, labels=self.labels)
        return report_html(data)


@dataclass(frozen=True)
class LabelFile:
    """Labels, and the file they are from where there is one."""

    labels: Labels = field(default_factory=dict)
    file: str = ""

    @classmethod
    def of(cls, given: Labels | str | Path | None) -> LabelFile:
        if not isinstance(given, str | Path):
            return cls(given or NO_LABELS)
        return cls(labels_in(Path(given)), str(given))

    @property
    def source(self) -> LabelSource | None:
        name = Path(self.file).name or "labels given in Python"
        return LabelSource.of(name, self.labels) if self.labels else None

    def check(self, surveys: Sequence[Survey]) -> None:
        """Labels of other runs are found out before any work is done."""
        known = [found for found in surveys if found.id in self.labels]
        if self.labels and not known:
            problem = "holds no label of these runs; their ids must be the same"
            raise BadInput(problem, file=self.file)
        try:
            for found in known:
                checked(self.labels[found.id], found.interactions)
        except BadInput as problem:
            raise problem.at(file=self.file) from problem


def replay(
    runs: Runs,
    strategies: str | Sequence[str] = DEFAULT,
    *,
    labels: Labels | str | Path | None = None,
    join: int | None = None,
    breaks: bool = False,
    model: str = "",
    prices: Prices | None = None,
    tokenizer: str = "",
) -> Replayed:
    """What strategies would have sent, saved and broken on recorded runs.

    A strategy is written as on the command line (`statecomp strategies` lists them).  With `labels`
    the replay says how much was replaced before its time.  With `join`, every so many runs become
    one long session, and with `breaks` the provider's cache runs out between them.  `model` says
    whose tokenizer and prices count.
    """
    specs = (strategies,) if isinstance(strategies, str) else tuple(strategies)
    billed = prices or shipped_prices().of(model)
    task = ReplayTask(
        specs,
        billed,
        LabelFile.of(labels),
        model=model,
        tokenizer=tokenizer,
        join=join,
        breaks=breaks,
    )
    return task.over(ChosenRuns.of(runs))


@dataclass(frozen=True)
class ReplayTask:
    """What is to be replayed, apart from the runs and where the work is done."""

    specs: tuple[str, ...]
    prices: Prices
    labelled: LabelFile = field(default_factory=LabelFile)
    model: str = ""
    tokenizer: str = ""
    join: int | None = None
    breaks: bool = False
    keep_messages: bool = False

    def __post_init__(self) -> None:
        """A wrong strategy is known before any work is done."""
        if self.breaks and not self.join:
            raise BadInput("there are breaks between runs that are joined: say --join too")
        for spec in self.specs:
            strategy_factory(spec, Settings(self.count, os.environ, self.prices))

    @property
    def count(self) -> TokenCounter:
        return counter_for(self.model, tokenizer=self.tokenizer)

    def over(
        self,
        source: ChosenRuns,
        engine: Engine = IN_PROCESS,
        progress: Progress = silent,
        on_bad: OnBad = stop,
    ) -> Replayed:
        """Reads the runs twice rather than hold every one: what is common is known at the end."""
        surveys = _surveyed(source, engine, progress, on_bad)
        known = [found for found in surveys if isinstance(found, Survey)]
        if not known:
            raise BadInput("not one run could be read as a history; `statecomp lint` says why")
        self.labelled.check(known)
        common = common_identifiers((found.group, found.names) for found in known)
        again = (run for run in source if isinstance(run, Trajectory))
        sound = compress(again, [isinstance(found, Survey) for found in surveys])
        items, total = self._items(sound, known)
        with progress("replaying", total) as watch:
            results = tuple(engine.map(ReplayJob(self, common), items, watch=watch))
        if sum(result.recorded for result in results) != len(known):
            raise BadInput("the runs changed while they were read; start again")
        return Replayed(results, self.prices, self.count, self.labelled.source)

    def _items(
        self, sound: Iterable[Trajectory], known: Sequence[Survey]
    ) -> tuple[Iterable[Trajectory], int]:
        if not self.join:
            return sound, len(known)
        together = same_routers(self.specs)
        total = sum(1 for _ in batches(known, self.join, together))
        if total == len(known):
            raise _nothing_joins(together)
        return joined(sound, self.join, together), total


@dataclass(frozen=True)
class ReplayJob:
    """One run through all strategies; everything in it can cross to another process."""

    task: ReplayTask
    common: frozenset[str]

    def __call__(self, run: Trajectory) -> RunReplay:
        count = self.task.count
        settings = Settings(count, os.environ, self.task.prices)
        return replay_run(
            run,
            {spec: strategy_factory(spec, settings) for spec in self.task.specs},
            self.common,
            labels=self.task.labelled.labels,
            count=count,
            breaks=self.task.breaks,
            keep_messages=self.task.keep_messages,
        )


def _nothing_joins(together: SameRouters) -> BadInput:
    router = " and a router that has not seen them" if together.folders else ""
    return BadInput(
        f"no two of these runs share a protocol{router}, so none can be joined; leave --join out"
    )


def _surveyed(
    source: ChosenRuns, engine: Engine, progress: Progress, on_bad: OnBad
) -> list[Survey | BadInput]:
    """For each run that can be read what is in it, or why it is no history."""

    def readable() -> Iterator[Trajectory]:
        for run in source:
            if isinstance(run, BadInput):
                on_bad(run)
            else:
                yield run

    with progress("reading", None) as watch:
        outcomes = [*engine.map(_survey, readable(), watch=watch)]
        if not outcomes:
            raise source.nothing()
        # After all were read, so that the first complaint is the same on every engine.
        for outcome in outcomes:
            if isinstance(outcome, BadInput):
                on_bad(outcome)
    return outcomes


def _survey(run: Trajectory) -> Survey | BadInput:
    """Also the place where a run that is no history is found out, before any work is done."""
    try:
        return survey(run)
    except BadInput as problem:
        return problem
