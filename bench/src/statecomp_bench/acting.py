"""The scripted acting model: knows the plan, sees nothing but the messages it is given.

A simulation, and everything printed from it says so.  Its reply is a pure function of messages,
tools, plan, habits and seed:

1. Steps with visible traces are done, and steps before the furthest trace are taken as done.  The
   first other step is its goal, which its words carry until it is reached.  An artefact it does not
   trust to be there (`Habits.trust`) is looked for once, before a later step drawn from the seed,
   and made again if no trace of it is in sight: nobody makes the same file for ever.
2. Every value the goal's arguments ask for must be in sight, in its own words or in others'
   (`scripted.meaning`).  What is not is asked of a memory tool where a strategy offers one, then
   fetched again by re-running its sources, several in one turn (`scripted.fetching`), then, after
   `Habits.patience` attempts, made up.  Its words carry how often it has tried for this goal, so
   that the patience ends however little is in sight.  A distorted value is used as it stands.
3. A rule in sight is kept.  One out of sight is broken, unless the habit of re-reading documents
   brings it back.  A call that is refused twice is left at that.
4. Tools of a strategy are used as its `policy` says (`baselines.tools.Use`).
5. What it says beside each call: some of the fresh values ("service port: 7042"), some of the fresh
   rules, what it wants and what it does.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from random import Random
from types import MappingProxyType
from typing import Any, TypeAlias

from statecomp.baselines.tools import Use
from statecomp.history.interaction import JsonObject
from statecomp.wire.openai_chat.wire import calls_of
from statecomp_bench.habits import Habits
from statecomp_bench.models import Reply
from statecomp_bench.plan import PLACE, Plan, Step
from statecomp_bench.scripted.asking import arguments_offered, filled, question
from statecomp_bench.scripted.fetching import Fetching, ScriptedMove, statement
from statecomp_bench.scripted.finishing import Finishing
from statecomp_bench.scripted.hands import ScriptedHands
from statecomp_bench.scripted.meaning import Meaning
from statecomp_bench.scripted.messages import message_of, next_id
from statecomp_bench.scripted.programs import joined
from statecomp_bench.scripted.sight import AIM, ONCE_MORE, Eye, PlanSight, mentions

MOST_NEIGHBOURS = 3
REFUSED = "That was refused. I still"

Offered: TypeAlias = Mapping[str, frozenset[str]]  # tools and the arguments they take


class ScriptedModel:
    def __init__(self, plan: Plan, habits: Habits, seed: int, policy: Sequence[Use] = ()) -> None:
        self._plan = plan
        self._habits = habits
        self._policy = tuple(policy)
        self._hands = ScriptedHands(plan, habits, seed)
        self._fetching = Fetching(self._hands, self._policy)
        self._finishing = Finishing(self._hands)
        self._eye = Eye(plan, Meaning(plan) if habits.understands else None)
        self._steps = tuple(_ordered(plan.steps, seed))
        self._places = {step.id: place for place, step in enumerate(self._steps)}
        self._doubts = dict(self._looked_for())
        self._shows: dict[str, set[str]] = {}  # what each step is asked for
        for fact in (fact for fact in plan.facts if fact.source):
            self._shows.setdefault(fact.source, set()).add(fact.name)

    def recalled(self, messages: Sequence[JsonObject]) -> dict[str, str]:
        """What it filled into calls of its own that are in sight, by label."""
        calls = (call for m in messages if m.get("role") == "assistant" for call in calls_of(m))
        return {self._plan.fact[n].label: value for n, value in self._eye.recalled(calls).items()}

    def reply(
        self,
        messages: Sequence[JsonObject],
        tools: Sequence[JsonObject],
        since: int = 0,
        known: Mapping[str, str] = MappingProxyType({}),
    ) -> Reply:
        """Its next message; before `since` things were found out, but nothing was done for it.

        `known` are values by label that something else than these words tells.
        """
        offered = arguments_offered(tools)
        sight = self._eye.look(messages)
        told = {f.name: known[f.label] for f in self._plan.facts if f.label in known}
        sight.values = {**told, **sight.values}
        if since:
            taken = self._eye.look(messages[since:])
            found_out = self._found_out(messages[:since], told) | (sight.done & self._shows.keys())
            sight.done, sight.aims = taken.done | found_out, taken.aims
        move = self._tended(sight, offered) or self._next(sight, offered)
        said = "\n".join(part for part in (*self._findings(sight), move.said) if part)
        return Reply(message_of(said, move.calls, next_id(sight)))

    def _found_out(self, before: Sequence[JsonObject], told: Mapping[str, str]) -> set[str]:
        """Steps whose values all stood in sight before: who knows them does not look again."""
        if not self._habits.understands:
            return set()
        known = self._eye.look(before).values.keys() | told.keys()
        return {step for step, names in self._shows.items() if names <= known}

    def _next(self, sight: PlanSight, offered: Offered) -> ScriptedMove:
        goal = self._goal(sight)
        if goal is None:
            return ScriptedMove(self._plan.closing)
        doubted = self._doubted(goal, sight)
        if doubted is None:
            return self._towards(goal, sight, offered)
        move = self._towards(doubted, sight, offered)
        # The goal stays in its words, so that it is not lost over the detour.
        return ScriptedMove(f"One thing first, then I {AIM} {goal.title}.\n{move.said}", move.calls)

    def _towards(self, goal: Step, sight: PlanSight, offered: Offered) -> ScriptedMove:
        return (
            self._look_again(goal, sight)
            or self._fetched(goal, sight, offered)
            or self._reread(goal, sight)
            or self._act(goal, sight, offered)
        )

    def _fetched(self, goal: Step, sight: PlanSight, offered: Offered) -> ScriptedMove | None:
        """What is missed; who finishes what is left reads what is new with the same program."""
        move = self._fetching.move(goal, self._open(goal, sight), sight, offered)
        if move is None or not self._habits.finishes or goal.writes:
            return move
        new = self._finishing.known([goal, *self._ready(goal, sight)], sight)
        said = " ".join(f"Now I {step.title}." for step in new)
        calls = joined((*move.calls, *self._finishing.calls(new, sight)))
        return ScriptedMove(f"{move.said}\n{said}", calls)

    def _open(self, goal: Step, sight: PlanSight) -> list[Step]:
        """What is to be done behind the goal."""
        rest = self._steps[self._places[goal.id] + 1 :]
        return [step for step in rest if step.id not in sight.done]

    def _goal(self, sight: PlanSight) -> Step | None:
        """What it was after a moment ago, or else the first step behind the furthest trace."""
        sight.done.update(step.id for step in self._steps if self._recorded(step, sight))
        wanted = self._wanted(sight)
        if wanted:
            return wanted[0]
        traces = [self._places[name] for name in sight.done]
        traces += [self._places[name] - 1 for name in sight.aims]
        rest = self._steps[max(traces, default=-1) + 1 :]
        return next((step for step in rest if step.id not in sight.done), None)

    def _wanted(self, sight: PlanSight) -> list[Step]:
        """Open steps that its last words name as wanted: what the others are for comes first."""
        said = sight.turns[-1].said if sight.turns else ""
        places = {step.id: said.find(f"{AIM} {step.title}") for step in self._steps}
        found = [s for s in self._steps if places[s.id] >= 0 and s.id not in sight.done]
        return sorted(found, key=lambda step: places[step.id])

    def _doubted(self, goal: Step, sight: PlanSight) -> Step | None:
        """An artefact without a trace that it looks for before this goal, and has not yet."""
        said = sight.turns[-1].said if sight.turns else ""
        begun = f"{AIM} {goal.title}" in said
        for step in self._steps[: self._places[goal.id]]:
            looked_for = self._doubts.get(step.id) == goal.id
            if looked_for and step.id not in sight.done and (not begun or step.title in said):
                return step
        return None

    def _recorded(self, step: Step, sight: PlanSight) -> bool:
        """Whether a summary names the step's call with the value that distinguishes it."""
        template = next(iter(step.arguments.values()), "").partition("\n")[0]
        if step.id in sight.done or not sight.records or not PLACE.search(template):
            return False
        if any(name not in sight.values for name in PLACE.findall(template)):
            return False
        shown = self._hands.rendered(template, step, sight)
        return any(
            step.tool in line and shown in line
            for record in sight.records
            for line in record.splitlines()
        )

    def _act(self, goal: Step, sight: PlanSight, offered: Offered) -> ScriptedMove:
        """The goal itself, with what is ready behind it."""
        together = [goal, *self._ready(goal, sight)]
        said = " ".join(f"Now I {step.title}." for step in together)
        last = sight.turns[-1].said if sight.turns else ""
        if f"Now I {goal.title}." in last or f"{REFUSED} {AIM} {goal.title}" in last:
            said = f"{ONCE_MORE} {said}"
        if self._habits.finishes:
            return ScriptedMove(said, self._finishing.calls(together, sight))
        return ScriptedMove(
            said, tuple(self._first_call(step, sight, offered) for step in together)
        )

    def _ready(self, goal: Step, sight: PlanSight) -> Iterator[Step]:
        """Steps to take in the same turn: independent neighbours, or simply the next ones.

        Calls of one turn are made in order, so all a later one needs is that its values are known.
        """
        rest = self._steps[self._places[goal.id] + 1 :]
        if self._habits.finishes:
            yield from self._finishing.ready(goal, rest, sight)
            return
        for place, step in enumerate(rest, start=1):
            neighbour = step.group == goal.group != "" and place < MOST_NEIGHBOURS
            drawn = neighbour and self._hands.drawn("parallel", step.id) < self._habits.parallel
            if not drawn and place >= self._habits.stride:
                return
            if step.id in sight.done or self._hands.missing(step, sight):
                return
            yield step

    def _look_again(self, goal: Step, sight: PlanSight) -> ScriptedMove | None:
        """A refused call: what it was told may be wrong, so the source is asked once more."""
        last = sight.turns[-1] if sight.turns else None
        if last is None or f"Now I {goal.title}." not in last.said or ONCE_MORE in last.said:
            return None
        sources = filter(None, (self._plan.fact[n].source for n in self._hands.needs(goal, sight)))
        source = next(sources, "")
        if not source or self._hands.missing(self._plan.step[source], sight):
            return None
        said = f"{REFUSED} {AIM} {goal.title}: I {self._plan.step[source].title}."
        return ScriptedMove(said, (self._hands.call(self._plan.step[source], sight),))

    def _reread(self, goal: Step, sight: PlanSight) -> ScriptedMove | None:
        found = (self._plan.fact[n].source for n in self._hands.needs(goal, sight))
        sources = [name for name in found if name and not self._plan.step[name].once]
        if not goal.writes or not sources:
            return None
        if self._hands.drawn("reread", goal.id) >= self._habits.reread:
            return None
        source = self._plan.step[sources[0]]
        said = f"To be sure, before I {AIM} {goal.title}: I {source.title}."
        before = mentions([turn.said for turn in sight.turns], said)
        if before or self._hands.missing(source, sight):
            return None
        return ScriptedMove(said, (self._hands.call(source, sight),))

    def _tended(self, sight: PlanSight, offered: Offered) -> ScriptedMove | None:
        """A strategy's tool for too much context, at most once after each step of its own."""
        last = sight.turns[-1] if sight.turns else None
        if last is None or not last.calls or not sight.newest:
            return None
        if any(use.tool == call.name for use in self._policy for call in last.calls):
            return None
        newest = sight.newest[-1]
        for use in self._policy:
            if use.tool not in offered:
                continue
            bulky = use.when == "bulky" and len(newest) >= use.least and self._used_up(sight)
            gauge = re.findall(use.pattern, newest) if use.when == "gauge" else []
            full = bool(gauge) and int(re.sub(r"\D", "", str(gauge[-1])) or 0) >= use.least
            if bulky or full:
                arguments = filled(use, "what was found so far", sight)
                if arguments is not None:
                    return ScriptedMove(
                        "The context is long; I tidy it up.", ((use.tool, arguments),)
                    )
        return None

    def _used_up(self, sight: PlanSight) -> bool:
        """Whether all that the newest observation shows has been put into words before."""
        fresh = self._eye.fresh(sight.newest[-1])
        return sight.stated.issuperset(fresh.values) and sight.stated.issuperset(fresh.rules)

    def _findings(self, sight: PlanSight) -> Iterator[str]:
        """Some of what the newest observations show, in words."""
        for text in sight.newest:
            reading = self._eye.fresh(text)
            for name in reading.values:
                if (
                    name in sight.stated
                    or self._hands.drawn("restate", name) >= self._habits.restate
                ):
                    continue
                yield statement(self._plan.fact[name].label, sight.values[name])
            for name in sorted(reading.rules - sight.stated):
                if self._hands.drawn("quote", name) < self._habits.quote:
                    yield f"Rule: {self._plan.rule[name].label}."

    def _first_call(
        self, step: Step, sight: PlanSight, offered: Offered
    ) -> tuple[str, Mapping[str, Any]]:
        """With a question, where a tool takes one; who looks a second time wants to see it all."""
        name, arguments = self._hands.call(step, sight)
        known = offered.get(name, frozenset())
        return name, {**arguments, **question(self._policy, step, self._plan, known)}

    def _looked_for(self) -> Iterator[tuple[str, str]]:
        """Artefacts it will not trust, and the later step before which it looks for each."""
        for place, step in enumerate(self._steps[:-1]):
            if step.writes and self._hands.drawn("trust", step.id) >= self._habits.trust:
                later = self._steps[place + 1 :]
                yield step.id, later[int(len(later) * self._hands.drawn("doubt", step.id))].id


def _ordered(steps: Sequence[Step], seed: int) -> Iterator[Step]:
    """The steps with independent neighbours shuffled."""
    place = 0
    while place < len(steps):
        stop = place + 1
        while stop < len(steps) and steps[stop].group == steps[place].group != "":
            stop += 1
        block = list(steps[place:stop])
        Random(f"{seed}/order/{block[0].id}").shuffle(block)
        yield from block
        place = stop
