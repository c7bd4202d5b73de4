"""A method from what a person wrote: a recipe, and what overrules it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from statecomp.checkpoint import Pins
from statecomp.config.records import model_records
from statecomp.config.scorers import Scoring, default_scorer, scores_at_once, scoring
from statecomp.controller.prices import PriceBook, Prices, shipped_prices
from statecomp.controller.spans import Gates
from statecomp.errors import BadInput
from statecomp.history.trajectory import Trajectory
from statecomp.method import Method
from statecomp.options import Options, Settings, extract_of
from statecomp.recipes import DEFAULT, Recipe, recipe_named
from statecomp.records.writing.writer import USUAL_RATIO
from statecomp.router.hidden.opened import Serving
from statecomp.wire.protocol import Placement

OPTIONS: Mapping[str, str] = {
    "recipe": "paper, careful, balanced (the default) or bold; `statecomp recipes` shows them",
    "scorer": "router[:FOLDER], paper, folds:FOLDER, age:after=N or labels:PATH",
    "encoder": "where the language model lies that a router reads, if not where it was trained",
    "device": "what it runs on: auto, cpu, cuda or mps",
    "dtype": "the numbers it runs with, if not those it was trained with: float32, bfloat16",
    "encode_s": "seconds it may read at a checkpoint; then the previous scores stand",
    "wariness": "how many times the price of getting it back a wrong replacement counts (else the "
    "recipe's)",
    "ahead": "how many of the requests to come count beside those made already (else the recipe's)",
    "threshold": "one score from which on every step may go, as in the paper; no money then",
    "longer_than": "the paper's kappa: a span must hold more steps than this; no money then",
    "min_source_tokens": "the paper's B_min: a span must hold this many tokens; no money then",
    "holds": "on (paper: off) or off: documents the user names, and what was wanted back, stay",
    "chapters": "on (paper: off) or off: records of a finished task become one, where that pays",
    "pin_tools": "names of tools, joined by +, whose results always stay",
    "pin": "a regular expression; what it finds always stays",
    "role": "user (the default) or assistant: in whose name a record stands",
    "merge": "on or off (the default): write a record into the user message beside it",
    "prices": "a model of the price book to bill by",
    "window": "tokens of the model's window; a nearly full one makes rewrites free",
    "records": "extract (the default), same (the client's upstream), or chat:PROVIDER:MODEL[@URL]",
    "records_model": "with records=same: the model to ask, instead of its cheap sibling",
    "records_session": "dollars that records by a model may cost in one conversation; after two "
    "that cannot be used at most a quarter of what is spent goes into such records, and one more "
    "an hour",
    "records_day": "dollars that they may cost in one day, which begins at midnight in UTC, for "
    "all conversations of all tenants together",
    "records_wait": "seconds a model may take for a record; then an extract stands in (30)",
    "budget": "an extract's share of its source",
    "dense": "tokens of each step that count twice for its extract",
    "name_worth": "what an extract's missing name costs, in tokens",
}
"""Every key that follows `statecomp:` in a strategy, and what it takes."""
GATES = ("threshold", "longer_than", "min_source_tokens")


def method_of(
    options: Options, settings: Settings, *, serves: bool = False
) -> tuple[Method, Scoring]:
    """Reads every key of OPTIONS; what is not given is the recipe's.

    The method scores live runs; the scoring is for recorded ones, which may have labels.  Only what
    `serves` clients can ask their own upstream for records.
    """
    recipe = _recipe(options)
    serving = _serving(options)
    spec = options.text("scorer", "") or default_scorer(recipe, serving)
    scored = scoring(spec, serving)
    extract = extract_of(options, recipe.extract)
    book = _book(options, settings)
    known = settings.book or shipped_prices()
    records = model_records(options, settings, extract, known, serves=serves)
    rule = recipe.rule(book, ratio=extract.usual_ratio)
    if records is not None:
        if records.chat is None and not serves:
            problem = (
                "asks the client's own upstream, which only `statecomp serve` knows; name a chat"
            )
            raise BadInput(problem, field="records=same")
        records = replace(records, objects=recipe.gates is None)
        recipe = replace(recipe, extract=extract)
        rule = recipe.rule(book, ratio=USUAL_RATIO, writer=records.prices_for)
    window = options.whole("window", 0)
    holds = options.switch("holds", default=recipe.holds)
    chapters = _chapters(options, recipe)
    method = Method(
        scorer=lambda: scored(Trajectory("", ())),
        summarizer=lambda account: extract,
        records=records,
        rule=rule,
        placement=_placement(options),
        count=settings.count,
        pins=_pins(options),
        holds=holds,
        chapters=chapters,
        window=window or None,
        recipe=recipe.name,
        scored_by=spec,
        scores_at_once=scores_at_once(spec),
    )
    return method, scored


def _serving(options: Options) -> Serving:
    return Serving(
        model=options.text("encoder", ""),
        device=options.text("device", "auto"),
        dtype=options.text("dtype", ""),
        limit_s=options.real("encode_s", 0.0) or None,
    )


def _recipe(options: Options) -> Recipe:
    recipe = recipe_named(options.text("recipe", DEFAULT))
    # Whoever names a gate means the paper's kind of rule.
    gated = any(name in options for name in GATES)
    usual = recipe.gates or Gates()
    gates = Gates(
        options.real("threshold", usual.threshold),
        options.whole("longer_than", usual.longer_than),
        options.whole("min_source_tokens", usual.min_source_tokens),
    )
    if gated or recipe.gates is not None:
        for name in ("wariness", "ahead"):
            if name in options:
                where = "the gates leave" if gated else f"recipe {recipe.name} leaves"
                raise BadInput(f"weighs money, which {where} out", field=name)
        return replace(recipe, gates=gates)
    if "wariness" in options:
        # What was asked for is meant, whoever writes.
        recipe = replace(recipe, wariness=options.real("wariness", recipe.wariness), written=1.0)
    return replace(recipe, ahead=options.real("ahead", recipe.ahead))


def _chapters(options: Options, recipe: Recipe) -> bool:
    named = "chapters" in options
    chapters = options.switch("chapters", default=recipe.chapters)
    if chapters and named and recipe.gates is not None:
        raise BadInput("are written where that pays, and gates leave money out", field="chapters")
    return chapters and recipe.gates is None


def _book(options: Options, settings: Settings) -> PriceBook:
    """All prices there are, or those of one model: that named here, or that of the command."""
    book = settings.book or shipped_prices()
    model = options.text("prices", "")
    prices: Prices | None = book.of(model) if model else settings.prices
    return PriceBook({prices.model: prices}, prices.model) if prices else book


def _pins(options: Options) -> Pins:
    tools = options.text("pin_tools", "")
    return Pins(frozenset(filter(None, tools.split("+"))), options.text("pin", ""))


def _placement(options: Options) -> Placement:
    assistant = options.one_of("role", "user", "assistant") == "assistant"
    merge = options.switch("merge", default=False)
    return Placement("assistant" if assistant else "user", merge)
