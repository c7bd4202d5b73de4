"""All that is left in one go, as who takes over a half-done task works (`Habits.finishes`)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from statecomp_bench.plan import Fact, Step
from statecomp_bench.scripted.asking import asked_for
from statecomp_bench.scripted.hands import Called, ScriptedHands
from statecomp_bench.scripted.programs import ProgramPart, carry_out, programmable
from statecomp_bench.scripted.sight import PlanSight


@dataclass(frozen=True)
class Finishing:
    hands: ScriptedHands

    def ready(self, goal: Step, rest: Sequence[Step], sight: PlanSight) -> Iterator[Step]:
        """The steps behind the goal that its program can take along.

        What it reads it looks at before it writes.  A value may be found by the program itself; a
        rule must have been read.
        """
        together = [goal]
        last = max((n for n, step in enumerate(rest) if step.writes), default=-1)
        for place, step in enumerate(rest):
            if step.id in sight.done:
                continue
            begins = step.writes and not any(one.writes for one in together)
            checking = place > last and self.hands.drawn("check", step.id) < self._checks
            if begins or checking or not self._possible(step, together, rest, sight):
                return
            together.append(step)
            yield step

    @property
    def _checks(self) -> float:
        return self.hands.habits.checks

    def _possible(
        self, step: Step, before: Sequence[Step], rest: Sequence[Step], sight: PlanSight
    ) -> bool:
        ids = {one.id for one in before if programmable(one)}
        missing = [self.hands.plan.fact[name] for name in self.hands.missing(step, sight)]
        rules = (self.hands.plan.rule.get(name) for name in step.names)
        unread = any(r and r.name not in sight.rules and r.source in ids for r in rules)
        later = {one.id for one in (before[0], *rest) if one.id not in sight.done} - ids
        return not unread and all(
            fact.source in ids or (fact.source not in later and self._gone(fact, sight))
            for fact in missing
        )

    def _gone(self, fact: Fact, sight: PlanSight) -> bool:
        """Whether nothing brings a value back: it was shown once, or looked for before."""
        return self.hands.plan.step[fact.source].once or asked_for(sight, fact)

    def known(self, steps: Sequence[Step], sight: PlanSight) -> list[Step]:
        """Those of some steps that need nothing which is still being looked for."""
        ids = {step.id for step in steps}
        fact = self.hands.plan.fact
        return [
            step
            for step in steps
            if all(fact[name].source in ids for name in self.hands.missing(step, sight))
        ]

    def calls(self, steps: Sequence[Step], sight: PlanSight) -> tuple[Called, ...]:
        """One program, but for what no program can do; then what follows is another."""
        calls: list[Called] = []
        parts: list[ProgramPart] = []
        for step in steps:
            if programmable(step):
                parts.append(self._part(step, steps, sight))
                continue
            if parts:
                calls.append(carry_out(parts))
                parts = []
            calls.append(self.hands.call(step, sight))
        return (*calls, carry_out(parts)) if parts else tuple(calls)

    def _part(self, step: Step, steps: Sequence[Step], sight: PlanSight) -> ProgramPart:
        plan = self.hands.plan
        ids = {one.id for one in steps}
        late = {fact.name for fact in plan.facts if fact.source in ids}
        wanted = {fact.name: fact.pattern for fact in plan.facts if fact.source == step.id}
        ruled = any(rule.source == step.id for rule in plan.rules)
        quiet = not step.writes and bool(wanted) and not ruled
        return ProgramPart(self.hands.call(step, sight, late), wanted, quiet)
