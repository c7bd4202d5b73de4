"""One run of a client: in a fresh workspace, direct or through `statecomp serve`, and its sums."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path
from typing import Any

import statecomp
from benchmarks.clients.coding.project import write_project
from benchmarks.clients.coding.session import CodingSession
from benchmarks.clients.launching import (
    CLIENTS,
    PRICED_AS,
    UNTHINKING,
    Errand,
    Launch,
    environment,
)
from benchmarks.clients.tap import Tap
from statecomp.controller.prices import MILLION, Prices, shipped_prices
from statecomp.testing.provider.app import Received, ScriptedUpstream
from statecomp.testing.provider.meter import Spent
from statecomp.testing.provider.serving import free_port, serving

PATIENCE_S = 60.0
STEP_S = 10.0
"""A step takes far less; a client that goes in circles is stopped."""


@dataclass(frozen=True, slots=True)
class Wish:
    """What to run: a client, for how many steps, and how it is set."""

    client: str
    steps: int
    thinking: bool = True
    model: str = ""
    version: str = ""
    pace_s: float = 0.0  # how long the model thinks before it answers
    at_once: int = 1  # how many modules are worked on at the same time


@dataclass(frozen=True, slots=True)
class Line:
    """One request as the proxy logged it; numbers and notes, no content."""

    status: int
    own_ms: float
    raw_tokens: int
    sent_tokens: int
    note: str


@dataclass(frozen=True)
class Outcome:
    """What became of a run: what the provider was sent, the client was given, the proxy said."""

    wish: Wish
    provider: ScriptedUpstream
    report: str  # the words the client was to end with
    output: str
    errors: str
    exit_code: int
    seconds: float
    given: Mapping[str, bytes]
    failed: Sequence[str]
    log: Sequence[Line] = ()
    metrics: Mapping[str, int] = field(default_factory=dict)

    @property
    def retried(self) -> int:
        return self.metrics.get("statecomp_retries_total", 0)

    @property
    def commits(self) -> int:
        return self.metrics.get("statecomp_commits_total", 0)

    @property
    def regrets(self) -> int:
        return self.metrics.get("statecomp_regrets_total", 0)

    @property
    def requests(self) -> list[Received]:
        return self.provider.requests()

    @property
    def spent(self) -> list[Spent]:
        return [request.spent for request in self.requests if request.spent]

    @property
    def tokens(self) -> int:
        return sum(spent.input for spent in self.spent)

    @property
    def ended(self) -> bool:
        """Whether the client came to its end, and says what the model said last."""
        return self.exit_code == 0 and self.report in self.output

    @property
    def identical(self) -> bool:
        """Whether the client was given every answer as it was sent, byte for byte."""
        return sorted(self.given.values()) == sorted(request.answer for request in self.requests)

    @property
    def notes(self) -> Counter[str]:
        return Counter(line.note for line in self.log if line.note)

    @property
    def own_ms(self) -> float:
        """What the proxy itself took, at the median."""
        times = sorted(line.own_ms for line in self.log)
        return times[len(times) // 2] if times else 0.0

    def dollars(self) -> float:
        return sum(dollars_of(spent, self.prices) for spent in self.spent)

    @property
    def prices(self) -> Prices:
        book = shipped_prices()
        model = str(self.requests[-1].body.get("model", "")) if self.requests else ""
        known = book.nearest(model)
        if known.model in model:
            return known
        return book.of(PRICED_AS.get(self.wish.client, "gpt-5"))


def dollars_of(spent: Spent, prices: Prices) -> float:
    """One request at list price, by what the provider says it read and wrote."""
    read = prices.readable(spent.cached)
    plain = spent.input - read - spent.written
    cost = plain * prices.input + read * prices.cached + spent.written * prices.write
    return (cost + spent.output * prices.output) / MILLION


def run(
    wish: Wish,
    serve: str | None = None,
    script: Callable[[Path, int, int], CodingSession] = CodingSession,
    launcher: Callable[[Errand], Launch] | None = None,
) -> Outcome:
    """Without `serve` the client speaks to the provider itself; else it is the proxy's options.

    `launcher` starts it otherwise than the client of that name is.
    """
    start = launcher or CLIENTS[wish.client]
    if not wish.thinking and not wish.model:
        wish = replace(wish, model=UNTHINKING.get(wish.client, ""))
    with _folder() as home:
        workspace = home / "work" / "toolkit"
        write_project(workspace)
        session = script(workspace, wish.steps, wish.at_once)
        provider = ScriptedUpstream(session, delay_s=wish.pace_s)
        with serving(provider.app) as direct:
            if serve is None:
                return _watched(wish, provider, session, direct, home, start)
            with served(direct, home, shlex.split(serve)) as url:
                done = _watched(wish, provider, session, url, home, start)
                told = metrics(url)
            return replace(done, metrics=told, log=tuple(_logged(home / "serve.log")))


@contextmanager
def _folder() -> Iterator[Path]:
    """A new folder whose name is as long in tokens as that of any other run."""
    above = Path(tempfile.gettempdir()) / f"statecomp-clients-{os.getuid()}"
    above.mkdir(mode=0o700, exist_ok=True)
    for number in count(1000):
        with suppress(FileExistsError):
            (above / str(number)).mkdir()
            break
    try:
        yield above / str(number)
    finally:
        shutil.rmtree(above / str(number), ignore_errors=True)


def _watched(
    wish: Wish,
    provider: ScriptedUpstream,
    session: CodingSession,
    url: str,
    home: Path,
    start: Callable[[Errand], Launch],
) -> Outcome:
    tap = Tap(url)
    own = home / "home"
    own.mkdir()
    with serving(tap.app) as address:
        errand = Errand(address, session.workspace, own, wish.thinking, wish.model, wish.version)
        launch = start(replace(errand, steps=wish.steps))
        begun = time.monotonic()
        limit_s = PATIENCE_S + STEP_S * wish.steps
        code, output, errors = _run(launch, session.workspace, environment(errand, launch), limit_s)
        took = time.monotonic() - begun
    texts = (session.report, output, errors)
    return Outcome(wish, provider, *texts, code, took, tap.given, tap.failed)


def _run(
    launch: Launch, folder: Path, env: Mapping[str, str], limit_s: float
) -> tuple[int, str, str]:
    """Exit code, output and errors of the client; one that does not end is ended."""
    process = subprocess.Popen(
        launch.command,
        cwd=folder,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        output, errors = process.communicate(timeout=limit_s)
    except subprocess.TimeoutExpired:
        process.kill()
        output, errors = process.communicate()
        errors += f"\nit did not end within {limit_s:g} s"
    return process.returncode, output, errors


@contextmanager
def served(upstream: str, home: Path, options: Sequence[str]) -> Iterator[str]:
    """`statecomp serve` as a user would start it, with a ledger of its own; its address."""
    port = free_port()
    command = [sys.executable, "-m", "statecomp", "serve", "--upstream", upstream]
    command += ["--port", str(port), "--store", str(home / "ledger.sqlite"), *options]
    # The code that is measured is the code that measures, whatever else is installed.
    code = str(Path(statecomp.__file__).parents[1])
    environ = {**os.environ, "XDG_DATA_HOME": str(home), "PYTHONPATH": code}
    with (home / "serve.log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, env=environ)
        try:
            _wait_for(f"http://127.0.0.1:{port}/healthz", process)
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()
            try:
                process.wait(PATIENCE_S)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _wait_for(url: str, process: subprocess.Popen[bytes]) -> None:
    limit = time.monotonic() + PATIENCE_S
    while time.monotonic() < limit and process.poll() is None:
        try:
            with urllib.request.urlopen(url, timeout=5):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.1)
    raise RuntimeError("the proxy did not start")


def metrics(url: str) -> Counter[str]:
    """What the proxy counts, summed over labels."""
    with urllib.request.urlopen(f"{url}/metrics", timeout=10) as answer:
        lines = answer.read().decode().splitlines()
    found: Counter[str] = Counter()
    for line in lines:
        if line and not line.startswith("#"):
            found[line.split("{")[0].split()[0]] += int(float(line.split()[-1]))
    return found


def _logged(path: Path) -> Iterator[Line]:
    for text in path.read_text("utf-8", "replace").splitlines():
        try:
            said: dict[str, Any] = json.loads(text)
        except ValueError:
            continue
        if "own_ms" in said and not said.get("counts"):
            yield Line(
                int(said["status"]),
                float(said["own_ms"]),
                int(said["raw_tokens"]),
                int(said["sent_tokens"]),
                str(said["note"]),
            )
