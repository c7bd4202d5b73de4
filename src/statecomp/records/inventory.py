"""The identifiers a span showed the agent, each with the odds that a later step will need it.

What the agent used itself is owed by the fact ledger anyway; this is about the rest: of the
hundreds of ids, paths and symbols in a tool's answer a later step needs a few, and nobody can
reword or guess them.  A list of those that no unit carries is an index of where to look again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from statecomp.history.facts import FactIndex, facts_of
from statecomp.history.interaction import Interaction
from statecomp.history.text import COMMON, Kind
from statecomp.records.named import read_answer
from statecomp.records.shown import ShownAnswer, Surroundings

LONGEST_NAME = 120
"""Characters; nobody retypes a longer one."""
NAME_TOKENS = 2.0
"""What a name costs beside its own text; keeps short numbers from crowding out the rest."""

# A number or a quotation without its owner misleads; an id, a path or a symbol can be looked up.
_VALUES = frozenset({Kind.NUMBER, Kind.QUOTED, Kind.ERROR})


@dataclass(frozen=True, slots=True)
class Name:
    """One identifier as an observation shows it; `key` is the field it is the value of."""

    text: str
    key: str
    step: int
    place: int
    odds: float


def inventory(span: Sequence[Interaction], rest: FactIndex, said: str = "") -> list[Name]:
    """What the span showed, and neither `said` nor anything else holds, in order of appearance."""
    around = Surroundings.of(span, rest)
    shown = [facts_of(member).shown for member in span]
    last = {name: step for step, names in enumerate(shown) for name in names}
    found: list[Name] = []
    for step, (member, names) in enumerate(zip(span, shown, strict=True)):
        fresh = {
            name: kind
            for name, kind in names.items()
            if last[name] == step and _may_be_listed(name) and name not in rest
        }
        shown_there = ShownAnswer.of(member, names, fresh, around)
        for rank, (name, kind, place) in enumerate(_placed(fresh, shown_there.answer.text)):
            if kind in _VALUES or name in said:
                continue
            seen = shown_there.answer.name(name, place)
            # What output tells the agent to do is not relayed, and neither is what it names.
            if not seen.line.addressed:
                odds = shown_there.odds(name, kind, rank, seen)
                found.append(Name(name, seen.key, step, place, odds))
    return found


def read_names(member: Interaction) -> None:
    """Look at all names that a step showed, also those that a record of it will carry."""
    names = {n: k for n, k in facts_of(member).shown.items() if _may_be_listed(n)}
    answer = read_answer(member)
    for name, kind, place in _placed(names, answer.text):
        if kind not in _VALUES:
            answer.name(name, place)


def _may_be_listed(name: str) -> bool:
    return len(name) <= LONGEST_NAME and name not in COMMON


def _placed(names: Mapping[str, Kind], text: str) -> Iterator[tuple[str, Kind, int]]:
    """Names, and where each stands in a text."""
    place = 0
    for name, kind in names.items():
        # They come in the order they stand in, quotations apart: the text is read about once.
        ahead = text.find(name, place)
        place = ahead if ahead >= 0 else max(0, text.find(name))
        yield name, kind, place


def worth(name: Name) -> float:
    """Odds for each token the name costs."""
    return name.odds / (len(name.text) / 3.2 + NAME_TOKENS)


def listing_cost(name: Name, listed: set[tuple[int, str]]) -> float:
    """Tokens one more name takes; its field is said once for all names `listed` under it."""
    cost = len(name.text) / 3.2 + 1.0
    return cost if (name.step, name.key) in listed else cost + len(name.key) / 4.0


def rows_of(names: Sequence[Name]) -> list[str]:
    """Names by field, each field said once: `song_id: 136, 156`, `title: 'A b', 'C d'`."""
    rows: dict[str, list[str]] = {}
    for name in sorted(names, key=lambda name: name.place):
        rows.setdefault(name.key, []).append(name.text)
    return [f"{key}: {', '.join(row)}".removeprefix(": ") for key, row in rows.items()]
