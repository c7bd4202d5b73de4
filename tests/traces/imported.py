"""Fixtures in other tools' layouts become runs here, and every run must be one a wire accepts."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from statecomp.errors import BadInput
from statecomp.history.history import History
from statecomp.history.trajectory import Trajectory
from statecomp.traces.format import Format
from statecomp.traces.formats import format_of
from statecomp.traces.jsonl import run_of
from statecomp.traces.records import as_record
from statecomp.wire.assemble import parse
from statecomp.wire.providers import wire_named


def imported(expected: Format, records: list[Any], source: str = "x.json") -> list[Trajectory]:
    """The runs of some records, which must be told to be of this format; nothing is refused."""
    assert format_of(records) is expected
    runs, problems = both(expected.runs(records, source))
    assert not problems
    for run in runs:
        history_of(run)
    return runs


def both(found: Iterable[Trajectory | BadInput]) -> tuple[list[Trajectory], list[str]]:
    found = list(found)
    return (
        [run for run in found if isinstance(run, Trajectory)],
        [str(problem) for problem in found if isinstance(problem, BadInput)],
    )


def history_of(run: Trajectory) -> History:
    """The run as a history, after the way over a file; only a last call may be open."""
    again = run_of(json.loads(json.dumps(as_record(run))))
    assert again.protocol == run.protocol
    wire = wire_named(run.protocol)
    found = [v for v in wire.check(again.messages) if v.rule != "unanswered-call"]
    assert not found, found
    history = parse(again.messages, wire)
    assert all(not i.locked or i is history.interactions[-1] for i in _open(history))
    return history


def _open(history: History) -> list[Any]:
    return [i for i in history.interactions if "no result yet" in i.locked]


def texts(run: Trajectory) -> str:
    return json.dumps(list(run.messages), ensure_ascii=False)


def recorded(run: Trajectory) -> dict[str, Any]:
    found: dict[str, Any] = run.about["recorded"]
    return found
