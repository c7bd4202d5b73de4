"""Counters for Prometheus: the few kinds we need, in its text format."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from threading import Lock

MS_BOUNDS = (1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 500.0, 2000.0)

MOST = 1e15
HELP = {
    "statecomp_requests_total": "Requests by protocol, mode and status.",
    "statecomp_tokens_total": "Input tokens by our count: raw came in, sent went out.",
    "statecomp_provider_tokens_total": "Tokens the providers say they billed.",
    "statecomp_notes_total": "Requests that something stood in the way of; the log says what.",
    "statecomp_commits_total": "Replacements committed (observed: that would have been).",
    "statecomp_record_outcomes_total": "What came of asking: written, an extract instead, kept.",
    "statecomp_record_calls_total": "Questions to models that write records.",
    "statecomp_record_dollars_total": "What those cost, by the price book.",
    "statecomp_regrets_total": "Later steps that wanted something a commit had taken.",
    "statecomp_retries_total": "Rewritten requests refused by the upstream and sent again raw.",
    "statecomp_rests_total": "Requests sent raw because a rewrite was refused not long ago.",
    "statecomp_stale_thinking_total": "Requests sent again without thinking that had gone stale.",
    "statecomp_decisions_total": "Decisions prepared, by what became of them.",
    "statecomp_ledger_failures_total": "Questions to the ledger, and records for it, that failed.",
    "statecomp_ledger_dropped_total": "Requests not recorded because the ledger was too slow.",
    "statecomp_rival_tokens_total": "Of two observed routers: raw came, sent would have gone.",
    "statecomp_rival_steps_total": "Steps that each of them would have replaced, by fate.",
    "statecomp_disconnects_total": "Clients that went away before their answer ended.",
}

Labels = tuple[tuple[str, str], ...]


class Metrics:
    """Safe to share between threads; labels are few and of our own choosing, never content."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._counts: dict[tuple[str, Labels], float] = {}
        self._buckets = [0] * (len(MS_BOUNDS) + 1)
        self._sum_ms = 0.0
        self._gauges: dict[str, Callable[[], float]] = {}

    def add(self, name: str, value: float = 1, **labels: str) -> None:
        if not -MOST <= value <= MOST:
            return  # a number nobody could have meant would spoil the sum for good
        key = (name, tuple(labels.items()))
        with self._lock:
            self._counts[key] = self._counts.get(key, 0) + value

    def took(self, ms: float) -> None:
        """Time spent on one request by us, not by the upstream."""
        place = next((n for n, bound in enumerate(MS_BOUNDS) if ms <= bound), len(MS_BOUNDS))
        with self._lock:
            self._buckets[place] += 1
            self._sum_ms += ms

    def gauge(self, name: str, read: Callable[[], float]) -> None:
        self._gauges[name] = read

    def value(self, name: str, **labels: str) -> float:
        return self._counts.get((name, tuple(labels.items())), 0)

    def text(self) -> str:
        with self._lock:
            counts = sorted(self._counts.items())
            buckets, total = list(self._buckets), self._sum_ms
        return "\n".join((*_counters(counts), *_histogram(buckets, total), *self._read(), ""))

    def _read(self) -> Iterator[str]:
        for name, read in self._gauges.items():
            yield f"# TYPE {name} gauge"
            yield f"{name} {read():.15g}"


def _counters(counts: Sequence[tuple[tuple[str, Labels], float]]) -> Iterator[str]:
    before = ""
    for (name, labels), value in counts:
        if name != before:
            yield f"# HELP {name} {HELP.get(name, '')}"
            yield f"# TYPE {name} counter"
            before = name
        shown = ",".join(f'{key}="{_escaped(text)}"' for key, text in labels)
        yield f"{name}{{{shown}}} {value:.15g}" if shown else f"{name} {value:.15g}"


def _histogram(buckets: Sequence[int], total: float) -> Iterator[str]:
    name = "statecomp_overhead_ms"
    yield f"# HELP {name} Time spent on a request by the proxy itself."
    yield f"# TYPE {name} histogram"
    so_far = 0
    for bound, count in zip((*(f"{b:g}" for b in MS_BOUNDS), "+Inf"), buckets, strict=True):
        so_far += count
        yield f'{name}_bucket{{le="{bound}"}} {so_far}'
    yield f"{name}_sum {total:.15g}"
    yield f"{name}_count {so_far}"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
