"""The summariser that asks no model: it keeps, of each span, the pieces a later step may need."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from statecomp.errors import BadInput
from statecomp.history.facts import FactIndex
from statecomp.history.interaction import Interaction
from statecomp.history.text import COMMON, Kind, words_of
from statecomp.llm.fragments import Fragment, Place, fragments_of
from statecomp.llm.inventory import Name, chosen, inventory, rows_of, worth
from statecomp.llm.markers import ADDRESSED, CONCLUSION, CONSTRAINT, ERROR, OPEN
from statecomp.llm.outcome import Outline, outline_of
from statecomp.llm.ranking import Setting, likelihood
from statecomp.llm.record import Record, entry, framelike
from statecomp.llm.verify import owed
from statecomp.tokens import ESTIMATE

ENTRY_TOKENS = 4.0
"""What choosing a fragment costs besides its text; keeps crumbs from crowding out sentences."""
STEP_TOKENS = 15
"""What one more step adds to the least a summary may have."""
NAMES_SHARE, OVERSHOOT = 0.4, 1.25
"""Where names share the room: what they get of it, and how far they may take a summary over it.

Cutting them to the letter doubled the steps of recorded runs that missed one, for half a point.
"""
FADE = 0.7
"""How fast one step's further fragments lose: later steps need something of most steps."""


