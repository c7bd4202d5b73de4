"""What a bench task is: a workspace, an instruction, a plan and a checker.

A task file defines one constant, `TASK = Task(id, domain, title, build)`.  `build(rng, level)`
returns a `Case`; everything random comes from `rng`, so that seed and level fix the case.

    def build(rng: Random, level: int) -> Case:
        port = rng.randrange(7000, 7999)
        def check(left: Artefacts) -> Score:
            return grade(
                part("port", 2, lambda: left.text("out/port.txt").strip() == str(port)),
                part("newline", 1, lambda: left.text("out/port.txt").endswith("\\n")),
            )
        return Case(files={"etc/app.conf": f"port = {port}\n"}, instruction="...",
                    plan=Plan(...), check=check)

    TASK = Task("web-port", "Web", "Write down the port", build)

A checker looks at artefacts only, never at messages or at the plan.  `plan.py` says how a
plan is written, `tasks/README.md` what a good task has.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from statecomp.errors import BadInput
from statecomp_bench.outside import Scene
from statecomp_bench.plan import Plan

DOMAINS = ("Code", "Office", "Security", "Web")
LEVELS = (1, 2, 3)


@dataclass(frozen=True, slots=True)
class Part:
    """One named thing a checker looks for; `value` is between 0 and 1."""

    name: str
    weight: float
    value: float


@dataclass(frozen=True, slots=True)
class Score:
    parts: tuple[Part, ...] = ()

    @property
    def reward(self) -> float:
        """The weighted mean of the parts, between 0 and 1."""
        weight = sum(part.weight for part in self.parts)
        return sum(part.weight * part.value for part in self.parts) / weight if weight else 0.0


@dataclass(frozen=True, slots=True)
class TaskQuestion:
    """A part before it is answered."""

    name: str
    weight: float
    answer: Callable[[], float | bool]


def part(name: str, weight: float, answer: Callable[[], float | bool]) -> TaskQuestion:
    return TaskQuestion(name, weight, answer)


def grade(*questions: TaskQuestion) -> Score:
    """Every question answered; one that raises (no such file, no JSON) is answered with 0."""
    return Score(tuple(Part(q.name, q.weight, _value(q.answer)) for q in questions))


def _value(answer: Callable[[], float | bool]) -> float:
    try:
        value = float(answer())
    except Exception:  # noqa: BLE001  artefacts come from an agent and may be broken in any way
        return 0.0
    return min(1.0, value) if value > 0 else 0.0  # also 0 for NaN


def share(found: Mapping[str, object], wanted: Mapping[str, object]) -> float:
    """How much of `wanted` stands in `found`; for parts that can be half right."""
    return sum(found.get(k) == v for k, v in wanted.items()) / len(wanted) if wanted else 0.0


@dataclass(frozen=True)
class Artefacts:
    """The workspace after a run, for checkers.  Each reader raises where there is nothing to read.

    `python` runs a program inside the sandbox and returns what it prints, for artefacts that must
    be executed to be judged (hidden tests); nothing an agent wrote ever runs outside of it.
    `calls` is the log of what was asked outside the workspace, one line each.
    """

    root: Path
    python: Callable[[str], str]
    calls: tuple[str, ...] = ()

    def text(self, name: str) -> str:
        return (self.root / name).read_text("utf-8")

    def json(self, name: str) -> Any:
        return json.loads(self.text(name))

    def rows(self, name: str, delimiter: str = ",") -> list[dict[str, str]]:
        return list(csv.DictReader(self.text(name).splitlines(), delimiter=delimiter))


@dataclass(frozen=True)
class Case:
    """One task for one seed and level.  `files` are written into an empty workspace.

    `scenes` are what can be reached outside of it.  `seen` has the true values of facts that were
    shown once only, for who asks for them later.  `max_steps` ends a run that does not end itself.
    """

    files: Mapping[str, str | bytes]
    instruction: str
    plan: Plan
    check: Callable[[Artefacts], Score]
    max_steps: int = 150
    scenes: tuple[Scene, ...] = ()
    seen: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        told = self.instruction.lower()
        for step in self.plan.steps:
            if step.title.lower() in told:
                # It would count as a trace of a step that was taken.
                raise BadInput(f"contains the title {step.title!r}", field="instruction")

    def write(self, root: Path) -> None:
        for name, content in self.files.items():
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content.encode() if isinstance(content, str) else content)


@dataclass(frozen=True)
class Task:
    id: str
    domain: str
    title: str
    build: Callable[[Random, int], Case]

    def case(self, seed: int = 0, level: int = 1) -> Case:
        if level not in LEVELS:
            raise BadInput(f"must be one of {', '.join(map(str, LEVELS))}", field="level")
        return self.build(Random(f"{self.id}/{seed}/{level}"), level)
