"""Who reads what: instructions for readers outside, none of whom gets a task twice."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any

from statecomp_bench.environment import OUTSIDE, TOOLS
from statecomp_bench.handoffs.folder import HandoffFolder
from statecomp_bench.readers.blind import dealt
from statecomp_bench.readers.lines import append_line, read_lines

TEMPLATE = "reader.md"


@dataclass(frozen=True, slots=True)
class HandoffAssignment:
    """The names one reader gets."""

    reader: str
    names: tuple[str, ...]


def assigned(folder: HandoffFolder, most: int) -> list[HandoffAssignment]:
    """New assignments for every hand-off that has none, recorded before anybody reads them."""
    file = folder.path / "assignments.jsonl"
    earlier = [*read_lines(file)]
    taken = {name for line in earlier for name in line["names"]}
    left = [handoff for handoff in folder.require() if handoff.name not in taken]
    kinds = {handoff.name: handoff.strategy for handoff in left}
    hands = dealt({handoff.name: handoff.subject for handoff in left}, most, kinds)
    made = []
    for number, names in enumerate(hands, start=len(earlier) + 1):
        made.append(HandoffAssignment(f"reader-{number:02d}", names))
        append_line(file, {"reader": made[-1].reader, "names": list(names)})
    return made


def instructions(folder: Path, assignment: HandoffAssignment, command: str) -> str:
    """What a reader is told; `command` is how it calls the bench."""
    template = Template(files("statecomp_bench.handoffs").joinpath(TEMPLATE).read_text("utf-8"))
    return template.substitute(
        count=len(assignment.names),
        names="\n".join(f"- {name}" for name in assignment.names),
        folder=folder,
        command=command,
        reader=assignment.reader,
        tools="\n".join(_described((*TOOLS, *OUTSIDE))),
    )


def _described(tools: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    for tool in tools:
        function = tool["function"]
        parameters = function["parameters"]
        fields = (
            f"{name}{'' if name in parameters['required'] else ' (may be left out)'}: "
            f"{value['description']}"
            for name, value in parameters["properties"].items()
        )
        yield f"- `{function['name']}`: {function['description']} {' '.join(fields)}"
