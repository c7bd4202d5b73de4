"""Which runs may stand in one session when routers of several folds score them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from statecomp.options import Options


@dataclass(frozen=True)
class SameRouters:
    """Tasks with an equal answer have the same unseen router in every one of these folders.

    A session has one scorer for all its runs, so that router must have seen none of their tasks.
    """

    folders: tuple[str, ...]

    def __call__(self, task: str) -> tuple[str, ...]:
        if not self.folders:
            return ()
        # Only with numpy, and then the strategies were checked before.
        from statecomp.router.shipped import unseen_router

        return tuple(unseen_router(folder, task) for folder in self.folders)


def same_routers(specs: Iterable[str]) -> SameRouters:
    """What `scorer=folds:FOLDER` in any of these strategies asks of the runs of a session."""
    return SameRouters(tuple(dict.fromkeys(filter(None, map(_folds_in, specs)))))


def _folds_in(spec: str) -> str:
    _, _, text = spec.partition(":")
    kind, _, folder = Options(spec, text).text("scorer", "").partition(":")
    return folder if kind == "folds" else ""
