"""Kills, stops of the database, several workers, an upstream that fails: nothing may be lost.

    python -m tests.attack.chaos [--kills 20] [--workers 2] [--processes 0] [--postgres] [--seed 1]
        [--page FILE] [--lines FILE]

Clients grow conversations through workers of one store, repeat old requests, and send the same one
to two workers at once, while workers are killed and started again, the database is stopped, and the
upstream answers late, with errors, or breaks off.  In the end a new worker repeats every request.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from time import monotonic, sleep
from typing import Any

import httpx

from statecomp.proxy.remembering import FROM_MEMORY
from statecomp.proxy.request.reading import UNWRITTEN
from statecomp.testing.provider.app import ScriptedFault, ScriptedUpstream
from statecomp.testing.provider.serving import serving
from tests.attack.nursery import WORKERS_LOG, Forked, Nursery
from tests.attack.parts import add
from tests.attack.traffic import Conversation, named
from tests.attack.watch import NAME, Watch, page, secrets_in
from tests.postgres import Cluster, running_cluster
from tests.proxy.conversations import HEADERS
from tests.proxy.serving import EAGER_OPTIONS, Served
from tests.proxy.upstream import upstream as scripted

AT_ONCE, STEPS = 4, 3
TRIES, RETRY_S = 300, 0.2
MOST_STEPS = 24
SIGNS = {
    "times a worker gave up waiting for the store": FROM_MEMORY,
    "went out before they were written down": UNWRITTEN,
    "had no view in time": "no view within",
    "found too many waiting": "too many requests",
    "could not be read": "could not be read",
    "times the file beside the store was not used": "is not used",
}
"""What workers say where bytes might change, and the words they say it with."""
FAULTS: Sequence[Callable[[], ScriptedFault]] = (
    lambda: ScriptedFault(status=529),
    lambda: ScriptedFault(status=502, page="<h1>Bad gateway</h1>"),
    lambda: ScriptedFault(delay_s=0.3),
    lambda: ScriptedFault(cut_after=1),  # of those answers that are streamed
)
AWAY_S = 6.0
"""A proxy asks a store that was away again after about this long."""


@dataclass(frozen=True)
class Plan:
    kills: int = 20
    workers: int = 2
    seed: int = 1
    repeats: int = 400
    faults: bool = True
    options: tuple[str, ...] = ()  # of the workers


@dataclass
class Chaos:
    """The world of one run: an upstream, workers on one store, conversations."""

    plan: Plan
    upstream: ScriptedUpstream
    workers: Sequence[Served]
    cluster: Cluster | None = None
    direct: str = ""  # the upstream's own address
    log: Path = Path(os.devnull)  # what the workers say
    conversations: list[Conversation] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.random = Random(self.plan.seed)
        self.watch = Watch(self.upstream)
        self.client = httpx.Client(timeout=60, trust_env=False)

    def run(self) -> None:
        with ThreadPoolExecutor(2 * AT_ONCE) as pool:
            for kill in range(self.plan.kills):
                away = self.cluster is not None and kill % 10 == 9
                self._round(pool, away=away)
                self.watch.look(self._said())
                if kill % 10 == 9:
                    told = "; ".join(self.watch.faults[-4:])
                    sys.stderr.write(f"{kill + 1} kills, {len(self.watch.faults)} faults {told}\n")

    def _said(self) -> dict[str, int]:
        """How often workers, so far, said that they could not do as they should."""
        said = self.log.read_text(errors="replace")
        return {what: said.count(sign) for what, sign in SIGNS.items()}

    def _round(self, pool: ThreadPoolExecutor, *, away: bool) -> None:
        if away and self.cluster is not None:
            self.cluster.stop()
        under_way = [pool.submit(self._burst, pool, c, self.random.random()) for c in self._some()]
        sleep(self.random.uniform(0.0, 1.0))
        victim = self.random.choice(self.workers)
        victim.kill()
        if away and self.cluster is not None:
            self.cluster.start()
            sleep(AWAY_S)
        victim.start()
        for sending in under_way:
            sending.result()
        self.watch.counts["kills"] += 1
        self.watch.counts["stops of the database"] += away

    def _some(self) -> list[Conversation]:
        """Conversations that go on, each of them once."""
        open_ones = [c for c in self.conversations if len(c.bodies) < MOST_STEPS]
        while len(open_ones) < AT_ONCE + 2:
            open_ones.append(Conversation(len(self.conversations), self.plan.seed))
            self.conversations.append(open_ones[-1])
        return self.random.sample(open_ones, AT_ONCE)

    def _burst(self, pool: ThreadPoolExecutor, conversation: Conversation, seed: float) -> None:
        """Some steps of an agent; now and then an old request again, or one to two workers."""
        random = Random(seed)
        for _ in range(STEPS):
            old = conversation.bodies and random.random() < 0.3
            body = random.choice(conversation.bodies) if old else conversation.grown()
            if self.plan.faults and random.random() < 0.1:
                self.upstream.faults.append(random.choice(FAULTS)())
                self.watch.counts["faults of the upstream"] += 1
            first, *second = random.sample(list(self.workers), random.choice([1, 2]))
            beside = [pool.submit(self.send, conversation, body, worker) for worker in second]
            self.send(conversation, body, first)
            for sending in beside:
                sending.result()

    def send(self, conversation: Conversation, body: bytes, worker: Served) -> None:
        """As a client with patience: it tries again, here and there, until it is answered."""
        headers = {**HEADERS, "authorization": f"Bearer {conversation.key}", NAME: named(body)}
        first = self.workers.index(worker)
        told = ""
        for attempt in range(TRIES):
            url = self.workers[(first + attempt) % len(self.workers)].url
            try:
                path = conversation.tongue.path
                answer = self.client.post(f"{url}{path}", content=body, headers=headers)
            except httpx.HTTPError as error:
                told = type(error).__name__
            else:
                if answer.status_code == 200:
                    return
                told = str(answer.status_code)
            sleep(RETRY_S)
        self.watch.faults.append(f"unanswered: a request was given up ({told})")

    def repeat(self, worker: Served) -> None:
        """Every request again, through a worker that has just started."""
        sent = [(c, body) for c in self.conversations for body in c.bodies]
        self.random.shuffle(sent)
        for conversation, body in sent[: self.plan.repeats]:
            self.send(conversation, body, worker)
        self.watch.look(self._said())


@contextmanager
def world(plan: Plan, home: Path, *, postgres: bool = False) -> Iterator[tuple[Chaos, str]]:
    """Everything started, and the address of the store."""
    with ExitStack() as stack:
        cluster = stack.enter_context(running_cluster()) if postgres else None
        store = cluster.database() if cluster else str(home / "ledger.db")
        upstream = scripted(MOST_STEPS + 2)
        direct = stack.enter_context(serving(upstream.app))
        options = (*EAGER_OPTIONS, *plan.options, "--store", store)
        nursery = Nursery()
        stack.callback(nursery.close)
        workers = [Forked(nursery, direct, home, *options) for _ in range(plan.workers)]
        for worker in workers:
            stack.callback(worker.stop)
        for worker in workers:
            worker.start()
        chaos = Chaos(plan, upstream, workers, cluster, direct, home / WORKERS_LOG)
        stack.callback(chaos.client.close)
        yield chaos, store


def attack(plan: Plan, home: Path, *, postgres: bool = False) -> tuple[dict[str, Any], list[str]]:
    began = monotonic()
    with world(plan, home, postgres=postgres) as (chaos, store):
        chaos.run()
        for worker in chaos.workers:
            worker.stop()
        chaos.workers[0].start()
        chaos.repeat(chaos.workers[0])
        chaos.workers[0].stop()
        leaked = secrets_in(store)
    faults = [*chaos.watch.faults, *(f"leaked: {secret[:6]}..." for secret in leaked)]
    ran = {
        "store": "PostgreSQL" if postgres else "SQLite",
        "workers": plan.workers,
        "options": " ".join(plan.options),
        "conversations": len(chaos.conversations),
        **chaos.watch.counts,
        **chaos.watch.said,
        "invalid": sum(fault.startswith("invalid") for fault in faults),
        "changed": sum(fault.startswith("changed") for fault in faults),
        "leaked": len(leaked),
        "minutes": round((monotonic() - began) / 60, 1),
    }
    return ran, faults


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    numbers = {"kills": 20, "workers": 2, "processes": 0, "seed": 1, "repeats": 400}
    for name, default in numbers.items():
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--postgres", action="store_true")
    parser.add_argument("--page", type=Path)
    parser.add_argument("--lines", type=Path, help="a file to add the result to, as a line")
    given = parser.parse_args()
    options = ("--processes", str(given.processes))
    plan = Plan(given.kills, given.workers, given.seed, given.repeats, options=options)
    with tempfile.TemporaryDirectory() as home:
        ran, faults = attack(plan, Path(home), postgres=given.postgres)
    add(given.lines, "kills", given.seed, ran, faults)
    told = page("Chaos", ran, faults)
    sys.stdout.write(told)
    if given.page:
        given.page.write_text(told)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
