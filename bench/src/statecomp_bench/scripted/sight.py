"""What a scripted model can make out in the messages it is given: values, rules, finished steps.

A step that a strategy shows as text (thought, action, observation) is read as a step of its own.
Nothing is remembered from one request to the next but the reading of identical texts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

from statecomp.history.interaction import Call, JsonObject
from statecomp.history.text import argument_text
from statecomp.wire.content import text_of
from statecomp.wire.openai_chat.wire import calls_of
from statecomp_bench.environment import NAMES
from statecomp_bench.plan import Plan
from statecomp_bench.scripted.meaning import Meaning
from statecomp_bench.scripted.recalling import ENTRY_START, Recall, ShownEntry
from statecomp_bench.scripted.wording import call_patterns, last_value, spaced, stated_as

NUMBERED = re.compile(r"^ *\d+  ", re.MULTILINE)
# Where one entry of a summary ends and the next begins; values are told apart line by line.
JOINTS = re.compile(r"; | -> |^\s*[-*] (?:\d+[.:] )?", re.MULTILINE)
FIRST_WORDS = 40
AIM = "want to"
ERROR = "error:"
ONCE_MORE = "Once more:"
OWN_WORDS = "own words"
FLAT = re.compile(
    r"^(?:Thought: (.*?)\n)?^Action: (.*?)\n^Observation: (.*)", re.MULTILINE | re.DOTALL
)


@dataclass(frozen=True, slots=True)
class PlanReading:
    """One text, read with one plan in mind."""

    values: Mapping[str, str]
    rules: frozenset[str]
    told: frozenset[str]  # steps it says were taken
    aims: frozenset[str]  # steps it says are wanted
    loose: Mapping[str, str] = field(default_factory=dict)  # values in other words than their own
    entries: tuple[ShownEntry, ...] = ()  # of a record, in order


@dataclass(frozen=True)
class SeenTurn:
    """One visible assistant message with what answered it."""

    said: str
    calls: tuple[Call, ...]
    answers: tuple[str, ...]


@dataclass
class PlanSight:
    """Everything a plan's reader sees in one request."""

    values: dict[str, str] = field(default_factory=dict)
    loose: dict[str, str] = field(default_factory=dict)
    shown_by: dict[str, str] = field(default_factory=dict)  # a value's step, or OWN_WORDS
    rules: set[str] = field(default_factory=set)
    done: set[str] = field(default_factory=set)
    aims: set[str] = field(default_factory=set)  # steps that were wanted or tried
    stated: set[str] = field(default_factory=set)  # facts and rules that somebody put into words
    turns: list[SeenTurn] = field(default_factory=list)
    newest: tuple[str, ...] = ()  # the observations that nobody has reacted to yet
    texts: list[str] = field(default_factory=list)
    records: list[str] = field(default_factory=list)  # words that are neither task nor its own


