"""What one search is for: every source once, and sources that are alike with one pattern.

Who misses the titles of three pages and the dates of two others asks all five for both: look-ups of
readers "were often broader than needed".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from statecomp_bench.plan import Fact, Plan, Step
from statecomp_bench.scripted.hands import Called
from statecomp_bench.scripted.loops import MARK, WORD

Words: TypeAlias = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Lookup:
    """One source to be asked again, with the words that say so."""

    said: str
    step: Step | None = None
    asked: Called | None = None  # of a memory tool
    sought: Words = ()  # the values that are wanted; none: all of it
    late: Words = ()  # the values that it needs itself and that the same program finds before it


def each_once(found: Sequence[Lookup], most: int) -> list[Lookup]:
    """Every source once, for all that is missed of it; `most` of them.

    None stays that needs what no other one before it finds.
    """
    sources: dict[str, Lookup] = {}
    for one in found:
        if one.step is None:
            continue
        known = sources.setdefault(one.step.id, one)
        whole = not (known.sought and one.sought)
        sought = () if whole else tuple(dict.fromkeys((*known.sought, *one.sought)))
        sources[one.step.id] = replace(known, sought=sought)
    kept: list[Lookup] = []
    told: set[str] = set()
    for one in [*sources.values()][:most]:
        if told.issuperset(one.late):
            kept.append(one)
            told.update(one.sought)
    return kept


def alike(found: Sequence[Lookup], plan: Plan) -> list[Lookup]:
    """Sources that are read the same way are asked for what is sought in any of them."""
    kinds: dict[str, set[str]] = {}
    for one in found:
        if one.step is not None:
            sought = {_kind(plan.fact[name], one.step) for name in one.sought}
            kinds.setdefault(_way(one.step), set()).update(sought)
    return [_widened(one, kinds, plan) for one in found]


def _widened(one: Lookup, kinds: Mapping[str, set[str]], plan: Plan) -> Lookup:
    if one.step is None or not one.sought:
        return one
    shown = [fact for fact in plan.facts if fact.source == one.step.id]
    wanted = (f.name for f in shown if _kind(f, one.step) in kinds[_way(one.step)])
    return replace(one, sought=tuple(dict.fromkeys((*one.sought, *wanted))))


def _way(step: Step) -> str:
    return f"{step.tool} {WORD.sub(MARK, ' '.join(step.arguments.values()))}"


def _kind(fact: Fact, source: Step) -> str:
    """A value's pattern without the words that name its source."""
    own = f"{source.title} {' '.join(source.arguments.values())}".lower()
    named = frozenset(WORD.findall(own))
    return WORD.sub(lambda m: MARK if m[0].lower() in named else m[0], fact.pattern)
