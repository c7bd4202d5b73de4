"""Who reads and who judges what; no reader gets a moment twice."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from statecomp_bench.nextsteps.folder import NextFolder
from statecomp_bench.readers.blind import dealt
from statecomp_bench.readers.lines import append_line, read_lines

TOLD = """# {count} questions, one after the other

Each is a page of its own. Read it whole (in pieces where it is long) and write your answer, one
JSON object as the page asks for, to the file beside it. Take them in this order, look at no other
file of `{folder}`, and let one page tell you nothing about another. Carry nothing out; look
nothing up.

| page | your answer |
|---|---|
{rows}
"""


@dataclass(frozen=True, slots=True)
class NextAssignment:
    who: str
    names: tuple[str, ...]


def readers(folder: NextFolder, most: int) -> list[NextAssignment]:
    """Assignments for all pages that have none."""
    pages = folder.require()
    kinds = {page.name: page.strategy for page in pages}
    return _dealt(folder, "reader", {page.name: page.moment for page in pages}, most, kinds)


def judges(folder: NextFolder, most: int) -> list[NextAssignment]:
    """Assignments for all moments that can be judged and have none."""
    return _dealt(folder, "judge", {moment: moment for moment in folder.letters()}, most)


def _dealt(
    folder: NextFolder,
    kind: str,
    pages: Mapping[str, str],
    most: int,
    kinds: Mapping[str, str] = MappingProxyType({}),
) -> list[NextAssignment]:
    file = folder.path / f"{kind}s.jsonl"
    earlier = [*read_lines(file)]
    taken = {name for line in earlier for name in line["names"]}
    left = {name: subject for name, subject in pages.items() if name not in taken}
    made = []
    for number, names in enumerate(dealt(left, most, kinds), start=len(earlier) + 1):
        made.append(NextAssignment(f"{kind}-{number:02d}", names))
        append_line(file, {"who": made[-1].who, "names": list(names)})
    return made


def instructions(
    folder: NextFolder,
    names: Sequence[str],
    page: Callable[[str], Path],
    answer: Callable[[str], Path],
) -> str:
    rows = "\n".join(f"| `{page(name)}` | `{answer(name)}` |" for name in names)
    return TOLD.format(count=len(names), folder=folder.path, rows=rows)
