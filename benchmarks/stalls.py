"""Does any shape of text or body hold up everybody, or cost more than in proportion to its size?

Forty shapes, each at a size and at ten times that size, are read, looked at, masked for the ledger
and decided about.  Prints the processor time of each step at the larger size, how much more than
in proportion it grew (1 is in proportion, 10 the square), and the longest moment in which a thread
beside the work did not get its turn, over that of the same thread beside nothing.

    OMP_NUM_THREADS=1 python benchmarks/stalls.py [--size 1000000] [--shape NAME ...]

Aim: growth at most 2; no moment above 100 ms on a quiet machine, for bodies up to 10 MB.
"""

from __future__ import annotations

import argparse
import gc
import json
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event, Thread
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from statecomp import StateComp
from statecomp.cli.server import COLLECT, SWITCH_S
from statecomp.ledger.pages import Pages
from statecomp.proxy.bodies.remembered import Documents
from statecomp.traces.secrets import Masker
from tests.shapes import conversation, shapes

BEAT_S = 0.002
QUIET_S = 1.0
STEPS = ("read", "look", "mask", "decide")


@dataclass
class Heart:
    """A thread that wants its turn every two milliseconds, and notes the longest it waited."""

    longest_s: float = 0.0
    _ended: Event = field(default_factory=Event)

    @contextmanager
    def beating(self) -> Iterator[Heart]:
        thread = Thread(target=self._beat)
        thread.start()
        try:
            yield self
        finally:
            self._ended.set()
            thread.join()

    def _beat(self) -> None:
        last = time.perf_counter()
        while not self._ended.is_set():
            time.sleep(BEAT_S)
            now = time.perf_counter()
            self.longest_s, last = max(self.longest_s, now - last - BEAT_S), now


@dataclass(frozen=True)
class Cost:
    cpu_s: float
    longest_s: float


def measured(work: Callable[[], Any]) -> tuple[Any, Cost]:
    gc.collect()
    with Heart().beating() as heart:
        begun = time.thread_time()
        result = work()
        spent = time.thread_time() - begun
    return result, Cost(spent, heart.longest_s)


def costs(shape: str, size: int) -> tuple[int, list[Cost]]:
    """Of each step, and the bytes of the body."""
    body = json.dumps({"model": "gpt-5", "messages": conversation(shape, size)}).encode()
    document, read = measured(lambda: Documents().read("tenant", "messages", body))
    engine = StateComp()
    checkpoint, look = measured(lambda: engine.checkpoint(document.body, decide=False))
    messages = document.body["messages"]
    _, mask = measured(lambda: Pages(Masker().masked).of_history("session", messages))
    raw = checkpoint.raw
    _, decide = measured(lambda: engine.prepare(raw) if raw is not None else None)
    return len(body), [read, look, mask, decide]


def row(shape: str, size: int) -> tuple[float, float]:
    small_bytes, small = costs(shape, size // 10)
    large_bytes, large = costs(shape, size)
    times = large_bytes / small_bytes
    grown = [b.cpu_s / max(a.cpu_s, 0.001) / times for a, b in zip(small, large, strict=True)]
    longest = max(cost.longest_s for cost in large)
    cells = "  ".join(
        f"{name} {cost.cpu_s * 1000:7.0f} ms x{growth:4.1f}"
        for name, cost, growth in zip(STEPS, large, grown, strict=True)
    )
    print(f"{shape:24} {cells}  waited {longest * 1000:5.0f} ms", flush=True)
    return max(grown), longest


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", type=int, default=1_000_000, help="characters of the larger one")
    parser.add_argument("--shape", nargs="*", default=shapes(), choices=shapes())
    options = parser.parse_args()
    sys.setswitchinterval(SWITCH_S)
    gc.freeze()
    gc.set_threshold(*COLLECT)
    quiet = measured(lambda: time.sleep(QUIET_S))[1].longest_s
    found = [row(shape, options.size) for shape in options.shape]
    growth, longest = max(g for g, _ in found), max(s for _, s in found)
    print(f"grew at most {growth:.1f} times more than in proportion")
    print(
        f"waited at most {longest * 1000:.0f} ms, {longest / quiet:.0f} times the "
        f"{quiet * 1000:.1f} ms beside nothing"
    )


if __name__ == "__main__":
    main()
