"""Learns when a past interaction is safe to replace, and only then replaces it.

>>> from statecomp import AgeScorer, StateComp
>>> comp = StateComp(AgeScorer(after=3))
>>> comp.checkpoint([{"role": "user", "content": "hello"}]).messages
[{'role': 'user', 'content': 'hello'}]
"""

from statecomp.checkpoint import Checkpoint, Pins
from statecomp.compressor import StateComp
from statecomp.controller.age import AgeScorer
from statecomp.controller.spans import Gates
from statecomp.ledger.commits import MemoryLog
from statecomp.llm.extract import ExtractiveSummarizer

__version__ = "0.1.0"

__all__ = [
    "AgeScorer",
    "Checkpoint",
    "ExtractiveSummarizer",
    "Gates",
    "MemoryLog",
    "Pins",
    "StateComp",
    "__version__",
]
