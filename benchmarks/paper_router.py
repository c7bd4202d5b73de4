"""What does a checkpoint cost the paper's router, beside the evidence router and full re-reading?

    python benchmarks/paper_router.py [RUN] [--checkpoints 5] [--layer 4]

A recorded run, the same checkpoints spread over it for every method, each method in a process of
its own so that its peak memory is its own, on one core.  Milliseconds are of the processor, so that
others on the machine do not count.

- evidence:  the shipped router, which reads no language model;
- paper:     the online reader of `bundles/paper` (Capped Recent4): the state once, and all
             surviving targets behind it;
- one view:  a single bounded view of at most 5,120 tokens a state, which is what the paper timed;
- full:      the whole history read anew at each checkpoint, in windows of what the model takes.

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
from pathlib import Path
from typing import Any, TypeAlias

import torch

from statecomp.annotate.records import Reading
from statecomp.features import view
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
Method: TypeAlias = Callable[[FrozenEncoder, Sequence[History]], list[float]]
"""Gives the seconds of each checkpoint."""


def states_of(path: Path, count: int) -> list[History]:
    """Checkpoints spread evenly over the first run of a file, the last one among them."""
    run = next(run for run in read_all([path]) if isinstance(run, Trajectory))
    found = [prefix for _, prefix in prefixes(Reading.of(run))]
    places = [len(found) * (n + 1) // count - 1 for n in range(count)]
    return [found[place] for place in sorted({max(1, place) for place in places})]


def timed(work: Callable[[History], object], states: Sequence[History]) -> list[float]:
    spent = []
    for history in states:
        started = time.process_time()
        work(history)
        spent.append(time.process_time() - started)
    return spent


def evidence(encoder: FrozenEncoder, states: Sequence[History]) -> list[float]:
    return timed(EvidenceReader().read, states)


def paper(encoder: FrozenEncoder, states: Sequence[History]) -> list[float]:
    reader = candidates_of(encoder, "capped-recent4", budget_of("capped-recent4", encoder.context))
    return timed(lambda history: reader.read(history, lambda: True), states)


def one_view(encoder: FrozenEncoder, states: Sequence[History]) -> list[float]:
    def read(history: History) -> None:
        target = history.interactions[0]
        encoder.encode([view.capped_recent(target, history, encoder.tokenize).ids])

    return timed(read, states)


def full(encoder: FrozenEncoder, states: Sequence[History]) -> list[float]:
    budget = budget_of("full", encoder.context)
    settings = ReaderSettings(budget.window, budget.overlap)
    return timed(lambda history: StateReader(encoder, settings).read(history), states)


METHODS: dict[str, Method] = {
    "evidence": evidence,
    "paper": paper,
    "one view": one_view,
    "full": full,
}


def measure(name: str, path: Path, layer: int, checkpoints: int) -> dict[str, Any]:
    torch.set_num_threads(1)  # threads that wait for each other measure how busy the machine is
    states = states_of(path, checkpoints)
    encoder = open_encoder(EncoderSettings(layer=layer, device="cpu"))
    encoder.encode([[5] * 32])
    encoder.tokens_read = 0
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    spent = METHODS[name](encoder, states)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {
        "tokens": encoder.tokens_read / len(states),
        "ms": 1000 * sum(spent) / len(states),
        "worst": 1000 * max(spent),
        "beyond": (peak - before) / MEGABYTE,
    }


def apart(name: str, options: argparse.Namespace) -> dict[str, Any]:
    command = [sys.executable, __file__, str(options.run), "--only", name]
    command += ["--layer", str(options.layer), "--checkpoints", str(options.checkpoints)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("run", nargs="?", type=Path, default=SAMPLE)
    parser.add_argument("--checkpoints", type=int, default=5)
    parser.add_argument("--layer", type=int, default=4)
    parser.add_argument("--only", choices=list(METHODS))
    options = parser.parse_args()
    if options.only:
        found = measure(options.only, options.run, options.layer, options.checkpoints)
        print(json.dumps(found))
        return
    states = states_of(options.run, options.checkpoints)
    targets = sum(len(state.interactions) for state in states) / len(states)
    print(
        f"{options.run.name}: {len(states)} checkpoints of {targets:.0f} surviving interactions on "
        f"average, histories of {sum(s.tokens for s in states) / len(states):,.0f} tokens"
    )
    print(f"{'a checkpoint':<12} {'tokens read':>12} {'ms':>10} {'slowest ms':>11} {'MB more':>8}")
    rows = {name: apart(name, options) for name in METHODS}
    for name, row in rows.items():
        print(
            f"{name:<12} {row['tokens']:>12,.0f} {row['ms']:>10,.1f} {row['worst']:>11,.1f} "
            f"{row['beyond']:>8,.0f}"
        )
    ms = {name: row["ms"] for name, row in rows.items()}
    print(f"full / one view: {ms['full'] / ms['one view']:.2f} (the paper: 12.67)")
    print(f"full / paper: {ms['full'] / ms['paper']:.2f}")
    print(f"paper / evidence: {ms['paper'] / ms['evidence']:,.0f}")


if __name__ == "__main__":
    main()
