"""What do requests gain where states are judged in a process of their own?

Three proxies in turn: one that only passes on, one that judges in threads, and one with a process
for it (`--processes`).  Conversations grow, asked for by a process of their own with a pause after
each answer, as agents wait for tools, while one connection repeats a small request that is settled.
Without a pause it is the queue of requests that is measured, in whichever proxy.  Prints for each,
the better of the rounds: median, p99 and the longest wait of that connection, decisions and
requests a second, the processor time of a request in the process that serves, and that of a
decision in the other.

    OMP_NUM_THREADS=1 python benchmarks/judging.py [--seconds 15] [--rounds 3] [--clients 8]
        [--rest 0.1]

Aim: p99 at one connection under 5 ms while decisions run, and more decisions, on a quiet machine.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import count, islice
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.proxy_overhead import (
    PIDS,
    body,
    cpu_s,
    server,
    statecomp_command,
    talk,
)
from statecomp.method import Method
from statecomp.proxy.judging.asked import Opening
from statecomp.proxy.judging.processes import Judges
from statecomp.testing.provider.serving import free_port

START, LONGEST = 20, 80
PROBE = 2
WARM_S, STEPS = 12.0, 60
APART = 100_000
"""Numbers of conversations from one load to the next."""
DECIDED = ("committed", "nothing to do")
MODES = {
    "passing on": ("--mode", "off"),
    "threads": ("--processes", "0"),
    "a process": ("--processes", "1"),
}


@dataclass(frozen=True)
class Found:
    waits: tuple[float, ...]
    decisions: float
    requests: float
    cpu_ms: float
    judging_ms: float  # of the processes that judge, a decision

    def at(self, share: float) -> float:
        return sorted(self.waits)[min(len(self.waits) - 1, int(share * len(self.waits)))] * 1000


def growing(numbers: Iterator[int]) -> Iterator[bytes]:
    """One conversation after the other, each request an interaction longer."""
    for number in numbers:
        for interactions in range(START, LONGEST):
            yield body(number, interactions, stream=False)


def repeated() -> Iterator[bytes]:
    content = body(0, PROBE, stream=False)
    while True:
        yield content


def decisions(port: int) -> float:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=30) as answer:
        lines = answer.read().decode().splitlines()
    named = (line.rsplit(" ", 1) for line in lines if line.startswith("statecomp_decisions_total"))
    return sum(float(value) for name, value in named if any(f'"{d}"' in name for d in DECIDED))


def judging_s(pid: int) -> float:
    """Processor time of the processes that this one started."""
    tasks = Path(f"/proc/{pid}/task").glob("*/children")
    return sum(cpu_s(int(child)) for task in tasks for child in task.read_text().split())


def load(port: int, seconds: float, clients: int, rest_s: float, first: int) -> int:
    """Conversations of their own for each client; how many requests they made."""
    times: list[float] = []
    each = [growing(count(first + client, clients)) for client in range(clients)]
    if rest_s:  # made before the time begins, so that who asks takes nothing from who answers
        each = [iter(list(islice(made, int(seconds / rest_s) + 1))) for made in each]
    print("ready", flush=True)

    async def together() -> None:
        until = time.perf_counter() + seconds
        await asyncio.gather(*(talk(port, requests, until, times, rest_s) for requests in each))

    asyncio.run(together())
    return len(times)


def found(
    port: int, pid: int, seconds: float, clients: int, rest_s: float, numbers: Iterator[int]
) -> Found:
    """Whoever asks for what grows is another process: building that takes its time too."""
    waits: list[float] = []
    asked = (str(value) for value in (port, seconds, clients, rest_s, next(numbers)))
    loading = subprocess.Popen([sys.executable, __file__, "--load", *asked], stdout=subprocess.PIPE)
    assert loading.stdout is not None
    loading.stdout.readline()
    before, worked, begun = decisions(port), cpu_s(pid), time.perf_counter()
    judged = judging_s(pid)
    asyncio.run(talk(port, repeated(), time.perf_counter() + seconds, waits))
    others = int(loading.communicate()[0])
    took, made = time.perf_counter() - begun, len(waits) + others
    decided = decisions(port) - before
    return Found(
        tuple(waits),
        decided / took,
        made / took,
        (cpu_s(pid) - worked) * 1000 / max(1, made),
        (judging_s(pid) - judged) * 1000 / max(1.0, decided),
    )


def alone(steps: int) -> None:
    """One conversation, a decision a step, here and there: whoever else is at work adds little."""
    judges = Judges(Opening(Method), 1, 120.0)
    judges.ready(120.0)
    pid = judges.processes[0].pid or 0
    spent: dict[str, list[float]] = {}
    engines = {"threads": Method().engine("openai-chat")}
    engines["process"] = Method().engine(
        "openai-chat", judged_by=judges.judging(("t", "openai-chat"))
    )
    for interactions in range(START, START + steps):
        messages = json.loads(body(0, interactions, stream=False))["messages"]
        for name, engine in engines.items():
            raw = engine.checkpoint(messages, decide=False).raw
            assert raw is not None
            here, there = time.process_time(), cpu_s(pid)
            engine.prepare(raw)
            took = [time.process_time() - here, cpu_s(pid) - there]
            spent[name] = [a + b for a, b in zip(spent.get(name, [0.0, 0.0]), took, strict=True)]
    judges.close()
    for name, (here, there) in spent.items():
        print(
            f"{name}: {here * 1000 / steps:5.1f} ms of processor a decision in the process that "
            f"serves, {there * 1000 / steps:5.1f} ms in the one that judges ({steps} decisions)"
        )


def one(mode: str, upstream: int, given: argparse.Namespace, numbers: Iterator[int]) -> Found:
    with tempfile.TemporaryDirectory() as folder:
        port = free_port()
        command = statecomp_command(upstream, port, Path(folder), *MODES[mode])
        with server("statecomp", command, port, XDG_DATA_HOME=folder):
            pid = PIDS["statecomp"]
            found(port, pid, WARM_S, 1, 0.0, numbers)  # what is loaded on first use, the process
            return found(port, pid, given.seconds, given.clients, given.rest, numbers)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=15.0)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--rest", type=float, default=0.1, help="seconds after each answer")
    parser.add_argument("--modes", nargs="*", default=MODES, choices=MODES)
    parser.add_argument("--load", nargs=5, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.load:
        port, seconds, clients, rest_s, first = given.load
        print(load(int(port), float(seconds), int(clients), float(rest_s), int(first)))
        return
    alone(STEPS)
    numbers, rounds = count(1, APART), dict[str, list[Found]]()
    with ExitStack() as stack:
        upstream = free_port()
        script = str(Path(__file__).with_name("proxy_overhead.py"))
        command = [sys.executable, script, "--upstream", str(upstream)]
        stack.enter_context(server("upstream", command, upstream))
        for _ in range(given.rounds):
            for mode in given.modes:
                rounds.setdefault(mode, []).append(one(mode, upstream, given, numbers))
    print(f"{given.clients} clients, {given.rounds} rounds, {os.cpu_count()} cores")
    for mode, all_found in rounds.items():
        print(
            f"{mode}: median {min(f.at(0.5) for f in all_found):6.1f} ms, "
            f"p99 {min(f.at(0.99) for f in all_found):6.1f} ms, "
            f"longest {min(f.at(1.0) for f in all_found):6.0f} ms; "
            f"{max(f.decisions for f in all_found):5.1f} decisions/s, "
            f"{max(f.requests for f in all_found):5.0f} requests/s, "
            f"{min(f.cpu_ms for f in all_found):5.1f} ms of processor in the process that serves, "
            f"{min(f.judging_ms for f in all_found):5.1f} ms a decision in the one that judges"
        )


if __name__ == "__main__":
    main()
