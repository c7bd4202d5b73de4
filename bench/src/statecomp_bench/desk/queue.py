"""A queue of questions as files: asked, claimed for a while, answered once.

    questions/NAME.json, NAME.md    what was asked, for programs and for people
    claims/NAME                     who is at it, and until when
    answers/NAME.txt                the answer

Any program may take part that writes whole files: elsewhere first, then moved to their place.
"""

from __future__ import annotations

import fcntl
import json
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Literal

from statecomp.errors import BadInput
from statecomp.llm.replies import mapping, string
from statecomp.testing.provider.turns import Turn
from statecomp_bench.desk.question import DeskQuestion, answered, readable

State = Literal["open", "claimed", "answered", "unusable"]
NAME = re.compile(r"[0-9a-f]{24}")
UNREADABLE_S = 60.0
"""How long a claim stands that says nothing: its writer may be about to."""


@dataclass(frozen=True, slots=True)
class QueueClaim:
    """`until` is a time in seconds since 1970."""

    who: str
    until: float


@dataclass(frozen=True, slots=True)
class QueueStanding:
    """How a question stands; `who` claimed it, `problem` says why its answer is unusable."""

    name: str
    state: State
    who: str = ""
    problem: str = ""


@dataclass(frozen=True)
class Queue:
    """The files of one folder, which several programs share."""

    folder: Path
    now: Callable[[], float] = field(default=time.time, repr=False)

    def prepare(self) -> None:
        """Make the folders, and find out whether they can be written to."""
        try:
            for name in ("questions", "claims", "answers"):
                (self.folder / name).mkdir(parents=True, exist_ok=True)
                with NamedTemporaryFile(dir=self.folder / name):
                    pass
        except OSError as error:
            raise _unwritable(self.folder, error) from error

    def require(self) -> None:
        """Refuse a folder that is no desk: a name with a typo makes no new one."""
        if not (self.folder / "questions").is_dir():
            raise BadInput("is no desk; serve it first", file=str(self.folder))

    def ask(self, question: DeskQuestion) -> str:
        """The name of the question, which waits for an answer unless it has one."""
        name = question.name
        if not self.question_path(name).exists():
            # What counts comes last: a question that is listed can be read.
            _write(self.page_path(name), readable(question))
            _write(self.question_path(name), json.dumps(question.as_json(), indent=1))
        return name

    def question(self, name: str) -> DeskQuestion:
        path = self.question_path(name)
        if not NAME.fullmatch(name) or not path.exists():
            raise BadInput(f"there is no question {name!r}", file=str(self.folder))
        try:
            return DeskQuestion(**json.loads(path.read_text("utf-8")))
        except (OSError, ValueError, TypeError) as error:
            raise BadInput(f"cannot be read: {error}", file=str(path)) from error

    def answer(self, question: DeskQuestion) -> Turn | None:
        """The answer, once there is one; raises BadInput for one that cannot be used."""
        path = self.answer_path(question.name)
        try:
            return answered(path.read_text("utf-8-sig"), question)
        except FileNotFoundError:
            return None
        except BadInput as error:
            raise error.at(file=str(path)) from error
        except (OSError, UnicodeError) as error:
            raise BadInput(f"cannot be read: {error}", file=str(path)) from error

    def write_answer(self, name: str, text: str) -> None:
        """Put an answer down, if it is one; the first usable answer stands."""
        question = self.question(name)
        answered(text, question)
        with self._locked():
            if self._standing(name).state == "answered":
                raise BadInput("is answered already", field=name)
            _write(self.answer_path(name), text)

    def take(self, who: str, hold_s: float) -> str | None:
        """Claim the oldest open question; a claim whose time is over holds no longer."""
        with self._locked():
            for name in self._names():
                if self._standing(name).state == "open" and self._claim(name, who, hold_s):
                    return name
        return None

    def standings(self) -> Iterator[QueueStanding]:
        """Every question, oldest first."""
        return (self._standing(name) for name in self._names())

    def question_path(self, name: str) -> Path:
        return self.folder / "questions" / f"{name}.json"

    def page_path(self, name: str) -> Path:
        return self.folder / "questions" / f"{name}.md"

    def answer_path(self, name: str) -> Path:
        return self.folder / "answers" / f"{name}.txt"

    def claim_path(self, name: str) -> Path:
        return self.folder / "claims" / name

    def _names(self) -> list[str]:
        files = [p for p in (self.folder / "questions").glob("*.json") if NAME.fullmatch(p.stem)]
        return [p.stem for p in sorted(files, key=lambda p: (p.stat().st_mtime_ns, p.stem))]

    def _standing(self, name: str) -> QueueStanding:
        claim = self._claimed(name)
        who = claim.who if claim else ""
        if self.answer_path(name).exists():
            try:
                self.answer(self.question(name))
            except BadInput as error:
                return QueueStanding(name, "unusable", who, str(error))
            return QueueStanding(name, "answered", who)
        if claim is None or claim.until <= self.now():
            return QueueStanding(name, "open")
        return QueueStanding(name, "claimed", who)

    def _claimed(self, name: str) -> QueueClaim | None:
        path = self.claim_path(name)
        try:
            said = mapping(json.loads(path.read_text("utf-8")))
            return QueueClaim(string(said.get("name")) or "?", float(said["until"]))
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError, TypeError):
            return QueueClaim("?", path.stat().st_mtime + UNREADABLE_S)

    def _claim(self, name: str, who: str, hold_s: float) -> bool:
        """Whether the claim is ours; another program may have been faster."""
        path = self.claim_path(name)
        path.unlink(missing_ok=True)  # known to be over, and the lock is ours
        try:
            with path.open("x", encoding="utf-8") as file:
                json.dump({"name": who, "until": self.now() + hold_s}, file)
        except FileExistsError:
            return False
        return True

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """One at a time: two who find the same claim over must not both take it."""
        try:
            with (self.folder / "claims" / ".lock").open("a") as file:
                fcntl.flock(file, fcntl.LOCK_EX)  # given back by the system, whatever happens
                yield
        except OSError as error:
            raise _unwritable(self.folder, error) from error


def _write(path: Path, text: str) -> None:
    """All of it or none of it: a reader never sees half a file."""
    temporary = ""
    try:
        # Recorded tool output holds lone surrogates, which UTF-8 cannot carry.
        with NamedTemporaryFile(
            "w", encoding="utf-8", errors="replace", dir=path.parent, suffix=".part", delete=False
        ) as file:
            temporary = file.name
            file.write(text)
        Path(temporary).replace(path)
    except OSError as error:
        if temporary:
            Path(temporary).unlink(missing_ok=True)
        raise _unwritable(path, error) from error


def _unwritable(path: Path, error: OSError) -> BadInput:
    return BadInput(f"cannot be written: {error.strerror}", file=str(path))
