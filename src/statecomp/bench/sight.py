"""What a scripted model can make out in the messages it is given: values, rules, finished steps.

Nothing is remembered from one request to the next but the reading of identical texts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from statecomp.bench.environment import NAMES
from statecomp.bench.plan import PLACE, Plan, Step
from statecomp.history.interaction import Call, JsonObject
from statecomp.history.text import argument_text
from statecomp.wire.content import text_of
from statecomp.wire.openai_chat import calls_of

NUMBERED = re.compile(r"^ *\d+  ", re.MULTILINE)
# Where one entry of a summary ends and the next begins; values are told apart line by line.
JOINTS = re.compile(r"; | -> |^\s*[-*] (?:\d+[.:] )?", re.MULTILINE)
AIM = "want to"
PREFIX_CHARS, SHORTEST_PIECE = 28, 6
ERROR = "error:"


@dataclass(frozen=True, slots=True)
class Reading:
    """One text, read with one plan in mind."""

    values: Mapping[str, str]
    rules: frozenset[str]
    told: frozenset[str]  # steps it says were taken
    aims: frozenset[str]  # steps it says are wanted


@dataclass(frozen=True)
class Turn:
    """One visible assistant message with what answered it."""

    said: str
    calls: tuple[Call, ...]
    answers: tuple[str, ...]


@dataclass
class Sight:
    """Everything a plan's reader sees in one request."""

    values: dict[str, str] = field(default_factory=dict)
    rules: set[str] = field(default_factory=set)
    done: set[str] = field(default_factory=set)
    aims: set[str] = field(default_factory=set)
    stated: set[str] = field(default_factory=set)  # facts and rules that somebody put into words
    turns: list[Turn] = field(default_factory=list)
    newest: tuple[str, ...] = ()  # the observations that nobody has reacted to yet
    texts: list[str] = field(default_factory=list)
    records: list[str] = field(default_factory=list)  # words that are neither task nor its own


