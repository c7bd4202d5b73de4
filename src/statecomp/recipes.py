"""The recipes: every default there is, in one place, with what was measured for each.

A recipe says how sure a score must be, when a rewrite is made and how long a record is.  Library,
replay, bench, proxy, adapters and demo all open one; nothing else holds a default.

`paper` is the paper: tau 0.60, kappa 3, B_min 1,000, no holds, no money.  The others differ in
`wariness`, how many times the price of getting it back a wrong replacement counts, in `ahead`, how
many of the requests to come count towards a rewrite, and in how much an extract may hold.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from statecomp.controller.economics import Economics
from statecomp.controller.prices import PriceBook, Prices, shipped_prices
from statecomp.controller.spans import Gates, Rule
from statecomp.errors import BadInput
from statecomp.records.extract import ExtractiveSummarizer
from statecomp.strategy import Scorer

DEFAULT = "balanced"
DEFAULT_ROUTER = "default"


@dataclass(frozen=True, slots=True)
class Measured:
    """Shares, on recorded runs the router had not seen (`benchmarks/timing.py`, 2026-11-18)."""

    tokens: float
    dollars: float
    premature: float
    broken: float


@dataclass(frozen=True, slots=True)
class Recipe:
    """One way to decide.

    With `gates` a score above their threshold is enough; without, a rewrite must pay, and a wrong
    replacement counts `wariness` times what it costs to get the original back.  Of the requests to
    come `ahead` count at most (see `Economics`).  With `holds`, documents the user
    names and what the agent came back for stay; with `chapters`, records of a finished task become
    one where that pays.  `router` is the one of the package that scores.  Where a model writes the
    records, `written` is what is left of the wariness; for extracts that stand in, all of it is.
    """

    name: str
    about: str
    gates: Gates | None = None
    wariness: float = 1.0
    written: float = 1.0
    ahead: float = 3.0
    holds: bool = True
    chapters: bool = True
    router: str = DEFAULT_ROUTER
    extract: ExtractiveSummarizer = field(default_factory=ExtractiveSummarizer)
    runs: Measured | None = None  # 100 single runs, of 23 requests on average
    sessions: Measured | None = None  # up to four of them joined to one conversation, of 82
    again: tuple[int, int] | None = None  # hand-offs in which it was read again, and of how many

    def rule(
        self,
        book: PriceBook | None = None,
        *,
        ratio: float | None = None,
        writer: Callable[[str], Prices] | None = None,
    ) -> Rule:
        """How it decides, at these prices; `ratio` is what a record takes of its source.

        `writer` says what the model costs that writes the records, where one does.
        """
        if self.gates is not None:
            return self.gates
        extracts = Economics(
            book or shipped_prices(),
            wariness=self.wariness,
            ahead=self.ahead,
            ratio=self.extract.usual_ratio,
        )
        ratio = extracts.ratio if ratio is None else ratio
        if writer is None:
            return replace(extracts, ratio=ratio)
        return replace(
            extracts,
            wariness=self.wariness * self.written,
            ratio=ratio,
            writer=writer,
            extracts=extracts,
        )


RECIPES: Mapping[str, Recipe] = {
    recipe.name: recipe
    for recipe in (
        Recipe(
            name="paper",
            about="the paper, exactly: tau 0.60, kappa 3, B_min 1,000; no holds, no money",
            gates=Gates(threshold=0.60, longer_than=3, min_source_tokens=1000),
            holds=False,
            chapters=False,
            router="paper",
            extract=ExtractiveSummarizer(name_worth=10_000),
            # Both with the evidence router: the paper's own commits next to nothing (its card).
            runs=Measured(tokens=-0.34, dollars=-0.065, premature=0.243, broken=0.0082),
            sessions=Measured(tokens=-0.576, dollars=-0.362, premature=0.246, broken=0.0071),
            again=(10, 12),
        ),
        Recipe(
            name="careful",
            about="replaces little before its time; for work that cannot be done twice",
            wariness=3.0,
            extract=ExtractiveSummarizer(budget=0.12, dense=1000, name_worth=20_000),
            runs=Measured(tokens=-0.299, dollars=-0.058, premature=0.049, broken=0.0017),
            sessions=Measured(tokens=-0.592, dollars=-0.349, premature=0.038, broken=0.0017),
            again=(1, 6),
        ),
        Recipe(
            name="balanced",
            about="saves wherever it pays; the default",
            wariness=1.1,
            # An agent came back for less of what a model's record stands for (lab log, 2026-11-18).
            written=0.5,
            ahead=4.0,
            runs=Measured(tokens=-0.455, dollars=-0.121, premature=0.166, broken=0.003),
            sessions=Measured(tokens=-0.667, dollars=-0.414, premature=0.142, broken=0.0029),
            again=(5, 12),
        ),
        Recipe(
            name="bold",
            about="replaces most of what is old; for work in which everything can be read again",
            wariness=0.3,
            extract=ExtractiveSummarizer(budget=0.04, name_worth=5_000),
            runs=Measured(tokens=-0.627, dollars=-0.221, premature=0.395, broken=0.0173),
            sessions=Measured(tokens=-0.75, dollars=-0.496, premature=0.34, broken=0.0122),
            again=(6, 12),
        ),
    )
}
"""The recipes by name; "balanced" is the default."""


def shipped_scorer(router: str = DEFAULT_ROUTER) -> Scorer:
    """A router that comes with the package; numpy, which it needs, is loaded only here.

    Where its language model cannot be had the default one scores, and a warning says so.
    """
    try:
        from statecomp.router.shipped import instead_of, scorer_of, shipped_bundle
    except ModuleNotFoundError as error:
        problem = f"needs {error.name}: install statecomp[router], or give a scorer of your own"
        raise BadInput(problem, field="the shipped router") from error
    if router != DEFAULT_ROUTER and (problem := instead_of(router)):
        warnings.warn(problem, stacklevel=3)
        router = DEFAULT_ROUTER
    return scorer_of(shipped_bundle(router))


def recipe_named(name: str) -> Recipe:
    if name not in RECIPES:
        raise BadInput(f"is {name!r}; known are {', '.join(RECIPES)}", field="recipe")
    return RECIPES[name]
