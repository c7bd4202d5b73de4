"""Every task of the bench: each module below that defines `TASK`.  How to write one: README.md."""

from __future__ import annotations

from fnmatch import fnmatch
from functools import cache
from importlib import import_module
from pkgutil import walk_packages

from statecomp.errors import BadInput
from statecomp_bench.task import DOMAINS, Task


@cache
def all_tasks() -> tuple[Task, ...]:
    """By domain, then by name."""
    modules = (
        import_module(found.name)
        for found in walk_packages(__path__, prefix=f"{__name__}.")
        if not found.ispkg
    )
    tasks = [task for module in modules if (task := getattr(module, "TASK", None)) is not None]
    return tuple(sorted(tasks, key=lambda task: (DOMAINS.index(task.domain), task.id)))


def tasks_like(patterns: tuple[str, ...] = ()) -> tuple[Task, ...]:
    """Tasks whose id or domain matches one of the patterns; all of them for none."""
    tasks = all_tasks()
    wanted = [pattern.lower() for pattern in patterns] or ["*"]
    found = tuple(
        task
        for task in tasks
        if any(fnmatch(task.id, p) or fnmatch(task.domain.lower(), p) for p in wanted)
    )
    if not found:
        raise BadInput(f"no task is like {', '.join(patterns)}; see `statecomp-bench tasks`")
    return found


def task_named(name: str) -> Task:
    return next(task for task in all_tasks() if task.id == name)
