"""Settings: turns what a person writes on a command line into strategies, scorers, summarisers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import TypeVar, cast

from statecomp.annotate.labels import Label, LabelScorer, read_labels
from statecomp.baselines.mask import ObservationMasking
from statecomp.baselines.none import NoCompression
from statecomp.baselines.periodic import PeriodicSummary
from statecomp.baselines.window import SlidingWindow
from statecomp.compressor import StateComp
from statecomp.controller.age import AgeScorer
from statecomp.controller.spans import Gates
from statecomp.errors import BadInput
from statecomp.history.trajectory import Trajectory
from statecomp.llm.client import open_chat
from statecomp.llm.extract import ExtractiveSummarizer
from statecomp.llm.side import SideAccount
from statecomp.llm.summarize import ChatSummarizer
from statecomp.replay.run import StrategyFactory
from statecomp.strategy import Scorer, Strategy, Summarizer
from statecomp.tokens import ESTIMATE, TokenCounter
from statecomp.wire.detect import wire_named
from statecomp.wire.protocol import Wire

Number = TypeVar("Number", int, float)


@dataclass(frozen=True)
class Settings:
    """What all strategies of one command share."""

    count: TokenCounter = ESTIMATE
    environ: Mapping[str, str] = field(default_factory=dict)


class Options:
    """The `key=value` part of a spec; every key must be used, and used as what it is."""

    def __init__(self, spec: str, text: str) -> None:
        self._spec = spec
        self._values: dict[str, str] = {}
        for part in filter(None, text.split(",")):
            key, equals, value = part.partition("=")
            if not equals:
                raise BadInput(f"has {part!r} where key=value belongs", field=f"strategy {spec!r}")
            self._values[key.strip()] = value.strip()

    def text(self, key: str, default: str) -> str:
        return self._values.pop(key, default)

    def whole(self, key: str, default: int) -> int:
        return self._number(key, default, int)

    def real(self, key: str, default: float) -> float:
        return self._number(key, default, float)

    def _number(self, key: str, default: Number, kind: Callable[[str], Number]) -> Number:
        value = self._values.pop(key, None)
        if value is None:
            return default
        try:
            return kind(value)
        except ValueError:
            problem = f"has {key}={value}, which is not a number"
            raise BadInput(problem, field=f"strategy {self._spec!r}") from None

    def done(self) -> None:
        if self._values:
            unknown = ", ".join(self._values)
            raise BadInput(f"has unknown options: {unknown}", field=f"strategy {self._spec!r}")


def strategy_factory(spec: str, settings: Settings) -> StrategyFactory:
    """Check a spec such as `window:keep=10` now; build the strategy anew for each run later."""
    name, _, text = spec.partition(":")
    if name not in BUILDERS:
        known = ", ".join(BUILDERS)
        raise BadInput(f"is unknown; known are {known}", field=f"strategy {name!r}")
    options = Options(spec, text)
    factory = BUILDERS[name](options, settings)
    options.done()
    # Strategies check their own settings; a wrong one should be known before any work is done.
    factory(Trajectory("", ()), wire_named("openai-chat"))
    return factory


def _none(options: Options, settings: Settings) -> StrategyFactory:
    return lambda run, wire: NoCompression()


def _window(options: Options, settings: Settings) -> StrategyFactory:
    strategy = SlidingWindow(options.whole("keep", 10))
    return lambda run, wire: strategy


def _mask(options: Options, settings: Settings) -> StrategyFactory:
    keep = options.whole("keep", 10)
    return lambda run, wire: ObservationMasking(wire, keep, settings.count)


def _periodic(options: Options, settings: Settings) -> StrategyFactory:
    every = options.whole("every", 5)
    summarizer = _summarizer(options, settings)

    def build(run: Trajectory, wire: Wire) -> Strategy:
        account = SideAccount()
        return PeriodicSummary(wire, summarizer(account), every, settings.count, account)

    return build


def _statecomp(options: Options, settings: Settings) -> StrategyFactory:
    default = Gates()
    scoring = _scoring(options.text("scorer", "age"))
    gates = Gates(
        threshold=options.real("threshold", scoring.threshold),
        longer_than=options.whole("longer_than", default.longer_than),
        min_source_tokens=options.whole("min_source_tokens", default.min_source_tokens),
    )
    summarizer = _summarizer(options, settings)

    def build(run: Trajectory, wire: Wire) -> Strategy:
        account = SideAccount()
        return StateComp(
            scoring.scorer(run),
            summarizer=summarizer(account),
            gates=gates,
            protocol=wire.name,
            count=settings.count,
            account=account,
        )

    return build


BUILDERS: Mapping[str, Callable[[Options, Settings], StrategyFactory]] = {
    "none": _none,
    "window": _window,
    "mask": _mask,
    "periodic": _periodic,
    "statecomp": _statecomp,
}


@dataclass(frozen=True)
class Scoring:
    """A scorer for each run, and the threshold that belongs to it."""

    scorer: Callable[[Trajectory], Scorer]
    threshold: float = Gates().threshold


def _scoring(spec: str) -> Scoring:
    """`router[:FOLDER]`, `age:after=3` or `labels:PATH`."""
    name, _, rest = spec.partition(":")
    if name == "age":
        options = Options(spec, rest)
        age = AgeScorer(options.whole("after", AgeScorer().after))
        options.done()
        return Scoring(lambda run: age)
    if name == "labels":
        if not rest:
            raise BadInput("names no file; write labels:PATH", field="scorer")
        labels = _labels(rest)
        return Scoring(lambda run: LabelScorer(labels.get(run.id, {})))
    if name == "router":
        return _router(rest)
    known = "router[:FOLDER], age:after=N and labels:PATH"
    raise BadInput(f"is {name!r}; known are {known}", field="scorer")


def _router(folder: str) -> Scoring:
    """The shipped router, or one from a folder, at the threshold it was trained for."""
    try:
        shipped = import_module("statecomp.router.shipped")
    except ModuleNotFoundError as error:
        problem = f"needs {error.name}: install statecomp[router]"
        raise BadInput(problem, field="scorer router") from error
    threshold = shipped.open_bundle(folder).threshold
    return Scoring(lambda run: cast(Scorer, shipped.open_scorer(folder)), threshold)


@lru_cache(maxsize=4)
def _labels(path: str) -> Mapping[str, Mapping[int, Label]]:
    return read_labels(Path(path))


def _summarizer(options: Options, settings: Settings) -> Callable[[SideAccount], Summarizer]:
    """`extractive` (no model), or `chat:openai:MODEL[@URL]` / `chat:anthropic:MODEL[@URL]`."""
    spec = options.text("summarizer", "extractive")
    name, _, rest = spec.partition(":")
    if name == "extractive":
        summarizer = ExtractiveSummarizer(budget=options.real("budget", 0.25))
        return lambda account: summarizer
    if name == "chat":
        chat = open_chat(rest, environ=settings.environ)
        return lambda account: ChatSummarizer(chat, on_side_call=account.charge)
    problem = f"is {name!r}; known are extractive and chat:openai:MODEL"
    raise BadInput(problem, field="summarizer")
