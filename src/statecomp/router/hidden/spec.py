"""What a router reads, as one value: its bundle keeps it, and training and scoring follow it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final

from statecomp.errors import BadInput
from statecomp.features.constructions import CONSTRUCTIONS, ViewBudget

EVIDENCE: Final = "evidence"
CONTEXTS: Final = ("none", "gru", "topk", "hybrid")
"""How the prefix is aggregated: not at all, by a GRU, by the nearest candidates, by both."""
READOUTS: Final = ("last", "mean")
UNLIMITED: Final = ViewBudget()
STATE: Final = "state"
"""The column a GRU finds the rows of one history by."""


@dataclass(frozen=True, slots=True)
class Encoder:
    """The frozen model, and the layer of it, whose vectors a router reads.

    `weights` tells this very model from others of its name; `dtype` is what it was run in.
    """

    name: str
    layer: int
    weights: str = ""
    dtype: str = "float32"
    width: int = 0
    context: int = 0

    def __str__(self) -> str:
        return f"layer {self.layer} of {self.name}"


@dataclass(frozen=True, slots=True)
class Spec:
    """`construction` is one of CONSTRUCTIONS, or "evidence" where no model is read.

    `loss` is what the router was trained with: nothing that reads needs it.
    """

    construction: str = EVIDENCE
    context: str = "none"
    evidence: bool = True
    readout: str = "last"
    budget: ViewBudget = UNLIMITED
    encoder: Encoder | None = None
    loss: str = "bce"

    def __post_init__(self) -> None:
        for field, value, known in (
            ("representation", self.construction, (EVIDENCE, *CONSTRUCTIONS)),
            ("context", self.context, CONTEXTS),
            ("readout", self.readout, READOUTS),
        ):
            if value not in known:
                raise BadInput(f"is {value!r}, none of {', '.join(known)}", field=field)
        if not self.hidden and (self.context != "none" or self.encoder or not self.evidence):
            problem = f"is {self.construction}, which has neither vectors nor a context of them"
            raise BadInput(problem, field="representation")

    @property
    def hidden(self) -> bool:
        """Whether a language model is read."""
        return self.construction != EVIDENCE

    @property
    def recurrent(self) -> bool:
        return self.context in ("gru", "hybrid")

    @property
    def nearest(self) -> bool:
        return self.context in ("topk", "hybrid")

    def columns(self) -> tuple[str, ...]:
        """What stands before the evidence, if anything."""
        if not self.encoder:
            return ()
        blocks = ("candidate", "current", *(("context",) if self.nearest else ()))
        places = range(self.encoder.width)
        return (
            *((STATE,) if self.recurrent else ()),
            *(f"{block}.{place}" for block in blocks for place in places),
        )

    def __str__(self) -> str:
        beside = "+evidence" if self.hidden and self.evidence else ""
        context = f" + {self.context}" if self.context != "none" else ""
        return f"{self.construction}{beside}{context}"


def parse(representation: str, context: str = "none", readout: str = "last") -> Spec:
    """`capped-recent4`, or `capped-recent4+evidence`; the encoder is not known yet."""
    name, plus, beside = representation.partition("+")
    if plus and beside != EVIDENCE:
        problem = f"is {representation!r}; the only thing to add is +evidence"
        raise BadInput(problem, field="representation")
    return Spec(name, context, evidence=bool(plus) or name == EVIDENCE, readout=readout)


def as_json(spec: Spec) -> dict[str, Any]:
    return asdict(spec)


def from_json(record: Any) -> Spec:
    """The reverse; strict, since a router that reads something else would answer, and be wrong."""
    if not isinstance(record, Mapping):
        raise BadInput("does not say what the router reads", field="reads")
    try:
        held = dict(record)
        encoder, budget = held.pop("encoder"), held.pop("budget")
        return Spec(
            **held, budget=ViewBudget(**budget), encoder=Encoder(**encoder) if encoder else None
        )
    except (KeyError, TypeError) as error:
        raise BadInput(f"is not what a router can read ({error})", field="reads") from error
