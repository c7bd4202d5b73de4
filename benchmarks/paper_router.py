"""What does a checkpoint cost the paper's router, beside the evidence router and full re-reading?

    python benchmarks/paper_router.py [RUN] [--checkpoints 3] [--steps N] [--layer 4] [--threads 1]

A recorded run, the same checkpoints spread over it for every method, each method in a process of
its own so that its peak memory is its own.  Milliseconds are of the processor, so that others on
the machine do not count.  `cold` is a checkpoint that a reader meets first, `next` the one behind
the step that follows it: what an agent's next request costs.

- evidence:     the shipped router, which reads no language model;
- paper:        the online reader of `bundles/paper` (Capped Recent4): the state once, and all
                surviving targets behind it.  The step changes the state, so all are read again;
- whole layers: the same with every token computed in the last layer too;
- local, once:  constructions whose vectors do not depend on the state, so `next` reads what is new;
- one view:     one bounded view of at most 5,120 tokens a state, which is what the paper timed;
- full:         the whole history read anew at each checkpoint, in windows of what the model takes.

The paper reports 12.67 times less time for one bounded view than for the full history, at up to
57,401 tokens of history.  `full / one view` is that ratio here, `full / paper` the one that counts
where every surviving interaction is a target.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any, TypeAlias
from unittest import mock

import torch

from statecomp.annotation.records import Reading
from statecomp.features import shortcut, view
from statecomp.features.constructions import budget_of
from statecomp.features.encoder import EncoderSettings, FrozenEncoder, open_encoder
from statecomp.features.evidence import EvidenceReader
from statecomp.features.states import ReaderSettings, StateReader
from statecomp.history.history import History
from statecomp.history.trajectory import Trajectory
from statecomp.router.hidden.candidates import candidates_of
from statecomp.router.supervision import prefixes
from statecomp.traces.jsonl import read_all

SAMPLE = Path(__file__).resolve().parents[1] / "samples" / "code.jsonl"
MEGABYTE = 1 << 10  # in the kilobytes that the system counts in
Read: TypeAlias = Callable[[History], object]
Method: TypeAlias = Callable[[FrozenEncoder], Read]
"""Makes a reader that has met no history yet."""
Step: TypeAlias = tuple[History, History]
"""A checkpoint, and the next one."""


def steps_of(path: Path, count: int, most: int | None) -> list[Step]:
    """Spread evenly over the first `most` steps of the first run of a file, the last among them."""
    run = next(run for run in read_all([path]) if isinstance(run, Trajectory))
    found = [prefix for _, prefix in prefixes(Reading.of(run))][:most]
    places = {max(1, len(found) * (n + 1) // count - 1) for n in range(count)}
    return [(found[place - 1], found[place]) for place in sorted(places)]


def evidence(encoder: FrozenEncoder) -> Read:
    return EvidenceReader().read


def construction(name: str) -> Method:
    def made(encoder: FrozenEncoder) -> Read:
        reader = candidates_of(encoder, name, budget_of(name, encoder.context))
        return lambda history: reader.read(history, lambda: True)

    return made


def whole_layers(encoder: FrozenEncoder) -> Read:
    read = construction("capped-recent4")(encoder)

    def wholly(history: History) -> None:
        with mock.patch.object(shortcut, "only_at", return_value=nullcontext()):
            read(history)

    return wholly


def one_view(encoder: FrozenEncoder) -> Read:
    def read(history: History) -> None:
        target = history.interactions[0]
        encoder.encode([view.capped_recent(target, history, encoder.tokenize).ids])

    return read


def full(encoder: FrozenEncoder) -> Read:
    budget = budget_of("full", encoder.context)
    settings = ReaderSettings(budget.window, budget.overlap)
    return lambda history: StateReader(encoder, settings).read(history)


METHODS: dict[str, Method] = {
    "evidence": evidence,
    "paper": construction("capped-recent4"),
    "whole layers": whole_layers,
    "local": construction("local"),
    "once": construction("once"),
    "one view": one_view,
    "full": full,
}


def spent(encoder: FrozenEncoder, read: Read, history: History) -> tuple[float, float]:
    """Milliseconds of the processor, and tokens that the model was given."""
    started, before = time.process_time(), encoder.tokens_read
    read(history)
    return 1000 * (time.process_time() - started), float(encoder.tokens_read - before)


def measure(name: str, steps: Sequence[Step], layer: int, threads: int) -> dict[str, Any]:
    torch.set_num_threads(threads)
    encoder = open_encoder(EncoderSettings(layer=layer, device="cpu"))
    encoder.encode([[5] * 32])
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    sums = [0.0] * 4
    for first, second in steps:
        read = METHODS[name](encoder)
        both = (*spent(encoder, read, first), *spent(encoder, read, second))
        sums = [total + part / len(steps) for total, part in zip(sums, both, strict=True)]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    columns = ("cold_ms", "cold_tokens", "next_ms", "next_tokens")
    return {**dict(zip(columns, sums, strict=True)), "beyond": (peak - before) / MEGABYTE}


def apart(name: str, options: argparse.Namespace) -> dict[str, Any]:
    command = [sys.executable, __file__, str(options.run), "--only", name]
    for option in ("layer", "checkpoints", "threads", "steps"):
        if (value := getattr(options, option)) is not None:
            command += [f"--{option}", str(value)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("run", nargs="?", type=Path, default=SAMPLE)
    parser.add_argument("--checkpoints", type=int, default=3)
    parser.add_argument("--steps", type=int)
    parser.add_argument("--layer", type=int, default=4)
    # Threads that wait for each other measure how busy the machine is.
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--only", choices=list(METHODS))
    options = parser.parse_args()
    steps = steps_of(options.run, options.checkpoints, options.steps)
    if options.only:
        print(json.dumps(measure(options.only, steps, options.layer, options.threads)))
        return
    targets = sum(len(state.interactions) for _, state in steps) / len(steps)
    print(
        f"{options.run.name}: {len(steps)} checkpoints of {targets:.0f} surviving interactions on "
        f"average, histories of {sum(s.tokens for _, s in steps) / len(steps):,.0f} tokens"
    )
    print(
        f"{'a checkpoint':<13} {'cold: tokens':>12} {'ms':>9} {'next: tokens':>13} {'ms':>9} "
        f"{'MB more':>8}"
    )
    rows = {name: apart(name, options) for name in METHODS}
    for name, row in rows.items():
        print(
            f"{name:<13} {row['cold_tokens']:>12,.0f} {row['cold_ms']:>9,.1f} "
            f"{row['next_tokens']:>13,.0f} {row['next_ms']:>9,.1f} {row['beyond']:>8,.0f}"
        )
    ms = {name: row["next_ms"] for name, row in rows.items()}
    print(f"full / one view: {ms['full'] / ms['one view']:.2f} (the paper: 12.67)")
    for one, other in (
        ("full", "paper"),
        ("whole layers", "paper"),
        ("paper", "local"),
        ("paper", "once"),
        ("paper", "evidence"),
    ):
        print(f"{one} / {other}: {ms[one] / ms[other]:,.2f}")


if __name__ == "__main__":
    main()
