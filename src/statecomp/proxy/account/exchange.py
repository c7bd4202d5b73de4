"""One request and its answer, as far as the account needs them."""

from __future__ import annotations

from concurrent.futures import Future
from dataclasses import dataclass, field
from time import time

from statecomp.checkpoint import Checkpoint
from statecomp.compressor import StateComp
from statecomp.proxy.sessions import Kin
from statecomp.strategy import View
from statecomp.tokens.usage import Usage

STALE_NOTE = "thinking had gone stale, so it was asked for to be dropped"


@dataclass(frozen=True)
class Exchange:
    """One request and its answer, as far as they have come."""

    protocol: str
    mode: str
    when_s: float = field(default_factory=time)
    tenant: str = ""
    session: str = ""
    client: str = ""
    model: str = ""
    caching: bool = True  # as the request asks for it
    ttl_s: float | None = None  # where the client asks for another lifetime than the price book's
    engine: StateComp | None = None
    checkpoint: Checkpoint | None = None
    decision: Future[View | None] | None = None
    sent_raw: bool = False  # whatever the view says, the bytes that came in went out
    status: int = 0
    usage: Usage = field(default_factory=Usage)
    note: str = ""
    own_ms: float = 0.0
    kin: Kin = field(default_factory=Kin)

    @property
    def raw_tokens(self) -> int:
        return self.checkpoint.raw_tokens if self.checkpoint else 0

    @property
    def view_tokens(self) -> int:
        """Of what was sent; in observe mode, of what would have been."""
        if self.checkpoint is None or (self.sent_raw and self.mode != "observe"):
            return self.raw_tokens
        return self.checkpoint.sent_tokens
