"""Reading recorded runs: JSONL or JSONL.gz, one run a line, or a JSON list of messages.

Other people's files are broken in every way there is.  A bad record costs that record: the reader
says what is wrong with it, and where, and goes on with the next one.
"""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO, cast

from statecomp.errors import BadInput
from statecomp.history.trajectory import Trajectory
from statecomp.traces.format import Format
from statecomp.wire.providers import BY_NAME, detect

MAX_RECORD_BYTES = 64 * 1024 * 1024
STYLES = {"tool-calls": "openai-chat", "text-action": "text-action"}
NAME = "statecomp"
# What only a run in our own layout says of itself; request bodies have messages and a model too.
_OWN = ("style", "protocol", "scaffold", "source_repo", "outcome")


def read_runs(path: Path) -> Iterator[Trajectory | BadInput]:
    """Every record of a file in order: a run, or what is wrong with it."""
    seen = False
    for line, outcome in read_records(path):
        seen = True
        if isinstance(outcome, BadInput):
            yield outcome.at(file=str(path), line=line)
            continue
        try:
            yield run_of(outcome, source=f"{path}:{line}", default_id=f"{path.name}:{line}")
        except BadInput as problem:
            yield problem.at(file=str(path), line=line)
    if not seen:
        yield BadInput("is empty; expected one run a line", file=str(path))


def recognises(records: Sequence[Any]) -> bool:
    return any(map(_is_own, records))


def _is_own(record: Any) -> bool:
    if isinstance(record, list):
        return bool(record) and all(isinstance(m, Mapping) and "role" in m for m in record)
    return (
        isinstance(record, Mapping)
        and isinstance(record.get("messages"), list)
        and any(name in record for name in _OWN)
    )


def runs(records: Iterable[Any], source: str) -> Iterator[Trajectory | BadInput]:
    """Runs in our own layout, as they are."""
    for place, record in enumerate(records, start=1):
        try:
            yield run_of(record, source=source, default_id=f"{Path(source).name}:{place}")
        except BadInput as problem:
            yield problem.at(file=source)


def run_of(record: Any, *, source: str = "", default_id: str = "run") -> Trajectory:
    """A record in the layout of our recordings, or a bare list of messages."""
    if isinstance(record, list):
        record = {"messages": record}
    if not isinstance(record, Mapping):
        raise BadInput(f"is a JSON {_kind(record)}; expected a run or a list of messages")
    key = "input" if "input" in record and "messages" not in record else "messages"
    messages = record.get(key)
    if not isinstance(messages, list) or not messages:
        raise BadInput("is missing, or is not a list with at least one message", field=key)
    for place, message in enumerate(messages):
        if not isinstance(message, Mapping):
            raise BadInput(f"is a JSON {_kind(message)}, not an object", field=f"{key}[{place}]")
    return Trajectory(
        id=str(record.get("id") or default_id),
        messages=tuple(messages),
        protocol=_protocol(record),
        domain=str(record.get("domain") or ""),
        group=str(record.get("group") or record.get("id") or default_id),
        source=source,
        about={name: value for name, value in record.items() if name != key},
    )


def _protocol(record: Mapping[str, Any]) -> str:
    named = record.get("protocol")
    if named is not None:
        if not isinstance(named, str) or named not in BY_NAME:
            raise BadInput(f"is {named!r}; known are {', '.join(BY_NAME)}", field="protocol")
        return named
    style = record.get("style")
    if style is None:
        return detect(record)
    if not isinstance(style, str) or style not in STYLES:
        raise BadInput(f"is {style!r}; known are {', '.join(STYLES)}", field="style")
    # Recordings in other protocols say "tool-calls" too.
    return detect(record) if style == "tool-calls" else STYLES[style]


def read_records(path: Path, limit: int = MAX_RECORD_BYTES) -> Iterator[tuple[int, Any]]:
    """(line, parsed JSON or BadInput); a file that is one JSON document is one record."""
    try:
        with _opened(path) as file:
            yield from _lines(file, limit)
    except FileNotFoundError:
        yield 0, BadInput("does not exist; check the path")
    except IsADirectoryError:
        yield 0, BadInput("is a folder; name a .jsonl, .jsonl.gz or .json file")
    except (gzip.BadGzipFile, zlib.error, EOFError):
        yield 0, BadInput("is a damaged gzip file, read up to the damage")
    except OSError as error:
        yield 0, BadInput(f"cannot be read: {error.strerror or error}")


def _opened(path: Path) -> BinaryIO:
    file = path.open("rb")
    magic = file.read(2)
    file.seek(0)
    if magic == b"\x1f\x8b":
        file.close()
        return cast(BinaryIO, gzip.open(path, "rb"))
    return file


def _lines(file: BinaryIO, limit: int) -> Iterator[tuple[int, Any]]:
    number = 0
    while line := file.readline(limit + 1):
        number += 1
        if len(line) > limit:
            size = len(line) + _skip_line(file, line)
            yield number, BadInput(f"is {size:,} bytes long; records above {limit:,} are not read")
            continue
        if number == 1 and _opens_document(line):
            yield 1, _document(line, file, limit)
            return
        if line.strip():
            yield number, _parsed(line)


def _skip_line(file: BinaryIO, line: bytes) -> int:
    skipped = 0
    while line and not line.endswith(b"\n"):
        line = file.readline(1 << 20)
        skipped += len(line)
    return skipped


def _opens_document(line: bytes) -> bool:
    """A pretty-printed document starts with a line that is no JSON by itself."""
    return line.strip() in (b"[", b"{") or (
        line.lstrip()[:1] == b"[" and isinstance(_parsed(line), BadInput)
    )


def _document(head: bytes, file: BinaryIO, limit: int) -> Any:
    rest = file.read(limit + 1)
    if len(head) + len(rest) > limit:
        return BadInput(f"is longer than {limit:,} bytes; larger documents are not read")
    return _parsed(head + rest)


def _parsed(line: bytes) -> Any:
    if b"\0" in line[:4096]:
        return BadInput("is binary, not JSON")
    try:
        return json.loads(line.decode("utf-8", "surrogatepass"))
    except UnicodeDecodeError as error:
        return BadInput(f"is not UTF-8 text (byte {error.start})")
    except json.JSONDecodeError as error:
        return BadInput(f"is not valid JSON ({error.msg} at character {error.pos})")
    except RecursionError:
        return BadInput("is nested too deeply to be read")
    except ValueError:  # Python reads no more than some thousand digits
        return BadInput("holds a number that is too long to be read")


def _kind(value: Any) -> str:
    names = {dict: "object", list: "list", str: "string", bool: "boolean", type(None): "null"}
    return names.get(type(value), "number")


def read_all(paths: Sequence[Path]) -> Iterator[Trajectory | BadInput]:
    """Every record of all these files."""
    for path in paths:
        yield from read_runs(path)


FORMAT = Format(NAME, "runs in our own layout", recognises, runs)
