"""The journal: every answer that was paid for, on disk before it is used.

One JSON line an answer, appended and synced.  A kill in the middle of a write leaves a last line
without its end; it is cut off when the journal is opened again, and only that question is asked
anew.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from threading import Lock
from types import TracebackType
from typing import Any

from statecomp.errors import BadInput


class Journal:
    """Answers by key; safe to share between threads, owned by one process at a time."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = Lock()
        self._entries: dict[str, Mapping[str, Any]] = {}
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
            self._load()
        except OSError as error:
            raise BadInput(f"cannot be opened: {error.strerror}", file=str(path)) from error

    def _load(self) -> None:
        with self._path.open("rb") as file:
            data = file.read()
        whole = data.rfind(b"\n") + 1
        for line, text in enumerate(data[:whole].splitlines(), start=1):
            try:
                entry = json.loads(text)
                self._entries[str(entry["key"])] = entry["value"]
            except (ValueError, KeyError, TypeError, RecursionError) as error:
                problem = "is damaged; move the journal away to start again"
                raise BadInput(problem, file=str(self._path), line=line) from error
        os.truncate(self._file, whole)
        os.lseek(self._file, whole, os.SEEK_SET)

    def __contains__(self, key: str) -> bool:
        return key in self._entries

    def __len__(self) -> int:
        return len(self._entries)

    def get(self, key: str) -> Mapping[str, Any] | None:
        return self._entries.get(key)

    def put(self, key: str, value: Mapping[str, Any]) -> None:
        """On disk when this returns; a full disk is said, and leaves the journal as it was."""
        line = json.dumps({"key": key, "value": value}).encode() + b"\n"
        with self._lock:
            start = os.lseek(self._file, 0, os.SEEK_CUR)
            try:
                _write_all(self._file, line)
                os.fsync(self._file)
            except OSError as error:
                os.truncate(self._file, start)
                os.lseek(self._file, start, os.SEEK_SET)
                problem = f"cannot be written: {error.strerror}; what was answered before is kept"
                raise BadInput(problem, file=str(self._path)) from error
            self._entries[key] = value

    def close(self) -> None:
        os.close(self._file)

    def __enter__(self) -> Journal:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def _write_all(file: int, data: bytes) -> None:
    while data:
        data = data[os.write(file, data) :]
