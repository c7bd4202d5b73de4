"""How long an extract takes, beside the time it takes to read the identifiers of the same text.

Spans of 15,000 to 26,000 tokens of the recorded runs, in three situations: nothing of the history
was ever read (cold: a proxy that was just started), each step was read ahead behind the request it
came with and the span is asked for now for the first time (ready: what a commit meets), and the
same once more (again: what a span that waits costs at every further step).  Reading ahead is told
by itself.  Processor time; prints milliseconds for 20,000 tokens and the ratio to one pass of
`identifiers`.

    python -m benchmarks.extract_speed [--limit SPANS]
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from time import process_time

from benchmarks.must_keep_recall import LABELS, RUNS, labelled_runs, ready_spans
from statecomp.history.facts import FactIndex
from statecomp.history.interaction import Interaction, Segment
from statecomp.history.situation import Situation
from statecomp.history.text import identifiers
from statecomp.records.extract import ExtractiveSummarizer

SMALLEST, LARGEST, UNIT = 15_000, 26_000, 20_000
SUMMARIZER = ExtractiveSummarizer()


def spans() -> Iterator[tuple[list[Interaction], Situation, int]]:
    for run in labelled_runs():
        for span in ready_spans(run.history, run.labels):
            tokens = sum(SUMMARIZER.count(member.text) for member in span)
            if SMALLEST <= tokens <= LARGEST:
                yield (*placed(span, run.history.segments), tokens)


def placed(
    span: Sequence[Interaction], segments: Sequence[Segment]
) -> tuple[list[Interaction], Situation]:
    start = segments.index(span[0])
    before, after = tuple(segments[:start]), tuple(segments[start + len(span) :])
    return list(span), Situation(FactIndex((*before, *after)), before, after)


def renamed(
    span: Sequence[Interaction], situation: Situation
) -> tuple[list[Interaction], Situation]:
    """The same under other names: nothing of it is remembered."""
    segments = [
        replace(segment, id=f"{segment.id} again")
        for segment in (*situation.before, *span, *situation.after)
    ]
    start = len(situation.before)
    members = [s for s in segments[start : start + len(span)] if isinstance(s, Interaction)]
    return placed(members, segments)


def read_ahead(segments: Sequence[Segment]) -> None:
    for segment in segments:
        SUMMARIZER.read_ahead(segment)


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
    took = dict.fromkeys(("identifiers", "cold", "reading ahead", "ready", "again"), 0.0)
    tokens = count = 0
    for known, around, size in islice(spans(), options.limit):
        text = "\n".join(member.text for member in known)
        took["identifiers"] += timed(lambda text=text: identifiers(text))  # type: ignore[misc]
        took["cold"] += timed(lambda s=known, c=around: SUMMARIZER.summarize(s, c))  # type: ignore[misc]
        span, situation = renamed(known, around)
        read_ahead((*situation.before, *situation.after))
        took["reading ahead"] += timed(lambda s=span: read_ahead(s))  # type: ignore[misc]
        for name in ("ready", "again"):
            took[name] += timed(lambda s=span, c=situation: SUMMARIZER.summarize(s, c))  # type: ignore[misc]
        tokens, count = tokens + size, count + 1
    print(f"{count} spans of {tokens / max(1, count):,.0f} tokens; ms for {UNIT:,} tokens:")
    plain = took["identifiers"]
    for name, seconds in took.items():
        spent = seconds / max(1, tokens) * UNIT * 1000
        print(f"{name:14}{spent:8.1f} ms{seconds / max(1e-9, plain):8.1f} x")
    return 0


if __name__ == "__main__":
    sys.exit(main())
