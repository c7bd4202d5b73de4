"""How long an extract takes, beside the time it takes to read the identifiers of the same text.

Spans of 15,000 to 26,000 tokens of the recorded runs, each summarised once with nothing remembered
(cold) and once more (warm: what a span that waits costs at every further step).  Processor time;
prints milliseconds for 20,000 tokens and the ratio to one pass of `identifiers`.

    python -m benchmarks.extract_speed [--limit SPANS]
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from itertools import islice
from time import process_time

from benchmarks.must_keep_recall import LABELS, RUNS, labelled_runs, ready_spans
from statecomp.history.facts import FactIndex
from statecomp.history.interaction import Interaction
from statecomp.history.situation import Situation
from statecomp.history.text import identifiers
from statecomp.llm.extract import ExtractiveSummarizer

SMALLEST, LARGEST, UNIT = 15_000, 26_000, 20_000
SUMMARIZER = ExtractiveSummarizer()


def spans() -> Iterator[tuple[list[Interaction], Situation, int]]:
    for run in labelled_runs():
        segments = run.history.segments
        for span in ready_spans(run.history, run.labels):
            tokens = sum(SUMMARIZER.count(member.text) for member in span)
            if SMALLEST <= tokens <= LARGEST:
                start = segments.index(span[0])
                before, after = segments[:start], segments[start + len(span) :]
                yield span, Situation(FactIndex((*before, *after)), before, after), tokens


def timed(work: Callable[[], object]) -> float:
    start = process_time()
    work()
    return process_time() - start


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--limit", type=int, default=40, help="so many spans")
    options = parser.parse_args()
    if not RUNS.exists() or not LABELS.exists():
        print("Skipped: the labelled runs are not here.")
        return 0
    cold = warm = plain = 0.0
    tokens = count = 0
    for span, situation, size in islice(spans(), options.limit):
        text = "\n".join(member.text for member in span)
        plain += timed(lambda text=text: identifiers(text))  # type: ignore[misc]
        cold += timed(lambda s=span, c=situation: SUMMARIZER.summarize(s, c))  # type: ignore[misc]
        warm += timed(lambda s=span, c=situation: SUMMARIZER.summarize(s, c))  # type: ignore[misc]
        tokens, count = tokens + size, count + 1
    print(f"{count} spans of {tokens / max(1, count):,.0f} tokens; ms for {UNIT:,} tokens:")
    for name, seconds in (("identifiers", plain), ("cold", cold), ("warm", warm)):
        took = seconds / max(1, tokens) * UNIT * 1000
        print(f"{name:12}{took:8.1f} ms{seconds / max(1e-9, plain):8.1f} x")
    return 0


if __name__ == "__main__":
    sys.exit(main())
