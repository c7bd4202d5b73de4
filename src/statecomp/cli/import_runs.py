"""`statecomp import`: other tools' recordings as runs in our layout."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import click

from statecomp.cli.files import writing
from statecomp.cli.options import RUNS_OUT
from statecomp.cli.terminal import number_of, show, warn, watched
from statecomp.errors import BadInput
from statecomp.traces.formats import BY_NAME, FORMATS
from statecomp.traces.importer import Importer, ImportTally
from statecomp.traces.secrets import Masker

PLACES_SHOWN = 3
KNOWN = ", ".join(each.about for each in FORMATS)
HELP = f"""Convert other tools' recordings to runs, one a line.

PATHS are files (also gzipped) and folders.  Known are {KNOWN}; each is told by its content.

Sub-agents become runs of their own in their parent's group.  A compaction ends a run: what
the model saw behind it is the next one.  What stands beside the messages (times, usage, cost,
events) is kept under `recorded`.  Secrets are masked, the same secret always alike.

\b
Exit code 0: written.  1: with --strict, something could not be read.  2: nothing could.

\b
Examples:
  statecomp import ~/.claude/projects -o runs.jsonl
  statecomp import rollout.jsonl run.traj requests.jsonl.gz -o runs.jsonl --domain Code
"""


@click.command("import", help=HELP)
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path))
@RUNS_OUT
@click.option(
    "--format",
    "format_name",
    type=click.Choice(["auto", *BY_NAME]),
    default="auto",
    show_default=True,
    help="Read all files as this; else each is told by its content.",
)
@click.option("--keep-secrets", is_flag=True, help="Write keys, tokens and passwords as they are.")
@click.option("--domain", default="", help="The domain of runs that name none.")
@click.option(
    "--strict/--skip-bad",
    default=False,
    help="Exit with 1 when anything could not be read; else it is counted and said.",
)
def import_runs(
    paths: tuple[Path, ...],
    output: Path,
    format_name: str,
    keep_secrets: bool,
    domain: str,
    strict: bool,
) -> None:
    _refuse_overwriting(output, paths)
    masker = None if keep_secrets else Masker()
    importer = Importer(masker, BY_NAME.get(format_name), domain)
    sources = importer.sources(paths)
    records = watched(importer.records(sources), "importing", len(sources))
    _write(output, (record for some in records for record in some), importer.tally)
    _report(importer.tally, masker, output)
    if strict and importer.tally.problems:
        raise click.exceptions.Exit(1)


def _refuse_overwriting(output: Path, paths: Sequence[Path]) -> None:
    target = Path(os.path.realpath(output))  # which, unlike `resolve`, takes a loop of links
    for path in paths:
        source = Path(os.path.realpath(path))
        inside = path.is_dir() and source in target.parents and target.exists()
        if source == target or inside:
            raise BadInput("is one of the inputs; name another file to write", file=str(output))


def _write(output: Path, records: Iterable[dict[str, Any]], tally: ImportTally) -> None:
    with writing(output) as file:
        for record in records:
            # Escapes keep lone surrogates, which UTF-8 cannot carry.
            file.write(json.dumps(record) + "\n")
        if not tally.runs:
            raise _nothing(tally)


def _nothing(tally: ImportTally) -> BadInput:
    found = [problem for problems in tally.problems.values() for problem in problems]
    if len(found) == 1:
        return found[0]
    for line in _problem_lines(tally):
        warn(line)
    return BadInput("no run could be read from what was given")


def _report(tally: ImportTally, masker: Masker | None, output: Path) -> None:
    formats = ", ".join(f"{count} {name}" for name, count in sorted(tally.runs.items()))
    lines = [
        f"{number_of(tally.runs.total(), 'run')} written to {output}: {formats}",
        f"{number_of(tally.messages, 'message')}, {number_of(tally.interactions, 'interaction')}",
    ]
    if tally.repeated:
        lines.append(f"left out, because they repeat what was imported: {tally.repeated}")
    if tally.passed_over:
        lines.append(f"passed over in the folders, because they are no JSON: {tally.passed_over}")
    if tally.unknown:
        kinds = ", ".join(f"{count} {kind!r}" for kind, count in sorted(tally.unknown.items()))
        lines.append(f"kept under recorded.events without knowing what they mean: {kinds}")
    lines.append(_masked_line(masker))
    show(*(line.replace("[", r"\[") for line in lines))
    for line in _problem_lines(tally):
        warn(line)


def _masked_line(masker: Masker | None) -> str:
    if masker is None:
        return "secrets were kept as they are"
    kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(masker.counts.items()))
    return f"{masker.counts.total()} secrets masked" + (f": {kinds}" if kinds else "")


def _problem_lines(tally: ImportTally) -> Iterator[str]:
    for reason, problems in sorted(tally.problems.items()):
        places = [_place(problem) for problem in problems[:PLACES_SHOWN]]
        more = len(problems) - len(places)
        rest = f" and {more} more" if more else ""
        yield f"could not be read, {len(problems)} times: {reason} ({'; '.join(places)}{rest})"


def _place(problem: BadInput) -> str:
    line = f"line {problem.line}" if problem.line else ""
    return ", ".join(part for part in (problem.file, line, problem.field) if part)
