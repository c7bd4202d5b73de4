"""Does any shape of text or body hold up everybody, or cost more than in proportion to its size?

Forty shapes, each at a size and at ten times that size, are read, looked at, masked for the ledger
and decided about.  Prints the processor time of each step at the larger size, how much more than
in proportion it grew (1 is in proportion, 10 the square), and how long the work went on at most
while a thread beside it wanted its turn: in processor time of the work, so that what else the
machine does meanwhile is not in it.

    OMP_NUM_THREADS=1 python benchmarks/stalls.py [--size 1000000] [--shape NAME ...]

Aim: growth at most 2; nothing held for more than 100 ms, for bodies up to 10 MB.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event, Thread, get_ident
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from statecomp import StateComp
from statecomp.cli.server import COLLECT, SWITCH_S
from statecomp.ledger.pages import Pages
from statecomp.proxy.bodies.documents import Document, Unreadable
from statecomp.proxy.bodies.remembered import Documents
from statecomp.traces.secrets import Masker
from tests.shapes import conversation, shapes

BEAT_S = 0.002
STEPS = ("read", "look", "mask", "decide")


@dataclass
class Heart:
    """A thread that wants its turn every two milliseconds, and notes for how long it got none.

    What counts is for how long the thread that made it went on working meanwhile.
    """

    longest_s: float = 0.0
    _clock: int = field(default_factory=lambda: time.pthread_getcpuclockid(get_ident()))
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
        last = time.clock_gettime(self._clock)
        while not self._ended.is_set():
            time.sleep(BEAT_S)
            now = time.clock_gettime(self._clock)
            self.longest_s, last = max(self.longest_s, now - last), now


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


def _body(shape: str, size: int) -> bytes:
    return json.dumps({"model": "gpt-5", "messages": conversation(shape, size)}).encode()


def _read(body: bytes) -> Document | None:
    """None where it goes out as it came, and nothing more is done with it."""
    try:
        return Documents().read("tenant", "messages", body)
    except Unreadable:
        return None


def costs(shape: str, size: int) -> tuple[int, list[Cost]]:
    """Of each step, and the bytes of the body."""
    body = _body(shape, size)
    if len(body) > 1.1 * size:  # characters that take several bytes
        body = _body(shape, int(size * size / len(body)))
    document, read = measured(lambda: _read(body))
    if document is None:
        return len(body), [read]
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
    grown = [b.cpu_s / max(a.cpu_s, 0.001) / times for a, b in zip(small, large, strict=False)]
    longest = max(cost.longest_s for cost in large)
    cells = "  ".join(
        f"{name} {cost.cpu_s * 1000:7.0f} ms x{growth:4.1f} held {cost.longest_s * 1000:4.0f}"
        for name, cost, growth in zip(STEPS, large, grown, strict=False)
    )
    print(f"{shape:24} {cells}", flush=True)
    return max(grown), longest


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", type=int, default=1_000_000, help="bytes of the larger one")
    parser.add_argument("--shape", nargs="*", default=shapes(), choices=shapes())
    options = parser.parse_args()
    sys.setswitchinterval(SWITCH_S)
    # On one core whoever wants a turn takes it from the work, and waits for no other program.
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    gc.freeze()
    gc.set_threshold(*COLLECT)
    found = [row(shape, options.size) for shape in options.shape]
    growth, longest = max(g for g, _ in found), max(s for _, s in found)
    print(f"grew at most {growth:.1f} times more than in proportion")
    print(f"held the interpreter for at most {longest * 1000:.0f} ms of processor time")


if __name__ == "__main__":
    main()
