"""The recipes: every default there is, in one place, with what was measured for each.

A recipe says how sure a score must be, when a rewrite is made and how long a record is.  Library,
replay, bench, proxy, adapters and demo all open one; nothing else holds a default.

`paper` is the paper: tau 0.60, kappa 3, B_min 1,000, no holds, no money.  The others differ in
`wariness`, how many times the price of getting it back a wrong replacement counts, and in how much
an extract may hold.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from statecomp.controller.economics import Economics
from statecomp.controller.prices import PriceBook, Prices, shipped_prices
from statecomp.controller.spans import Gates, Rule
from statecomp.errors import BadInput
from statecomp.llm.extract import ExtractiveSummarizer
from statecomp.strategy import Scorer

DEFAULT = "balanced"


@dataclass(frozen=True, slots=True)
class Measured:
    """Shares, on recorded runs the router had not seen (`benchmarks/timing.py`, 2026-11-17)."""

    tokens: float
    dollars: float
    premature: float
    broken: float


@dataclass(frozen=True, slots=True)
class Recipe:
    """One way to decide.

    With `gates` a score above their threshold is enough; without, a rewrite must pay, and a wrong
    replacement counts `wariness` times what it costs to get the original back.  `ahead` is the
    share of the requests to come that counts (see `Economics`).  With `holds`, documents the user
    names and what the agent came back for stay.
    """

    name: str
    about: str
    gates: Gates | None = None
    wariness: float = 1.0
    ahead: float = 0.2
    holds: bool = True
    extract: ExtractiveSummarizer = field(default_factory=ExtractiveSummarizer)
    runs: Measured | None = None  # 100 single runs, of 23 requests on average
    sessions: Measured | None = None  # up to four of them joined to one conversation, of 82
    again: tuple[int, int] | None = None  # readers that looked something up again, and of how many

    def rule(
        self,
        book: PriceBook | None = None,
        *,
        ratio: float | None = None,
        summary_prices: Prices | None = None,
    ) -> Rule:
        """How it decides, at these prices; `ratio` is what a record takes of its source."""
        if self.gates is not None:
            return self.gates
        return Economics(
            book or shipped_prices(),
            wariness=self.wariness,
            ahead=self.ahead,
            ratio=self.extract.usual_ratio if ratio is None else ratio,
            summary_prices=summary_prices,
        )


RECIPES: Mapping[str, Recipe] = {
    recipe.name: recipe
    for recipe in (
        Recipe(
            name="paper",
            about="the paper, exactly: tau 0.60, kappa 3, B_min 1,000; no holds, no money",
            gates=Gates(threshold=0.60, longer_than=3, min_source_tokens=1000),
            holds=False,
            runs=Measured(tokens=-0.316, dollars=-0.030, premature=0.241, broken=0.0),
            sessions=Measured(tokens=-0.516, dollars=-0.307, premature=0.246, broken=0.0),
        ),
        Recipe(
            name="careful",
            about="replaces little before its time; for work that cannot be done twice",
            wariness=3.0,
            extract=ExtractiveSummarizer(budget=0.17, dense=1000),
            runs=Measured(tokens=-0.217, dollars=-0.014, premature=0.041, broken=0.0),
            sessions=Measured(tokens=-0.499, dollars=-0.284, premature=0.029, broken=0.0),
        ),
        Recipe(
            name="balanced",
            about="saves wherever it pays; the default",
            wariness=1.1,
            runs=Measured(tokens=-0.377, dollars=-0.081, premature=0.131, broken=0.0),
            sessions=Measured(tokens=-0.605, dollars=-0.372, premature=0.102, broken=0.0),
            again=(0, 8),
        ),
        Recipe(
            name="bold",
            about="replaces most of what is old; for work in which everything can be read again",
            wariness=0.3,
            extract=ExtractiveSummarizer(budget=0.08, dense=1000),
            runs=Measured(tokens=-0.507, dollars=-0.159, premature=0.305, broken=0.0017),
            sessions=Measured(tokens=-0.682, dollars=-0.446, premature=0.288, broken=0.0008),
            again=(2, 8),
        ),
    )
}


def shipped_scorer() -> Scorer:
    """The router that comes with the package; numpy, which it needs, is loaded only here."""
    try:
        from statecomp.router.shipped import open_scorer
    except ModuleNotFoundError as error:
        problem = f"needs {error.name}: install statecomp[router], or give a scorer of your own"
        raise BadInput(problem, field="the shipped router") from error
    return open_scorer()


def recipe_named(name: str) -> Recipe:
    if name not in RECIPES:
        raise BadInput(f"is {name!r}; known are {', '.join(RECIPES)}", field="recipe")
    return RECIPES[name]
