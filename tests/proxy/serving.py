"""The proxy on a real port: in a thread of this process, or in a process that can be killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import Any

import httpx

from statecomp.controller.age import AgeScorer
from statecomp.controller.spans import Gates
from statecomp.ledger.audit import Entry, Regret, Request, Session
from statecomp.ledger.ledger import Ledger
from statecomp.ledger.open import open_ledger
from statecomp.method import Method
from statecomp.proxy.app import build_app
from statecomp.proxy.sessions import tenant_of
from statecomp.proxy.settings import ProxySettings
from statecomp.testing.provider.app import Received, ScriptedUpstream
from statecomp.testing.provider.serving import free_port, serving
from tests.proxy.conversations import Message, Tongue, post
from tests.proxy.upstream import KEY
from tests.proxy.upstream import upstream as scripted

EAGER = Method(scorer=lambda: AgeScorer(2), rule=Gates(longer_than=1, min_source_tokens=50))
"""Commits early and often: what is two interactions old goes."""
EAGER_OPTIONS = ("--scorer", "age:after=2", "--longer-than", "1", "--min-source-tokens", "50")
NUMBERS = count()
PATIENCE_S = 60.0


@dataclass(frozen=True)
class Proxied:
    """A proxy, the upstream behind it, the ledger beside it, and one tenant that uses them.

    Several tests share one proxy, each as a tenant of its own who sees nothing of the others.
    """

    url: str
    direct: str
    upstream: ScriptedUpstream
    ledger: Ledger
    key: str = KEY

    def tenant(self) -> Proxied:
        return replace(self, key=f"sk-test-{next(NUMBERS):016d}")

    def post(
        self, tongue: Tongue, body: Mapping[str, Any] | bytes, **headers: str
    ) -> httpx.Response:
        return post(self.url, tongue, body, **{"authorization": f"Bearer {self.key}", **headers})

    def _mine(self, received: Received) -> bool:
        given = received.headers
        return self.key in (given.get("x-api-key"), given.get("authorization", "")[7:])

    @property
    def received(self) -> list[Received]:
        """What reached the upstream and was answered, oldest first."""
        return [r for r in self.upstream.requests() if self._mine(r)]

    @property
    def refusals(self) -> list[str]:
        return [r.refusal for r in list(self.upstream.received) if r.refusal and self._mine(r)]

    @property
    def sessions(self) -> list[Session]:
        """From the ledger, once the account of every request so far is written."""
        key = self.key.encode()
        names = ({b"authorization": b"Bearer " + key}, {b"x-api-key": key})
        tenants = [tenant_of(name, b"") for name in names]
        limit = time.monotonic() + PATIENCE_S
        while time.monotonic() < limit:
            found = [s for s in self.ledger.sessions(1000) if s.tenant in tenants]
            if sum(s.totals.requests for s in found) >= len(self.received):
                return found
            time.sleep(0.02)
        raise AssertionError("the account was not written")

    @property
    def requests(self) -> list[Request]:
        return [r for s in self.sessions for r in self.ledger.requests(s.id)]

    @property
    def entries(self) -> list[Entry]:
        return [e for s in self.sessions for e in self.ledger.entries(s.id)]

    @property
    def regrets(self) -> list[Regret]:
        return [r for s in self.sessions for r in self.ledger.regrets(s.id)]


@contextmanager
def proxied(
    upstream: ScriptedUpstream | None = None,
    *,
    method: Method = EAGER,
    ledger: Ledger | None = None,
    opens: Callable[[], Method] | None = None,
    **settings: Any,
) -> Iterator[Proxied]:
    """By default every decision is made at once, so that a test knows when."""
    model, store = upstream or scripted(), ledger or open_ledger(":memory:")
    with serving(model.app) as direct:
        chosen = ProxySettings(**{"upstream": direct, "commit": "now", **settings})
        with serving(build_app(chosen, store, method, opens=opens)) as url:
            yield Proxied(url, direct, model, store)


class Served:
    """`statecomp serve` as a process, on one store; it can be killed and started again."""

    def __init__(self, upstream: str, home: Path, *options: str) -> None:
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        command = [sys.executable, "-m", "statecomp", "serve", "--upstream", upstream]
        command += ["--port", str(self.port), "--store", str(home / "ledger.db"), *options]
        self._command = command
        self._home = str(home)
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        environ = {**os.environ, "OMP_NUM_THREADS": "1", "XDG_DATA_HOME": self._home}
        self.process = subprocess.Popen(
            self._command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environ
        )
        self._wait_until_it_answers()

    @property
    def pid(self) -> int:
        assert self.process is not None
        return self.process.pid

    @property
    def ended(self) -> int | None:
        """The exit code, if it has ended."""
        return self.process.poll() if self.process is not None else 0

    def _wait_until_it_answers(self) -> None:
        limit = time.monotonic() + PATIENCE_S
        # One client for all tries: making one reads the certificates of the machine.
        with httpx.Client(base_url=self.url, timeout=5, trust_env=False, verify=False) as client:
            while time.monotonic() < limit and self.ended is None:
                try:
                    if client.get("/healthz").status_code == 200:
                        return
                except httpx.HTTPError:
                    time.sleep(0.05)
        raise AssertionError(f"the proxy did not start (exit code {self.ended})")

    def kill(self) -> None:
        if self.process is not None:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()

    def stop(self) -> None:
        if self.process is not None and self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(20)
            except subprocess.TimeoutExpired:
                self.kill()


@contextmanager
def served(upstream: str, home: Path, *options: str) -> Iterator[Served]:
    """`home` is the folder of its ledger and its salt."""
    server = Served(upstream, home, *options)
    try:
        server.start()
        yield server
    finally:
        server.stop()


def converse(proxy: Proxied, tongue: Tongue, messages: list[Message], **body: Any) -> None:
    """Send the history as it grows; each request must be answered with 200."""
    for history in tongue.growing(messages):
        answer = proxy.post(tongue, tongue.body(history, **body))
        assert answer.status_code == 200, answer.text
