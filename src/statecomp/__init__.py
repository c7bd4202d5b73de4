"""Learns when a past interaction is safe to replace, and only then replaces it.

>>> from statecomp import AgeScorer, StateComp
>>> comp = StateComp(AgeScorer(after=3))  # StateComp() scores with the router that is shipped
>>> comp.checkpoint([{"role": "user", "content": "hello"}]).messages
[{'role': 'user', 'content': 'hello'}]

The names below are what the library promises; docs/reference/api.md describes each of them.
"""

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
from statecomp.llm.extract import ExtractiveSummarizer
from statecomp.llm.record import Record
from statecomp.llm.writing.summarize import ChatSummarizer
from statecomp.recipes import RECIPES, Recipe
from statecomp.strategy import Scorer, Strategy, Summarizer, View
from statecomp.wire.protocol import Placement

__version__ = "0.1.0"

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
    "View",
    "__version__",
]
