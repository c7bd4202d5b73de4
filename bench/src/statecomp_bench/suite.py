"""Runs of the bench: one order in, one result out, whatever goes wrong in between."""

from __future__ import annotations

import gzip
import json
import re
import stat
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from statecomp.controller.prices import Prices
from statecomp.errors import StateCompError
from statecomp.history.trajectory import Trajectory
from statecomp.replays.accounting import dollars_of
from statecomp.strategy import Strategy, StrategyFactory
from statecomp.tokens import ESTIMATE, TokenCounter
from statecomp.wire.openai_chat.wire import calls_of
from statecomp.wire.providers import wire_named
from statecomp_bench.agent import Agent, AgentRun
from statecomp_bench.environment import NAMES, Environment
from statecomp_bench.models import Model
from statecomp_bench.outside import OutsideWorld
from statecomp_bench.results import TRAJECTORIES, Key, Result
from statecomp_bench.sandbox import Sandbox, SandboxLimits
from statecomp_bench.task import Artefacts, Case, Score, Task
from statecomp_bench.tasks import task_named

PROTOCOL = "openai-chat"
SCRIPTED = "scripted"

OpenModel = Callable[[Case, int, Strategy], Model]


@dataclass(frozen=True, slots=True)
class RunOrder:
    """One run to be made; everything in it can cross to another process."""

    task: str
    strategy: str
    seed: int
    model: str
    level: int

    @property
    def key(self) -> Key:
        return self.task, self.strategy, self.seed, self.model, self.level

    @property
    def file_name(self) -> str:
        spec = re.sub(r"[^\w=.,-]+", "_", f"{self.strategy}.{self.model}")
        return f"{self.task}.{spec}.s{self.seed}.l{self.level}.jsonl.gz"


@dataclass(frozen=True)
class Conditions:
    """What all runs of a suite share."""

    prices: Prices
    count: TokenCounter = ESTIMATE
    limits: SandboxLimits = field(default_factory=SandboxLimits)
    max_steps: int = 0  # 0: as the case says
    unprotected: bool = False


class Named(Protocol):
    """A task, or a session of several."""

    @property
    def id(self) -> str: ...


def orders(
    tasks: Iterable[Named],
    strategies: Sequence[str],
    seeds: Sequence[int],
    model: str,
    level: int,
    done: Iterable[Key] = (),
) -> list[RunOrder]:
    """Every run that is not done, task by task, so that a stopped suite has whole rows."""
    known = set(done)
    every = [
        RunOrder(task.id, strategy, seed, model, level)
        for task in tasks
        for seed in seeds
        for strategy in strategies
    ]
    return [order for order in every if order.key not in known]


@dataclass
class Attempt:
    """A run as far as it came; a failure leaves what was there."""

    run: AgentRun = field(default_factory=lambda: AgentRun([]))
    score: Score = field(default_factory=Score)
    reason: str = ""
    failed: bool = False
    protection: str = ""
    seconds: float = 0.0
    notes: dict[str, int] = field(default_factory=dict)


def run_order(
    order: RunOrder,
    factory: StrategyFactory,
    open_model: OpenModel,
    conditions: Conditions,
    folder: Path | None = None,
) -> Result:
    """One run, scored.  Never raises for what a strategy, a model, a tool or a disk does."""
    task = task_named(order.task)

    def work(attempt: Attempt) -> None:
        _attempt(attempt, task, order, factory, open_model, conditions)

    return recorded(order, task.domain, work, conditions, folder)


def recorded(
    order: RunOrder,
    domain: str,
    work: Callable[[Attempt], None],
    conditions: Conditions,
    folder: Path | None,
) -> Result:
    """What a run came to, whatever it raised; its trajectory is put into the folder."""
    attempt = Attempt()
    started = time.monotonic()
    try:
        work(attempt)
    except StateCompError as error:
        attempt.reason, attempt.failed = str(error), True
    except Exception as error:  # noqa: BLE001  a full disk, a broken task: one run, not the suite
        attempt.reason, attempt.failed = f"{type(error).__name__}: {error}", True
    attempt.seconds = round(time.monotonic() - started, 3)
    result = _result(order, domain, attempt, conditions)
    if folder is not None:
        write_trajectory(folder, order, attempt.run, result)
    return result


