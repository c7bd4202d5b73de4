"""An agent at work behind the proxy: `python -m samples.demo_agent [--store FILE]`.

A day's work in one conversation (`statecomp-bench session`), once directly and once through the
proxy: the bench's agent, its requests sent by the `openai` package, its tools really run.  The
model is scripted and bound to what each request shows it, so what the proxy takes away changes
what the agent does next.  The provider around it is as strict as a real one and meters tokens as
one; nothing leaves this machine.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import openai

from statecomp.baselines.none import NoCompression
from statecomp.controller.prices import Prices, shipped_prices
from statecomp.history.interaction import JsonObject
from statecomp.replays.accounting import Bill, dollars_of
from statecomp.testing.provider.app import Received, ScriptedUpstream
from statecomp.testing.provider.serving import free_port, serving
from statecomp.testing.provider.turns import Body, Turn, recorded
from statecomp_bench.models import Reply
from statecomp_bench.sessions.acting import SessionModel
from statecomp_bench.sessions.day import SEED, day
from statecomp_bench.sessions.session import Held, hold

MODEL = "gpt-5"
PATIENCE_S = 60.0
SESSION = day()


class Day:
    """Plays the model of a provider: the session's own, asked anew with every request."""

    last = 1_000  # far behind the end: the model itself ends each task

    def __init__(self) -> None:
        self._model = SessionModel(SESSION, SEED)

    def turn(self, body: Body, step: int) -> Turn:
        message = self._model.reply(body["messages"], body["tools"]).message
        return recorded([message])[0]


class Sdk:
    """The model at an address, as the bench's agent asks for it; all that a user would change."""

    def __init__(self, url: str) -> None:
        self._client = openai.OpenAI(base_url=f"{url}/v1", api_key="sk-demo-not-a-secret")

    def reply(self, messages: Sequence[JsonObject], tools: Sequence[JsonObject]) -> Reply:
        # As they are: the package would look through every word again for fields to rename.
        given = {"messages": list(messages), "tools": list(tools)}
        answer = self._client.chat.completions.create(model=MODEL, messages=[], extra_body=given)
        return Reply(answer.choices[0].message.to_dict())


def work(url: str) -> Held:
    """The whole session with the model at this address; its tools are our own scripts."""
    return hold(SESSION, Sdk(url), NoCompression(), unprotected=True)


@contextmanager
def proxy(upstream: str, store: Path, extra: Sequence[str]) -> Iterator[str]:
    """`statecomp serve` in a process of its own, as a user would start it."""
    port = free_port()
    command = [sys.executable, "-m", "statecomp", "serve", "--upstream", upstream]
    command += ["--port", str(port), "--mode", "compress", "--store", str(store), *extra]
    environ = {**os.environ, "XDG_DATA_HOME": str(store.parent)}
    url = f"http://127.0.0.1:{port}"
    with store.with_suffix(".log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, env=environ)
        try:
            wait_for(f"{url}/healthz", process)
            yield url
        finally:
            process.terminate()
            process.wait(PATIENCE_S)


def wait_for(url: str, process: subprocess.Popen[bytes]) -> None:
    limit = time.monotonic() + PATIENCE_S
    while time.monotonic() < limit and process.poll() is None:
        try:
            with urllib.request.urlopen(url, timeout=5):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.1)
    raise RuntimeError("the proxy did not start")


def bills(requests: Sequence[Received]) -> list[Bill]:
    """What the model metered, request by request."""
    spent = [request.spent for request in requests if request.spent]
    return [Bill(input=s.input, cached=s.cached, output=s.output) for s in spent]


def report(label: str, held: Held, spent: Sequence[Bill], prices: Prices) -> None:
    done, total = sum(reward == 1.0 for reward in held.rewards.values()), sum(spent, Bill())
    print(
        f"{label:10} {len(spent):3} requests, {done} of {len(held.rewards)} tasks done: "
        f"{total.input:9,} input tokens ({total.cached / total.input:.0%} unchanged), "
        f"{total.output:6,} output, ${dollars_of(spent, prices):.2f}"
    )


def compare(direct: Sequence[Bill], shorter: Sequence[Bill], prices: Prices) -> None:
    tokens = 1 - sum(shorter, Bill()).input / sum(direct, Bill()).input
    dollars = 1 - dollars_of(shorter, prices) / dollars_of(direct, prices)
    print(f"saved      {tokens:.0%} of the input tokens, {dollars:.0%} of the dollars ({MODEL})")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m samples.demo_agent", description=__doc__)
    parser.add_argument("--store", type=Path, default=Path("demo/ledger.sqlite"))
    options, extra = parser.parse_known_args()  # further options are those of statecomp serve
    options.store.parent.mkdir(parents=True, exist_ok=True)
    prices = shipped_prices().of(MODEL)
    plain, behind = ScriptedUpstream(Day()), ScriptedUpstream(Day())
    with serving(plain.app) as url:
        report("direct", work(url), bills(plain.requests()), prices)
    with serving(behind.app) as url, proxy(url, options.store, extra) as address:
        report("statecomp", work(address), bills(behind.requests()), prices)
        compare(bills(plain.requests()), bills(behind.requests()), prices)
        print(f"refused    {len(behind.refusals)} requests by the strict upstream")
        print(f"look at    {address}/statecomp/")
        if sys.stdin.isatty():
            input("Press Enter to stop the proxy. ")
        else:
            print(f"           (stopped now; again with: statecomp serve --store {options.store})")


if __name__ == "__main__":
    main()
