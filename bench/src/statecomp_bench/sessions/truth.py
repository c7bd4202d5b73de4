"""Labels that are true by construction: the scripted model's plan says what each step took.

An interaction is needed at checkpoint k where it is the newest one to show a value or a rule that
step k uses.  Rules that the request itself shows are needed of nobody.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from statecomp.annotation.labels import Label
from statecomp.history.interaction import JsonObject
from statecomp_bench.plan import PLACE, Plan, Step
from statecomp_bench.scripted.sight import Eye
from statecomp_bench.sessions.session import Errand, WorkSession

ANNOTATOR = "plan"


@dataclass(frozen=True)
class TruthPart:
    """An errand in the messages: its request, and its interactions by number."""

    errand: Errand
    request: JsonObject
    interactions: Mapping[int, Sequence[JsonObject]]


def true_labels(name: str, session: WorkSession, messages: Sequence[JsonObject]) -> list[Label]:
    """One label for each interaction of a session that was held without compression."""
    parts = [*_parts(session, messages)]
    every = {number: said for one in parts for number, said in one.interactions.items()}
    # What it has just seen the agent has yet to react to.
    needed = {number: number + 1 for number in every}
    reasons = dict.fromkeys(every, "")
    for one in parts:
        known = every if one.errand.looks_back else one.interactions
        for holder, user, what in _uses(one, known):
            if user > needed[holder]:
                needed[holder], reasons[holder] = user, what
    last = max(every)
    return [
        Label(
            run=name,
            number=number,
            boundary=needed[number] + 1 if needed[number] < last else None,
            reason=f"last used: {reasons[number]}" if reasons[number] else "not used later",
            annotator=ANNOTATOR,
        )
        for number in sorted(every)
    ]


def _parts(session: WorkSession, messages: Sequence[JsonObject]) -> Iterator[TruthPart]:
    requests = [n for n, message in enumerate(messages) if message["role"] == "user"]
    number = 0
    stops = (*requests[1:], len(messages))
    for errand, start, stop in zip(session.errands, requests, stops, strict=True):
        found: dict[int, list[JsonObject]] = {}
        for message in messages[start + 1 : stop]:
            if message["role"] == "assistant":
                number += 1
                found[number] = []
            found[number].append(message)
        yield TruthPart(errand, messages[start], found)


def _uses(
    one: TruthPart, known: Mapping[int, Sequence[JsonObject]]
) -> Iterator[tuple[int, int, str]]:
    """Who held what a step took, at which interaction it was taken, and what it was."""
    plan, eye = one.errand.case.plan, Eye(one.errand.case.plan)
    told = eye.look([one.request]).rules
    shown = {number: eye.look(messages) for number, messages in known.items()}
    for number, messages in one.interactions.items():
        before = [n for n in known if n < number]
        rules = told.union(*(shown[n].rules for n in before))
        for step_id in eye.look(messages[:1]).done:
            for name in _names(plan, plan.step[step_id], rules):
                holders = [n for n in before if name in shown[n].values or name in shown[n].rules]
                if holders and name not in told:
                    yield max(holders), number, _label(plan, name)


def _names(plan: Plan, step: Step, rules: set[str]) -> Iterator[str]:
    """Facts and rules that the step's arguments ask for, as the rules stand."""
    for name in step.names:
        rule = plan.rule.get(name)
        if rule is not None and name in rules:
            yield name
            yield from (inner for inner in PLACE.findall(rule.then) if inner in plan.fact)
        elif name in plan.fact:
            yield name


def _label(plan: Plan, name: str) -> str:
    return plan.fact[name].label if name in plan.fact else plan.rule[name].label
