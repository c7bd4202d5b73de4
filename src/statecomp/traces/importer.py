"""From files and folders of other tools' recordings to runs in our layout, one at a time.

A file that cannot be read costs that file, a line that line.  Everything refused comes out as the
BadInput that says where and why; nothing is passed over in silence.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from pathlib import Path
from typing import Any

from statecomp.errors import BadInput
from statecomp.history.identity import canonical, digest
from statecomp.history.trajectory import Trajectory
from statecomp.traces.format import Format, Source
from statecomp.traces.formats import FORMATS, format_of
from statecomp.traces.jsonl import read_records, run_of
from statecomp.traces.records import as_record, mapping
from statecomp.traces.secrets import Masker
from statecomp.wire.providers import wire_named

HEAD = 64  # values looked at to tell a format
_ZSTD = b"\x28\xb5\x2f\xfd"
_JSON_STARTS = (b"{", b"[", b"\x1f\x8b", _ZSTD)


@dataclass(slots=True)
class ImportTally:
    """What was read, by format; what was seen and not understood; what could not be read."""

    runs: Counter[str] = field(default_factory=Counter)
    messages: int = 0
    interactions: int = 0
    repeated: int = 0
    passed_over: int = 0
    unknown: Counter[str] = field(default_factory=Counter)
    problems: dict[str, list[BadInput]] = field(default_factory=dict)

    def refuse(self, problem: BadInput) -> None:
        reason = re.sub(r" \(.*\)|[\d,]*\d", "", problem.problem)
        self.problems.setdefault(" ".join(reason.split()), []).append(problem)


@dataclass(slots=True)
class Importer:
    """Reads sources into records to be written; `masker` is None where secrets are kept."""

    masker: Masker | None = field(default_factory=Masker)
    chosen: Format | None = None
    domain: str = ""
    tally: ImportTally = field(default_factory=ImportTally)
    _known: dict[str, str] = field(default_factory=dict)

    def sources(self, paths: Sequence[Path]) -> list[Source]:
        """The recordings in files and folders, in a stable order."""
        found: dict[Path, Source] = {}
        for path in paths:
            for source in self._folder(path) if path.is_dir() else [Source(path, (path,))]:
                found.setdefault(source.path, source)
        return list(found.values())

    def records(self, sources: Iterable[Source]) -> Iterator[list[dict[str, Any]]]:
        """For each source the records of its runs; what was refused is in the tally."""
        for source in sources:
            yield [
                record for run in self._runs(source) if (record := self._record(run)) is not None
            ]

    def _folder(self, folder: Path) -> Iterator[Source]:
        files = sorted((p for p in folder.rglob("*") if p.is_file()), key=_natural)
        readable = [path for path in files if _starts_as_json(path)]
        self.tally.passed_over += len(files) - len(readable)
        taken: set[Path] = set()
        for form in FORMATS:
            gathered = form.gather([path for path in readable if path not in taken])
            self.tally.repeated += len(gathered.repeated)
            taken |= {path for source in gathered.sources for path in source.files}
            taken |= gathered.repeated
            yield from gathered.sources
        yield from (Source(path, (path,)) for path in readable if path not in taken)

    def _runs(self, source: Source) -> Iterator[tuple[str, Trajectory]]:
        values = self._values(source)
        head = list(islice(values, HEAD))
        # A JSON document that is a list is the same as its items, a line each.
        items = head[0] if len(head) == 1 and isinstance(head[0], list) else head
        name = str(source.path)
        chosen = self.chosen or format_of(items) or format_of(head)
        if chosen is None:
            if head:
                told = "is in no format we know; say which with --format"
                self.tally.refuse(BadInput(told, file=name))
            return
        whole = head if items is not head and not chosen.recognises(items) else items
        try:
            for outcome in chosen.runs(chain(whole, values), name):
                if isinstance(outcome, BadInput):
                    self.tally.refuse(outcome.at(file=name))
                else:
                    yield chosen.name, outcome
        except BadInput as problem:
            self.tally.refuse(problem.at(file=name))

    def _values(self, source: Source) -> Iterator[Any]:
        empty = True
        for path in source.files:
            for line, value in _read(path):
                empty = False
                if not isinstance(value, BadInput | Mapping | list):
                    value = BadInput("is JSON, but neither an object nor a list")
                if isinstance(value, BadInput):
                    self.tally.refuse(value.at(file=str(path), line=line))
                else:
                    yield value
        if empty:
            self.tally.refuse(BadInput("is empty", file=str(source.path)))

    def _record(self, found: tuple[str, Trajectory]) -> dict[str, Any] | None:
        """The record to write for a run; None where it was had already, or no wire can read it."""
        name, run = found
        try:
            record = as_record(replace(run, domain=run.domain or self.domain))
            record = self.masker.masked(record) if self.masker else record
            fresh = self._fresh(record)
            if fresh is not None:
                self._count(name, run_of(fresh))
        except BadInput as problem:
            self.tally.refuse(problem.at(file=run.source))
            return None
        except RecursionError:
            self.tally.refuse(BadInput("is nested too deeply to be read", file=run.source))
            return None
        return fresh

    def _fresh(self, record: dict[str, Any]) -> dict[str, Any] | None:
        """The record under an id of its own; None where the same was imported before."""
        content = digest(canonical(record["messages"]))
        name = str(record["id"])
        if self._known.get(name, content) != content:
            # A copy that went on differently, as a resumed session does.
            name = f"{name}-{content[:8]}"
        if name in self._known:
            self.tally.repeated += 1
            return None
        self._known[name] = content
        return {**record, "id": name}

    def _count(self, name: str, run: Trajectory) -> None:
        groups = list(wire_named(run.protocol).groups(run.messages))
        self.tally.runs[name] += 1
        self.tally.messages += len(run.messages)
        self.tally.interactions += sum(1 for group in groups if not group.role)
        unknown = mapping(mapping(run.about.get("recorded")).get("unknown"))
        self.tally.unknown.update({str(kind): int(n) for kind, n in unknown.items()})


def _natural(path: Path) -> list[Any]:
    """Event files are numbered, and 10 comes behind 9."""
    parts = re.split(r"(\d{1,18})", str(path))
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in parts]


def _starts_as_json(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(256).lstrip(b"\xef\xbb\xbf \t\r\n").startswith(_JSON_STARTS)
    except OSError:
        return True  # reading it says what is wrong


def _read(path: Path) -> Iterator[tuple[int, Any]]:
    try:
        with path.open("rb") as file:
            packed = file.read(4) == _ZSTD
    except OSError:
        packed = False
    if packed:
        yield 0, BadInput("is compressed with zstd; unpack it first (zstd -d FILE)")
        return
    yield from read_records(path)
