"""What a study of hand-offs is on disk.

key.jsonl                     one `Handoff` a line: what stands behind each name; not for readers
moments/MOMENT/               the workspace at that moment, and history.json, all that was said
pages/NAME/view.md, .json     what the reader of this hand-off is shown
pages/NAME/box/               its own copy of the workspace, once it has begun
pages/NAME/calls.jsonl        what its reader called, and what came back
pages/NAME/finished.json      who ended it, with which words, or for which reason
assignments/NN.md             instructions for one reader, with the names it gets
results.jsonl                 what the checker said
"""

from __future__ import annotations

import fcntl
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from statecomp.errors import BadInput
from statecomp.history.interaction import JsonObject
from statecomp_bench.readers.lines import append_line, read_lines

NAME = re.compile(r"[0-9a-f]{12}")


@dataclass(frozen=True, slots=True)
class Handoff:
    """One task under one strategy, handed over after `step` of the `steps` it would have taken."""

    name: str
    task: str
    seed: int
    level: int
    point: float
    strategy: str
    step: int
    steps: int
    tokens: int
    raw: int

    @property
    def subject(self) -> str:
        """What no reader may see twice: the task, wherever it is handed over."""
        return f"{self.task}.s{self.seed}.l{self.level}"

    @property
    def moment(self) -> str:
        return moment_name(self.task, self.seed, self.level, self.point)


def moment_name(task: str, seed: int, level: int, point: float) -> str:
    return f"{task}.s{seed}.l{level}.p{round(100 * point)}"


@dataclass(frozen=True, slots=True)
class HandoffEnding:
    """How a hand-off ended.  `reason` is empty where the reader said that all is done."""

    reader: str
    words: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class CallMade:
    """One call of a reader; `again` are the tokens of its answer that had been seen before."""

    tool: str
    arguments: str
    answer: str
    tokens: int
    again: int


@dataclass(frozen=True)
class HandoffFolder:
    path: Path

    @property
    def results(self) -> Path:
        return self.path / "results.jsonl"

    def handoffs(self) -> list[Handoff]:
        return [Handoff(**line) for line in read_lines(self.path / "key.jsonl")]

    def require(self) -> list[Handoff]:
        """Those of a study that is there; a name with a typo makes no new one."""
        found = self.handoffs()
        if not found:
            raise BadInput("holds no hand-offs; make some with `prepare`", file=str(self.path))
        return found

    def named(self, name: str) -> Handoff:
        for handoff in self.require():
            if handoff.name == name:
                return handoff
        raise BadInput(f"there is no hand-off {name!r}", file=str(self.path))

    def add(self, handoff: Handoff) -> None:
        append_line(self.path / "key.jsonl", asdict(handoff))

    def moment(self, name: str) -> Path:
        return self.path / "moments" / name

    def page(self, name: str) -> Path:
        return self.path / "pages" / name

    def box(self, name: str) -> Path:
        return self.page(name) / "box"

    def view(self, name: str) -> list[JsonObject]:
        return _messages(self.page(name) / "view.json")

    def history(self, handoff: Handoff) -> list[JsonObject]:
        return _messages(self.moment(handoff.moment) / "history.json")

    def calls(self, name: str) -> list[CallMade]:
        return [CallMade(**line) for line in read_lines(self.page(name) / "calls.jsonl")]

    def ending(self, name: str) -> HandoffEnding | None:
        lines = [*read_lines(self.page(name) / "finished.json")]
        return HandoffEnding(**lines[-1]) if lines else None

    def end(self, name: str, ending: HandoffEnding) -> None:
        append_line(self.page(name) / "finished.json", asdict(ending))

    @contextmanager
    def held(self, name: str) -> Iterator[None]:
        """One call at a time: two at once would not know of each other."""
        with (self.page(name) / ".lock").open("a") as file:
            fcntl.flock(file, fcntl.LOCK_EX)  # given back by the system, whatever happens
            yield


def _messages(path: Path) -> list[JsonObject]:
    try:
        found: list[JsonObject] = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise BadInput(f"cannot be read: {error}", file=str(path)) from error
    return found
