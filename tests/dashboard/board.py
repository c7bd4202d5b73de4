"""A real proxy with the dashboard mounted, and recorded runs sent through it."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from statecomp.controller.age import AgeScorer
from statecomp.controller.spans import Gates
from statecomp.dashboard.app import routes
from statecomp.ledger.ledger import Ledger
from statecomp.ledger.open import open_ledger
from statecomp.method import Method
from statecomp.proxy.app import build_app
from statecomp.proxy.settings import ProxySettings
from statecomp.testing.provider.app import ScriptedUpstream
from statecomp.testing.provider.serving import serving
from statecomp.testing.provider.turns import drill

SAMPLES = Path(__file__).parents[2] / "samples"
EAGER = Method(scorer=lambda: AgeScorer(6), rule=Gates(longer_than=3, min_source_tokens=300))
PATIENCE_S = 60.0


@dataclass(frozen=True)
class Board:
    """A proxy at `url`, its pages at `url`/statecomp/, and the ledger they show."""

    url: str
    ledger: Ledger

    @property
    def page(self) -> str:
        return f"{self.url}/statecomp/"

    def send(
        self, messages: Sequence[Any], *, model: str = "gpt-5", client: str = "agent/1.0"
    ) -> None:
        """One request of a client, and its account written."""
        before = self.ledger.totals().requests
        body = {"model": model, "messages": list(messages)}
        headers = {"authorization": "Bearer sk-not-a-secret", "user-agent": client}
        httpx.post(f"{self.url}/v1/chat/completions", json=body, headers=headers, timeout=60)
        limit = time.monotonic() + PATIENCE_S
        while self.ledger.totals().requests == before and time.monotonic() < limit:
            time.sleep(0.01)

    def play(self, sample: str, *, until: int = 10**6, **about: str) -> None:
        """A recorded run as its client would have sent it, request after request."""
        messages = recorded_messages(sample)
        stops = [n for n, m in enumerate(messages) if n and m["role"] == "assistant"]
        for stop in stops[:until]:
            self.send(messages[:stop], **about)


def recorded_messages(sample: str) -> list[dict[str, Any]]:
    run = json.loads((SAMPLES / f"{sample}.jsonl").read_text("utf-8"))
    messages: list[dict[str, Any]] = run["messages"]
    return messages


@contextmanager
def board(
    ledger: Ledger | None = None,
    *,
    method: Method = EAGER,
    **settings: Any,
) -> Iterator[Board]:
    """Decisions are made at once, so that a test knows when."""
    store = ledger or open_ledger(":memory:")
    with serving(ScriptedUpstream(drill(400)).app) as upstream:
        chosen = ProxySettings(**{"upstream": upstream, "commit": "now", **settings})
        app = build_app(chosen, store, method, pages=routes(store))
        with serving(app) as url:
            yield Board(url, store)
