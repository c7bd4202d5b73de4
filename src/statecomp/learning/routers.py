"""Which router decides: a folder of learned ones, and the name of the one in use.

A running proxy looks at the name now and then, so switching needs no restart; going back is
switching to the one before.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import NamedTemporaryFile
from threading import Lock
from time import monotonic, strftime
from typing import Any, Final

from statecomp.errors import BadInput, StateCompError
from statecomp.history.history import History
from statecomp.router.bundle import Bundle, load, save
from statecomp.router.scorer import RouterScorer
from statecomp.router.shipped import open_bundle, scorer_of

FOLDER: Final = "routers"
SHIPPED: Final = "shipped"
CHOICE, REPORT, PAGE = "in-use.json", "report.json", "report.html"
FRESH_S: Final = 2.0


@dataclass(frozen=True, slots=True)
class KeptRouter:
    """A router in the folder; `better` is what it was found to be on held-out sessions."""

    name: str
    better: bool
    created: str
    about: Mapping[str, Any]


@dataclass(frozen=True)
class Routers:
    """All routers of one user."""

    folder: Path

    def names(self) -> list[str]:
        found = self.folder.glob(f"*/{REPORT}") if self.folder.is_dir() else ()
        return sorted(path.parent.name for path in found)

    def listed(self) -> list[KeptRouter]:
        return [*map(self._shown, self.names())]

    def _shown(self, name: str) -> KeptRouter:
        try:
            return self.about(name)
        except BadInput:  # said when it is used; until then it must not hide the others
            return KeptRouter(name, better=False, created="", about={})

    def about(self, name: str) -> KeptRouter:
        if name not in (known := self.names()):
            problem = f"there is no router {name!r}; there are {', '.join(known) or 'none'}"
            raise BadInput(f"{problem}, and {SHIPPED!r}")
        path = self.folder / name / REPORT
        try:
            report = json.loads(path.read_text("utf-8"))
            return KeptRouter(name, bool(report["better"]), str(report["created"]), report)
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise BadInput(
                "is damaged; learn again, or delete its folder", file=str(path)
            ) from error

    @property
    def in_use(self) -> str:
        return self._choice().get("in_use", SHIPPED)

    @property
    def before(self) -> str:
        """The one that decided before the one in use; empty where none did."""
        return self._choice().get("before", "")

    def use(self, name: str, *, anyway: bool = False) -> None:
        """From the next decision on; one that was not found better is refused."""
        if name != SHIPPED:
            if not self.about(name).better and not anyway:
                problem = (
                    f"router {name!r} was not better than the shipped one on held-out sessions"
                )
                raise BadInput(
                    f"{problem}, so it is not switched to; --anyway does it all the same"
                )
            self.bundle(name)  # one that cannot be opened should be known now
        before = self.in_use
        if name != before:
            self._write({"in_use": name, "before": before})

    def back(self) -> str:
        """To the one before; twice is where one was."""
        before = self.before or SHIPPED
        self.use(before, anyway=True)
        return before

    def bundle(self, name: str) -> Bundle:
        return open_bundle() if name == SHIPPED else load(self.folder / name)

    def put(self, bundle: Bundle, report: Mapping[str, Any], page: str) -> str:
        """A new router under the name of its day."""
        day = strftime("%Y-%m-%d")
        taken = {*self.names()}
        name = next(
            one for n in range(1, 10_000) if (one := day if n == 1 else f"{day}.{n}") not in taken
        )
        write_router(self.folder / name, bundle, report, page)
        return name

    def _choice(self) -> dict[str, str]:
        try:
            found = json.loads((self.folder / CHOICE).read_text("utf-8"))
            return {key: str(found[key]) for key in ("in_use", "before")}
        except (OSError, ValueError, KeyError, TypeError):
            return {}

    def _write(self, choice: Mapping[str, str]) -> None:
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            with NamedTemporaryFile("w", dir=self.folder, delete=False, encoding="utf-8") as draft:
                json.dump(choice, draft)
            Path(draft.name).replace(self.folder / CHOICE)
        except OSError as error:
            raise BadInput(f"cannot be written: {error.strerror}", file=str(self.folder)) from error


def write_router(folder: Path, bundle: Bundle, report: Mapping[str, Any], page: str) -> None:
    """The report last: a folder without one holds no router."""
    try:
        save(folder, bundle)
        (folder / PAGE).write_text(page, "utf-8")
        text = json.dumps({"created": strftime("%Y-%m-%d %H:%M"), **report}, indent=1)
        (folder / REPORT).write_text(text + "\n", "utf-8")
    except OSError as error:
        raise BadInput(f"cannot be written: {error.strerror}", file=str(folder)) from error


@dataclass
class InUse:
    """The scorer of one conversation, by whatever router is in use; `name` is who said it last."""

    routers: Routers
    name: str = SHIPPED
    _scorer: RouterScorer | None = None
    _looked_s: float = field(default=-FRESH_S, repr=False)
    _lock: Lock = field(default_factory=Lock, repr=False)

    def score(self, history: History) -> Mapping[str, float]:
        return self._current().score(history)

    def _current(self) -> RouterScorer:
        with self._lock:
            if self._scorer is None or monotonic() - self._looked_s >= FRESH_S:
                self._looked_s = monotonic()
                wanted = self.routers.in_use
                if self._scorer is None or wanted != self.name:
                    self._scorer, self.name = self._opened(wanted)
            return self._scorer

    def _opened(self, wanted: str) -> tuple[RouterScorer, str]:
        """A router that cannot be opened leaves the one there was, or the shipped one."""
        try:
            return scorer_of(self.routers.bundle(wanted)), wanted
        except StateCompError:
            if self._scorer is not None:
                return self._scorer, self.name
            return scorer_of(open_bundle()), SHIPPED
