"""The learned routers of this user, and a method that follows the one in use."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from statecomp.config.places import data_folder
from statecomp.errors import BadInput
from statecomp.method import Method

Given = Mapping[str, str | float | None]
SHIPPED = "shipped"


def routers_of(environ: Mapping[str, str]) -> Any:
    """`learning.routers.Routers`; None where what a router needs is not installed."""
    if not (find_spec("numpy") and find_spec("safetensors")):
        return None
    from statecomp.learning.routers import FOLDER, Routers

    return Routers(data_folder(environ) / FOLDER)


def scored_by(given: Given, router: str | None, routers: Any) -> dict[str, str | float | None]:
    """What was given, with the folder of the named router as its scorer."""
    if router is None:
        return {**given}
    if given.get("scorer"):
        raise BadInput("says the same as --scorer; give one of them", field="--router")
    if router == SHIPPED:
        return {**given, "scorer": "router:"}
    if routers is not None and router in routers.names():
        return {**given, "scorer": f"router:{routers.folder / router}"}
    if not Path(router).is_dir():
        problem = f"is {router!r}, neither a folder nor one that `statecomp routers` lists"
        raise BadInput(problem, field="router")
    return {**given, "scorer": f"router:{router}"}


def worse(router: str, routers: Any) -> bool:
    """Whether it lost to the shipped router; one that nobody compared with it did not."""
    if routers is None or router == SHIPPED:
        return False
    folder = routers.folder / router if router in routers.names() else Path(router)
    try:
        return not replace(routers, folder=folder.parent).about(folder.name).better
    except BadInput:
        return False


def must_suit(chosen: Sequence[str], mode: str) -> None:
    """Refuses two routers unless they are only compared: one alone can decide what is sent."""
    if len(chosen) > 2:
        raise BadInput(f"is given {len(chosen)} times; two can be compared", field="--router")
    if len(chosen) == 2 and mode != "observe":
        problem = "is given twice; two are compared in --mode observe, where nothing is rewritten"
        raise BadInput(problem, field="--router")
    if len({*chosen}) < len(chosen):
        raise BadInput("names the same router twice; name the other one too", field="--router")


def following(method: Method, routers: Any) -> Method:
    """Scored by whatever router is in use, also when that changes while serving."""
    if routers is None or method.scored_by != "router":
        return method
    from statecomp.learning.routers import InUse

    named = f"router {routers.in_use}"
    return replace(method, scorer=lambda: InUse(routers), scored_by=named)
