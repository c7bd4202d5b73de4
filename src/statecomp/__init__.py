"""Learns when a past interaction is safe to replace, and only then replaces it.

>>> from statecomp import AgeScorer, StateComp
>>> comp = StateComp(AgeScorer(after=3))  # StateComp() scores with the router that is shipped
>>> comp.checkpoint([{"role": "user", "content": "hello"}]).messages
[{'role': 'user', 'content': 'hello'}]
"""

from statecomp.checkpoint import Checkpoint, Pins
from statecomp.compressor import StateComp
from statecomp.controller.age import AgeScorer
from statecomp.controller.circumstances import Circumstances
from statecomp.controller.economics import Economics
from statecomp.controller.spans import Gates
from statecomp.ledger.commits import MemoryLog
from statecomp.llm.extract import ExtractiveSummarizer
from statecomp.recipes import RECIPES, Recipe
from statecomp.wire.protocol import Placement

__version__ = "0.1.0"

__all__ = [
    "RECIPES",
    "AgeScorer",
    "Checkpoint",
    "Circumstances",
    "Economics",
    "ExtractiveSummarizer",
    "Gates",
    "MemoryLog",
    "Pins",
    "Placement",
    "Recipe",
    "StateComp",
    "__version__",
]
