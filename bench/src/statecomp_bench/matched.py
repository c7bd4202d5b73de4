"""The second regime: budgets at which each method shows about as much as StateComp does.

Every method with a `budget=` means something else by it, so the same number would not be the same
room.  A first guess plays each meaning through the token counts of the runs without compression;
where a method has been run with a budget, what it then showed corrects the guess.  Other paths
make other lengths: run, look at the visible tokens, and ask again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import fmean
from typing import TypeAlias

from statecomp.errors import BadInput
from statecomp_bench.results import Result
from statecomp_bench.tables import visible_tokens

Place: TypeAlias = tuple[str, int, int]  # task, seed, level

LEAST, STEPS = 256, 80
"""No budget is smaller, and so many are tried up to the longest request."""


@dataclass(frozen=True, slots=True)
class BudgetMeaning:
    """What a method's budget bounds, as its module and card say.

    The last `recent` interactions stay beside it.  `cut` methods cut what is older down to
    `scale` x budget; the others let it grow and then replace it by `share` of it and `plus` tokens.
    """

    recent: int = 0
    cut: bool = False
    scale: float = 1.0
    share: float = 0.0
    plus: int = 0
    growth: bool = False  # the budget is what may be added since the last replacement
    whole: bool = False  # the budget is for the request, the task included


MEANINGS: Mapping[str, BudgetMeaning] = {
    "llmlingua2": BudgetMeaning(recent=2, cut=True),
    "pace": BudgetMeaning(recent=2, cut=True, scale=0.6),
    "selfcompact": BudgetMeaning(plus=2_000, whole=True),
    "acon": BudgetMeaning(recent=1, plus=1_024),
    "selfgc": BudgetMeaning(recent=2, share=0.56, growth=True),
    "lre": BudgetMeaning(recent=5, cut=True),
    "sam": BudgetMeaning(share=0.1, whole=True),
}


@dataclass(frozen=True, slots=True)
class Matched:
    """A spec of the second regime; `expected` visible tokens are the guess's own word."""

    spec: str
    target: float
    expected: float
    measured: bool  # corrected by a run with a budget

    @property
    def reached(self) -> bool:
        return abs(self.expected - self.target) <= 0.1 * self.target


def matched_specs(
    results: Sequence[Result], reference: str = "statecomp", baseline: str = "none"
) -> list[Matched]:
    """One spec for each method with a budget; options it was run with are kept."""
    groups: dict[str, list[Result]] = {}
    for result in results:
        groups.setdefault(result.strategy, []).append(result)
    target = visible_tokens(groups[_chosen(groups, reference)])
    runs = groups[_chosen(groups, baseline)]
    lengths = {(r.task, r.seed, r.level): r.raw_tokens for r in runs if r.raw_tokens}
    if not lengths:
        raise BadInput("records no request, so nothing can be matched", field=baseline)
    return [
        _matched(stem, groups, lengths, target)
        for name in MEANINGS
        for stem in _stems(name, groups)
    ]


def _chosen(groups: Mapping[str, object], wanted: str) -> str:
    """The spec itself, or the first of that name."""
    found = [spec for spec in groups if spec == wanted or spec.partition(":")[0] == wanted]
    if not found:
        raise BadInput(f"was not run; these were: {', '.join(groups)}", field=wanted)
    return wanted if wanted in groups else found[0]


def without_budget(spec: str) -> str:
    """A spec with its budget left out: the method whatever its room."""
    name, _, text = spec.partition(":")
    kept = [part for part in text.split(",") if part and not part.strip().startswith("budget=")]
    return f"{name}:{','.join(kept)}" if kept else name


def budget_in(spec: str) -> float:
    """0 where the method's own setting holds."""
    for part in spec.partition(":")[2].split(","):
        key, _, value = part.partition("=")
        if key.strip() == "budget":
            try:
                return float(value)
            except ValueError:
                raise BadInput("has a budget that is no number", field=spec) from None
    return 0.0


def _stems(name: str, groups: Mapping[str, object]) -> list[str]:
    run = [without_budget(spec) for spec in groups if spec.partition(":")[0] == name]
    return list(dict.fromkeys(run)) or [name]


def _matched(
    stem: str,
    groups: Mapping[str, Sequence[Result]],
    lengths: Mapping[Place, Sequence[int]],
    target: float,
) -> Matched:
    meaning = MEANINGS[stem.partition(":")[0]]
    every = list(lengths.values())
    # What a run with a budget showed, against what was expected of it, shifts where to aim.
    seen = [
        found
        for spec, group in groups.items()
        if without_budget(spec) == stem
        and (budget := budget_in(spec)) > 1
        and (found := _seen(meaning, budget, group, lengths))
    ]
    aim = target * min(seen, key=lambda ratio: abs(ratio - 1)) if seen else target
    longest = max(max(run) for run in every)
    tried = [(budget, expected_tokens(meaning, budget, every)) for budget in _budgets(longest)]
    nearest = min(abs(expected - aim) for _, expected in tried)
    # Of the budgets that come equally close the largest: the one that binds least.
    budget, expected = max(pair for pair in tried if abs(pair[1] - aim) == nearest)
    joint = "," if ":" in stem else ":"
    rescaled = expected * target / aim if aim else expected
    return Matched(f"{stem}{joint}budget={budget}", target, rescaled, bool(seen))


def _seen(
    meaning: BudgetMeaning,
    budget: float,
    group: Sequence[Result],
    lengths: Mapping[Place, Sequence[int]],
) -> float:
    """Expected over shown, on the tasks and seeds both have; 0 where there are none."""
    both = [r for r in group if (r.task, r.seed, r.level) in lengths and r.input]
    if not both:
        return 0.0
    same = [lengths[r.task, r.seed, r.level] for r in both]
    return expected_tokens(meaning, budget, same) / visible_tokens(both)


def _budgets(longest: int) -> Iterator[int]:
    """Evenly apart in ratio, of three digits."""
    last = 0
    for place in range(STEPS + 1):
        budget = int(float(f"{LEAST * (max(longest, 2 * LEAST) / LEAST) ** (place / STEPS):.3g}"))
        if budget != last:
            yield budget
        last = budget


def expected_tokens(
    meaning: BudgetMeaning, budget: float, lengths: Sequence[Sequence[int]]
) -> float:
    """Mean tokens of a request if a method with this budget went the uncompressed runs' way."""
    return fmean(shown for run in lengths for shown in _shown(meaning, budget, run))


def _shown(meaning: BudgetMeaning, budget: float, run: Sequence[int]) -> Iterator[float]:
    """The request lengths of one run under a budget."""
    task = run[0]
    room = max(0.0, meaning.scale * budget - (task if meaning.whole else 0))
    new = [0, *(after - before for before, after in pairwise(run))]
    older = base = 0.0  # tokens in front of the recent interactions; `base` of them at the last cut
    for place in range(len(run)):
        arrived = place - meaning.recent
        older += new[arrived] if arrived >= 0 else 0
        if older - (base if meaning.growth else 0) > room:
            kept = room if meaning.cut else min(older, meaning.share * older + meaning.plus)
            older = base = kept
        recent = sum(new[max(0, arrived + 1) : place + 1])
        yield task + older + recent
