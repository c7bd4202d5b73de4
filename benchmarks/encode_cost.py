"""What does it cost to have the vectors of every checkpoint of a run?

    python benchmarks/encode_cost.py [--layer 4] [--interactions 50] [RUNS ...]

One run, the same states for every method, each in a process of its own so that its peak memory is
its own, on one core:

- fresh:    the full history read anew at each checkpoint;
- bounded:  the paper's view for each target (Capped Recent4), read whole, in batches;
- shared:   the same views, with what they share read once a checkpoint;
- ours:     `StateReader`, every token once.

Aim: ours reads at least 100 times fewer tokens than bounded, and 20 times fewer than fresh, over 50
interactions.  The measured run is made up and its interactions are short, which favours us against
bounded: no view is cut.  In the recorded RUNS (by default the samples) they are longer, views are
cut at their budget and the ratio falls.  Their tokens are counted by the same code without a model,
which would take hours.  `seen` is the tokens of the run itself.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any, cast

import numpy as np
import torch

from statecomp.annotation.records import Reading
from statecomp.features import view
from statecomp.features.encoder import EncoderSettings, FrozenEncoder, open_encoder
from statecomp.features.states import StateReader, read_views, views_of
from statecomp.history.history import History
from statecomp.history.interaction import Interaction, Observation, Pinned
from statecomp.history.trajectory import Trajectory
from statecomp.traces.jsonl import read_all

SAMPLES = Path(__file__).resolve().parents[1] / "samples"
MEGABYTE = 1 << 10  # in the kilobytes that the system counts in


def run_of(count: int) -> History:
    """A made-up run; interactions are short, so that the slow methods end the same day."""
    task = Pinned("p", (), 9, "user", "Find out why the nightly import of orders fails.")
    steps = []
    for n in range(1, count + 1):
        log = f"12:{n:02} worker-{n % 7} ERROR order {n * 7919 % 9973} refused: price is missing"
        seen = (Observation("", f"{log}\n2 of {n + 3} files match"),)
        said = f"grep -n refused /var/log/orders/{n * 31 % 97}.log"
        steps.append(Interaction(f"i{n}", n, (), 60, said=said, observations=seen))
    return History((task, *steps))


def states_of(run: History) -> list[History]:
    """The history at each checkpoint that has something to judge."""
    stops = [n for n, s in enumerate(run.segments, start=1) if isinstance(s, Interaction)]
    return [History(run.segments[:stop]) for stop in stops]


def fresh(encoder: FrozenEncoder, states: Sequence[History]) -> None:
    for history in states:
        read_views(encoder, history, "full")


def bounded(encoder: FrozenEncoder, states: Sequence[History]) -> None:
    tokenize = cache(encoder.tokenize)
    for history in states:
        views = views_of(history, "capped-recent4", tokenize, encoder.context)
        encoder.encode([view.ids for view in views])


def shared(encoder: FrozenEncoder, states: Sequence[History]) -> None:
    for history in states:
        read_views(encoder, history, "capped-recent4")


def ours(encoder: FrozenEncoder, states: Sequence[History]) -> None:
    reader = StateReader(encoder)
    for history in states:
        reader.read(history)


METHODS: dict[str, Callable[[FrozenEncoder, Sequence[History]], None]] = {
    "fresh": fresh,
    "bounded": bounded,
    "shared": shared,
    "ours": ours,
}


class Counter:
    """Stands where the model would and counts what it would read; its vectors are empty."""

    def __init__(self, encoder: FrozenEncoder) -> None:
        self.tokenize = cache(encoder.tokenize)
        self.width, self.readout, self.tokens_read = 1, "last", 0
        # No limit: a fresh pass over a long history is what we want to count.
        self.context = 1 << 40
        self.ids: list[int] = []

    def hidden(self, ids: Sequence[int]) -> Any:
        self.tokens_read += len(ids)
        return np.zeros((len(ids), 1), np.float32)

    def encode(self, texts: Sequence[Sequence[int]]) -> Any:
        self.tokens_read += sum(map(len, texts))
        return np.zeros((len(texts), 1), np.float32)

    def encode_behind(self, base: Sequence[int], targets: Sequence[Sequence[int]]) -> Any:
        return self.encode([base, *targets])[1:], np.zeros(1, np.float32)

    def tape(self) -> Counter:
        return self

    def __len__(self) -> int:
        return len(self.ids)

    def extend(self, ids: Sequence[int]) -> Any:
        self.ids.extend(ids)
        return self.hidden(ids)

    def crop(self, length: int) -> bool:
        del self.ids[length:]
        return True

    def clear(self) -> None:
        self.ids = []


def measure(name: str, layer: int, interactions: int) -> dict[str, float]:
    """One method in this process: tokens, seconds, and memory beyond the loaded model."""
    # Threads that wait for each other measure how busy the machine is.
    torch.set_num_threads(1)
    encoder = open_encoder(EncoderSettings(layer=layer))
    encoder.encode([[5] * 32])
    encoder.tokens_read = 0
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    started = time.perf_counter()
    METHODS[name](encoder, states_of(run_of(interactions)))
    seconds = time.perf_counter() - started
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    memory = {"peak": peak / MEGABYTE, "beyond": (peak - before) / MEGABYTE}
    return {"tokens": encoder.tokens_read, "seconds": seconds, **memory}


def measured_apart(name: str, layer: int, interactions: int) -> dict[str, float]:
    options = ["--layer", str(layer), "--interactions", str(interactions), "--only", name]
    command = [sys.executable, __file__, *options]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    found: dict[str, float] = json.loads(done.stdout)
    return found


def print_measured(layer: int, interactions: int, seen: int) -> None:
    print(f"{interactions} interactions, {seen:,} tokens, layers 1 to {layer} of the default model")
    print(f"{'':<8} {'tokens':>9} {'of ours':>8} {'seconds':>8} {'of ours':>8} {'peak MB':>8} more")
    rows = {name: measured_apart(name, layer, interactions) for name in METHODS}
    least = rows["ours"]
    for name, row in rows.items():
        times, slower = row["tokens"] / least["tokens"], row["seconds"] / least["seconds"]
        print(
            f"{name:<8} {row['tokens']:9,.0f} {times:7.1f}x {row['seconds']:8.1f} {slower:7.1f}x "
            f"{row['peak']:8.0f} {row['beyond']:.0f}"
        )
    print(f"ours reads {least['tokens'] / seen:.3f} of the run (aim <= 1.1)")


def print_counted(paths: Sequence[Path], encoder: FrozenEncoder) -> None:
    print(f"\n{'counted':<24} {'steps':>5} {'seen':>8}", *(f"{name:>16}" for name in METHODS))
    for run in read_all(paths):
        if not isinstance(run, Trajectory):
            continue
        history = Reading.of(run).history
        states = states_of(history)
        read = {}
        for name, method in METHODS.items():
            counter = Counter(encoder)
            method(cast(FrozenEncoder, counter), states)
            read[name] = counter.tokens_read
        seen = len(view.full(states[-1], encoder.tokenize).ids)
        cells = (f"{count:>10,} {count / read['ours']:4.0f}x" for count in read.values())
        print(
            f"{run.id[:24]:<24} {len(states):>5} {seen:>8,}", *cells, f"{read['ours'] / seen:.3f}"
        )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("runs", nargs="*", type=Path, default=sorted(SAMPLES.glob("*.jsonl")))
    parser.add_argument("--layer", type=int, default=4)
    parser.add_argument("--interactions", type=int, default=50)
    parser.add_argument("--only", choices=list(METHODS))
    options = parser.parse_args()
    if options.only:
        print(json.dumps(measure(options.only, options.layer, options.interactions)))
        return
    encoder = open_encoder(EncoderSettings(layer=1))
    seen = len(view.full(run_of(options.interactions), encoder.tokenize).ids)
    print_measured(options.layer, options.interactions, seen)
    print_counted(options.runs, encoder)


if __name__ == "__main__":
    main()
