"""LRE, learned relevance eviction: a logistic regression says which old steps are worth their room.

Jahan Lia and Mazumder (arXiv 2606.20954).  Nine cheap features of a step, none of which looks past
it or at the current question; the last 5 steps always stay, older ones are taken by score per token
until a budget of 2,048 tokens is full, verbatim and in order.  The rest is gone.

The label is the paper's for agents: an identifier the step introduces occurs in at least 3 later
steps.  Inferred: the formulas of the features (position is taken relative to 50 steps, rare words
are those the run has not shown before), that the rule is applied before every request, and that the
budget is for the older steps.  The shipped weights were fitted on the runs the shipped router
learned from.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from pathlib import Path

from statecomp.baselines.rewriting import Budget, at_least, budget_of, collapsed, older, sound
from statecomp.errors import BadInput
from statecomp.history.facts import facts_of
from statecomp.history.history import History
from statecomp.history.interaction import Interaction, Segment
from statecomp.history.kinds import failed
from statecomp.options import Options, Settings
from statecomp.strategy import Card, Strategy, StrategyFactory, View
from statecomp.wire.protocol import Wire

CARD = Card(
    name="lre",
    title="LRE",
    trigger="before every request, once older steps exceed the budget (2,048 tokens)",
    unit="interaction",
    calls="none; a logistic regression over nine features, fitted on the router's training runs",
    source="arXiv 2606.20954, NusRAT-LiA/LRE",
    inferred="feature formulas; the budget is for the steps before the last 5",
)
FEATURES = (
    "position",
    "log_length",
    "digits",
    "capitalised",
    "error",
    "code",
    "rare_words",
    "like_previous",
    "identifiers",
)
KEEP = 5
PUBLISHED_BUDGET = Budget(2_048)
REUSED = 3
NOMINAL_STEPS = 50
_WORD = re.compile(r"[^\W_]{2,}")
_CAPITALISED = re.compile(r"\b[A-Z][a-z]+")
_CODE = re.compile(
    r"\b(?:def|class|import|return|function|const|var|SELECT|public|void)\b|[{};]\s*$|\w\(\)|[=!]=",
    re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class EvictionWeights:
    """A fitted regression: a standardised feature times its slope, and a bias."""

    means: tuple[float, ...]
    scales: tuple[float, ...]
    slopes: tuple[float, ...]
    bias: float
    created_from: str = ""

    def score(self, features: Sequence[float]) -> float:
        parts = zip(features, self.means, self.scales, self.slopes, strict=True)
        logit = self.bias + sum(w * (x - mean) / scale for x, mean, scale, w in parts)
        return 1.0 / (1.0 + math.exp(-max(-60.0, min(60.0, logit))))

    def document(self) -> str:
        """What a weight file holds."""
        columns = zip(FEATURES, self.means, self.scales, self.slopes, strict=True)
        rows = {n: {"mean": m, "scale": s, "slope": w} for n, m, s, w in columns}
        whole = {"created_from": self.created_from, "bias": self.bias, "features": rows}
        return json.dumps(whole, indent=1) + "\n"


def read_weights(text: str, file: str) -> EvictionWeights:
    """A weight file, checked."""
    try:
        whole = json.loads(text)
        rows = [whole["features"][name] for name in FEATURES]
        means, scales, slopes = (
            tuple(float(row[part]) for row in rows) for part in ("mean", "scale", "slope")
        )
        bias, origin = float(whole["bias"]), str(whole.get("created_from", ""))
    except (ValueError, KeyError, TypeError) as error:
        raise BadInput("is not a weight file of LRE", file=file) from error
    if not all(map(math.isfinite, (*means, *scales, *slopes, bias))) or not all(scales):
        raise BadInput("holds a weight that is no number, or a scale of zero", file=file)
    return EvictionWeights(means, scales, slopes, bias, origin)


@cache
def open_weights(path: str = "") -> EvictionWeights:
    """The shipped weights, or those of a file."""
    if not path:
        shipped = files("statecomp").joinpath("bundles", "lre", "weights.json")
        return read_weights(shipped.read_text("utf-8"), "weights.json")
    try:
        return read_weights(Path(path).read_text("utf-8"), path)
    except OSError as error:
        raise BadInput(f"cannot be read: {error.strerror}", file=path) from error


@dataclass(frozen=True, slots=True)
class StepTraits:
    """What a step shows by itself: its words, and the features that need nothing else."""

    words: frozenset[str]
    plain: tuple[float, ...]
    identifiers: float


def look(interaction: Interaction) -> StepTraits:
    text = interaction.text
    return StepTraits(
        frozenset(_WORD.findall(text.lower())),
        (
            min(1.0, interaction.number / NOMINAL_STEPS),
            math.log1p(len(text)),
            math.log1p(sum(map(str.isdigit, text))),
            math.log1p(len(_CAPITALISED.findall(text))),
            float(failed(interaction)),
            float(bool(_CODE.search(text))),
        ),
        float(bool(_held(interaction))),
    )


def features(looks: Iterable[StepTraits]) -> Iterator[tuple[float, ...]]:
    """A row of FEATURES for each step, from what the run had shown when it ended."""
    seen: set[str] = set()
    previous: frozenset[str] = frozenset()
    for one in looks:
        held = one.words
        rare = len(held - seen) / max(1, len(held))
        alike = len(held & previous) / max(1, len(held | previous))
        yield (*one.plain, rare, alike, one.identifiers)
        seen |= held
        previous = held


def labels(history: History) -> list[bool]:
    """Whether an identifier each step introduces occurs in at least 3 later ones."""
    steps = (s for s in history.segments if isinstance(s, Interaction))
    occurs = Counter(name for step in steps for name in _held(step))
    seen: set[str] = set()
    reused = []
    for segment in history.segments:
        names = _held(segment)
        if isinstance(segment, Interaction):
            reused.append(any(occurs[name] > REUSED for name in names - seen))
        seen |= names
    return reused


def _held(segment: Segment) -> frozenset[str]:
    facts = facts_of(segment)
    return facts.own | facts.observed


def fit(
    rows: Sequence[Sequence[float]], reused: Sequence[bool], created_from: str = ""
) -> EvictionWeights:
    """L2 logistic regression, C = 1, balanced classes, by Newton's method."""
    import numpy as np

    x = np.asarray(rows, np.float64)  # (steps, features)
    y = np.asarray(reused, np.float64)  # (steps,)
    if not len(y) or y.min() == y.max():
        raise BadInput("needs steps whose identifiers are used again and steps without")
    mean, scale = x.mean(0), x.std(0)  # (features,)
    scale[scale == 0] = 1.0
    z = np.column_stack(((x - mean) / scale, np.ones(len(x))))  # (steps, features + 1)
    share = y.mean()
    weight = np.where(y == 1, 0.5 / share, 0.5 / (1 - share))  # (steps,)
    penalty = np.ones(z.shape[1])  # (features + 1,)
    penalty[-1] = 0.0  # the bias is free
    slopes = np.zeros(z.shape[1])  # (features + 1,)
    for _ in range(100):
        chance = 1 / (1 + np.exp(-z @ slopes))  # (steps,)
        gradient = z.T @ (weight * (chance - y)) + penalty * slopes  # (features + 1,)
        curve = (z * (weight * chance * (1 - chance))[:, None]).T @ z + np.diag(penalty)
        step = np.linalg.solve(curve, gradient)  # (features + 1,)
        slopes -= step
        if np.abs(step).max() < 1e-10:
            break
    return EvictionWeights(
        tuple(mean.tolist()),
        tuple(scale.tolist()),
        tuple(slopes[:-1].tolist()),
        float(slopes[-1]),
        created_from,
    )


