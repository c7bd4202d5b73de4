"""What is done in which step, in words that no client has: read, search, run, replace."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count, islice, zip_longest
from typing import TypeAlias

from benchmarks.clients.coding.parts import PARTS, CodingPart
from benchmarks.clients.coding.project import PACKAGE, line_of

AROUND = 25
"""Lines that are looked at again on either side of a change."""


@dataclass(frozen=True, slots=True)
class Read:
    """A file, or `lines` lines of it from line `first` on."""

    path: str
    first: int = 1
    lines: int = 0


@dataclass(frozen=True, slots=True)
class Search:
    pattern: str
    folder: str


@dataclass(frozen=True, slots=True)
class PlannedRun:
    command: str
    purpose: str


@dataclass(frozen=True, slots=True)
class Replace:
    """One whole line by another."""

    path: str
    old: str
    new: str


Action: TypeAlias = Read | Search | PlannedRun | Replace


@dataclass(frozen=True, slots=True)
class PlannedStep:
    said: str
    thought: str
    actions: tuple[Action, ...]


def steps_of(length: int, at_once: int = 1) -> tuple[PlannedStep, ...]:
    """The first `length` steps of a session that mends modules, so many `at_once`.

    With one, a module is done before the next is begun, and what was read for it is stale soon.
    With several they take turns, and what was read is needed for long.

    Chapters differ as days do: some begin with the test and some with the code, some look at a
    neighbour, some try something out, some look at what they changed, some run everything.
    """
    return tuple(islice(_endless(at_once), length))


def _endless(at_once: int) -> Iterator[PlannedStep]:
    yield from _opening()
    chapters = [
        _CHAPTERS[number % len(_CHAPTERS)](part, PARTS[number - 2])
        for number, part in enumerate(PARTS)
    ]
    for first in range(0, len(chapters), at_once):
        together = zip_longest(*chapters[first : first + at_once])
        yield from (step for steps in together for step in steps if step is not None)
    for number in count():
        yield from _review(PARTS[number % len(PARTS)], number)


def _opening() -> Iterator[PlannedStep]:
    yield PlannedStep(
        "I'll look at what is here first.",
        "The user wants every module of this library mended. Before I touch anything I need the "
        "layout, the rules in README.md, and a picture of what fails.",
        (PlannedRun("ls -la . toolkit tests", "List the project"),),
    )
    yield PlannedStep("", "README.md has rules I have to keep to.", (Read("README.md"),))
    yield PlannedStep(
        "Now the whole test run, to see how much is red.",
        "The rules: mend the module and never the test, one change a fault, no renaming, check "
        "each module after its change. Let me see all failures before I begin.",
        (PlannedRun("./check", "Run all tests"),),
    )


def _by_the_test(part: CodingPart, earlier: CodingPart) -> Iterator[PlannedStep]:
    yield _checks(part)
    yield PlannedStep(
        f"{_cap(part.symptom)}. I read the test, then the module.",
        f"So {part.symptom}. The test tells what is promised; I want its exact words before I "
        f"read {part.name}.py, so that I do not mend something else.",
        (_test(part),),
    )
    yield PlannedStep(
        "",
        f"Now the module itself. It stands alone, so {part.name}.py is all there is.",
        (_module(part),),
    )
    yield _finds(part)
    yield _mends(part)
    yield _checks_again(part)
    yield PlannedStep(
        f"{part.name} is green. Now everything, before I go on.",
        f"{_cap(part.cause)}; that is mended. A run of everything shows what remains and that "
        "nothing else broke.",
        (PlannedRun("./check", "Run all tests"),),
    )


def _side_by_side(part: CodingPart, earlier: CodingPart) -> Iterator[PlannedStep]:
    yield _checks(part)
    yield PlannedStep(
        f"{_cap(part.symptom)}. Test and module together.",
        f"Failing: {part.symptom}. I read {part.name}.py and its test side by side.",
        (_test(part), _module(part)),
    )
    yield _compares(part)
    yield _mends(part)
    yield PlannedStep(
        "",
        "Let me look at the place once more as it is now, with what stands around it.",
        (_place(part),),
    )
    yield _checks_again(part)


def _by_the_code(part: CodingPart, earlier: CodingPart) -> Iterator[PlannedStep]:
    yield _checks(part)
    yield _finds(part)
    yield PlannedStep(
        f"There it is, I think. I read all of {part.name}.py.",
        f"{_cap(part.symptom)}. The search shows where it is used, not how it works: the whole "
        "module, then.",
        (_module(part),),
    )
    yield _compares(part)
    expression = part.checks[-1][1].replace('"', '\\"')
    command = f'python3 -c "from tests import *; from toolkit.{part.name} import *; '
    command += f'print(repr({expression}))"'
    yield PlannedStep(
        "I try it out by hand.",
        f"If {part.cause}, then this must come out wrong in just that way.",
        (PlannedRun(command, "Try one expression"),),
    )
    yield _mends(part)
    yield _checks_again(part)
    yield PlannedStep(
        "And everything once more.",
        f"{part.name} done: {part.cause}. Next I need the list of what is still red.",
        (PlannedRun("./check", "Run all tests"),),
    )


def _the_long_way(part: CodingPart, earlier: CodingPart) -> Iterator[PlannedStep]:
    yield PlannedStep(
        f"Next is {part.name}.",
        f"{part.name}: I remember that it was red. First the code this time.",
        (_module(part),),
    )
    yield _checks(part)
    yield PlannedStep(
        "Is there an older test of it?",
        f"{_cap(part.symptom)}. Perhaps there is a second test file that says more.",
        (Read(f"tests/test_{part.name}_more.py"),),
    )
    yield PlannedStep(
        "There is not. Then the one that exists.", "No such file; the normal one.", (_test(part),)
    )
    yield PlannedStep(
        f"Before I change it: how was that with {earlier.name}?",
        f"In {earlier.name}.py it was that {earlier.cause}. This may be of the same kind; I look "
        "at that place again.",
        (_place(earlier),),
    )
    yield _mends(part)
    yield _checks_again(part)
    yield PlannedStep(
        f"I read {part.name}.py once more as a whole, now that it passes.",
        "The rules ask for one change a fault. I want to be sure that the rest of the module does "
        "not rest on the fault that I removed.",
        (_module(part),),
    )


_CHAPTERS = (_by_the_test, _side_by_side, _by_the_code, _the_long_way)


def _review(part: CodingPart, number: int) -> Iterator[PlannedStep]:
    """Behind the last fault: each module once more, and what uses it."""
    yield PlannedStep(
        f"A last look at {part.name}.",
        f"All faults are mended. I go through the changes once more; {part.name} is next.",
        (_module(part) if number % 2 else _place(part),),
    )
    yield _finds(part)
    yield _checks_again(part)


def _checks(part: CodingPart) -> PlannedStep:
    return PlannedStep(
        f"Next: `{part.name}`.",
        f"{part.name} is next. Its own tests first, for the traceback.",
        (PlannedRun(f"./check {part.name}", f"Run the tests of {part.name}"),),
    )


def _checks_again(part: CodingPart) -> PlannedStep:
    return PlannedStep(
        "",
        f"Mended, I believe. The rules want `./check {part.name}` after each change.",
        (PlannedRun(f"./check {part.name}", f"Run the tests of {part.name} again"),),
    )


def _finds(part: CodingPart) -> PlannedStep:
    name = part.names.split(",")[0]
    return PlannedStep(
        f"Who uses `{name}`?",
        f"I want to know where {name} is used before I decide what it should do.",
        (Search(name, "."),),
    )


def _compares(part: CodingPart) -> PlannedStep:
    return PlannedStep(
        f"I compare with how {part.beside}.py does it.",
        f"I suspect that {part.cause}. {part.beside}.py has to do something of the kind as well; "
        "worth a look before I change anything here.",
        (Read(f"{PACKAGE}/{part.beside}.py"),),
    )


def _mends(part: CodingPart) -> PlannedStep:
    return PlannedStep(
        f"Found: {part.cause}. I change that one line.",
        f"{_cap(part.cause)}. That explains why {part.symptom}. The line is "
        f"`{part.wrong.strip()}` and has to be `{part.right.strip()}`. One line, nothing else.",
        (Replace(f"{PACKAGE}/{part.name}.py", part.wrong, part.right),),
    )


def _module(part: CodingPart) -> Read:
    return Read(f"{PACKAGE}/{part.name}.py")


def _test(part: CodingPart) -> Read:
    return Read(f"tests/test_{part.name}.py")


def _place(part: CodingPart) -> Read:
    """The lines around the fault; the same file in every run, so the number is known."""
    return Read(f"{PACKAGE}/{part.name}.py", max(1, line_of(part) - AROUND), 2 * AROUND)


def _cap(text: str) -> str:
    """As the beginning of a sentence, unless it begins with a name of the code."""
    name = "(" in text.split()[0]
    return text if name else text[:1].upper() + text[1:]
