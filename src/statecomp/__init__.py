"""Learns when a past interaction is safe to replace, and only then replaces it.

>>> from statecomp import AgeScorer, StateComp
>>> comp = StateComp(AgeScorer(after=3))  # StateComp() scores with the router that is shipped
>>> comp.checkpoint([{"role": "user", "content": "hello"}]).messages
[{'role': 'user', 'content': 'hello'}]

The names below are what the library promises; docs/reference/api.md describes each of them.  Each
is loaded when it is first used: `import statecomp` reads nothing but this file.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from statecomp.checkpoint import Checkpoint, Decision, Pins
    from statecomp.compressor import StateComp
    from statecomp.controller.age import AgeScorer
    from statecomp.controller.circumstances import Circumstances
    from statecomp.controller.economics import Economics
    from statecomp.controller.prices import PriceBook, Prices
    from statecomp.controller.spans import Gates, Rule
    from statecomp.errors import (
        BadInput,
        InvalidHistory,
        ScoringFailed,
        StateCompError,
        SummaryFailed,
    )
    from statecomp.history.history import History
    from statecomp.history.interaction import Interaction
    from statecomp.history.situation import Situation
    from statecomp.ledger.commits import Commit, CommitLog, MemoryLog
    from statecomp.pipelines.annotating import annotate
    from statecomp.pipelines.replaying import replay
    from statecomp.pipelines.training import evaluate, train
    from statecomp.recipes import RECIPES, Recipe
    from statecomp.records.extract import ExtractiveSummarizer
    from statecomp.records.record import Record
    from statecomp.records.writing.summarize import ChatSummarizer
    from statecomp.router.pipeline import TrainingPlan
    from statecomp.strategy import Scorer, Strategy, Summarizer, View
    from statecomp.wire.protocol import Placement

__version__ = "0.3.0"

# Where each name lives; the imports above say the same to type checkers, and a test holds them
# together.
_HOMES = {
    "checkpoint": "Checkpoint Decision Pins",
    "compressor": "StateComp",
    "controller.age": "AgeScorer",
    "controller.circumstances": "Circumstances",
    "controller.economics": "Economics",
    "controller.prices": "PriceBook Prices",
    "controller.spans": "Gates Rule",
    "errors": "BadInput InvalidHistory ScoringFailed StateCompError SummaryFailed",
    "history.history": "History",
    "history.interaction": "Interaction",
    "history.situation": "Situation",
    "ledger.commits": "Commit CommitLog MemoryLog",
    "records.extract": "ExtractiveSummarizer",
    "records.record": "Record",
    "records.writing.summarize": "ChatSummarizer",
    "pipelines.annotating": "annotate",
    "pipelines.replaying": "replay",
    "pipelines.training": "evaluate train",
    "recipes": "RECIPES Recipe",
    "router.pipeline": "TrainingPlan",
    "strategy": "Scorer Strategy Summarizer View",
    "wire.protocol": "Placement",
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names.split()}

__all__ = [
    "RECIPES",
    "AgeScorer",
    "BadInput",
    "ChatSummarizer",
    "Checkpoint",
    "Circumstances",
    "Commit",
    "CommitLog",
    "Decision",
    "Economics",
    "ExtractiveSummarizer",
    "Gates",
    "History",
    "Interaction",
    "InvalidHistory",
    "MemoryLog",
    "Pins",
    "Placement",
    "PriceBook",
    "Prices",
    "Recipe",
    "Record",
    "Rule",
    "Scorer",
    "ScoringFailed",
    "Situation",
    "StateComp",
    "StateCompError",
    "Strategy",
    "Summarizer",
    "SummaryFailed",
    "TrainingPlan",
    "View",
    "__version__",
    "annotate",
    "evaluate",
    "replay",
    "train",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'statecomp' has no attribute {name!r}")
    value = getattr(import_module(f"statecomp.{_HOME_OF[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
