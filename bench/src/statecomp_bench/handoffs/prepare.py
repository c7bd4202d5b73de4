"""Tasks run to a point by the scripted model, uncompressed, and each strategy's view of that.

Every view of a moment shows the same history in the same workspace; nothing else differs.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from statecomp.baselines.none import NoCompression
from statecomp.errors import BadInput
from statecomp.history.interaction import JsonObject
from statecomp.history.trajectory import Trajectory
from statecomp.strategy import StrategyFactory
from statecomp.wire.assemble import parse
from statecomp.wire.providers import wire_named
from statecomp_bench.acting import ScriptedModel
from statecomp_bench.agent import Agent, AgentRun
from statecomp_bench.environment import Environment
from statecomp_bench.habits import Habits
from statecomp_bench.handoffs.folder import Handoff, HandoffFolder, moment_name
from statecomp_bench.outside import OutsideWorld
from statecomp_bench.readers.blind import opaque
from statecomp_bench.readers.views import page, shown_after
from statecomp_bench.sandbox import OWN, Sandbox
from statecomp_bench.suite import PROTOCOL, Conditions
from statecomp_bench.task import Case
from statecomp_bench.tasks import task_named


@dataclass(frozen=True, slots=True)
class Occasion:
    """A task that is handed over at some points, under some strategies."""

    task: str
    seed: int
    level: int
    points: tuple[float, ...]
    strategies: tuple[str, ...]


def prepared(
    folder: HandoffFolder,
    occasion: Occasion,
    factories: Mapping[str, StrategyFactory],
    conditions: Conditions,
    known: Sequence[Handoff] = (),
) -> Iterator[Handoff]:
    """Every hand-off of an occasion that is not known; the files are there when it comes out."""
    there = {(h.moment, h.strategy) for h in known}
    case = task_named(occasion.task).case(occasion.seed, occasion.level)
    steps = 0
    for point in occasion.points:
        name = moment_name(occasion.task, occasion.seed, occasion.level, point)
        wanted = [spec for spec in occasion.strategies if (name, spec) not in there]
        if not wanted:
            continue
        steps = steps or len(_run(case, occasion.seed, conditions, None, 0).requests)
        step = max(1, min(steps - 1, round(point * steps)))
        place = folder.moment(name)
        messages = _run(case, occasion.seed, conditions, place, step).messages
        (place / "history.json").write_text(json.dumps(messages), "utf-8")
        for spec in wanted:
            yield _handoff(folder, occasion, point, (step, steps), spec, factories[spec], messages)


def _run(case: Case, seed: int, conditions: Conditions, place: Path | None, step: int) -> AgentRun:
    """The case up to a step, or to its end; what it leaves is put at `place`."""
    with Sandbox(conditions.limits, unprotected=conditions.unprotected) as sandbox:
        case.write(sandbox.root)
        agent = Agent(
            ScriptedModel(case.plan, Habits(), seed),
            NoCompression(),
            Environment(sandbox, OutsideWorld(case.scenes)),
            wire_named(PROTOCOL),
            conditions.count,
        )
        run = agent.run(case.instruction, step or case.max_steps)
        if not step and run.ended:
            raise BadInput(f"does not end: {run.ended}", field="the task")
        if place is not None:
            copied(sandbox.root.parent, place)
    return run


def copied(source: Path, target: Path) -> None:
    """A workspace with its home and temporary files; a link stays a link and leads nowhere new."""
    for name in OWN:
        shutil.rmtree(target / name, ignore_errors=True)
        shutil.copytree(source / name, target / name, symlinks=True)


def _handoff(
    folder: HandoffFolder,
    occasion: Occasion,
    point: float,
    steps: tuple[int, int],
    spec: str,
    factory: StrategyFactory,
    messages: Sequence[JsonObject],
) -> Handoff:
    wire, name = wire_named(PROTOCOL), opaque()
    run = Trajectory(occasion.task, tuple(messages), PROTOCOL, group=occasion.task)
    shown = shown_after(parse(messages, wire), factory(run, wire), wire)
    place = folder.page(name)
    place.mkdir(parents=True)
    (place / "view.json").write_text(json.dumps(shown.messages), "utf-8")
    (place / "view.md").write_text(page(shown.messages), "utf-8", "replace")
    return Handoff(
        name,
        occasion.task,
        occasion.seed,
        occasion.level,
        point,
        spec,
        *steps,
        shown.tokens,
        shown.raw,
    )
