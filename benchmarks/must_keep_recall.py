"""How much of what later steps need survives the summariser that asks no model?

The labelled runs name, for most interactions, the strings a summary must carry (`must_keep`, set by
a language model that read the whole run; not by people).  For each labelled run, and side by side
with a truncation of the same length, prints the share of these strings found

- in the summary alone,
- in the summary or anywhere else in the effective history,

when (spans) every maximal run of consecutive READY interactions is replaced at the end of the run,
last span first, and when (alone) every READY interaction is replaced by itself at its boundary.
Groups of runs are split in two halves by a hash of their name: the ranking was fitted on `tuned`,
`held out` is what to believe.  Aim: 95 % in the effective history at a quarter of the source.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from statecomp.errors import BadInput
from statecomp.history.facts import FactIndex
from statecomp.history.history import History
from statecomp.history.interaction import Interaction, Segment, Summary
from statecomp.history.situation import Situation
from statecomp.records.extract import ExtractiveSummarizer
from statecomp.records.verify import verify
from statecomp.traces.jsonl import read_runs
from statecomp.wire.assemble import parse
from statecomp.wire.providers import wire_named

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
RUNS, LABELS = DATA / "trajectories.jsonl.gz", DATA / "expert_labels.jsonl"
HALVES = ("tuned", "held out")
SUMMARIZER = ExtractiveSummarizer()


class Label(NamedTuple):
    boundary: int | None
    must_keep: tuple[str, ...]


Labels = Mapping[int, Label]


class Run(NamedTuple):
    history: History
    labels: Labels
    half: str
    domain: str


@dataclass(frozen=True, slots=True)
class Trial:
    """One replaced span: what was written, and what else the agent could still read."""

    span: Sequence[Interaction]
    written: str
    rest: str
    source_tokens: int
    written_tokens: int

    def found(self, wanted: str) -> tuple[bool, bool, bool]:
        """In the summary, in the effective history, in a truncation of the same length."""
        source = "\n".join(member.text for member in self.span)
        truncated = plain(source[: len(self.written)])
        summary = plain(self.written)
        return wanted in summary, wanted in summary or wanted in self.rest, wanted in truncated


_DRESS = str.maketrans("", "", " \t\r\n\\\"'`{}[](),;*")


def plain(text: str) -> str:
    """Without escapes, blanks and JSON's marks: labels quote the raw wire, records do not."""
    return text.replace("\\n", " ").translate(_DRESS)


def read_labels() -> Mapping[str, dict[int, Label]]:
    labels: dict[str, dict[int, Label]] = {}
    for line in LABELS.read_text("utf-8").splitlines():
        record = json.loads(line)
        label = Label(record["boundary"], tuple(record["must_keep"]))
        # A second reading of the same interaction comes later in the file and is left out.
        labels.setdefault(record["id"], {}).setdefault(record["i"], label)
    return labels


def labelled_runs() -> Iterator[Run]:
    labels = read_labels()
    for run in read_runs(RUNS):
        if isinstance(run, BadInput) or run.id not in labels:
            continue
        half = HALVES[hashlib.sha256(run.group.encode()).digest()[0] % 2]
        history = parse(run.messages, wire_named(run.protocol))
        yield Run(history, labels[run.id], half, run.domain)


def ready_spans(history: History, labels: Labels) -> list[list[Interaction]]:
    """Maximal runs of consecutive READY interactions at the end of the run."""
    spans: list[list[Interaction]] = [[]]
    for segment in history.segments:
        if isinstance(segment, Interaction) and is_ready(segment, labels):
            spans[-1].append(segment)
        elif spans[-1]:
            spans.append([])
    return [span for span in spans if span]


def is_ready(member: Interaction, labels: Labels) -> bool:
    return member.number in labels and labels[member.number].boundary is not None


def summarized(span: Sequence[Interaction], situation: Situation) -> str:
    return verify(SUMMARIZER.summarize(span, situation), span, situation).body


