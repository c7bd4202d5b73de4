"""What each test costs in processor time, its child processes counted: `--processor`.

Wall-clock times of a busy machine say who else was running.  These say what a quiet one would need.
What the whole run took is told behind every run, with the loading of tests and what they share.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Generator
from typing import Any

import pytest

DEAREST = 20
COST = "processor_s"
_SINCE = pytest.StashKey[float]()
_WORKERS = pytest.StashKey[list[float]]()


def spent_s() -> float:
    """Of this process so far, and of those it has waited for."""
    return sum(os.times()[:4])


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--processor", action="store_true", help="List the dearest tests.")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, Any, Any]:
    item.stash[_SINCE] = spent_s()
    return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, Any, Any]:
    report = yield
    now = spent_s()
    # A list of its own: the item's is shared by the reports of all three phases.
    report.user_properties = [*report.user_properties, (COST, now - item.stash[_SINCE])]
    item.stash[_SINCE] = now
    return report


def pytest_sessionfinish(session: pytest.Session) -> None:
    told = getattr(session.config, "workeroutput", None)
    if told is not None:  # a worker of pytest-xdist
        told[COST] = spent_s()


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any, error: object) -> None:
    told = getattr(node, "workeroutput", {})
    node.config.stash.setdefault(_WORKERS, []).append(told.get(COST, 0.0))


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    if config.getoption("--processor"):
        _list_dearest(terminalreporter)
    # A worker may have been waited for by now; then it is counted among the children.
    children = sum(os.times()[2:4])
    workers: list[float] = config.stash.get(_WORKERS, [])
    total = spent_s() - children + max(children, sum(workers))
    terminalreporter.write_line(f"{total / 60:.1f} minutes of one processor core")


def _list_dearest(terminalreporter: Any) -> None:
    costs: Counter[str] = Counter()
    for reports in terminalreporter.stats.values():
        for report in reports:
            for name, value in getattr(report, "user_properties", ()):
                if name == COST:
                    costs[report.nodeid] += value
    terminalreporter.section(f"{DEAREST} dearest tests, in processor seconds")
    for name, seconds in costs.most_common(DEAREST):
        terminalreporter.write_line(f"{seconds:7.2f}  {name}")
    total = sum(costs.values())
    terminalreporter.write_line(f"{total:7.1f}  all, or {total / 60:.1f} minutes of one core")