@dataclass(frozen=True)
class LearnedEviction(Strategy):
    wire: Wire
    weights: EvictionWeights
    budget: Budget = PUBLISHED_BUDGET
    keep: int = KEEP
    _looks: dict[str, StepTraits] = field(default_factory=dict, repr=False, compare=False)
    _scores: dict[str, float] = field(default_factory=dict, repr=False, compare=False)

    def __post_init__(self) -> None:
        at_least(1, keep=self.keep)

    def before_request(self, history: History) -> View:
        scores = self._scored(history)
        old = older(history, self.keep)
        room = self.budget.of(sum(i.tokens for i in old))
        kept = chosen(old, scores, room)
        shown = collapsed(history, {i.id for i in old} - kept)
        return View(sound(shown, history, self.wire), scores)

    def _scored(self, history: History) -> Mapping[str, float]:
        steps = history.interactions
        if any(i.id not in self._scores for i in steps):
            for step in steps:
                if step.id not in self._looks:
                    self._looks[step.id] = look(step)
            rows = features(self._looks[step.id] for step in steps)
            for step, row in zip(steps, rows, strict=True):
                self._scores[step.id] = self.weights.score(row)
        return {i.id: self._scores[i.id] for i in steps}


def chosen(old: Sequence[Interaction], scores: Mapping[str, float], room: int) -> set[str]:
    """Ids of what stays: the best score per token first, while it fits."""

    def worth(interaction: Interaction) -> float:
        return scores[interaction.id] / max(1, interaction.tokens)

    kept: set[str] = set()
    for interaction in sorted(old, key=worth, reverse=True):
        if interaction.tokens <= room:
            kept.add(interaction.id)
            room -= interaction.tokens
    return kept


def build(options: Options, settings: Settings) -> StrategyFactory:
    weights = open_weights(options.text("weights", ""))
    budget = budget_of(options, 2_048)
    keep = options.whole("keep", KEEP)
    return lambda run, wire: LearnedEviction(wire, weights, budget, keep)
