"""Sessions as runs of the bench: an order in, a result out; each errand is a part of the score."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TypeAlias

from statecomp.annotation.labels import Label
from statecomp.history.trajectory import Trajectory
from statecomp.strategy import Strategy, StrategyFactory
from statecomp.wire.providers import wire_named
from statecomp_bench.models import Model
from statecomp_bench.results import Result
from statecomp_bench.sessions.book import MIXED, session_named
from statecomp_bench.sessions.session import Held, WorkSession, hold
from statecomp_bench.sessions.truth import true_labels
from statecomp_bench.suite import PROTOCOL, Attempt, Conditions, RunOrder, recorded
from statecomp_bench.task import Part, Score

OpenSession: TypeAlias = Callable[[WorkSession, int, Strategy], Model]


def run_session(
    order: RunOrder,
    factory: StrategyFactory,
    open_model: OpenSession,
    conditions: Conditions,
    folder: Path | None = None,
) -> Result:
    """One session, scored by the mean of its errands; an errand that failed says why."""

    def work(attempt: Attempt) -> None:
        session = session_named(order.task).session(order.seed, order.level)
        strategy = factory(Trajectory(order.file_name, (), group=order.task), wire_named(PROTOCOL))
        held = Held(run=attempt.run)
        hold(
            session,
            open_model(session, order.seed, strategy),
            strategy,
            count=conditions.count,
            limits=conditions.limits,
            unprotected=conditions.unprotected,
            max_steps=conditions.max_steps,
            held=held,
        )
        attempt.protection = held.protection
        attempt.reason = "; ".join(f"{name}: {reason}" for name, reason in held.reasons.items())
        attempt.score = Score(tuple(Part(n, 1.0, r) for n, r in held.rewards.items()))
        labels = true_labels(order.task, session, held.run.messages)
        attempt.notes = timing(labels, [request.standing for request in held.run.requests])

    return recorded(order, MIXED, work, conditions, folder)


def timing(labels: Iterable[Label], standings: Sequence[str]) -> dict[str, int]:
    """How many interactions were replaced, and how many of them while a later step needed them.

    Edited ones are not counted: how much of them is left nobody can say.
    """
    first: dict[int, int] = {}
    for standing in standings:
        for number, letter in enumerate(standing, start=1):
            if letter in "s-":
                first.setdefault(number, len(standing) + 1)
    known = {label.number: label for label in labels}
    early = sum(n in known and not known[n].ready(at) for n, at in first.items())
    return {"replaced": len(first), "too early": early}
