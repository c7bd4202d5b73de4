"""Recorded runs to KEEP/READY labels: by rules over identifiers, or by a chat model."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from statecomp.annotation.asking import CONCURRENCY, WINDOW_TOKENS
from statecomp.annotation.chat import ChatAnnotator
from statecomp.annotation.dataflow import Dataflow
from statecomp.annotation.journal import Journal
from statecomp.annotation.pipeline import Annotated
from statecomp.annotation.pipeline import annotate as annotate_reading
from statecomp.annotation.records import Reading
from statecomp.errors import BadInput, StateCompError
from statecomp.history.trajectory import Trajectory
from statecomp.llm.chat import Chat
from statecomp.pipelines.runs import ChosenRuns, OnBad, Runs, held, stop
from statecomp.workers.engine import Engine, Spared, Watch, unwatched
from statecomp.workers.local import IN_PROCESS


def annotate(
    runs: Runs,
    *,
    chat: Chat | None = None,
    journal: str | Path | None = None,
    concurrency: int = CONCURRENCY,
    window: int = WINDOW_TOKENS,
) -> list[Annotated]:
    """The labels of recorded runs, with what they rest on.

    Without a `chat`, rules over identifiers judge, and no model is asked.  With one, every answer
    is in the `journal` before it is used, so that a stopped annotation goes on where it was.
    `window` is how many tokens the model reads at once.
    """
    source = ChosenRuns.of(runs)
    if chat is None:
        return by_dataflow(source)
    if journal is None:
        raise BadInput("is needed with a chat: answers are paid for once", field="journal")
    readings = [Reading.of(run) for run in held(source)]
    with Journal(Path(journal)) as notes:
        annotator = ChatAnnotator(chat, notes, concurrency, window)
        return [annotate_reading(reading, annotator) for reading in readings]


@dataclass(frozen=True)
class DataflowJob:
    """One run to its labels, wherever that is done; judgments are many and seldom wanted."""

    judgments: bool

    def __call__(self, run: Trajectory | BadInput) -> Annotated:
        if isinstance(run, BadInput):
            raise run
        made = annotate_reading(Reading.of(run), Dataflow())
        return made if self.judgments else replace(made, judgments=())


def by_dataflow(
    source: ChosenRuns,
    engine: Engine = IN_PROCESS,
    *,
    judgments: bool = True,
    on_bad: OnBad = stop,
    watch: Watch = unwatched,
) -> list[Annotated]:
    """Labels by rules, wherever the engine runs; a run that cannot be read is told to `on_bad`."""
    done = []
    for outcome in engine.map(Spared(DataflowJob(judgments)), source, watch=watch):
        if isinstance(outcome, BadInput):
            on_bad(outcome)
        elif isinstance(outcome, StateCompError):
            raise outcome
        else:
            done.append(outcome)
    if not done:
        raise source.nothing()
    return done


def by_chat(
    readings: Iterable[Reading],
    annotator: ChatAnnotator,
    on_failed: Callable[[Reading, StateCompError], None],
) -> Iterator[Annotated]:
    """Labels by a model, one run after the other; one that fails is told, and the next goes on."""
    for reading in readings:
        try:
            yield annotate_reading(reading, annotator)
        except BadInput:
            raise  # the journal cannot be written: going on would pay for lost answers
        except StateCompError as error:
            on_failed(reading, error)
