"""One frozen model for all who read by it: opened when first needed, and held to its bundle.

Importing this loads no model library, and neither does anything here before the first `read`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from threading import Lock
from time import monotonic
from typing import TYPE_CHECKING, Any, cast

from statecomp.errors import BadInput
from statecomp.features import presets
from statecomp.history.history import History
from statecomp.router.hidden.spec import Encoder, Spec

if TYPE_CHECKING:
    from statecomp.router.hidden.candidates import Candidates, CandidateVectors

MODELS = 2
"""Frozen models that a process holds at a time."""


@dataclass(frozen=True, slots=True)
class Serving:
    """How the model of a router is run here.

    `model` is where it lies, where that is not what its bundle calls it; `dtype` "" is the one it
    was trained with.  After `limit_s` seconds of reading at a checkpoint the previous scores stand;
    None takes as long as it takes.
    """

    model: str = ""
    device: str = "auto"
    dtype: str = ""
    limit_s: float | None = None

    def __post_init__(self) -> None:
        if self.limit_s is not None and not self.limit_s > 0:
            raise BadInput(f"must be positive, not {self.limit_s}", field="limit_s")


HERE = Serving()


def must_be_here(reads: Spec, serving: Serving = HERE) -> None:
    """Refuses in one sentence a model that cannot be opened; it is not loaded for that."""
    if reads.encoder and (problem := presets.absent(serving.model or reads.encoder.name)):
        raise BadInput(problem, field=f"the router reads {reads.encoder}")


class Shared:
    """A model with what was read by it; one reads at a time, the others wait.

    A model that could not be opened is not tried again: loading it may take minutes.
    """

    def __init__(self, reads: Spec, model: str, device: str, dtype: str) -> None:
        self._reads, self._where = reads, (model, device, dtype)
        self._candidates: Candidates | None = None
        self._encoder: Any = None
        self._refused: BadInput | None = None
        self._lock = Lock()

    @property
    def tokens_read(self) -> int:
        """Tokens the model was given so far."""
        return int(self._encoder.tokens_read) if self._encoder else 0

    def read(self, history: History, limit_s: float | None = None) -> CandidateVectors:
        """Raises TimeoutError where the time is over before anything can be said."""
        asked = monotonic()
        if not self._lock.acquire(timeout=limit_s or -1):
            raise TimeoutError
        try:
            if self._candidates is None:
                self._candidates = self._opened()
                asked = monotonic()  # what loading takes is not held against the first history
            ends = asked + (limit_s or float("inf"))
            return self._candidates.read(history, lambda: monotonic() < ends)
        finally:
            self._lock.release()

    def _opened(self) -> Candidates:
        if self._refused is not None:
            raise self._refused
        try:
            return self._open()
        except BadInput as problem:
            self._refused = problem
            raise

    def _open(self) -> Candidates:
        encoder, (model, device, dtype) = self._reads.encoder, self._where
        assert encoder is not None
        from statecomp.features.encoder import EncoderSettings, Readout, open_encoder
        from statecomp.router.hidden.candidates import candidates_of

        settings = EncoderSettings(
            model=model or encoder.name,
            layer=encoder.layer,
            readout=cast(Readout, self._reads.readout),
            device=device,
            dtype=dtype or encoder.dtype,
        )
        opened = open_encoder(settings)
        must_be(opened, encoder, self._reads.budget.longest)
        self._encoder = opened
        return candidates_of(opened, self._reads.construction, self._reads.budget)


def must_be(opened: Any, encoder: Encoder, longest: int) -> None:
    """Refuses a model that is not the one a router learned from."""
    if opened.context < longest:
        problem = f"reads {opened.context:,} tokens at once, and the router needs {longest:,}"
        raise BadInput(problem, file=opened.name)
    if opened.width != encoder.width or (encoder.weights and opened.weights != encoder.weights):
        problem = f"holds other weights than those the router learned from ({encoder})"
        raise BadInput(problem, file=opened.name)


def shared(reads: Spec, serving: Serving = HERE) -> Shared:
    """The same one for all routers, conversations and tenants that read alike."""
    # What a router makes of the vectors is its own affair.
    alike = replace(reads, context="none", evidence=False, loss="")
    return _shared(alike, serving.model, serving.device, serving.dtype)


@lru_cache(maxsize=MODELS)
def _shared(reads: Spec, model: str, device: str, dtype: str) -> Shared:
    return Shared(reads, model, device, dtype)