class Eye:
    """Reads messages with one plan in mind; with `meaning`, records in other words, too."""

    def __init__(self, plan: Plan, meaning: Meaning | None = None) -> None:
        self._plan = plan
        self._meaning = meaning
        self._recall = Recall(plan) if meaning else None
        self._facts = [
            (fact.name, re.compile(fact.pattern, re.MULTILINE), stated_as(fact.label))
            for fact in plan.facts
        ]
        self._rules = [
            (rule.name, re.compile(f"{rule.pattern}|{spaced(rule.label)}", re.IGNORECASE))
            for rule in plan.rules
        ]
        titles = {step.id: spaced(step.title) for step in plan.steps}
        self._titles = {
            name: re.compile(rf"({AIM} )?{title}", re.IGNORECASE) for name, title in titles.items()
        }
        self._calls = call_patterns(plan.steps)
        self._observation = lru_cache(maxsize=4096)(self._read_observation)
        self._told = lru_cache(maxsize=4096)(self._read_words)
        self._record = lru_cache(maxsize=4096)(self._read_record)

    def look(self, messages: Sequence[JsonObject]) -> PlanSight:
        sight = PlanSight()
        own: dict[str, Call] = {}  # calls of the environment's tools
        asked = False
        for message in messages:
            text, role = text_of(message.get("content")), message.get("role")
            if role == "assistant":
                calls = calls_of(message)
                own.update((call.id, call) for call in calls if call.name in NAMES)
                sight.turns.append(SeenTurn(text, calls, ()))
                shown = "\n".join(f"{c.name} {argument_text(c.arguments)}" for c in calls)
                self._take(sight, self._observation(shown), stated=False)
                # What it saw counts before what it made of that.
                sight.loose.update(self.recalled(calls))
                self._said(sight, text)
            elif role == "tool" and (call := own.get(str(message.get("tool_call_id")))):
                self._answered(sight, call, text)
            elif flat := FLAT.search(text):
                self._flat_step(sight, flat[1] or "", flat[2], flat[3])
            else:
                # The task is nobody's record: it means what it says.
                reading = self._record(text) if asked else self._told(text)
                asked = asked or role == "user"
                self._take(sight, reading, stated=True)
                self._listed(sight, reading)
                sight.done |= reading.told
                sight.aims |= reading.aims
                sight.records.append(text)
                if role == "tool":
                    self._answer(sight, text)
            sight.texts.append(text)
        sight.done |= self._finished(sight.turns)
        sight.newest = sight.turns[-1].answers if sight.turns else ()
        # Whoever sees a value in its own words anywhere does not guess at others.
        sight.values = {**sight.loose, **sight.values}
        return sight

    def recalled(self, calls: Iterable[Call]) -> dict[str, str]:
        """What it filled into its own calls; later ones win."""
        found: dict[str, str] = {}
        for call in calls if self._recall else ():
            if self._recall and (shown := self._shown_by(call)):
                found.update(self._recall.values(call, self._plan.step[shown]))
        return found

    def _listed(self, sight: PlanSight, reading: PlanReading) -> None:
        """Entry by entry: a newer list of which little is left makes the older one doubtful."""
        if self._recall is None:
            return
        for entry in reading.entries:
            for name in self._recall.outdated(entry, sight.shown_by):
                sight.values.pop(name, None)
                sight.loose.pop(name, None)
            sight.shown_by.update(dict.fromkeys(entry.names, entry.step))

    def _flat_step(self, sight: PlanSight, said: str, action: str, seen: str) -> None:
        sight.turns.append(SeenTurn(said, (), (seen,)))
        self._said(sight, said)
        for text in (action, seen):
            self._take(sight, self._observation(text), stated=False)

    def _said(self, sight: PlanSight, text: str) -> None:
        reading = self._told(text)
        self._take(sight, reading, stated=True)
        sight.shown_by.update(dict.fromkeys(reading.values, OWN_WORDS))
        # A call that was refused is no finished step, and yet says how far the work has come.
        sight.aims |= reading.aims | reading.told

    def _answered(self, sight: PlanSight, call: Call, text: str) -> None:
        self._answer(sight, text)
        reading = self._observation(text)
        shown = self._shown_by(call) if self._meaning else ""
        older = {name for name in self._beside(call, shown, reading) if name in sight.values}
        values = {name: value for name, value in reading.values.items() if name not in older}
        sight.shown_by.update(dict.fromkeys(values, shown))
        self._take(sight, replace(reading, values=values), stated=False)

    def _beside(self, call: Call, shown: str, reading: PlanReading) -> set[str]:
        """Values that were not looked for: a list of before, read again, does not undo a newer."""
        if self._recall is None:
            return set()
        if shown:
            fact = self._plan.fact
            return {name for name in reading.values if fact[name].source not in (shown, "")}
        asked = self._recall.asked(call)
        return reading.values.keys() - asked if asked else set()

    def _shown_by(self, call: Call) -> str:
        """The step that a call is; nothing where it is several, or none."""
        text = " ".join(argument_text(call.arguments).split())
        steps = (name for name, (piece, _) in self._calls.items() if piece in text)
        found = [name for name in steps if self._plan.step[name].tool == call.name]
        return found[0] if len(found) == 1 else ""

    def _take(self, sight: PlanSight, reading: PlanReading, *, stated: bool) -> None:
        sight.values.update(reading.values)
        sight.loose.update(reading.loose)
        sight.rules |= reading.rules
        if stated:
            sight.stated.update(reading.values, reading.rules)

    def _answer(self, sight: PlanSight, text: str) -> None:
        if sight.turns:
            last = sight.turns[-1]
            sight.turns[-1] = SeenTurn(last.said, last.calls, (*last.answers, text))

    def _finished(self, turns: Sequence[SeenTurn]) -> set[str]:
        """Steps with a visible call of their own; a refused call counts the second time."""
        done: set[str] = set()
        refused: set[str] = set()
        for turn in turns:
            for name in self._told(turn.said).told:
                failed = bool(turn.answers) and all(a.startswith(ERROR) for a in turn.answers)
                if failed and name not in refused and ONCE_MORE not in turn.said:
                    refused.add(name)
                else:
                    done.add(name)
        return done

    def _read_record(self, text: str) -> PlanReading:
        """Words of somebody else: what they say counts, however they put it."""
        plain = self._told(text)
        if self._meaning is None:
            return plain
        # What a record joins with semicolons are several things to whoever understands it.
        apart = self._told(JOINTS.sub("\n", text))
        rules = plain.rules | self._meaning.rules(text)
        values = {**plain.values, **apart.values}
        entries = tuple(self._entries(text, values))
        told = plain.told.union(entry.step for entry in entries)
        loose = self._meaning.values(text)
        return PlanReading(values, rules, told, plain.aims, loose, entries)

    def _entries(self, text: str, values: Iterable[str]) -> Iterator[ShownEntry]:
        """Entries that show a step, wherever in it its call stands, with the values beside it."""
        patterns = [(name, pattern) for name, pattern, _ in self._facts if name in values]
        for block in ENTRY_START.split(text):
            words = " ".join(block.split())
            steps = [name for name, (piece, _) in self._calls.items() if piece in words]
            named = [n for n in steps if self._plan.step[n].tool in words[:FIRST_WORDS]]
            if named:
                parted = JOINTS.sub("\n", block)
                shown = frozenset(name for name, pattern in patterns if pattern.search(parted))
                yield from (ShownEntry(name, shown) for name in named)

    def fresh(self, text: str) -> PlanReading:
        """What one observation shows."""
        return self._observation(text)

    def _read_observation(self, text: str) -> PlanReading:
        plain = NUMBERED.sub("", text)
        values = {
            name: value
            for name, pattern, _ in self._facts
            if (value := last_value(pattern, plain)) is not None
        }
        rules = frozenset(name for name, pattern in self._rules if pattern.search(plain))
        return PlanReading(values, rules, frozenset(), frozenset())

    def _read_words(self, text: str) -> PlanReading:
        """Words of the agent, of a summary, or of the task: values may be stated by label."""
        parted = JOINTS.sub("\n", text)
        # Most names are in no text: looking for them as words is much faster than the patterns.
        words = " ".join(text.split())
        lowered = words.lower()
        values = {}
        for name, pattern, stated in self._facts:
            value = last_value(stated, text) if self._plan.fact[name].label in words else None
            value = value or last_value(pattern, text)
            if not value and parted != text:
                value = last_value(pattern, parted)
            if value is not None:
                values[name] = value
        rules = frozenset(name for name, pattern in self._rules if pattern.search(text))
        told: set[str] = set()
        aims: set[str] = set()
        for name, title in self._titles.items():
            if self._plan.step[name].title.lower() in lowered:
                for match in title.finditer(text):
                    (aims if match[1] else told).add(name)
        told.update(
            name
            for name, (piece, pattern) in self._calls.items()
            if piece in words and pattern.search(text)
        )
        return PlanReading(values, rules, frozenset(told), frozenset(aims))


def mentions(texts: Iterator[str] | Sequence[str], words: str) -> int:
    """How many texts hold these words."""
    return sum(words in text for text in texts)
