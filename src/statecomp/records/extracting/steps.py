"""What each step of a span did and how it ended, one line a step."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from types import MappingProxyType
from typing import NamedTuple

from statecomp.history.interaction import Interaction
from statecomp.history.text import argument_text
from statecomp.records.extracting.ending import Ending, ending_of
from statecomp.records.extracting.pieces import FENCED, begun, one_line, shortened
from statecomp.records.extracting.reading.actions import (
    CAUSE_CHARS,
    LONGEST_LINE,
    MESSAGE,
    SHORTEST_LINE,
    Action,
    CallLine,
    action_of,
    actions_of,
    calls_of,
    fitting,
    sized,
)
from statecomp.records.extracting.reading.calls import same
from statecomp.records.extracting.reading.guessed import NO_GUESS, Guess, guessed_in
from statecomp.records.extracting.reading.page import acted_on, place_of
from statecomp.records.extracting.reading.results import results_of
from statecomp.records.extracting.reading.size import (
    NOTHING,
    length_of,
    size_of,
    words_of_answer,
)
from statecomp.records.extracting.units import Place, Unit, of_step, parts_of
from statecomp.records.record import Record

_LINE, _DIGITS = re.compile(r"\bline \d+"), re.compile(r"\d+")
AS_AT = 30
"""Characters of a failure that is told again rather than by its first step."""
SHORT = 60
"""Characters of a result that is said at every step that came to it."""
WHOLE = 1.4
"""How many times longer than what is said of it an answer may be that counts as said."""
SHARE, MOST = 0.75, 0.95
"""How much of the room the steps' own lines may take, and with why some of them failed; the rest is
for units."""
SPELLED, FEW, SAMPLE = 12, 4, 24
"""Characters of a line that nobody writes twice by chance; so many lines are asked for, and no
more than a sample of many."""
VIEW = "agent's view"
"""What the agent said next is about the step until then.  It is a view: nobody has checked it."""
RETRIES = 6
"""How many steps after the span are looked at for a success of the same call."""


@dataclass(frozen=True, slots=True)
class KnownStep:
    """What is known of one interaction before any line is written.

    `below` tells the calls of one step apart; `went_through_at` is the later step that sent the
    same call and did not fail.  `size` says how much was answered, `length` in characters; `words`
    are those of a short answer, and of `results` the `whole` is all of it.  `again` is the step
    that was answered the same; `guessed` quotes where its amounts were made up.  `aim` is what the
    agent said it was for, `view` what it said next, `before` what it had said of an earlier step.
    """

    number: int
    kind: str
    action: Action
    ending: Ending
    size: str
    length: int = 0
    words: str = ""
    results: tuple[str, ...] = ()
    whole: str = ""
    below: tuple[CallLine, ...] = ()
    again: int = 0
    guessed: Guess = NO_GUESS
    went_through_at: int = 0
    aim: str = ""
    view: str = ""
    before: str = ""


@dataclass(frozen=True, slots=True)
class Outline:
    """The lines of a span's steps, each with the step's place in it, or -1 where it has none.

    `bare` are the answers, by the places of their steps and calls, of which a line says no more
    than how much came.
    """

    lines: tuple[tuple[int, str], ...]
    views: Mapping[int, Sequence[str]] = field(default_factory=dict)
    bare: frozenset[tuple[int, int]] = frozenset()
    locations: tuple[str, ...] = ()
    unresolved: tuple[str, ...] = ()

    @property
    def record(self) -> Record:
        told = ("\n  ".join((line, *self.views.get(place, ()))) for place, line in self.lines)
        return Record(tuple(told), locations=self.locations, unresolved=self.unresolved)


def steps_of(
    span: Sequence[Interaction],
    after: Sequence[Interaction],
    units: Sequence[Unit],
    again: Mapping[int, int] = MappingProxyType({}),
) -> list[KnownStep]:
    """The steps of the span; those `after` it may show that a failure was overcome.

    `again` has the steps that were answered as some others were.
    """
    known = (*span, *after[:RETRIES])
    endings = [ending_of(member) for member in span]
    actions = list(actions_of(span))
    answers = [parts_of(member).payloads for member in span]
    sizes = [_size_of(member) for member in span]
    told: list[list[Unit]] = [[] for _ in span]
    for unit in units:
        if unit.place is Place.OBSERVED:
            told[unit.step].append(unit)
    lengths = [size.length for size in sizes]
    results = [results_of(seen, length) for seen, length in zip(told, lengths, strict=True)]
    shown_at = [
        [where for payload in answer for where in _pages(payload.text, action.text)]
        for answer, action in zip(answers, actions, strict=True)
    ]
    return [
        KnownStep(
            number=member.number,
            kind=_kind(member),
            action=actions[place],
            ending=endings[place],
            size="".join(_sized(sizes[place].told, member, actions[place].text, told[place])),
            length=lengths[place],
            words=sizes[place].words,
            results=tuple(filter(None, (*shown_at[place], *results[place].texts))),
            whole=results[place].whole,
            below=calls_of(member),
            again=again.get(place, 0),
            guessed=NO_GUESS if endings[place].failed else guessed_in(member),
            went_through_at=_success(place, known, endings),
        )
        for place, member in enumerate(span)
    ]


class _Size(NamedTuple):
    """How much a step was answered, in words and in characters, and the words of a short answer."""

    told: str
    length: int
    words: str


@of_step
def _size_of(member: Interaction) -> _Size:
    answer = parts_of(member).payloads
    words = words_of_answer(answer[0]) if len(answer) == 1 else ""
    return _Size(size_of(answer), length_of(answer), words)


def _sized(size: str, member: Interaction, action: str, units: Sequence[Unit]) -> Iterator[str]:
    """How much was answered, in which file, and whether the call had it all in it already."""
    window = next((one for one in parts_of(member).payloads if one.window), None)
    if window and window.file and window.file not in f"{action}{window.note}":
        yield f"{window.file}: "
    yield size
    values = [] if window else [_value(unit.text) for unit in units if len(unit.text) >= SPELLED]
    if len(values) >= FEW:
        sent = _sent_at(member)
        some = values[:: len(values) // SAMPLE + 1]
        if sum(value in sent for value in some) * 2 > len(some):
            yield "; most of it spelled out in the call"


@of_step
def _sent_at(member: Interaction) -> str:
    sent = [argument_text(call.arguments) for call in member.calls]
    return "\n".join(sent or FENCED.findall(member.said))


def _value(text: str) -> str:
    _, colon, value = text.partition(": ")
    return value if colon and len(value) >= SPELLED else text


def _pages(text: str, action: str) -> Iterator[str]:
    """Which page an answer shows, first with what came of the actions on it."""
    where = place_of(text, action)
    if acted := acted_on(text):
        yield "; ".join(filter(None, (acted, where)))
    yield where


def _success(place: int, known: Sequence[Interaction], endings: Sequence[Ending]) -> int:
    """The later step that sent the same and went through, if none failed after it."""
    if not endings[place].failed:
        return 0
    found = 0
    for later in range(place + 1, len(known)):
        if same(known[place], known[later]):
            # Few steps after the span are asked how they ended, and asking has them cut.
            ending = endings[later] if later < len(endings) else ending_of(known[later])
            bad = ending.failed or ending.said
            found = 0 if bad else found or known[later].number
    return found


def outline(steps: Sequence[KnownStep], room: int, count: Callable[[str], int]) -> Outline:
    """A line for each step, as long as the room allows; in the worst case one for several."""
    limit = max(SHORTEST_LINE, min(LONGEST_LINE, int(room * 4 * SHARE) // max(1, len(steps))))
    told = _written(steps, limit)
    causes = {step.ending.told(CAUSE_CHARS) for step in steps if step.ending.failed}
    most = min(room * MOST, room * SHARE + count("\n".join(causes)))
    while count("\n".join(told.record.facts)) > most and limit > SHORTEST_LINE:
        limit = max(SHORTEST_LINE, limit * 3 // 4)
        told = _written(steps, limit)
    return told if count(told.record.body) <= room else _merged(steps, room, count)


def _written(steps: Sequence[KnownStep], limit: int) -> Outline:
    lines: list[tuple[int, str]] = []
    bare: set[tuple[int, int]] = set()
    met: dict[str, int] = {}
    for place, step in enumerate(steps):
        if step.action.head:
            lines.append((-1, step.action.head))
        if _fits(step.before, limit):
            # What it is about stands elsewhere; below the step it would be read as of its answer.
            lines.append((-1, f"{VIEW} before step {step.number}: {step.before}"))
        result = _result(step, limit)
        ended = _ended(step, result)
        if step.ending.failed:
            ended = _failed(step, ended, met)
        lines.append((place, _fact(step, limit, ended)))
        bare.update((place, call) for call, line in enumerate(step.below) if line.bare)
        if not (_apart(step) or _tells(step, result)):
            bare.add((place, 0))
    views = {place: tuple(_views(step, limit)) for place, step in enumerate(steps)}
    return Outline(tuple(lines), views, frozenset(bare))


def _views(step: KnownStep, limit: int) -> Iterator[str]:
    if _fits(step.view, limit):
        yield f"{VIEW}: {step.view}"


def _fits(said: str, limit: int) -> bool:
    """Whether the agent said it, and in so few words that there is room for them."""
    return bool(said) and len(said) * 2 <= limit


def _failed(step: KnownStep, ended: str, met: dict[str, int]) -> str:
    """How a step failed, a cause that was `met` before by the step that met it first."""
    # The same error at another line of a shell, or of a number that the call names, is the same.
    named = {*_DIGITS.findall(step.action.text)}
    cause = _LINE.sub("line", ended)
    cause = _DIGITS.sub(lambda found: "" if found[0] in named else found[0], cause)
    first = met.setdefault(cause, step.number)
    told = ended if first == step.number or len(ended) < AS_AT else f"failed as at step {first}"
    again = step.went_through_at
    return f"{told}; the same call went through at {again}" if again else told


def _fact(step: KnownStep, limit: int, ended: str) -> str:
    left = limit if limit == LONGEST_LINE else max(limit - len(ended), limit // 2)
    message = step.action.text.startswith(MESSAGE)
    line = begun(step.action.text, left) if message else fitting(step.action, left)
    aim = f" (aim: {step.aim})" if _fits(step.aim, limit) else ""
    line = f"{step.number}. {line}{aim}"
    told = f"{line} -> {ended}" if ended else line
    told = "; ".join(filter(None, (told, step.guessed.beside(told))))
    return "\n  ".join((told, *(line.text for line in step.below)))


def _ended(step: KnownStep, result: _Result) -> str:
    """The result, and how much more there was: a part must not pass for the whole."""
    if not result.text:
        return "" if _apart(step) else sized(step.ending, step.size)
    return result.text if result.whole or not step.size else f"{result.text} ({step.size})"


def _tells(step: KnownStep, result: _Result) -> bool:
    """Whether a line says what came of its step: not what only announces it."""
    told = bool(result.text) and (result.whole or not result.text.endswith(":"))
    return told or _apart(step) or step.size in ("", NOTHING)


def _apart(step: KnownStep) -> bool:
    """Whether each of its calls is told with its own outcome."""
    return any(" -> " in line.text for line in step.below)


class _Result(NamedTuple):
    """What a line says came of a step, and whether that is all that did."""

    text: str
    whole: bool = True


def _result(step: KnownStep, room: int) -> _Result:
    """The verdict, or the result where it fits whole: half a value reads like a whole one."""
    bad = sum(1 for line in step.below if " -> failed" in line.text)
    if bad:
        return _Result(f"{bad} of {len(step.below)} failed")
    if _apart(step):
        return _Result("")
    if step.ending.failed:
        return _Result(step.ending.told(max(2 * room, CAUSE_CHARS)))
    told = _told(step, room)
    whole = len(told.text) * WHOLE > step.length or told.text.endswith(step.size)
    told = told._replace(whole=told.whole or whole)
    short = told.text.rstrip(":") if len(told.text) <= SHORT else ""
    if not step.again or (short and told.whole):
        return told
    return _Result(", ".join(filter(None, (short, f"as at step {step.again}"))))


def _told(step: KnownStep, room: int) -> _Result:
    """The verdict, or a few words of the answer that fit and are not the call's own."""
    if step.ending.verdict:
        return _Result(step.ending.verdict, whole=False)
    if step.ending.said:
        return _Result(f"said: {step.ending.said}", whole=False)
    # Where all that was answered is a few words, no part of them stands for it; data is named.
    told = "" if "{" in step.words else step.words
    for text in filter(None, (told, *step.results, step.words)):
        news = _unsent(text, step.action.text)
        if news and len(news) <= max(room * 3 // 2, SHORTEST_LINE):
            return _Result(news, whole=text == step.whole)
    if step.whole and not _unsent(step.whole, step.action.text):
        return _Result(sized(step.ending, "as sent"))
    return _Result("", whole=False)


def _unsent(result: str, action: str) -> str:
    """A result without the arguments it repeats."""
    return "; ".join(part for part in result.split("; ") if ": " not in part or part not in action)


def _merged(steps: Sequence[KnownStep], room: int, count: Callable[[str], int]) -> Outline:
    """One line for neighbours of a kind; the earliest go first where even that is too long."""
    facts = [(-1, line) for line in _runs(steps)]
    while len(facts) > 1 and count(Outline(tuple(facts)).record.body) > room:
        del facts[: max(1, len(facts) // 8)]
    return Outline(tuple(facts))


def _runs(steps: Sequence[KnownStep]) -> Iterator[str]:
    for (kind, failed), run in groupby(steps, key=lambda step: (step.kind, step.ending.failed)):
        first, *others = run
        numbers = f"{first.number}-{others[-1].number}" if others else str(first.number)
        ended = " -> failed" if failed else ""
        yield f"{numbers}. {shortened(kind, SHORTEST_LINE)}{ended}"


def _kind(member: Interaction) -> str:
    if member.calls:
        return one_line(", ".join(dict.fromkeys(call.name for call in member.calls)))
    return action_of(member).split(" ", 1)[0]
