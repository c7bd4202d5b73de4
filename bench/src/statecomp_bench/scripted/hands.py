"""What a step takes, and its call with the values that are in sight."""

from __future__ import annotations

import re
from collections.abc import Container, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from statecomp_bench.habits import Habits, draw
from statecomp_bench.plan import LINES, PLACE, Plan, Step
from statecomp_bench.scripted.recalling import UNKNOWN
from statecomp_bench.scripted.sight import PlanSight

Called: TypeAlias = tuple[str, Mapping[str, Any]]


@dataclass(frozen=True)
class ScriptedHands:
    plan: Plan
    habits: Habits
    seed: int

    def drawn(self, habit: str, name: str) -> float:
        return draw(self.seed, habit, name)

    def needs(self, step: Step, sight: PlanSight) -> list[str]:
        """Facts that the step's arguments ask for, through its rules as they stand."""
        found: list[str] = []
        for name in step.names:
            rule = self.plan.rule.get(name)
            if rule is not None:
                text = rule.then if name in sight.rules else rule.otherwise
                found += (n for n in PLACE.findall(text) if n in self.plan.fact)
            elif name in self.plan.fact:
                found.append(name)
        return list(dict.fromkeys(found))

    def missing(self, step: Step, sight: PlanSight) -> list[str]:
        return [name for name in self.needs(step, sight) if name not in sight.values]

    def call(self, step: Step, sight: PlanSight, late: Container[str] = ()) -> Called:
        """With its values; those that are found `late`, by the same program, stay in braces."""
        rendered = {k: self.rendered(t, step, sight, late) for k, t in step.arguments.items()}
        return step.tool, rendered

    def rendered(
        self, template: str, step: Step, sight: PlanSight, late: Container[str] = ()
    ) -> str:
        low, high = self.habits.lines

        def value(match: re.Match[str]) -> str:
            name = match[1]
            if name == LINES:
                return str(low + int((high - low) * self.drawn(LINES, step.id)))
            rule = self.plan.rule.get(name)
            if rule is not None:
                chosen = rule.then if name in sight.rules else rule.otherwise
                return PLACE.sub(value, chosen)
            if name not in self.plan.fact or (name in late and name not in sight.values):
                return match[0]
            return sight.values.get(name, UNKNOWN)

        return PLACE.sub(value, template)
