"""Runs of the bench in this process, for tests."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest

from statecomp.baselines.none import NoCompression
from statecomp.strategy import Strategy
from statecomp.wire.openai_chat.wire import OpenAIChat
from statecomp_bench.acting import ScriptedModel
from statecomp_bench.agent import Agent, AgentRun
from statecomp_bench.environment import Environment
from statecomp_bench.habits import VARIANTS
from statecomp_bench.models import Model
from statecomp_bench.outside import OutsideWorld
from statecomp_bench.plan import Fact, Norm, Plan, Step
from statecomp_bench.sandbox import Sandbox, SandboxFailed, SandboxLimits
from statecomp_bench.suite import checked
from statecomp_bench.task import Artefacts, Case, Score, grade, part


@cache
def unavailable() -> str:
    """Why this kernel gives no sandbox, asked once; nothing where it does."""
    try:
        with Sandbox() as probe:
            assert probe.protection.files
    except SandboxFailed as reason:
        if "Landlock" not in str(reason):
            raise
        return str(reason)
    return ""


def needs_sandbox() -> None:
    """A test that calls this is skipped on a kernel that gives none."""
    if reason := unavailable():
        pytest.skip(reason)


def sandbox(limits: SandboxLimits | None = None) -> Sandbox:
    needs_sandbox()
    return Sandbox(limits)


def scripted(case: Case, seed: int = 0, variant: str = "") -> ScriptedModel:
    return ScriptedModel(case.plan, VARIANTS[variant], seed)


def run_case(case: Case, model: Model, strategy: Strategy | None = None) -> tuple[AgentRun, Score]:
    with sandbox() as box:
        case.write(box.root)
        environment = Environment(box, OutsideWorld(case.scenes))
        agent = Agent(model, strategy or NoCompression(), environment, OpenAIChat())
        run = agent.run(case.instruction, case.max_steps)
        return run, checked(case, box, environment.outside.calls)


def small_case() -> Case:
    """Three steps: a rule, a value, and a file that needs both; read again at the end."""
    filler = "".join(f"option_{n} = {n * n}\n" for n in range(60))
    plan = Plan(
        facts=(Fact("port", "service port", r"\bport = (\d+)", "config"),),
        rules=(
            Norm("unit", "numbers carry a unit", "numbers carry a unit", " (tcp)", "", "guide"),
        ),
        steps=(
            Step("guide", "read_file", {"path": "docs/guide.md"}, "read the guide"),
            Step("config", "read_file", {"path": "etc/app.conf"}, "look up the port"),
            *(
                Step(f"more_{n}", "read_file", {"path": f"etc/extra{n}.conf"}, f"read extra {n}")
                for n in range(6)
            ),
            Step(
                "write",
                "write_file",
                {"path": "out.txt", "content": "{port}{unit}"},
                "note it down",
            ),
        ),
    )

    def check(left: Artefacts) -> Score:
        return grade(
            part("port", 1, lambda: left.text("out.txt").startswith("7042")),
            part("unit", 1, lambda: left.text("out.txt").endswith(" (tcp)")),
        )

    made = {
        "docs/guide.md": "Here numbers carry a unit.\n",
        "etc/app.conf": f"{filler}port = 7042\n",
        **{f"etc/extra{n}.conf": filler for n in range(6)},
    }
    return Case(made, "Write the port to out.txt.", plan, check, max_steps=40)


def without_rules(case: Case) -> Case:
    """The same case for an agent that never sees a rule."""
    # In brackets, because no label may be part of another.
    rules = tuple(
        replace(r, pattern=r"(?!)", label=f"nobody says <{r.name}>") for r in case.plan.rules
    )
    return replace(case, plan=replace(case.plan, rules=rules))


def without_facts(case: Case) -> Case:
    """The same case for an agent that can make out no value."""
    facts = tuple(
        replace(f, pattern=r"((?!))", label=f"nobody says <{f.name}>", source="")
        for f in case.plan.facts
    )
    return replace(case, plan=replace(case.plan, facts=facts))