def _attempt(
    attempt: Attempt,
    task: Task,
    order: RunOrder,
    factory: StrategyFactory,
    open_model: OpenModel,
    conditions: Conditions,
) -> None:
    case = task.case(order.seed, order.level)
    wire = wire_named(PROTOCOL)
    with Sandbox(conditions.limits, unprotected=conditions.unprotected) as sandbox:
        attempt.protection = str(sandbox.protection)
        case.write(sandbox.root)
        strategy = factory(Trajectory(order.file_name, (), group=task.id), wire)
        model = open_model(case, order.seed, strategy)
        environment = Environment(sandbox, OutsideWorld(case.scenes))
        agent = Agent(model, strategy, environment, wire, conditions.count)
        agent.run(case.instruction, conditions.max_steps or case.max_steps, attempt.run)
        attempt.reason = attempt.run.ended
        attempt.score = checked(case, sandbox, environment.outside.calls)


def checked(case: Case, sandbox: Sandbox, calls: Iterable[str] = ()) -> Score:
    """The checker's word on what a run left; only plain files and folders are looked at."""
    for path in sandbox.root.rglob("*"):
        if not stat.S_ISREG(mode := path.lstat().st_mode) and not stat.S_ISDIR(mode):
            path.unlink()  # a pipe would block its reader, a link lead out of the workspace
    return case.check(
        Artefacts(
            sandbox.root, lambda code: sandbox.call("python", {"code": code}).text, tuple(calls)
        )
    )


def _result(order: RunOrder, domain: str, attempt: Attempt, conditions: Conditions) -> Result:
    requests = attempt.run.requests
    bill, prices = attempt.run.bill, conditions.prices
    score = Score() if attempt.failed else attempt.score
    return Result(
        task=order.task,
        domain=domain,
        strategy=order.strategy,
        seed=order.seed,
        model=order.model,
        level=order.level,
        reward=round(score.reward, 6),
        parts={part.name: part.value for part in score.parts},
        steps=len(requests),
        input=bill.input,
        cached=bill.cached,
        output=bill.output,
        side_input=bill.side_input,
        side_output=bill.side_output,
        side_calls=bill.side_calls,
        raw_input=sum(request.raw for request in requests),
        dollars=round(dollars_of((request.bill for request in requests), prices), 6),
        prices=f"{prices.model} of {prices.as_of}",
        damage=sum(request.damage for request in requests),
        rewrites=sum(request.damage > 0 for request in requests),
        commits=sum(request.commits for request in requests),
        refusals=sum(request.refusals for request in requests),
        failed=attempt.failed,
        reason=attempt.reason,
        simulated=order.model.partition(":")[0] == SCRIPTED,
        protection=attempt.protection,
        seconds=attempt.seconds,
        tokens=tuple(request.bill.input for request in requests),
        raw_tokens=tuple(request.raw for request in requests),
        first_changes=tuple(request.first_change for request in requests),
        notes={**_notes(attempt.run), **attempt.notes},
    )


def _notes(run: AgentRun) -> dict[str, int]:
    """How often the agent called tools, did the same again, and was refused."""
    calls = [
        (call.name, call.arguments)
        for message in run.messages
        if message["role"] == "assistant"
        for call in calls_of(message)
    ]
    answers = [str(m["content"]) for m in run.messages if m["role"] == "tool"]
    return {
        "calls": len(calls),
        "repeated": len(calls) - len(set(calls)),
        "refused": sum(text.startswith("error:") for text in answers),
        "of the strategy": sum(name not in NAMES for name, _ in calls),
    }


def write_trajectory(folder: Path, order: RunOrder, run: AgentRun, result: Result) -> None:
    """The raw messages in our own layout, and what became of each interaction at each request."""
    path = folder / TRAJECTORIES / order.file_name
    path.parent.mkdir(parents=True, exist_ok=True)
    record = {
        "id": order.file_name.removesuffix(".jsonl.gz"),
        "domain": result.domain,
        "group": order.task,
        "protocol": PROTOCOL,
        "source": "statecomp bench",
        "simulated": result.simulated,
        "strategy": order.strategy,
        "seed": order.seed,
        "level": order.level,
        "model": order.model,
        "reward": result.reward,
        "reason": result.reason,
        "standing": [request.standing for request in run.requests],
        "messages": run.messages,
    }
    path.write_bytes(gzip.compress(json.dumps(record).encode() + b"\n", mtime=0))
