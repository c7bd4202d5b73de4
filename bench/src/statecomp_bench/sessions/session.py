"""A session: what a person asks for, one thing after the other, in one conversation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from statecomp.errors import BadInput, StateCompError
from statecomp.strategy import Strategy
from statecomp.tokens import ESTIMATE, TokenCounter
from statecomp.wire.providers import wire_named
from statecomp_bench.agent import Agent, AgentRun
from statecomp_bench.environment import Environment
from statecomp_bench.models import Model
from statecomp_bench.outside import OutsideWorld
from statecomp_bench.sandbox import Sandbox, SandboxLimits
from statecomp_bench.suite import PROTOCOL, checked
from statecomp_bench.task import Case, Score


@dataclass(frozen=True)
class Errand:
    """One request of a session: a greeting, and a case whose files come with it.

    One that looks back may take its values from what earlier errands brought up.
    """

    name: str
    greeting: str
    case: Case
    looks_back: bool = False

    @property
    def words(self) -> str:
        return f"{self.greeting}\n\n{self.case.instruction}"


@dataclass(frozen=True)
class WorkSession:
    name: str
    errands: tuple[Errand, ...]

    def __post_init__(self) -> None:
        given = [path for errand in self.errands for path in errand.case.files]
        if twice := {path for path in given if given.count(path) > 1}:
            # What one errand left would be gone when the next one begins.
            raise BadInput(f"has two errands that bring {min(twice)}", field=self.name)


@dataclass
class Held:
    """A session as it was held; `scores` are of each errand when it was done."""

    run: AgentRun = field(default_factory=lambda: AgentRun([]))
    scores: dict[str, Score] = field(default_factory=dict)
    reasons: dict[str, str] = field(
        default_factory=dict
    )  # why an errand was not ended by the agent
    protection: str = ""

    @property
    def rewards(self) -> Mapping[str, float]:
        return {name: score.reward for name, score in self.scores.items()}


def hold(
    session: WorkSession,
    model: Model,
    strategy: Strategy,
    *,
    count: TokenCounter = ESTIMATE,
    limits: SandboxLimits | None = None,
    unprotected: bool = False,
    max_steps: int = 0,
    held: Held | None = None,
) -> Held:
    """One agent and one workspace for all of it.

    An errand that fails is scored as it stands, with the reason, and the person goes on.
    `max_steps` ends every errand; 0: as its case says.
    """
    held = held or Held()
    with Sandbox(limits, unprotected=unprotected) as sandbox:
        held.protection = str(sandbox.protection)
        scenes = [scene for errand in session.errands for scene in errand.case.scenes]
        environment = Environment(sandbox, OutsideWorld(scenes))
        agent = Agent(model, strategy, environment, wire_named(PROTOCOL), count)
        agent.begin(held.run)
        for errand in session.errands:
            errand.case.write(sandbox.root)
            try:
                agent.go_on(held.run, errand.words, max_steps or errand.case.max_steps)
                reason = held.run.ended
            except StateCompError as error:
                reason = str(error)
            if reason:
                held.reasons[errand.name] = reason
            held.scores[errand.name] = checked(errand.case, sandbox, environment.outside.calls)
    return held
