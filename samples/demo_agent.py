"""An agent at work behind the proxy: `python -m samples.demo_agent [NAME] [--store FILE]`.

A plain loop around the `openai` package, with tools that really run.  The model is a recording
of the same task, played by the scripted upstream, which is as strict as a provider and meters
tokens as one; so nothing leaves this machine, and both runs below take the same course.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import openai

from samples.recorder.__main__ import RUNS, system_prompt
from samples.recorder.tools import TOOLS, Workspace, observe
from statecomp.controller.prices import Prices, shipped_prices
from statecomp.proxy.scripted.app import Received, ScriptedUpstream
from statecomp.proxy.scripted.serving import free_port, serving
from statecomp.proxy.scripted.turns import recorded
from statecomp.replay.accounting import Bill, dollars_of

MODEL = "gpt-5"
PATIENCE_S = 60.0
MOST_STEPS = 200


def work(name: str, url: str) -> tuple[int, bool]:
    """Do the task with the model at this address: steps taken, and whether the check passes."""
    scenario, style = RUNS[name]
    tools: Any = [{"type": "function", "function": {"name": tool}} for tool in TOOLS]
    messages: list[Any] = [
        {"role": "system", "content": system_prompt(style)},
        {"role": "user", "content": scenario.task},
    ]
    with (
        tempfile.TemporaryDirectory() as folder,
        openai.OpenAI(base_url=f"{url}/v1", api_key="sk-demo-not-a-secret") as client,
    ):
        workspace = Workspace.make(Path(folder))
        scenario.build(workspace)
        for step in range(1, MOST_STEPS):
            answer = client.chat.completions.create(model=MODEL, messages=messages, tools=tools)
            message: dict[str, Any] = answer.choices[0].message.to_dict()
            messages.append(message)
            if not message.get("tool_calls"):
                return step, scenario.check(workspace)
            for call in message["tool_calls"]:
                function = call["function"]
                text = observe(workspace, function["name"], json.loads(function["arguments"]))
                messages.append({"role": "tool", "tool_call_id": call["id"], "content": text})
    raise RuntimeError("the agent did not come to an end")


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


def model(name: str) -> ScriptedUpstream:
    path = Path(__file__).parent / f"{name}.jsonl"
    return ScriptedUpstream(recorded(json.loads(path.read_text("utf-8"))["messages"]))


def report(label: str, done: tuple[int, bool], spent: Sequence[Bill], prices: Prices) -> None:
    (steps, passed), total = done, sum(spent, Bill())
    print(
        f"{label:10} {steps:3} steps, task {'done' if passed else 'NOT done'}: "
        f"{total.input:9,} input tokens ({total.cached / total.input:.0%} unchanged), "
        f"{total.output:6,} output, ${dollars_of(spent, prices):.4f}"
    )


def compare(direct: Sequence[Bill], shorter: Sequence[Bill], prices: Prices) -> None:
    tokens = 1 - sum(shorter, Bill()).input / sum(direct, Bill()).input
    dollars = 1 - dollars_of(shorter, prices) / dollars_of(direct, prices)
    print(f"saved      {tokens:.0%} of the input tokens, {dollars:.0%} of the dollars ({MODEL})")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m samples.demo_agent", description=__doc__)
    parser.add_argument("name", nargs="?", default="web", choices=["code", "office", "web"])
    parser.add_argument("--store", type=Path, default=Path("demo/ledger.sqlite"))
    options, extra = parser.parse_known_args()  # further options are those of statecomp serve
    options.store.parent.mkdir(parents=True, exist_ok=True)
    prices = shipped_prices().of(MODEL)
    plain, behind = model(options.name), model(options.name)
    with serving(plain.app) as url:
        report("direct", work(options.name, url), bills(plain.requests()), prices)
    with serving(behind.app) as url, proxy(url, options.store, extra) as address:
        report("statecomp", work(options.name, address), bills(behind.requests()), prices)
        compare(bills(plain.requests()), bills(behind.requests()), prices)
        print(f"refused    {len(behind.refusals)} requests by the strict upstream")
        print(f"look at    {address}/statecomp/")
        if sys.stdin.isatty():
            input("Press Enter to stop the proxy. ")
        else:
            print(f"           (stopped now; again with: statecomp serve --store {options.store})")


if __name__ == "__main__":
    main()
