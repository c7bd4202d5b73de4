"""Bringing back what is out of sight: by a strategy's memory, or by its source, in one batch.

A language model that misses several things looks them up together, and with them what the next
steps will need (`Habits.batch`, `Habits.ahead`).  It knows what it looks for, and so one program
prints the lines (`Habits.selects`), once; then it reads the sources.  Who finishes what is left
(`Habits.finishes`) looks for all of it before anything else, and for nothing twice.  A rule of
which only a record is in sight it reads again the more surely the less the record shows
(`Habits.recheck`, `meaning.thinness`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from statecomp.baselines.tools import Use
from statecomp_bench.plan import Fact, Norm, Step
from statecomp_bench.scripted.asking import (
    AGAIN,
    BY_RULES,
    RULES,
    asked_for,
    filled,
    need_of,
    tried_note,
    tries,
)
from statecomp_bench.scripted.hands import Called, ScriptedHands
from statecomp_bench.scripted.lookups import Lookup, Words, alike, each_once
from statecomp_bench.scripted.meaning import thinness
from statecomp_bench.scripted.programs import ProgramPart, look_up, programmable
from statecomp_bench.scripted.sight import AIM, PlanSight, mentions

LONGEST_STATED = 100
SURE_FROM = 0.5
"""A record that lacks this much of a document shows plainly that something is missing."""

ALSO = "With it I look up what I need soon."


@dataclass(frozen=True, slots=True)
class ScriptedMove:
    """What it says and calls next; no calls end the run."""

    said: str
    calls: tuple[Called, ...] = ()


@dataclass(frozen=True)
class Fetching:
    hands: ScriptedHands
    policy: tuple[Use, ...] = ()

    def move(
        self,
        goal: Step,
        later: Sequence[Step],
        sight: PlanSight,
        offered: Mapping[str, frozenset[str]],
    ) -> ScriptedMove | None:
        """Whatever the goal misses, and beside it what the steps behind it will."""
        tried = tries(sight, f"{AIM} {goal.title}")
        found = [*self._lookups(goal, sight, offered, tried)]
        if not found and not self.hands.habits.finishes:
            return None
        if found and found[0].asked is not None:
            return self._said(goal, sight, tried, found[:1], (found[0].asked,))
        coming = {step.id for step in (goal, *later)}
        for step in later[: self.hands.habits.ahead]:
            soon = self._soon(step, sight)
            found += (one for one in soon if one.step is None or one.step.id not in coming)
        chosen = alike(each_once(found, self.hands.habits.batch), self.hands.plan)
        if not chosen:
            return None
        return self._said(goal, sight, tried, chosen, self._calls(chosen, sight))

    def _calls(self, chosen: Sequence[Lookup], sight: PlanSight) -> tuple[Called, ...]:
        """One program for what it can print the lines of; the rest is read whole."""
        fact = self.hands.plan.fact
        calls, parts = [], []
        for one in chosen:
            if one.step is None:
                continue
            call = self.hands.call(one.step, sight, one.late)
            if one.sought or one.late or self._printed_whole(one.step):
                wanted = {name: fact[name].pattern for name in one.sought}
                parts.append(ProgramPart(call, wanted, late=frozenset(one.late)))
            else:
                calls.append(call)
        return (*calls, look_up(parts)) if parts else tuple(calls)

    def _printed_whole(self, source: Step) -> bool:
        """Who finishes what is left has its program print documents, too, and opens few itself."""
        habits = self.hands.habits
        opened = self.hands.drawn("opens", source.id) < habits.opens
        return habits.finishes and not opened and programmable(source)

    def _sought(
        self, step: Step, source: Step, sight: PlanSight, tried: Mapping[str, int]
    ) -> Words:
        """The values that are missed of a source; none where it is read whole."""
        fact = self.hands.plan.fact
        missed = [n for n in self.hands.missing(step, sight) if fact[n].source == source.id]
        first = not any(tried.get(fact[name].label) for name in missed)
        alone = source.once or source.writes or not programmable(source)
        return tuple(missed) if self.hands.habits.selects and first and not alone else ()

    def _said(
        self,
        goal: Step,
        sight: PlanSight,
        tried: Mapping[str, int],
        chosen: Sequence[Lookup],
        calls: tuple[Called, ...],
    ) -> ScriptedMove:
        words = "\n".join(dict.fromkeys(one.said for one in chosen))
        carried = self._carried(goal, sight) if tried else ""
        return ScriptedMove(f"{carried}{tried_note(tried)}{words}", calls)

    def _lookups(
        self,
        step: Step,
        sight: PlanSight,
        offered: Mapping[str, frozenset[str]],
        tried: Mapping[str, int],
    ) -> Iterator[Lookup]:
        yield from self._rules(step, sight, tried)
        for name in self.hands.missing(step, sight):
            yield from self._value(step, self.hands.plan.fact[name], sight, offered, tried, "")

    def _soon(self, step: Step, sight: PlanSight) -> Iterator[Lookup]:
        """What a step to come misses, in words that do not make it the goal."""
        plan, said = self.hands.plan, [turn.said for turn in sight.turns]
        for rule in self._out_of_sight(step, sight):
            words = f"Soon I need {RULES} of it, so I {plan.step[rule.source].title}."
            if not mentions(said, words) and self._rechecked(rule, step, sight):
                yield Lookup(words, plan.step[rule.source])
        yield from self._soon_values(step, sight)

    def _soon_values(self, step: Step, sight: PlanSight) -> Iterator[Lookup]:
        for name in self.hands.missing(step, sight):
            fact = self.hands.plan.fact[name]
            source = self.hands.plan.step.get(fact.source)
            # What happens once nobody tries ahead of time.
            if source is None or source.once or self._gave_up(fact, sight):
                continue
            sought = self._sought(step, source, sight, {})
            before = [*self._soon_values(source, sight)]
            late = self._late(source, sought, before, sight)
            yield from before
            if late or not self.hands.missing(source, sight):
                words = f"Soon I need the {fact.label}, so I {source.title}."
                said = words if self.hands.habits.finishes else ALSO
                yield Lookup(said, source, sought=sought, late=late)

    def _late(
        self, source: Step, sought: Words, before: Sequence[Lookup], sight: PlanSight
    ) -> Words:
        """What a source needs itself, where one program finds that and goes on to the source."""
        found = {name for one in before for name in one.sought}
        needed = self.hands.missing(source, sight)
        return tuple(needed) if sought and found.issuperset(needed) else ()

    def _insists(self, source: Step, sight: PlanSight) -> bool:
        """Whether it tries again, for once, what happens once."""
        tried = mentions([turn.said for turn in sight.turns], f"{AGAIN} I {source.title}.")
        return not tried and self.hands.drawn("insists", source.id) < self.hands.habits.insists

    def _gave_up(self, fact: Fact, sight: PlanSight) -> bool:
        """Who finishes what is left looks for nothing a second time."""
        return self.hands.habits.finishes and asked_for(sight, fact)

    def _out_of_sight(self, step: Step, sight: PlanSight) -> Iterator[Norm]:
        rules = (self.hands.plan.rule.get(name) for name in step.names)
        return (rule for rule in rules if rule and rule.source and rule.name not in sight.rules)

    def _rules(self, goal: Step, sight: PlanSight, tried: Mapping[str, int]) -> Iterator[Lookup]:
        said = [turn.said for turn in sight.turns]
        for rule in self._out_of_sight(goal, sight):
            source = self.hands.plan.step[rule.source]
            words = f"Before I go on I {AIM} {goal.title} {BY_RULES} I {source.title}."
            allowed = tried.get(RULES, 0) < self.hands.habits.patience
            if allowed and not mentions(said, words) and self._rechecked(rule, goal, sight):
                yield Lookup(words, source)

    def _rechecked(self, rule: Norm, goal: Step, sight: PlanSight) -> bool:
        habits = self.hands.habits
        if not habits.weighs:
            return self.hands.drawn("recheck", f"{rule.source} {goal.id}") < habits.recheck
        source = self.hands.plan.step[rule.source]
        piece = next(iter(source.arguments.values()), source.title)
        thin = thinness(sight.records, piece.partition("\n")[0])
        # Who trusts a record trusts it for the rest of the task.
        return self.hands.drawn("recheck", rule.source) < habits.recheck * min(1, thin / SURE_FROM)

    def _value(
        self,
        step: Step,
        fact: Fact,
        sight: PlanSight,
        offered: Mapping[str, frozenset[str]],
        tried: Mapping[str, int],
        purpose: str,
    ) -> list[Lookup]:
        purpose = f"{purpose}I {AIM} {step.title}"
        aim = f"{purpose} and do not see the {fact.label}."
        asked = self._asked(fact, sight, offered)
        if asked is not None:
            return [Lookup(f"{aim} I ask {asked[0]} for the {fact.label}.", asked=asked)]
        if not fact.source or self._gave_up(fact, sight):
            return []
        source = self.hands.plan.step[fact.source]
        if tried.get(fact.label, 0) >= self.hands.habits.patience:
            return []
        if source.once and not self._insists(source, sight):
            return []
        # What the source itself needs comes first; plans have no circles.
        before = [
            one
            for name in self.hands.missing(source, sight)
            for one in self._value(
                source, self.hands.plan.fact[name], sight, offered, tried, f"{purpose}, so "
            )
        ]
        sought = self._sought(step, source, sight, tried)
        late = self._late(source, sought, before, sight)
        own = Lookup(f"{aim} {AGAIN} I {source.title}.", source, sought=sought, late=late)
        return [*before, own] if late or not before else before

    def _asked(
        self, fact: Fact, sight: PlanSight, offered: Mapping[str, frozenset[str]]
    ) -> Called | None:
        """A memory tool's turn, unless it is in sight that it was asked for this value."""
        said = [turn.said for turn in sight.turns]
        for use in self.policy:
            words = f"I ask {use.tool} for the {fact.label}."
            if use.when == "missing" and use.tool in offered and not mentions(said, words):
                arguments = filled(use, need_of(use, fact), sight)
                if arguments is not None:
                    return use.tool, arguments
        return None

    def _carried(self, goal: Step, sight: PlanSight) -> str:
        """Values for a goal that one search did not complete: the next may push them out."""
        if not self.hands.habits.carries:
            return ""
        known = [name for name in self.hands.needs(goal, sight) if name in sight.values]
        notes = (statement(self.hands.plan.fact[n].label, sight.values[n]) for n in known)
        stated = "".join(f"{note}\n" for note in notes if note)
        return f"I have:\n{stated}" if stated else ""


def statement(label: str, value: str) -> str:
    """A value in words, as `sight` reads them back; long ones and blocks nobody repeats."""
    if "\n" in value or ";" in value or len(value) > LONGEST_STATED:
        return ""
    return f"{label}: {value};"
