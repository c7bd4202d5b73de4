"""What a frozen model is given to read at a checkpoint, by name, and within which limits.

Nothing here loads a model library: a router says by these names what it was trained on.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from statecomp.errors import BadInput
from statecomp.features.view import BASE_TOKENS, TARGET_TOKENS, VIEW_BUDGET

GROWING: Final = ("once", "full", "cut-full")
"""The run is read as it grows: each token once, or as much of it as the model takes, or a part."""
CONSTRUCTIONS: Final = (*GROWING, "local", "recent2", "recent4", "capped-recent4")

ROOM_FOR_TARGET: Final = 2_048
"""Of a model's context, what Recent2 and Recent4 leave to the target; they know no other limit."""
WINDOW: Final = 4_096
OVERLAP: Final = 240


@dataclass(frozen=True, slots=True)
class ViewBudget:
    """In tokens; what a construction does not use is zero.

    Views hold the latest `recent` interactions in at most `base` tokens, and the target behind them
    in at most `target`.  A growing run is read in a `window`, a full one begins anew with its last
    `overlap` tokens.
    """

    recent: int = 0
    base: int = 0
    target: int = 0
    window: int = 0
    overlap: int = 0

    @property
    def longest(self) -> int:
        """The longest input there can be."""
        return max(self.window, self.base + self.target)

    def part(self, scale: int) -> ViewBudget:
        sizes = (self.base, self.target, self.window, self.overlap)
        return self if scale == 1 else ViewBudget(self.recent, *(size // scale for size in sizes))


def budget_of(construction: str, context: int, scale: int = 1) -> ViewBudget:
    """The limits of a construction, for a model that reads `context` tokens.

    A study with little time reads a part of each: every limit is divided by `scale`, but that of
    `full`, which is what the model takes; `cut-full` is the same with its window divided too, as
    long as the views of Recent4.  The paper's view has the size it has: a model that cannot read it
    is refused.
    """
    room = min(ROOM_FOR_TARGET, context // 4)
    target = min(TARGET_TOKENS, context // 4)
    # All the model can read, and a quarter of it again where that is full.
    whole = ViewBudget(window=context, overlap=context // 4)
    known = {
        "once": ViewBudget(window=min(WINDOW, context), overlap=min(OVERLAP, context // 4)),
        "full": whole,
        "cut-full": whole,
        "local": ViewBudget(target=target),
        "recent2": ViewBudget(2, context - room, room),
        "recent4": ViewBudget(4, context - room, room),
        "capped-recent4": ViewBudget(4, BASE_TOKENS, TARGET_TOKENS),
    }
    if construction not in known:
        problem = f"is {construction!r}, none of {', '.join(CONSTRUCTIONS)}"
        raise BadInput(problem, field="construction")
    if construction == "capped-recent4" and context < VIEW_BUDGET // scale:
        problem = f"needs {VIEW_BUDGET // scale:,} tokens at once, and the model reads {context:,}"
        raise BadInput(f"{problem}; local, once and recent4 take what there is", field=construction)
    return known[construction] if construction == "full" else known[construction].part(scale)
