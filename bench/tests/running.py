"""Runs of the bench in this process, for tests."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

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
from statecomp_bench.scripted.sight import Eye
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


@dataclass(frozen=True)
class Finished:
    """A case that was done with the whole history in sight; `left` is not to be changed."""

    case: Case
    left: Path
    run: AgentRun
    calls: tuple[str, ...]
    score: Score

    def copied(self, place: Path) -> Path:
        return shutil.copytree(self.left, place, dirs_exist_ok=True)

    def judged(self, root: Path, calls: tuple[str, ...] | None = None) -> Score:
        """What its checker says of another workspace, where that checker runs no code."""

        def refuse(code: str) -> str:
            raise AssertionError(f"this checker runs code: {code}")

        asked = self.calls if calls is None else calls
        return self.case.check(Artefacts(root, refuse, asked))

    def changed(self) -> Iterator[str]:
        """Files that were not given, or not as they are now."""
        for path in sorted(path for path in self.left.rglob("*") if path.is_file()):
            name = path.relative_to(self.left).as_posix()
            given = self.case.files.get(name)
            if path.read_bytes() != (given.encode() if isinstance(given, str) else given):
                yield name

    def assert_values_stay_clear_where_lines_are_joined(self) -> None:
        """Summaries quote lines in the middle of others; where a value ends must still be clear."""
        eye = Eye(self.case.plan)
        for message in self.run.messages:
            if message["role"] == "tool":
                lines = str(message["content"]).splitlines()
                joined = f"Result; {'; '.join(lines)} ({len(lines)} lines)"
                assert eye.fresh(joined).values == eye.fresh("\n".join(lines)).values


TaskFinished = Callable[[str], Finished]
"""A task by its name, from the fixture `finished`."""


def values(score: Score) -> dict[str, float]:
    return {part.name: part.value for part in score.parts}


def finish(case: Case, left: Path) -> tuple[AgentRun, tuple[str, ...], Score]:
    """The run, what it asked outside, and its score; the workspace is copied to `left`."""
    with sandbox() as box:
        case.write(box.root)
        environment = Environment(box, OutsideWorld(case.scenes))
        agent = Agent(scripted(case), NoCompression(), environment, OpenAIChat())
        run = agent.run(case.instruction, case.max_steps)
        calls = tuple(environment.outside.calls)
        shutil.copytree(box.root, left)
        return run, calls, checked(case, box, calls)


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
