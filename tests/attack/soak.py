"""Traffic for minutes through one `statecomp serve`: memory stays flat, and so does the latency.

    python -m tests.attack.soak [--minutes 1] [--clients 4] [--pause 0.02] [--memory 64] [--seed 1]
        [--page FILE]

Clients grow conversations, start new ones and repeat old requests.  Memory, with that of the
process that judges, and the p99 of each twelfth of the time are compared, the first sixth left out,
in which memories fill: they may hold so few MB that they do.  One request in five goes to the
upstream as well, without the proxy: what its p99 does is the machine's doing and not ours.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from random import Random
from statistics import mean
from time import monotonic, sleep
from typing import Any

from tests.attack.chaos import MOST_STEPS, Chaos, Plan, world
from tests.attack.traffic import Conversation
from tests.attack.watch import p99_ms, page, processor_s, resident_mb, secrets_in
from tests.proxy.conversations import HEADERS

PARTS = 12
WARMING = 2
ASIDE = 5
"""One request in so many is sent without the proxy too."""
LONG_MINUTES = 30
"""In less the memories are not full yet, and a moment in which the machine was busy decides."""
MOST_MEMORY, MOST_P99 = 0.05, 0.5
"""What may have grown in a long run, as shares; the latency of a shared machine says less."""


Took = list[tuple[float, float]]


@dataclass(frozen=True)
class Soaked:
    """Of each part of the time: MB, ms, and ms of processor a request."""

    memory: Sequence[float]
    p99: Sequence[float]
    beside: Sequence[float]  # the p99 without the proxy
    processor: Sequence[float]


def client(chaos: Chaos, number: int, ends: float, pause_s: float, took: Took, aside: Took) -> None:
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
            if not len(took) % ASIDE:
                aside.append(directly(chaos, conversation, body))
            sleep(pause_s)
            if monotonic() >= ends:
                return


def directly(chaos: Chaos, conversation: Conversation, body: bytes) -> tuple[float, float]:
    began = monotonic()
    headers = {**HEADERS, "authorization": f"Bearer {conversation.key}"}
    chaos.client.post(f"{chaos.direct}{conversation.tongue.path}", content=body, headers=headers)
    return began, monotonic() - began


def soaked(chaos: Chaos, seconds: float, clients: int, pause_s: float) -> Soaked:
    began, pid = monotonic(), chaos.workers[0].pid
    took, aside, memory, spent = Took(), Took(), list[float](), [processor_s(pid)]
    with ThreadPoolExecutor(clients) as pool:
        working = [
            pool.submit(client, chaos, number, began + seconds, pause_s, took, aside)
            for number in range(clients)
        ]
        for part in range(PARTS):
            sleep(max(0.0, began + seconds * (part + 1) / PARTS - monotonic()))
            memory.append(resident_mb(pid))
            spent.append(processor_s(pid))
            chaos.watch.look()
            done, held = chaos.watch.counts["requests"], memory[-1]
            sys.stderr.write(f"part {part + 1} of {PARTS}: {done} requests, {held:.0f} MB\n")
        for work in working:
            work.result()
    chaos.watch.look()
    parts, others = (in_parts(times, began, seconds) for times in (took, aside))
    pairs = zip(spent, spent[1:], parts, strict=False)
    each = [(after - before) * 1000 / max(1, len(part)) for before, after, part in pairs]
    return Soaked(memory, [*map(p99_ms, parts)], [*map(p99_ms, others)], each)


def in_parts(times: Took, began: float, seconds: float) -> list[list[float]]:
    parts: list[list[float]] = [[] for _ in range(PARTS)]
    for when, lasted in times:
        parts[min(PARTS - 1, int((when - began) / seconds * PARTS))].append(lasted)
    return parts


def growth(values: Sequence[float]) -> float:
    """How much larger the last third is than the first, warming left out, as a share."""
    kept = values[WARMING:]
    third = max(1, len(kept) // 3)
    first = mean(kept[:third])
    return (mean(kept[-third:]) - first) / first if first else 0.0


def grown(minutes: float, run: Soaked) -> list[str]:
    """What grew that should not, where the run was long enough to tell."""
    own = [a / max(b, 0.1) for a, b in zip(run.p99, run.beside, strict=True)]
    limits = (("memory", run.memory, MOST_MEMORY), ("p99 over that without us", own, MOST_P99))
    found = [(name, growth(values)) for name, values, most in limits if growth(values) > most]
    return [f"grew: {name} by {share:.1%}" for name, share in found if minutes >= LONG_MINUTES]


def attack(
    minutes: float, clients: int, seed: int, memory_mb: int = 64, pause_s: float = 0.02
) -> tuple[dict[str, Any], list[str]]:
    plan = Plan(workers=1, seed=seed, options=("--memory", str(memory_mb)))
    with tempfile.TemporaryDirectory() as home:
        with world(plan, Path(home)) as (chaos, store):
            run = soaked(chaos, minutes * 60, clients, pause_s)
            chaos.workers[0].stop()
        leaked = secrets_in(store)
    ran = {
        "minutes": minutes,
        "clients": clients,
        "memories, MB": memory_mb,
        **chaos.watch.counts,
        "memory, MB": told(run.memory),
        "p99, ms": told(run.p99),
        "p99 without the proxy, ms": told(run.beside),
        "processor of the proxy a request, ms": told(run.processor, 1),
        "growth of memory": f"{growth(run.memory):+.1%}",
        "growth of p99": f"{growth(run.p99):+.1%}",
        "growth of p99 without the proxy": f"{growth(run.beside):+.1%}",
        "leaked": len(leaked),
    }
    found = (f"leaked: {secret[:6]}..." for secret in leaked)
    return ran, [*chaos.watch.faults, *found, *grown(minutes, run)]


def told(values: Sequence[float], digits: int = 0) -> str:
    return ", ".join(f"{value:.{digits}f}" for value in values)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--clients", type=int, default=4)
    parser.add_argument("--memory", type=int, default=64)
    parser.add_argument("--pause", type=float, default=0.02)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--page", type=Path)
    given = parser.parse_args()
    ran, faults = attack(given.minutes, given.clients, given.seed, given.memory, given.pause)
    text = page("Soak", ran, faults)
    sys.stdout.write(text)
    if given.page:
        given.page.write_text(text)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
