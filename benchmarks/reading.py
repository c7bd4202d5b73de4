"""What does a reader make of records, blind, with the source in hand?

    python benchmarks/reading.py write RECORDS.json [--spans 20] [--skip FILE]
    python benchmarks/reading.py sheets FOLDER NAME=RECORDS.json [NAME=RECORDS.json ...]
    python benchmarks/reading.py score FOLDER

`write` takes spans of recorded runs without expert labels (nobody looked at these while rules were
made), one a task, as many of each domain, at two thirds of each run, and writes the extracts of the
code at hand; run it with
each version that is to be compared.  `sheets` puts each span with its records, in an order drawn
by lot, and the source's beginning cut to the length of the first as one more, into
`FOLDER/NAME.md`.  Somebody answers in `FOLDER/answers/NAME.json`:

    {"A": {"misleading": ["quoted statement", ...], "go_on": 0-3, "readable": 0-3}, "B": ...}

`score` prints the means for each writer.  Skips where the recorded runs are absent.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import accumulate, chain, islice
from pathlib import Path

from statecomp.annotation.labels import read_labels
from statecomp.annotation.records import Reading
from statecomp.errors import BadInput
from statecomp.exam.spans import Exam, exams
from statecomp.exam.writers import RecordWriter
from statecomp.history.history import History
from statecomp.history.interaction import Interaction, Pinned
from statecomp.history.trajectory import Trajectory
from statecomp.llm.transcript import transcript
from statecomp.records.extract import ExtractiveSummarizer
from statecomp.tokens import ESTIMATE
from statecomp.traces.jsonl import read_runs

RUNS = Path(__file__).resolve().parents[2] / "shared" / "data" / "trajectories.jsonl.gz"
SMALLEST, LARGEST = 2_000, 16_000
AGE = 3
TASK_CHARS = 4_000
QUESTIONS = """\
You are given the task of an AI agent, a stretch of its work word for word (the source), and several
records of that stretch.  A record is to replace the source in the agent's memory.  For each record:

1. misleading: quote every statement that is false, or that a reader of the record alone would take
   for something the source does not say (a value beside the wrong name, a success called failure or
   the other way round, a part that looks like the whole, a guess told as a fact, an order).  What
   is merely missing does not count.
2. go_on, 0 to 3: could the agent go on with its task from this record alone?  0 no, 1 with most of
   the work done again, 2 with one or two things looked up again, 3 as well as with the source.
3. readable, 0 to 3: how easily does a person follow it?

