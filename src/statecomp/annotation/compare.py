"""How far two sets of labels agree, and which way they err: too early costs more than too late."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from types import MappingProxyType
from typing import Any, TypeAlias

from statecomp.annotation.labels import Label, Labels
from statecomp.annotation.records import Reading
from statecomp.annotation.stats import boundary_within, share
from statecomp.errors import BadInput
from statecomp.history.kinds import failed, kind_of

Facets: TypeAlias = Mapping[str, Mapping[tuple[str, int], str]]
"""Ways to part interactions: for each, the group of (run, number)."""

NO_FACETS: Facets = MappingProxyType({})
AGES = ((1, "1"), (2, "2"), (3, "3"), (5, "4-5"), (10, "6-10"))
OLDEST = "11+"


@dataclass(frozen=True, slots=True)
class Confusion:
    """Pairs by what two readings say; `unsafe` is READY against KEEP, `late` KEEP against READY."""

    both_ready: int = 0
    both_keep: int = 0
    unsafe: int = 0
    late: int = 0

    @property
    def pairs(self) -> int:
        return self.both_ready + self.both_keep + self.unsafe + self.late

    @property
    def agreement(self) -> float | None:
        return share(self.both_ready + self.both_keep, self.pairs)

    @property
    def kappa(self) -> float | None:
        """Cohen's kappa: agreement beyond what the two READY shares alone would give."""
        if self.agreement is None:
            return None
        ready = (self.both_ready + self.unsafe) / self.pairs
        reference = (self.both_ready + self.late) / self.pairs
        chance = ready * reference + (1 - ready) * (1 - reference)
        return 1.0 if self.agreement == 1.0 else (self.agreement - chance) / (1 - chance)

    @property
    def unsafe_share(self) -> float | None:
        """Of what the first calls READY: how much a controller would lose by believing it."""
        return share(self.unsafe, self.both_ready + self.unsafe)

    @property
    def late_share(self) -> float | None:
        """Of what the reference calls READY: how much the first leaves standing."""
        return share(self.late, self.both_ready + self.late)

    def as_json(self) -> dict[str, Any]:
        names = ("pairs", "agreement", "kappa", "unsafe_share", "late_share")
        return {**asdict(self), **{name: getattr(self, name) for name in names}}


@dataclass(frozen=True, slots=True)
class LabelComparison:
    """Labels against a reference, over the interactions that both hold.

    `settled` are the pairs with k >= i+2.  Two boundaries that never come agree.
    """

    runs: int
    interactions: int
    only_first: int
    only_reference: int
    all: Confusion
    settled: Confusion
    exact: int
    within_one: int
    earlier: int
    by: Mapping[str, Mapping[str, Confusion]]

    @property
    def exact_share(self) -> float:
        return self.exact / self.interactions

    @property
    def within_one_share(self) -> float:
        return self.within_one / self.interactions

    @property
    def later(self) -> int:
        return self.interactions - self.exact - self.earlier

    def as_json(self) -> dict[str, Any]:
        counts = "runs interactions only_first only_reference exact within_one earlier later"
        shares = "exact_share within_one_share"
        return {
            **{name: getattr(self, name) for name in f"{counts} {shares}".split()},
            "all": self.all.as_json(),
            "settled": self.settled.as_json(),
            "by": {
                facet: {group: cell.as_json() for group, cell in groups.items()}
                for facet, groups in self.by.items()
            },
        }


def compare(
    a: Labels, b: Labels, last: Mapping[str, int], facets: Facets = NO_FACETS
) -> LabelComparison:
    """`a` against the reference `b`, over all pairs i < k <= T; `last` is T by run."""
    matched = [
        (label, b[run][number], last[run])
        for run in sorted(a.keys() & b.keys())
        for number, label in sorted(a[run].items())
        if number in b[run]
    ]
    if not matched:
        what = "interaction" if a.keys() & b.keys() else "run"
        raise BadInput(f"the two sets of labels have no {what} in common")
    apart = [_apart(label, other, end) for label, other, end in matched]
    tallies = _tallies(matched, facets)
    return LabelComparison(
        runs=len({label.run for label, _, _ in matched}),
        interactions=len(matched),
        only_first=sum(map(len, a.values())) - len(matched),
        only_reference=sum(map(len, b.values())) - len(matched),
        all=tallies["all"].get("", Confusion()),
        settled=tallies["settled"].get("", Confusion()),
        exact=apart.count(0),
        within_one=sum(abs(distance) <= 1 for distance in apart),
        earlier=sum(distance < 0 for distance in apart),
        by={facet: tallies[facet] for facet in ("age", "annotators", *facets)},
    )


def _apart(label: Label, other: Label, last: int) -> float:
    """How many checkpoints the first boundary stands after the second; never is infinitely late."""
    first, second = boundary_within(label, last), boundary_within(other, last)
    if first == second:
        return 0
    if first is None or second is None:
        return float("inf") if first is None else float("-inf")
    return first - second


def _tallies(
    matched: Iterable[tuple[Label, Label, int]], facets: Facets
) -> defaultdict[str, dict[str, Confusion]]:
    counts: Counter[tuple[str, str, bool, bool]] = Counter()
    for label, other, last in matched:
        place = (label.run, label.number)
        groups = [("all", ""), ("annotators", f"{label.annotator} / {other.annotator}")]
        groups += [(facet, of.get(place, "unknown")) for facet, of in facets.items()]
        for checkpoint in range(label.number + 1, last + 1):
            age = checkpoint - label.number
            here = [*groups, ("age", age_group(age))] + [("settled", "")] * (age > 1)
            says = (label.ready(checkpoint), other.ready(checkpoint))
            counts.update((facet, group, *says) for facet, group in here)
    tallies: defaultdict[str, dict[str, Confusion]] = defaultdict(dict)
    for facet, group in sorted({key[:2] for key in counts}, key=_in_order):
        both, keep, unsafe, late = (
            counts[facet, group, *says]
            for says in ((True, True), (False, False), (True, False), (False, True))
        )
        tallies[facet][group] = Confusion(both, keep, unsafe, late)
    return tallies


def age_group(age: int) -> str:
    return next((name for upto, name in AGES if age <= upto), OLDEST)


def _in_order(key: tuple[str, str]) -> tuple[str, int, str]:
    """Ages by age, everything else by name."""
    facet, group = key
    names = [name for _, name in AGES]
    return facet, names.index(group) if facet == "age" and group in names else len(names), group


def second_readings(readings: Iterable[Label]) -> dict[str, dict[int, Label]]:
    """Of interactions that another annotator read again, that second reading."""
    first: dict[tuple[str, int], str] = {}
    again: dict[str, dict[int, Label]] = {}
    for label in readings:
        if first.setdefault((label.run, label.number), label.annotator) != label.annotator:
            again.setdefault(label.run, {}).setdefault(label.number, label)
    return again


def facets_of(readings: Iterable[Reading]) -> Facets:
    """Domain, kind of action, and whether the observation was an error."""
    facets: dict[str, dict[tuple[str, int], str]] = {"domain": {}, "kind": {}, "observation": {}}
    for reading in readings:
        for interaction in reading.interactions:
            place = (reading.id, interaction.number)
            facets["domain"][place] = reading.domain or "unknown"
            facets["kind"][place] = kind_of(interaction)
            facets["observation"][place] = "error" if failed(interaction) else "ok"
    return facets
