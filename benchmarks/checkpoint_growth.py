"""Does a checkpoint cost more per interaction when the history is long?

Prints, side by side in one run, for N = 100 and N = 5,000 interactions:

- fresh: one checkpoint on a history never seen before, per interaction;
- growing: a client that sends one interaction more each time, per request, at the end of the run;
- again: the very same request sent once more, against the fresh one.

Aim: fresh, N = 5,000 over N = 100, at most 1.5.  An unchanged prefix should be near free.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from statecomp import AgeScorer, Gates, StateComp
from statecomp.history.history import History

SMALL, LARGE = 100, 5_000
LINE = "2026-03-01 12:00:00 worker-{n} INFO handled /api/orders/{n} in {n} ms\n"


class EveryTenthKept:
    """Mixed decisions, so that a long history has many spans: KEEP breaks a run every ten."""

    def score(self, history: History) -> Mapping[str, float]:
        return {i.id: float(i.number % 10 != 0) for i in history.interactions}


def messages(count: int) -> list[dict[str, Any]]:
    out: list[dict[str, Any]] = [{"role": "user", "content": "audit the order service"}]
    for n in range(count):
        call = {"name": "read_log", "arguments": f'{{"path": "/var/log/orders/{n}.log"}}'}
        calls = [{"id": f"c{n}", "type": "function", "function": call}]
        out.append({"role": "assistant", "content": None, "tool_calls": calls})
        text = "".join(LINE.format(n=n * 31 + k) for k in range(8))
        out.append({"role": "tool", "tool_call_id": f"c{n}", "content": text})
    return out


def seconds(work: Callable[[], object], repeat: int) -> float:
    """The best of a few runs: noise on a shared machine only ever adds."""
    best = float("inf")
    for _ in range(repeat):
        gc.collect()
        start = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - start)
    return best


def fresh(history: Sequence[dict[str, Any]]) -> object:
    return StateComp(EveryTenthKept(), rule=Gates(min_source_tokens=500)).checkpoint(history)


def growing(history: list[dict[str, Any]]) -> float:
    """Seconds a request takes at the end of a growing run, mean of the last fifty."""
    comp = StateComp(AgeScorer(after=20))
    comp.checkpoint(history[: len(history) - 100])
    start = time.perf_counter()
    for stop in range(len(history) - 98, len(history) + 1, 2):
        comp.checkpoint(history[:stop])
    return (time.perf_counter() - start) / 50


def again(history: list[dict[str, Any]]) -> tuple[float, float]:
    comp = StateComp(EveryTenthKept(), rule=Gates(min_source_tokens=500))
    first = seconds(lambda: comp.checkpoint(history), 1)
    return first, seconds(lambda: comp.checkpoint(history), 5)


def main() -> None:
    small, large = messages(SMALL), messages(LARGE)
    per_small = seconds(lambda: fresh(small), 9) / SMALL
    per_large = seconds(lambda: fresh(large), 3) / LARGE
    print(f"fresh     N={SMALL}: {per_small * 1e6:8.1f} us an interaction")
    print(f"fresh     N={LARGE}: {per_large * 1e6:8.1f} us an interaction")
    print(f"fresh     ratio {per_large / per_small:.2f} (aim <= 1.5)")
    grow_small, grow_large = growing(small), growing(large)
    print(f"growing   N={SMALL}: {grow_small * 1e3:8.2f} ms a request")
    print(f"growing   N={LARGE}: {grow_large * 1e3:8.2f} ms a request")
    share = grow_large / (per_large * LARGE)
    print(f"growing   one request at N={LARGE} costs {share:.2%} of a fresh one")
    first, second = again(large)
    print(f"again     the same request once more costs {second / first:.2%} of the first time")


if __name__ == "__main__":
    main()
