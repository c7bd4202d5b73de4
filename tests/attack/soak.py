"""Traffic for minutes through one `statecomp serve`: memory stays flat, and so does the latency.

    python -m tests.attack.soak [--minutes 1] [--clients 4] [--memory 64] [--seed 1] [--page FILE]

Clients grow conversations, start new ones and repeat old requests without a pause.  Memory and the
p99 of each twelfth of the time are compared, the first sixth left out, in which memories fill: they
may hold so few MB that they do.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random
from statistics import mean
from time import monotonic, sleep
from typing import Any

from tests.attack.chaos import MOST_STEPS, Chaos, Plan, world
from tests.attack.traffic import Conversation
from tests.attack.watch import p99_ms, page, resident_mb, secrets_in

PARTS = 12
WARMING = 2
PAUSE_S = 0.02
LONG_MINUTES = 30
"""In less the memories are not full yet, and a moment in which the machine was busy decides."""
MOST_MEMORY, MOST_P99 = 0.05, 0.5
"""What may have grown in a long run, as shares; the latency of a shared machine says less."""


def client(chaos: Chaos, number: int, ends: float, took: list[tuple[float, float]]) -> None:
    """One agent after the other, until the end."""
    random, run = Random(number), 0
    while monotonic() < ends:
        conversation = Conversation(number * 10_000 + run, chaos.plan.seed)
        run += 1
        for _ in range(MOST_STEPS):
            old = conversation.bodies and random.random() < 0.1
            body = random.choice(conversation.bodies) if old else conversation.grown()
            began = monotonic()
            chaos.send(conversation, body, chaos.workers[0])
            took.append((began, monotonic() - began))
            sleep(PAUSE_S)
            if monotonic() >= ends:
                return


def soaked(chaos: Chaos, seconds: float, clients: int) -> tuple[list[float], list[float]]:
    """Memory and p99 of each part of the time."""
    began = monotonic()
    took: list[tuple[float, float]] = []
    memory = []
    with ThreadPoolExecutor(clients) as pool:
        working = [
            pool.submit(client, chaos, number, began + seconds, took) for number in range(clients)
        ]
        for part in range(PARTS):
            sleep(max(0.0, began + seconds * (part + 1) / PARTS - monotonic()))
            memory.append(resident_mb(chaos.workers[0].pid))
            chaos.watch.look()
            done, held = chaos.watch.counts["requests"], memory[-1]
            sys.stderr.write(f"part {part + 1} of {PARTS}: {done} requests, {held:.0f} MB\n")
        for work in working:
            work.result()
    chaos.watch.look()
    parts: list[list[float]] = [[] for _ in range(PARTS)]
    for when, lasted in took:
        parts[min(PARTS - 1, int((when - began) / seconds * PARTS))].append(lasted)
    return memory, [p99_ms(part) for part in parts]


def growth(values: Sequence[float]) -> float:
    """How much larger the last third is than the first, warming left out, as a share."""
    kept = values[WARMING:]
    third = max(1, len(kept) // 3)
    first = mean(kept[:third])
    return (mean(kept[-third:]) - first) / first if first else 0.0


def grown(minutes: float, memory: Sequence[float], p99: Sequence[float]) -> list[str]:
    """What grew that should not, where the run was long enough to tell."""
    limits = (("memory", memory, MOST_MEMORY), ("p99", p99, MOST_P99))
    found = [(name, growth(values)) for name, values, most in limits if growth(values) > most]
    return [f"grew: {name} by {share:.1%}" for name, share in found if minutes >= LONG_MINUTES]


def attack(
    minutes: float, clients: int, seed: int, memory_mb: int = 64
) -> tuple[dict[str, Any], list[str]]:
    plan = Plan(workers=1, seed=seed, options=("--memory", str(memory_mb)))
    with tempfile.TemporaryDirectory() as home:
        with world(plan, Path(home)) as (chaos, store):
            memory, p99 = soaked(chaos, minutes * 60, clients)
            chaos.workers[0].stop()
        leaked = secrets_in(store)
    ran = {
        "minutes": minutes,
        "clients": clients,
        "memories, MB": memory_mb,
        **chaos.watch.counts,
        "memory, MB": ", ".join(f"{value:.0f}" for value in memory),
        "p99, ms": ", ".join(f"{value:.0f}" for value in p99),
        "growth of memory": f"{growth(memory):+.1%}",
        "growth of p99": f"{growth(p99):+.1%}",
        "leaked": len(leaked),
    }
    told = (f"leaked: {secret[:6]}..." for secret in leaked)
    return ran, [*chaos.watch.faults, *told, *grown(minutes, memory, p99)]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--clients", type=int, default=4)
    parser.add_argument("--memory", type=int, default=64)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--page", type=Path)
    given = parser.parse_args()
    ran, faults = attack(given.minutes, given.clients, given.seed, given.memory)
    told = page("Soak", ran, faults)
    sys.stdout.write(told)
    if given.page:
        given.page.write_text(told)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
