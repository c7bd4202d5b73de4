"""LLMLingua-2: words of old observations are deleted, the least telling first.

Pan et al. (ACL Findings 2024).  A text is read in chunks; each word gets the mean keep-probability
of its sub-tokens, forced marks and digits count as sure, and within each chunk the words above a
percentile stay, in order.  No query, and no budget that moves between chunks.

Inferred: the place in an agent.  Observations older than the last 2 interactions are compressed to
rate 0.5, with line ends, `. / : =`, quotes and digits forced; calls, system and user are never
touched.  With a budget in tokens the rate follows from what all old observations take, between 0.05
and 0.95, and nothing is done below it.  `place=history` flattens the old interactions to one text,
calls included, as ACON's authors ran it.  The published classifier needs the encoder extra;
`lexical` (rarity within the chunk) and `likelihood` (a small language model) stand in for it.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from math import ceil, floor

from statecomp.baselines.rewriting import (
    Budget,
    at_least,
    budget_of,
    changed,
    collapsed,
    edited,
    older,
    sound,
    text_for,
)
from statecomp.baselines.token_models import (
    CLASSIFIERS,
    LONGEST,
    LexicalModel,
    TokenModel,
    TokenPiece,
    open_token_model,
)
from statecomp.history.history import History
from statecomp.history.interaction import Interaction
from statecomp.history.trajectory import Trajectory
from statecomp.options import Options, Settings
from statecomp.records.record import frame
from statecomp.strategy import Card, Strategy, StrategyFactory, View
from statecomp.tokens import ESTIMATE, TokenCounter
from statecomp.wire.protocol import Wire

CARD = Card(
    name="llmlingua2",
    title="LLMLingua-2",
    trigger="an observation older than the last 2 interactions; with a budget, old ones above it",
    unit="word of an observation",
    calls="none; a local token classifier (classifier=llmlingua2), or its substitutes lexical "
    "(the default) and likelihood",
    source="ACL Findings 2024, microsoft/LLMLingua (MIT)",
    inferred="which texts of an agent are compressed, forced marks, budget in tokens",
)
FORCED = frozenset("\n./:=\"'`")
PUBLISHED_RATE = Budget(0.5)
LEAST, MOST = 0.05, 0.95
STEP = 0.05
"""Rates that follow from a budget are rounded to this, or every step would rewrite everything."""

# A word is a mark with what sticks to it, or a run without marks, with the blank before it.
_WORD = re.compile(r"[^\S\n]*(?:\n|[^\w\s]?\w+|[^\w\s])|[^\S\n]+")


@dataclass(frozen=True)
class Lingua:
    """The compressor of one text."""

    model: TokenModel = field(default_factory=LexicalModel)
    count: TokenCounter = ESTIMATE
    _weights: dict[str, int] = field(default_factory=dict, repr=False, compare=False)

    def compress(self, text: str, rate: float) -> str:
        return "".join(self._chunk(chunk, rate) for chunk in chunks(text))

    def _chunk(self, chunk: str, rate: float) -> str:
        words = [match for match in _WORD.finditer(chunk) if match[0].strip() or "\n" in match[0]]
        if not words:
            return ""
        chances = word_chances(chunk, words, self.model.pieces(chunk))
        weights = [self._weight(match[0]) for match in words]
        limit = percentile(chances, weights, int(100 * (1 - rate) + 1))
        # As published: where most words are forced, the limit is 1 and they stay all the same.
        kept = (
            match[0]
            for match, chance in zip(words, chances, strict=True)
            if chance > limit or chance >= 1.0
        )
        return re.sub(r"[^\S\n]{2,}", " ", "".join(kept))

    def _weight(self, word: str) -> int:
        if word not in self._weights:
            self._weights[word] = max(1, self.count(word))
        return self._weights[word]


def chunks(text: str, longest: int = LONGEST) -> Iterator[str]:
    """Pieces of at most about `longest` sub-tokens, cut back to a full stop or line end."""
    # Two characters are about a sub-token at worst; a model that finds more reads in two passes.
    size, start = longest * 2, 0
    while start < len(text):
        stop = min(len(text), start + size)
        if stop < len(text):
            back = max(text.rfind(".", start, stop), text.rfind("\n", start, stop))
            stop = back + 1 if back > start else stop
        yield text[start:stop]
        start = stop


def word_chances(
    chunk: str, words: Sequence[re.Match[str]], pieces: Sequence[TokenPiece]
) -> list[float]:
    """The mean over the sub-tokens of each word; forced marks and digits are sure to stay."""
    chances, place = [], 0
    for word in words:
        found: list[float] = []
        while place < len(pieces) and pieces[place].start < word.end():
            start, stop, keep = pieces[place]
            text = chunk[start:stop].strip() or chunk[start:stop]
            forced = text in FORCED or any(map(str.isdigit, text))
            if stop > word.start():
                found.append(1.0 if forced else keep)
            place += 1
        if word[0].strip(" \t\r\f\v") == "\n":
            chances.append(1.0)
        else:
            chances.append(sum(found) / len(found) if found else 0.0)
    return chances


def percentile(values: Sequence[float], weights: Sequence[int], percent: float) -> float:
    """The percentile of the values, each repeated by its weight, between neighbours in a line."""
    order = sorted(zip(values, weights, strict=True))
    ends = list(accumulate(weight for _, weight in order))
    place = (ends[-1] - 1) * min(100.0, percent) / 100
    low, high = (order[bisect_right(ends, rank)][0] for rank in (floor(place), ceil(place)))
    return low + (high - low) * (place - floor(place))


@dataclass(frozen=True)
class LLMLingua2(Strategy):
    wire: Wire
    lingua: Lingua = field(default_factory=Lingua)
    budget: Budget = PUBLISHED_RATE
    keep: int = 2
    place: str = "observations"
    _compressed: dict[tuple[str, float], Interaction] = field(
        default_factory=dict, repr=False, compare=False
    )
    _flat: dict[tuple[str, float], str] = field(default_factory=dict, repr=False, compare=False)

    def __post_init__(self) -> None:
        at_least(0, keep=self.keep)

    def before_request(self, history: History) -> View:
        old = older(history, self.keep)
        if self.place == "history":
            return View(self._flattened(history, old))
        touched = {i.id for i in old if i.observations}
        rate = self._rate(sum(self.lingua.count(i.observed) for i in old))
        if rate >= 1 or not touched:
            return View(history)
        return View(changed(history, lambda i: self._short(i, rate) if i.id in touched else i))

    def _rate(self, whole: int) -> float:
        """The given one, or the one that brings the whole to the budget."""
        if self.budget.is_share:
            return self.budget.amount
        room = self.budget.of(whole)
        if whole <= room:
            return 1.0
        return min(MOST, max(LEAST, room / whole // STEP * STEP))

    def _short(self, interaction: Interaction, rate: float) -> Interaction:
        key = (interaction.id, rate)
        if key not in self._compressed:
            self._compressed[key] = edited(
                interaction,
                lambda text: self.lingua.compress(text, rate),
                self.wire,
                self.lingua.count,
                f"compressed {rate:.2f}",
            )
        return self._compressed[key]

    def _flattened(self, history: History, old: Sequence[Interaction]) -> History:
        """Old interactions as one role-labelled text, compressed."""
        rate = self._rate(sum(i.tokens for i in old))
        if rate >= 1 or not old:
            return history
        body = "\n".join(self._line(interaction, rate) for interaction in old)
        framed = frame(body, old[0].number, old[-1].number)
        summary = text_for(framed, old, self.wire, self.lingua.count)
        shown = collapsed(history, {i.id for i in old}, (summary,))
        return sound(shown, history, self.wire)

    def _line(self, interaction: Interaction, rate: float) -> str:
        key = (interaction.id, rate)
        if key not in self._flat:
            text = f"assistant: {interaction.action}\ntool: {interaction.observed}"
            self._flat[key] = self.lingua.compress(text, rate)
        return self._flat[key]


def build(options: Options, settings: Settings) -> StrategyFactory:
    classifier = options.one_of("classifier", *CLASSIFIERS)
    model = options.text("model", "")
    budget = budget_of(options, options.real("rate", 0.5))
    keep = options.whole("keep", 2)
    place = options.one_of("place", "observations", "history")

    def made(run: Trajectory, wire: Wire) -> Strategy:
        lingua = Lingua(open_token_model(classifier, model), settings.count)
        return LLMLingua2(wire, lingua, budget, keep, place)

    return made