def spans_replaced(run: Run) -> Iterator[Trial]:
    """Every span replaced at the end, last first, as the controller does it."""
    segments = run.history.segments
    facts = FactIndex(segments)
    texts = {segment.id: plain(segment.text) for segment in segments}
    written: list[tuple[Sequence[Interaction], str]] = []
    for span in reversed(ready_spans(run.history, run.labels)):
        for member in span:
            facts.remove(member)
            del texts[member.id]
        start = segments.index(span[0])
        situation = Situation(facts, segments[:start], segments[start + len(span) :])
        body = summarized(span, situation)
        summary = Summary(f"summary of {span[0].id}", (), 0, body, (), 0, 0)
        segments = (*situation.before, summary, *situation.after)
        facts.add(summary)
        texts[summary.id] = plain(body)
        written.append((span, body))
    rest = "\n".join(texts.values())
    for members, body in written:
        yield trial_of(members, body, rest)


def each_replaced_alone(run: Run) -> Iterator[Trial]:
    """Every READY interaction replaced by itself, at its boundary."""
    for member in run.history.interactions:
        if is_ready(member, run.labels):
            others = before(run.history, run.labels[member.number].boundary or 0, member)
            body = summarized([member], Situation(FactIndex(others), tuple(others)))
            yield trial_of([member], body, "\n".join(plain(s.text) for s in others))


def before(history: History, checkpoint: int, left_out: Interaction) -> list[Segment]:
    segments: list[Segment] = []
    for segment in history.segments:
        if isinstance(segment, Interaction) and segment.number >= checkpoint:
            break
        if segment is not left_out:
            segments.append(segment)
    return segments


def trial_of(span: Sequence[Interaction], body: str, rest: str) -> Trial:
    source = sum(SUMMARIZER.count(member.text) for member in span)
    return Trial(span, body, rest, source, SUMMARIZER.count(body))


@dataclass
class Tally:
    wanted: int = 0
    summary: int = 0
    history: int = 0
    truncated: int = 0
    trials: int = 0
    ratios: float = 0.0
    source: int = 0
    written: int = 0

    def add(self, trial: Trial, labels: Labels) -> None:
        self.trials += 1
        self.ratios += trial.written_tokens / max(1, trial.source_tokens)
        self.source += trial.source_tokens
        self.written += trial.written_tokens
        for member in trial.span:
            for wanted in labels[member.number].must_keep:
                in_summary, in_history, in_truncated = trial.found(plain(wanted))
                self.wanted += 1
                self.summary += in_summary
                self.history += in_history
                self.truncated += in_truncated

    def row(self) -> str:
        shares = (self.summary, self.history, self.truncated)
        recall = "".join(f"{share / max(1, self.wanted):>11.1%}" for share in shares)
        ratio = self.written / max(1, self.source)
        return f"{self.wanted:>7}{recall}{ratio:>10.3f}{self.ratios / max(1, self.trials):>12.3f}"


def main() -> int:
    if not RUNS.exists() or not LABELS.exists():
        print(f"Skipped: the labelled runs are not here ({RUNS} and {LABELS}).")
        return 0
    tallies: dict[tuple[str, str, str], Tally] = {}
    for run in labelled_runs():
        for variant, trials in (("spans", spans_replaced), ("alone", each_replaced_alone)):
            for trial in trials(run):
                for domain in (run.domain, "all"):
                    key = (variant, run.half, domain)
                    tallies.setdefault(key, Tally()).add(trial, run.labels)
    print(f"{'':28}{'strings':>7}{'summary':>11}{'history':>11}{'truncated':>11}", end="")
    print(f"{'tokens':>10}{'mean ratio':>12}")
    for (variant, half, domain), tally in sorted(tallies.items(), reverse=True):
        print(f"{variant:7}{half:10}{domain:11}{tally.row()}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
