r"""The plan of a task, as data: what the scripted acting model knows, and what it must find out.

    Plan(
        facts=(Fact("port", "service port", r"^port = (\d+)$", source="config"),),
        rules=(Rule("tail", "files end with a newline", r"must end with a newline",
                    then="\\n", otherwise="", source="guide"),),
        steps=(
            Step("guide", "read_file", {"path": "docs/guide.md"}, "read the style guide"),
            Step("config", "read_file", {"path": "etc/app.conf"}, "look up the service port"),
            Step("write", "write_file", {"path": "out/port.txt", "content": "{port}{tail}"},
                 "write the port down"),
        ),
    )

The model knows steps, labels and patterns.  It does not know a single value: `{port}` is taken
from the messages it is given, by `pattern` (one group, matched line by line, the last match in the
newest message wins) or from its own words "service port: 7042".  A fact that is not visible is
fetched again by re-running its `source` step.  A rule that is not visible is silently broken:
`otherwise` is used instead of `then`.  Only names of facts and rules in braces are filled in; other
braces stay, so code and JSON need no escaping.  `{lines}` is always known: how many lines this
agent likes to look at.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from statecomp.errors import BadInput

PLACE = re.compile(r"\{([a-z][a-z0-9_]*)\}")
WRITERS = ("write_file", "edit_file")
LINES = "lines"


@dataclass(frozen=True, slots=True)
class Fact:
    """A value to be found.  `source` is the step that shows it; empty: the instruction does."""

    name: str
    label: str
    pattern: str
    source: str = ""


@dataclass(frozen=True, slots=True)
class Norm:
    """A constraint: `then` while `label` or `pattern` is in sight, `otherwise` (a violation) else.

    Both are templates and may name facts.  `source` is the step that shows the rule.
    """

    name: str
    label: str
    pattern: str
    then: str
    otherwise: str
    source: str = ""


@dataclass(frozen=True)
class Step:
    """One tool call.  `title` completes "Now I ..."; no other step has it, nor the instruction.

    Neighbours with the same `group` are independent: seeds shuffle them.  A step that `writes`
    leaves an artefact; file writing tools always do.  What a step does or shows `once` nobody does
    again just to be sure.
    """

    id: str
    tool: str
    arguments: Mapping[str, str]
    title: str
    group: str = ""
    leaves: bool = False
    once: bool = False

    @property
    def writes(self) -> bool:
        return self.leaves or self.tool in WRITERS

    @property
    def names(self) -> tuple[str, ...]:
        """What the templates ask for, in order, each once."""
        found = (name for text in self.arguments.values() for name in PLACE.findall(text))
        return tuple(dict.fromkeys(found))


@dataclass(frozen=True)
class Plan:
    """Steps in order, and what they need.  `closing` is a template too: the agent's last words."""

    facts: tuple[Fact, ...]
    rules: tuple[Norm, ...]
    steps: tuple[Step, ...]
    closing: str = "All of it is done."

    def __post_init__(self) -> None:
        problem = next(_problems(self), "")
        if problem:
            raise BadInput(problem, field="plan")

    @cached_property
    def fact(self) -> Mapping[str, Fact]:
        return {fact.name: fact for fact in self.facts}

    @cached_property
    def rule(self) -> Mapping[str, Norm]:
        return {rule.name: rule for rule in self.rules}

    @cached_property
    def step(self) -> Mapping[str, Step]:
        return {step.id: step for step in self.steps}


def _problems(plan: Plan) -> Iterator[str]:
    labels = [fact.label for fact in plan.facts] + [rule.label for rule in plan.rules]
    yield from _twice("name", [fact.name for fact in plan.facts] + [r.name for r in plan.rules])
    yield from _twice("step", [step.id for step in plan.steps])
    yield from _entangled("title", [step.title.lower() for step in plan.steps])
    yield from _entangled("label", labels)
    for label in labels:
        if ";" in label or ":" in label:
            yield f"has punctuation in the label {label!r}"
    yield from _misplaced(plan)


def _twice(kind: str, values: Sequence[str]) -> Iterator[str]:
    for value, count in Counter(values).items():
        if count > 1:
            yield f"has the {kind} {value!r} twice"


def _entangled(kind: str, values: Sequence[str]) -> Iterator[str]:
    """A text that holds two of them could not be read unambiguously."""
    yield from _twice(kind, values)
    for value in values:
        if any(value in other and value != other for other in values):
            yield f"has a {kind} that is part of another: {value!r}"


def _misplaced(plan: Plan) -> Iterator[str]:
    order = {step.id: place for place, step in enumerate(plan.steps)}
    sources = [(fact.name, fact.source) for fact in plan.facts]
    for name, source in (*sources, *((rule.name, rule.source) for rule in plan.rules)):
        if source and source not in order:
            yield f"says {name!r} comes from {source!r}, which is no step"
    for fact in plan.facts:
        if re.compile(fact.pattern, re.MULTILINE).groups != 1:
            yield f"needs exactly one group in the pattern of {fact.name!r}"
        users = [step.id for step in plan.steps if fact.name in step.names]
        if any(order[user] <= order.get(fact.source, -1) for user in users):
            yield f"uses {fact.name!r} before its source step"
