"""Mangled bodies through the whole proxy, in one process: what was valid stays valid.

    python -m tests.attack.fuzz [--bodies 1000] [--seed 1] [--page FILE] [--lines FILE]

Each body is one step of a growing conversation with something taken out, doubled, moved or
replaced.  Where the upstream would have taken the body as it came, it must take what the proxy made
of it; and whatever comes, the proxy itself never fails.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from random import Random
from time import monotonic
from typing import Any

import httpx

from statecomp.ledger.open import open_ledger
from statecomp.proxy.app import build_app
from statecomp.proxy.settings import ProxySettings
from tests.attack.parts import add
from tests.attack.traffic import Conversation, mangled
from tests.attack.watch import page
from tests.proxy.conversations import HEADERS
from tests.proxy.serving import EAGER
from tests.proxy.small_upstream import Joined
from tests.proxy.upstream import upstream as scripted

STEPS = 12


class Fuzz:
    """Client, proxy and upstream joined by function calls."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.seed = seed
        self.model = scripted(STEPS + 2)
        settings = ProxySettings(upstream="http://127.0.0.1:9", commit="now")
        self.app = app = build_app(settings, open_ledger(":memory:"), EAGER)
        app.endpoint.sender._client = Joined(self.model.app)
        self.client = httpx.AsyncClient(
            transport=httpx.ASGITransport(app, raise_app_exceptions=False),
            base_url="http://127.0.0.1",
        )
        # The same upstream without the proxy says whether a body was valid as it came.
        direct = httpx.ASGITransport(scripted(STEPS + 2).app, raise_app_exceptions=False)
        self.direct = httpx.AsyncClient(transport=direct, base_url="http://127.0.0.1")
        self.counts: Counter[str] = Counter()
        self.faults: list[str] = []

    async def run(self, bodies: int) -> None:
        async with self.client, self.direct:
            await self._rounds(bodies)
        await self.app.endpoint.sender.close()

    async def _rounds(self, bodies: int) -> None:
        number = 0
        while self.counts["bodies"] < bodies:
            conversation = Conversation(number, self.seed)
            number += 1
            for _ in range(STEPS):
                whole = json.loads(conversation.grown())
                await self._send(conversation, whole)
                for _ in range(4):
                    odd = mangled(whole, conversation.tongue.key, self.random)
                    await self._send(conversation, odd)
            self.model.received.clear()

    async def _send(self, conversation: Conversation, body: Mapping[str, Any]) -> None:
        tongue = conversation.tongue
        content = json.dumps(body).encode()
        headers = {**HEADERS, "authorization": f"Bearer {conversation.key}"}
        before = len(self.model.received)
        answer = await self.client.post(tongue.path, content=content, headers=headers)
        self.counts["bodies"] += 1
        arrived = list(self.model.received)[before:]
        plain = await self.direct.post(tongue.path, content=content, headers=headers)
        valid = plain.status_code == 200
        self.counts["valid as they came"] += valid
        self.counts["rewritten"] += any(r.raw != content for r in arrived)
        if valid and (answer.status_code != 200 or any(r.refusal for r in arrived)):
            told = next((r.refusal for r in arrived if r.refusal), answer.text[:120])
            self.faults.append(f"invalid: {answer.status_code} {told}")
        # A record can take the place of the very message that was wrong.
        self.counts["valid only as sent"] += not valid and answer.status_code == 200
        if answer.headers.get("x-statecomp-error"):
            self.faults.append(f"failed: {answer.status_code} {answer.text[:120]}")


def attack(bodies: int, seed: int) -> tuple[dict[str, Any], list[str]]:
    began = monotonic()
    fuzz = Fuzz(seed)
    asyncio.run(fuzz.run(bodies))
    minutes = round((monotonic() - began) / 60, 1)
    return {**fuzz.counts, "invalid or failed": len(fuzz.faults), "minutes": minutes}, fuzz.faults


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bodies", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--page", type=Path)
    parser.add_argument("--lines", type=Path, help="a file to add the result to, as a line")
    given = parser.parse_args()
    ran, faults = attack(given.bodies, given.seed)
    add(given.lines, "mangled bodies", given.seed, ran, faults)
    told = page("Mangled bodies", ran, sorted(set(faults))[:40])
    sys.stdout.write(told)
    if given.page:
        given.page.write_text(told)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