@dataclass(frozen=True, slots=True)
class ExtractiveSummarizer:
    """Deterministic summaries of about `budget` times the length of their source.

    Long outputs repeat themselves, so the first `dense` tokens of each interaction get twice the
    budget.  A short source may have a summary of `least` tokens and a line a step.  None gets more
    than three quarters of its source, unless `budget` says so.

    This is for sentences and lines.  Bare identifiers come on top, each if it is worth its tokens:
    one that a later step misses costs `name_worth`.  With a worth of zero they share the room with
    the sentences, for those who must keep to a budget.
    """

    budget: float = 0.12
    least: int = 90
    name_worth: int = 20_000
    dense: int = 500
    count: Callable[[str], int] = ESTIMATE

    def __post_init__(self) -> None:
        if not 0.0 <= self.budget <= 1.0:  # also false for NaN
            raise BadInput(
                f"is a share of the source, from 0 to 1, not {self.budget}", field="budget"
            )
        for name in ("least", "name_worth", "dense"):
            if (value := getattr(self, name)) < 0:
                raise BadInput(f"must not be negative, not {value}", field=name)

    @property
    def usual_ratio(self) -> float:
        """What a summary takes of its source, on recorded runs: most interactions are short."""
        names = 0.09 if self.name_worth else self.budget * NAMES_SHARE
        return min(0.75, self.budget * (1.0 + self.dense / 5000) + names)

    def summarize(self, span: Sequence[Interaction], rest: FactIndex) -> Record:
        """What was done and how it ended, step by step, then the likeliest fragments that fit."""
        source = sum(self.count(member.text) for member in span)
        density = source / max(1, sum(len(member.text) for member in span))
        floor = self.least + STEP_TOKENS * (len(span) - 1)
        most = max(source * 3 // 4, round(source * self.budget))
        extra = sum(min(self.count(m.text), self.dense) for m in span) * self.budget
        room = min(most, max(round(source * self.budget + extra), floor))

        fragments = [piece for piece in fragments_of(span) if not _misleads(piece.text)]
        setting = Setting.of(fragments, rest)
        chances = [likelihood(fragment, setting) for fragment in fragments]
        outline = outline_of(span, fragments, chances, room, self.count)
        draft = Draft(outline, fragments, self.count)
        costs = [len(fragment.text) * density + 1.0 for fragment in fragments]
        reserve = self._reserve(outline, owed(span, rest), room)
        order = ordered(fragments, chances, costs)
        names = inventory(span, rest)
        if self.name_worth:
            draft.fill(order, costs, room - reserve)
            draft.shorten(room)
            worthy = [name for name in names if worth(name) * self.name_worth >= 1.0]
            draft.list_names(worthy, most - reserve)
            draft.shorten_list(most)
            return draft.record()
        listed = round(max(0.0, room - reserve - extra) * NAMES_SHARE)
        draft.fill(order, costs, room - reserve - listed)
        draft.list_names(names, room - reserve)
        # A span that names little leaves its room to sentences.
        draft.fill(order, costs, room - reserve)
        draft.shorten(room)
        draft.shorten_list(round(room * OVERSHOOT))
        return draft.record()

    def _reserve(self, outline: Outline, debts: Mapping[str, Kind], room: int) -> int:
        """Room for the identifiers that verification will add."""
        body = outline.record.body
        missing = ", ".join(name for name in debts if name not in body)
        return min(self.count(missing), room // 4)


class Draft:
    """A record being filled: the outline of every step, then fragments, best first."""

    def __init__(
        self, outline: Outline, fragments: Sequence[Fragment], count: Callable[[str], int]
    ) -> None:
        self._outline = outline
        self._fragments = fragments
        self._count = count
        self._chosen: list[int] = []
        self._names: list[Name] = []
        self._headings: dict[int, str] = {}

    def fill(self, order: Sequence[int], costs: Sequence[float], room: int) -> None:
        """Take fragments in order while they fit: first what is new, then what repeats words."""
        body = self.record().body
        said = set(words_of(body))
        left = float(room - self._count(body))
        texts = {self._fragments[place].text for place in self._chosen}
        for only_new in (True, False):
            for place in order:
                text = self._fragments[place].text
                if costs[place] > left or text in texts:
                    continue
                words = words_of(text)
                if only_new and said.issuperset(words):
                    continue
                self._chosen.append(place)
                texts.add(text)
                said.update(words)
                left -= costs[place]

    def list_names(self, names: Sequence[Name], room: int) -> None:
        """Fill the rest of the room with identifiers the record does not say yet."""
        body = self.record().body
        self._names = chosen(names, body, room - self._count(body))

    def shorten(self, room: int) -> None:
        """Give up the last fragments where their prefixes made the record too long."""
        while self._chosen and self._count(self.record().body) > room:
            del self._chosen[-max(1, len(self._chosen) // 50) :]

    def shorten_list(self, room: int) -> None:
        """Give up the last names likewise."""
        while self._names and self._count(self.record().body) > room:
            del self._names[-max(1, len(self._names) // 50) :]

    def record(self) -> Record:
        """The chosen fragments under their headings, in the order they happened."""
        entries: dict[str, dict[int, list[str]]] = {}
        for place in sorted(self._chosen):
            fragment = self._fragments[place]
            heading = self._headings.get(place) or self._headings.setdefault(
                place, heading_of(fragment)
            )
            text = fragment.text
            if heading == "constraints" and fragment.place is Place.OBSERVED:
                # A rule read in a file or a page is a report of that text, not a rule of ours.
                text = f"output says: {text}"
            entries.setdefault(heading, {}).setdefault(fragment.step, []).append(text)
        lines = {
            heading: tuple(
                entry(f"{self._outline.numbers[step]}:", texts) for step, texts in by_step.items()
            )
            for heading, by_step in entries.items()
        }
        by_step = groupby(sorted(self._names, key=lambda name: name.step), lambda name: name.step)
        shown = (
            entry(f"{self._outline.numbers[step]} showed:", rows_of([*some]))
            for step, some in by_step
        )
        known = self._outline.record
        return Record(
            facts=(*known.facts, *lines.get("facts", ())),
            constraints=lines.get("constraints", ()),
            locations=(*lines.get("locations", ()), *shown),
            conclusions=lines.get("conclusions", ()),
            failures=(*known.failures, *lines.get("failures", ())),
            unresolved=(*known.unresolved, *lines.get("unresolved", ())),
        )


def _misleads(text: str) -> bool:
    """Whether it gives its reader orders, or looks like the frame of the record it would be in."""
    return bool(ADDRESSED.search(text)) or framelike(text)


def ordered(
    fragments: Sequence[Fragment], chances: Sequence[float], costs: Sequence[float]
) -> list[int]:
    """Places of the fragments, the worthiest first."""
    worth = [chance / (cost + ENTRY_TOKENS) for chance, cost in zip(chances, costs, strict=True)]
    taken: dict[int, int] = {}
    for place in sorted(range(len(worth)), key=lambda place: -worth[place]):
        step = fragments[place].step
        taken[step] = taken.get(step, 0) + 1
        worth[place] /= taken[step] ** FADE
    return sorted(range(len(worth)), key=lambda place: -worth[place])


def heading_of(fragment: Fragment) -> str:
    """The field of a record a fragment belongs to, by whose words it is and what they say."""
    text = fragment.text
    if fragment.place is Place.SAID:
        if CONSTRAINT.search(text):
            return "constraints"
        if OPEN.search(text):
            return "unresolved"
        return "conclusions" if CONCLUSION.search(text) else "facts"
    if fragment.place is Place.OBSERVED:
        if ERROR.search(text):
            return "failures"
        if CONSTRAINT.search(text):
            return "constraints"
    located = (Kind.PATH, Kind.URL, Kind.ID)
    if any(kind in located for name, kind in fragment.names.items() if name not in COMMON):
        return "locations"
    return "facts"
