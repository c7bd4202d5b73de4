"""A session: what a person asks for, one thing after the other, in one conversation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from statecomp.strategy import Strategy
from statecomp.tokens import ESTIMATE, TokenCounter
from statecomp.wire.providers import wire_named
from statecomp_bench.agent import Agent, Run
from statecomp_bench.environment import Environment
from statecomp_bench.models import Model
from statecomp_bench.sandbox import Sandbox
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
class Session:
    name: str
    errands: tuple[Errand, ...]


@dataclass
class Held:
    """A session as it was held; `scores` are of each errand when it was done."""

    run: Run = field(default_factory=lambda: Run([]))
    scores: dict[str, Score] = field(default_factory=dict)

    @property
    def rewards(self) -> Mapping[str, float]:
        return {name: score.reward for name, score in self.scores.items()}


def hold(
    session: Session,
    model: Model,
    strategy: Strategy,
    *,
    count: TokenCounter = ESTIMATE,
    unprotected: bool = False,
) -> Held:
    """One agent and one workspace for all of it; raises what a run raises."""
    held = Held()
    with Sandbox(unprotected=unprotected) as sandbox:
        agent = Agent(model, strategy, Environment(sandbox), wire_named(PROTOCOL), count)
        agent.begin(held.run)
        for errand in session.errands:
            errand.case.write(sandbox.root)
            agent.go_on(held.run, errand.words, errand.case.max_steps)
            held.scores[errand.name] = checked(errand.case, sandbox)
    return held
