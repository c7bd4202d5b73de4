"""Does any shape of text or body hold up everybody, or cost more than in proportion to its size?

Forty shapes, each at a size and at ten times that size, are read, looked at, masked for the ledger
and decided about.  Prints the processor time of each step at the larger size, how much more than
in proportion it grew (1 is in proportion, 10 the square), and how long the work went on at most
while a thread beside it wanted its turn: in processor time of the work, so that what else the
machine does meanwhile is not in it.  Beside reading stands what a bare `json.loads` of the same two
bodies grows: more objects than the caches of a processor hold cost everybody more.

    OMP_NUM_THREADS=1 python benchmarks/stalls.py [--size 1000000] [--shape NAME ...]

Aim: growth at most 1.5, reading at most 1.5 times what `json.loads` grows; nothing held for more
than 100 ms, for bodies up to 10 MB.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping
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
STEPS = ("json.loads", "read", "look", "mask", "decide")
BARE = STEPS[0]
NOTHING_S = 0.01
"""What costs less at the larger size is too little to compare."""


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
    _, bare = measured(lambda: json.loads(body))
    document, read = measured(lambda: _read(body))
    if document is None:
        return len(body), [bare, read]
    engine = StateComp()
    checkpoint, look = measured(lambda: engine.checkpoint(document.body, decide=False))
    messages = document.body["messages"]
    _, mask = measured(lambda: Pages(Masker().masked).of_history("session", messages))
    raw = checkpoint.raw
    _, decide = measured(lambda: engine.prepare(raw) if raw is not None else None)
    return len(body), [bare, read, look, mask, decide]


@dataclass(frozen=True)
class Found:
    """How much more than in proportion each step grew, and how long the longest held."""

    grown: Mapping[str, float]
    longest_s: float

    @property
    def reading(self) -> float:
        """Beside what can be had: `json.loads` is the least that reading can be."""
        return self.grown["read"] / max(1.0, self.grown[BARE])


def row(shape: str, size: int) -> Found:
    small_bytes, small = costs(shape, size // 10)
    large_bytes, large = costs(shape, size)
    times = large_bytes / small_bytes
    grown = {
        name: b.cpu_s / max(a.cpu_s, 0.001) / times if b.cpu_s > NOTHING_S else 0.0
        for name, a, b in zip(STEPS, small, large, strict=False)
    }
    cells = "  ".join(
        f"{name} {cost.cpu_s * 1000:6.0f} ms x{grown[name]:4.1f}"
        + (f" held {cost.longest_s * 1000:3.0f}" if name != BARE else "")
        for name, cost in zip(STEPS, large, strict=False)
    )
    print(f"{shape:22} {cells}", flush=True)
    return Found(grown, max(cost.longest_s for cost in large[1:]))


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
    for name in STEPS:
        worst = max(one.grown.get(name, 0.0) for one in found)
        print(f"{name} grew at most {worst:.1f} times more than in proportion")
    print(f"reading grew at most {max(one.reading for one in found):.1f} times what {BARE} grew")
    longest = max(one.longest_s for one in found)
    print(f"held the interpreter for at most {longest * 1000:.0f} ms of processor time")


if __name__ == "__main__":
    main()
