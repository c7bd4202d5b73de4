"""What does deciding add to a request that grows a session of about a hundred interactions?

Plays the recorded session request by request through two engines side by side: one that decides
before each request, as the proxy does by default, and one that only puts back what the first has
committed.  Prints the processor time of both over the last forty requests, their ratio, and what
a request takes at which something is committed.  Aim: at most 30 ms at the median on a quiet core.

    python benchmarks/deciding.py [RUN.jsonl]
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import process_time
from typing import TypeVar

from statecomp import MemoryLog, StateComp
from statecomp.errors import BadInput
from statecomp.traces.jsonl import read_runs

SESSION = Path(__file__).resolve().parents[1] / "samples" / "session.jsonl"
LATE = 40
Answer = TypeVar("Answer")


def timed(work: Callable[[], Answer]) -> tuple[float, Answer]:
    begun = process_time()
    answer = work()
    return (process_time() - begun) * 1000, answer


def main() -> None:
    (run,) = read_runs(Path(sys.argv[1]) if len(sys.argv) > 1 else SESSION)
    if isinstance(run, BadInput):
        raise run
    log = MemoryLog()
    decides = StateComp(protocol=run.protocol, log=log)
    replays = StateComp(protocol=run.protocol, log=log)
    deciding, replaying, committing = [], [], []
    messages = list(run.messages)
    for place, message in enumerate(messages):
        if message.get("role") != "assistant" or place < 2:
            continue
        sent = messages[:place]
        spent, checkpoint = timed(lambda sent=sent: decides.checkpoint(sent))  # type: ignore[misc]
        deciding.append(spent)
        if checkpoint.commits:
            committing.append(spent)
        replaying.append(timed(lambda sent=sent: replays.checkpoint(sent, decide=False))[0])  # type: ignore[misc]
    late, plain = median(deciding[-LATE:]), median(replaying[-LATE:])
    print(f"{len(deciding)} requests, {len(committing)} of them with a commit")
    print(f"deciding  {late:6.1f} ms at the median of the last {LATE}")
    print(f"replaying {plain:6.1f} ms, ratio {late / plain:.1f}")
    print(f"a commit  {median(committing):6.1f} ms at the median")


if __name__ == "__main__":
    main()