Answer with JSON alone: {"A": {"misleading": ["..."], "go_on": 2, "readable": 1}, "B": {...}, ...}
"""


def old(prefix: History) -> Sequence[Interaction]:
    """Steps of some age: what a rule would take for safe is not what is asked here."""
    return [i for i in prefix.interactions if i.number + AGE < prefix.checkpoint]


def spans(count: int, skipped: frozenset[str]) -> Iterator[Exam]:
    """One span a task, of the size of a few steps, as many of each domain, in no telling order."""
    experts = read_labels(RUNS.with_name("expert_labels.jsonl"))
    runs = [r for r in read_runs(RUNS) if not isinstance(r, BadInput) and r.id not in experts]
    runs.sort(key=lambda run: hashlib.sha256(f"reading {run.id}".encode()).hexdigest())
    tasks = {run.group for run in runs if run.id in skipped}
    domains = sorted({run.domain for run in runs})
    by_domain = [_of_tasks([r for r in runs if r.domain == name], tasks) for name in domains]
    yield from islice(chain.from_iterable(zip(*by_domain, strict=False)), count)


def _of_tasks(runs: Sequence[Trajectory], tasks: set[str]) -> Iterator[Exam]:
    """The first span that will do of each task that is not among `tasks`, where it is noted."""
    for run in runs:
        if run.group not in tasks:
            fitting = (shortened(exam) for exam in exams(Reading.of(run), old))
            found = next((exam for exam in fitting if tokens_of(exam) >= SMALLEST), None)
            if found:
                tasks.add(run.group)
                yield found


def shortened(exam: Exam) -> Exam:
    """The span without its last steps, where it is more than anybody reads; they stand after it."""
    sizes = accumulate(ESTIMATE(member.text) for member in exam.span)
    kept = sum(1 for size in sizes if size <= LARGEST)
    return replace(exam, span=exam.span[:kept], after=(*exam.span[kept:], *exam.after))


def tokens_of(exam: Exam) -> int:
    return sum(ESTIMATE(member.text) for member in exam.span)


def write(path: Path, count: int, skipped: frozenset[str]) -> None:
    writer = RecordWriter(ExtractiveSummarizer())
    found = {
        exam.name: {
            "task": "\n\n".join(
                s.text[:TASK_CHARS] for s in exam.rest if isinstance(s, Pinned) and s.role == "user"
            ),
            "source": transcript(exam.span),
            "tokens": tokens_of(exam),
            "record": writer.write(exam, 0),
        }
        for exam in spans(count, skipped)
    }
    path.write_text(json.dumps(found, ensure_ascii=False), "utf-8")
    print(f"{len(found)} spans")


def sheets(folder: Path, given: Sequence[str]) -> None:
    (folder / "answers").mkdir(parents=True, exist_ok=True)
    written = {}
    for one in given:
        name, _, path = one.partition("=")
        written[name] = json.loads(Path(path).read_text("utf-8"))
    first, *_ = written.values()
    key: dict[str, dict[str, str]] = {}
    lengths: dict[str, dict[str, int]] = {}
    for span, told in first.items():
        records = {name: by_span[span]["record"] for name, by_span in written.items()}
        records["cut"] = told["source"][: len(told["record"])]
        sheet = hashlib.sha256(span.encode()).hexdigest()[:10]
        order = sorted(records)
        random.Random(sheet).shuffle(order)
        key[sheet] = dict(zip("ABCDEF", order, strict=False))
        lengths[sheet] = {name: ESTIMATE(text) for name, text in records.items()}
        parts = [QUESTIONS, f"=== the task ===\n\n{told['task']}"]
        parts.append(f"=== the source ===\n\n{told['source']}")
        parts += (f"=== record {letter} ===\n\n{records[n]}" for letter, n in key[sheet].items())
        (folder / f"{sheet}.md").write_text("\n\n".join(parts) + "\n", "utf-8")
    key_file = folder.with_name(f"{folder.name}_key.json")
    key_file.write_text(json.dumps({"key": key, "tokens": lengths}), "utf-8")
    print(f"{len(key)} sheets; the key is in {key_file.name}")


def score(folder: Path) -> None:
    known = json.loads(folder.with_name(f"{folder.name}_key.json").read_text("utf-8"))
    tallies: dict[str, list[tuple[int, float, float, int]]] = {}
    for path in sorted((folder / "answers").glob("*.json")):
        answer = json.loads(path.read_text("utf-8"))
        for letter, name in known["key"][path.stem].items():
            one = answer[letter]
            tokens = known["tokens"][path.stem][name]
            row = (len(one["misleading"]), one["go_on"], one["readable"], tokens)
            tallies.setdefault(name, []).append(row)
    print(
        f"{'':12} {'n':>3} {'misleading':>10} {'with one':>8} {'go on':>6} {'readable':>8} tokens"
    )
    for name, rows in sorted(tallies.items()):
        wrong, on, read, tokens = (sum(column) for column in zip(*rows, strict=True))
        bad, n = sum(1 for row in rows if row[0]), len(rows)
        print(f"{name:12} {n:3} {wrong:10} {bad:8} {on / n:6.2f} {read / n:8.2f} {tokens / n:6.0f}")


def main() -> None:
    form = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=form)
    verbs = parser.add_subparsers(dest="verb", required=True)
    writing = verbs.add_parser("write")
    writing.add_argument("out", type=Path)
    writing.add_argument("--spans", type=int, default=20)
    writing.add_argument("--skip", type=Path, help="a JSON list of runs that were read before")
    laying = verbs.add_parser("sheets")
    laying.add_argument("folder", type=Path)
    laying.add_argument("records", nargs="+", metavar="NAME=RECORDS.json")
    verbs.add_parser("score").add_argument("folder", type=Path)
    options = parser.parse_args()
    if options.verb == "sheets":
        sheets(options.folder, options.records)
    elif options.verb == "score":
        score(options.folder)
    elif not RUNS.exists():
        print("skipped: the recorded runs are not beside this checkout")
    else:
        read = json.loads(options.skip.read_text("utf-8")) if options.skip else []
        write(options.out, options.spans, frozenset(read))


if __name__ == "__main__":
    main()