class Eye:
    """Reads messages with one plan in mind."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._facts = [
            (fact.name, re.compile(fact.pattern, re.MULTILINE), _stated(fact.label))
            for fact in plan.facts
        ]
        self._rules = [
            (rule.name, re.compile(f"{rule.pattern}|{_words(rule.label)}", re.IGNORECASE))
            for rule in plan.rules
        ]
        titles = {step.id: _words(step.title) for step in plan.steps}
        self._titles = {
            name: re.compile(rf"({AIM} )?{title}", re.IGNORECASE) for name, title in titles.items()
        }
        self._calls = _call_patterns(plan.steps)
        self._observation = lru_cache(maxsize=4096)(self._read_observation)
        self._told = lru_cache(maxsize=4096)(self._read_words)

    @property
    def quotable(self) -> frozenset[str]:
        """Steps that a summary which quotes calls would show."""
        return frozenset(self._calls)

    def look(self, messages: Sequence[JsonObject]) -> Sight:
        sight = Sight()
        names: dict[str, str] = {}  # of the tools behind call ids
        for message in messages:
            text, role = text_of(message.get("content")), message.get("role")
            if role == "assistant":
                calls = calls_of(message)
                names.update((call.id, call.name) for call in calls)
                sight.turns.append(Turn(text, calls, ()))
                shown = "\n".join(f"{c.name} {argument_text(c.arguments)}" for c in calls)
                self._take(sight, self._observation(shown), stated=False)
                self._take(sight, self._told(text), stated=True)
                sight.aims |= self._told(text).aims
            elif role == "tool" and names.get(str(message.get("tool_call_id"))) in NAMES:
                self._answer(sight, text)
                self._take(sight, self._observation(text), stated=False)
            else:
                reading = self._told(text)
                self._take(sight, reading, stated=True)
                sight.done |= reading.told
                sight.records.append(text)
                if role == "tool":
                    self._answer(sight, text)
            sight.texts.append(text)
        sight.done |= self._finished(sight.turns)
        sight.newest = sight.turns[-1].answers if sight.turns else ()
        return sight

    def _take(self, sight: Sight, reading: Reading, *, stated: bool) -> None:
        sight.values.update(reading.values)
        sight.rules |= reading.rules
        if stated:
            sight.stated.update(reading.values, reading.rules)

    def _answer(self, sight: Sight, text: str) -> None:
        if sight.turns:
            last = sight.turns[-1]
            sight.turns[-1] = Turn(last.said, last.calls, (*last.answers, text))

    def _finished(self, turns: Sequence[Turn]) -> set[str]:
        """Steps with a visible call of their own; a refused call counts the second time."""
        done: set[str] = set()
        refused: set[str] = set()
        for turn in turns:
            for name in self._told(turn.said).told:
                failed = bool(turn.answers) and all(a.startswith(ERROR) for a in turn.answers)
                if failed and name not in refused:
                    refused.add(name)
                else:
                    done.add(name)
        return done

    def fresh(self, text: str) -> Reading:
        """What one observation shows."""
        return self._observation(text)

    def _read_observation(self, text: str) -> Reading:
        plain = NUMBERED.sub("", text)
        values = {
            name: value
            for name, pattern, _ in self._facts
            if (value := _last(pattern, plain)) is not None
        }
        rules = frozenset(name for name, pattern in self._rules if pattern.search(plain))
        return Reading(values, rules, frozenset(), frozenset())

    def _read_words(self, text: str) -> Reading:
        """Words of the agent, of a summary, or of the task: values may be stated by label."""
        parted = JOINTS.sub("\n", text)
        values = {}
        for name, pattern, stated in self._facts:
            value = _last(stated, text) or _last(pattern, text) or _last(pattern, parted)
            if value is not None:
                values[name] = value
        rules = frozenset(name for name, pattern in self._rules if pattern.search(text))
        told: set[str] = set()
        aims: set[str] = set()
        for name, title in self._titles.items():
            for match in title.finditer(text):
                (aims if match[1] else told).add(name)
        told.update(n for n, pattern in self._calls.items() if pattern.search(text))
        return Reading(values, rules, frozenset(told), frozenset(aims))


def _last(pattern: re.Pattern[str], text: str) -> str | None:
    value = None
    for match in pattern.finditer(text):
        value = match[1]
    return value.strip() if value is not None else None


def _stated(label: str) -> re.Pattern[str]:
    """The agent's own way to put a value into words; see `acting`."""
    return re.compile(
        rf"{_words(label)}\s?(?:is|was|=|:)\s?[`\"']?([^;\n]+?)[`\"']?\.?(?:;|$)", re.M
    )


def _words(text: str) -> str:
    """The words of a text whatever stands between them; a summary may wrap its lines."""
    return r"\s+".join(map(re.escape, text.split()))


def _call_patterns(steps: Sequence[Step]) -> dict[str, re.Pattern[str]]:
    """How a summary that quotes calls would show each step; steps that look alike have none."""
    owners: dict[tuple[str, str], set[str]] = {}
    for step in steps:
        for piece in _pieces(step):
            owners.setdefault((step.tool, piece), set()).add(step.id)
    patterns = {}
    for step in steps:
        own = [piece for piece in _pieces(step) if owners[step.tool, piece] == {step.id}]
        if own:
            patterns[step.id] = re.compile(rf"\b{step.tool}\b.{{0,160}}?{_words(own[0])}")
    return patterns


def _pieces(step: Step) -> list[str]:
    """What stands literally in a step's arguments: beginnings, up to where a value would stand."""
    texts = (piece for text in step.arguments.values() for piece in PLACE.split(text)[::2])
    pieces = (" ".join(text.split())[:PREFIX_CHARS].strip() for text in texts)
    return [piece for piece in pieces if len(piece) >= SHORTEST_PIECE]


def mentions(texts: Iterator[str] | Sequence[str], words: str) -> int:
    """How many texts hold these words."""
    return sum(words in text for text in texts)
