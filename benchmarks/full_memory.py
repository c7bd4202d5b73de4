"""What remembering one more thing costs where a process is full: with few memories and with many.

A proxy has a handful of memories for each tenant, and all of them share one budget of bytes.
Prints the microseconds of processor for each thing that is remembered, and the ratio to ten
memories.

    python -m benchmarks.full_memory
"""

from __future__ import annotations

from time import process_time

from statecomp.recent import MemoryBudget, Weighed

BUDGET, WEIGHT, NEWS = 64 << 20, 1000, 20_000


def microseconds(memories: int) -> float:
    """What each of many new things takes where all memories are full."""
    budget = MemoryBudget(BUDGET)
    held = [
        Weighed[tuple[int, int], None](BUDGET, lambda _: WEIGHT, budget) for _ in range(memories)
    ]
    for place in range(BUDGET // WEIGHT):
        held[place % memories].put((0, place), None)
    start = process_time()
    for place in range(NEWS):
        held[place % memories].put((1, place), None)
    return (process_time() - start) / NEWS * 1e6


def main() -> None:
    few = microseconds(10)
    for memories in (10, 100, 1000, 5000):
        cost = microseconds(memories)
        print(f"{memories:>6} memories{cost:>10.1f} us{cost / few:>8.1f}")


if __name__ == "__main__":
    main()
