"""The two task sets: all 260 tasks, known here by their number in each domain, and Eval40."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from types import MappingProxyType

FULL260, EVAL40 = "full260", "eval40"
# Harbor cuts the task's name in the name of a trial's folder to this many characters.
CUT = 32


@dataclass(frozen=True)
class Domain:
    """A quarter of the benchmark; `subset` is the framework's word for it."""

    name: str
    subset: str
    tasks: int

    @property
    def dataset(self) -> str:
        return f"wb-bench-{self.subset}-v1.0"


DOMAINS = (
    Domain("Code", "code", 80),
    Domain("Office", "office", 50),
    Domain("Security", "sec", 60),
    Domain("Web", "web", 70),
)


@cache
def eval40() -> Mapping[str, tuple[str, ...]]:
    """The fixed task ids of appendix G, by domain."""
    text = files("statecomp_bench.workbuddy").joinpath("eval40.toml").read_text("utf-8")
    return MappingProxyType({name: tuple(ids) for name, ids in tomllib.loads(text).items()})


@cache
def eval40_domains() -> Mapping[str, str]:
    return MappingProxyType({task: name for name, ids in eval40().items() for task in ids})


def whole_name(name: str) -> str:
    """A name as the dataset has it, where a cut one is the beginning of a single Eval40 id."""
    if len(name) != CUT or name in eval40_domains():
        return name
    found = [task for task in eval40_domains() if task.startswith(name)]
    return found[0] if len(found) == 1 else name
