"""The short requests between tasks: a note about earlier work, a correction, a hand-over.

They ask for values that earlier errands brought up.  Some of their sources are gone by then; the
others can be read again.  A reference that the person gave in the first request, and corrected
later, stands at the head of every note.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from random import Random

from statecomp_bench.plan import Fact, Plan, Step
from statecomp_bench.steps import edit, read, shell, write
from statecomp_bench.task import Artefacts, Case, Score, TaskQuestion, grade, part

HEAD = "notes begin with `ref {ref}`"
GIVEN = HEAD + " on a line of its own, until I say otherwise."
CORRECTED = HEAD + " from now on."
REFERENCE = Fact("ref", "reference of notes", r"notes begin with `ref ([A-Z]+-\d+)`")
FIRST_REFERENCE = Fact(
    "first_ref", "reference given first", r"notes begin with `ref ([A-Z]+-\d+)` on a line"
)
LONGEST = 60
PLAIN = re.compile(r"[\w@][\w@ .,/+-]*[\w]")


@dataclass(frozen=True)
class Memory:
    """A value that an earlier errand brought up, with the step that showed it."""

    fact: Fact
    step: Step
    value: str
    gone: bool  # its source does not show it again

    @property
    def line(self) -> str:
        return f"{self.fact.label}: {self.value}"


def memories(number: int, case: Case, others: Sequence[Case]) -> Iterator[Memory]:
    """What can be asked about errand `number` later without being ambiguous."""
    # Written files may have other values by then.
    touched = {step.arguments.get("path") for step in case.plan.steps if step.writes}
    for fact in case.plan.facts:
        step = case.plan.step.get(fact.source)
        if step is None or step.names or step.arguments.get("path", step.id) in touched:
            continue
        value = case.seen.get(fact.name) or _in_file(fact, step, case)
        if not value or len(value) > LONGEST or not PLAIN.fullmatch(value):
            continue
        pattern = re.compile(fact.pattern, re.MULTILINE)
        if any(pattern.search(text) for other in others for text in _texts(other)):
            continue
        own = replace(fact, name=f"m{number}_{fact.name}", source=f"m{number}_{step.id}")
        yield Memory(own, replace(step, id=own.source, group=""), value, fact.name in case.seen)


def _in_file(fact: Fact, step: Step, case: Case) -> str:
    text = case.files.get(step.arguments.get("path", ""), "") if step.tool == "read_file" else ""
    found = re.findall(fact.pattern, text, re.MULTILINE) if isinstance(text, str) else []
    return str(found[0]).strip() if len({*found}) == 1 else ""


def _texts(case: Case) -> Iterator[str]:
    yield case.instruction
    yield from (text for text in case.files.values() if isinstance(text, str))
    yield from (answer for scene in case.scenes for answer in scene.answers)


def chosen(
    rng: Random, known: Sequence[Memory], count: int, beside: Sequence[Memory] = ()
) -> list[Memory]:
    """Some, half of them gone where there are any; all can be told apart, also from `beside`."""
    mixed = rng.sample(known, len(known))
    gone = [memory for memory in mixed if memory.gone]
    again = [memory for memory in mixed if not memory.gone]
    half = (count + 1) // 2
    picked: list[Memory] = []
    for memory in (*gone[:half], *again, *gone[half:]):
        if len(picked) < count and all(_apart(memory, other) for other in (*beside, *picked)):
            picked.append(memory)
    return picked


def _apart(one: Memory, two: Memory) -> bool:
    same_step = one.step.id == two.step.id
    titles = (one.step.title.lower(), two.step.title.lower())
    labels = (one.fact.label, two.fact.label)
    return not _within(*labels) and (same_step or not _within(*titles))


def _within(one: str, two: str) -> bool:
    return one in two or two in one


def note(name: str, asked: Sequence[Memory], ref: str, kept: Mapping[str, str]) -> Case:
    """A note with a line for each value; `kept` are notes that must still stand as they are."""
    path = f"notes/{name}.md"
    steps = list({memory.step.id: memory.step for memory in asked}.values())
    content = "ref {ref}\n" + "".join(f"{m.fact.label}: {{{m.fact.name}}}\n" for m in asked)
    plan = Plan(
        (REFERENCE, *(memory.fact for memory in asked)),
        (),
        (
            *steps,
            write("write", path, content, f"write the note {name} down"),
            shell("proof", f"cat {path}", f"see that the note {name} is whole"),
        ),
        f"The note is in {path}.",
    )
    labels = "; ".join(memory.fact.label for memory in asked)
    told = (
        f"Write {path}: the reference that all notes have, then a line `WHAT: VALUE` for each of "
        f"these, in this order and word for word: {labels}. You have seen them in what you did for "
        "me today; what you still know you need not open again."
    )
    lines = [f"ref {ref}", *(memory.line for memory in asked)]
    return Case({}, told, plan, partial(_checked, path, lines, kept), max_steps=60)


def correction(
    name: str, asked: Sequence[Memory], swap: tuple[Memory, Memory], ref: str
) -> tuple[Case, str]:
    """A note that was written is put right, in two places; also what it is to be in the end."""
    path, (wrong, right) = f"notes/{name}.md", swap
    old = Fact("old", f"line of {wrong.fact.label}", _line_of(wrong), "open")
    plan = Plan(
        (REFERENCE, FIRST_REFERENCE, old, right.fact),
        (),
        (
            right.step,
            read("open", path, f"open the note {name}"),
            edit("head", path, "ref {first_ref}", "ref {ref}", f"put the head of {name} right"),
            edit("line", path, "{old}", f"{right.fact.label}: {{{right.fact.name}}}",
                 f"put a line of {name} right"),
            shell("proof", f"cat {path}", f"see that {name} is right"),
        ),
        "The note is right now.",
    )  # fmt: skip
    told = (
        f"I gave you the wrong reference: {CORRECTED.format(ref=ref)} Please put {path} right, in "
        f"place: its reference, and instead of the line about the {wrong.fact.label} I need one of "
        f"the same form about the {right.fact.label}, which you have seen as well. Leave the other "
        "lines alone."
    )
    lines = [f"ref {ref}", *(m.line if m is not wrong else right.line for m in asked)]
    return Case({}, told, plan, partial(_checked, path, lines, {}), max_steps=60), _text(lines)


def _line_of(memory: Memory) -> str:
    return rf"({re.escape(memory.fact.label)}: {PLAIN.pattern})"


def _text(lines: Sequence[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def _checked(path: str, lines: Sequence[str], kept: Mapping[str, str], left: Artefacts) -> Score:
    def found() -> list[str]:
        return left.text(path).splitlines()

    def stands(line: str) -> TaskQuestion:
        return part(line.partition(":")[0], 1, lambda: line in found())

    return grade(
        part("reference", 1, lambda: found()[0] == lines[0]),
        *(stands(line) for line in lines[1:]),
        part("nothing else", 1, lambda: len(found()) == len(lines)),
        *(part(f"{name} still stands", 1, partial(_same, left, name, text))
          for name, text in kept.items()),
    )  # fmt: skip


def _same(left: Artefacts, name: str, text: str) -> bool:
    return left.text(name) == text
