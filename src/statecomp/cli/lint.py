"""`statecomp lint`: does a provider accept these messages?"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import click

from statecomp.errors import BadInput
from statecomp.history.trajectory import Trajectory
from statecomp.traces.jsonl import read_all
from statecomp.wire.protocol import Violation
from statecomp.wire.providers import BY_NAME, wire_named


@click.command()
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--protocol",
    type=click.Choice(sorted(BY_NAME)),
    help="The wire protocol; found by content when not given.",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object a violation.")
def lint(files: tuple[Path, ...], protocol: str | None, as_json: bool) -> None:
    """Check request bodies and recorded runs against the rules of their wire protocol.

    FILES hold a request body, a list of messages, or one of either a line (JSONL, also gzipped).
    Knows OpenAI chat completions, OpenAI Responses, Anthropic Messages and text-action runs: tool
    calls and results in pairs and in place, reasoning with what it produced, roles, cache markers.

    \b
    Exit code 0: nothing found.  1: violations.  2: a file could not be read.

    \b
    Examples:
      statecomp lint request.json
      statecomp lint runs.jsonl.gz --json
    """
    found = 0
    for run in read_all(files):
        if isinstance(run, BadInput):
            raise run
        for violation in violations(run, protocol or run.protocol):
            found += 1
            click.echo(_line(run, violation, as_json))
    if found:
        raise click.exceptions.Exit(1)


def violations(run: Trajectory, protocol: str) -> Iterator[Violation]:
    """What a provider would refuse.  A recording may end inside a tool call; a request may not."""
    found = wire_named(protocol).check(run.messages)
    if "model" in run.about and "style" not in run.about:
        yield from found
        return
    asked = range(len(run.messages))
    last = max((p for p in asked if run.messages[p].get("role") == "assistant"), default=-1)
    for violation in found:
        if violation.rule != "unanswered-call" or f"[{last}]" not in violation.place:
            yield violation


def _line(run: Trajectory, violation: Violation, as_json: bool) -> str:
    if as_json:
        return json.dumps({"source": run.source, "id": run.id, **asdict(violation)})
    return f"{run.source}: {violation}"
