"""What tests leave behind is not searched for garbage again and again.

A worker holds some millions of objects by and by: modules, models, routers, recorded runs.  One
search through all of them takes as long as many tests, and finds nothing.
"""

from __future__ import annotations

import gc
from collections.abc import Generator
from typing import Any

import pytest


def set_aside() -> None:
    """What is garbage now goes; what is not will not be looked at again, as in a new process.

    It still goes when nothing refers to it any more, unless it refers to itself.
    """
    gc.collect()
    gc.freeze()


def pytest_collection_finish() -> None:
    set_aside()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(
    item: pytest.Item, nextitem: pytest.Item | None
) -> Generator[None, Any, Any]:
    done = yield
    if nextitem is None or nextitem.path != item.path:
        set_aside()
    return done
