"""Files that take longest come first: one that began last would keep a single core busy.

`make test-times` lists the tests they hold.  All others follow in their usual order.
"""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
LONGEST = (
    "tests/workers/test_ray.py",
    "tests/adapters/test_contract.py",
    "bench/tests/test_tasks.py",
    "tests/router/test_every_plan.py",
    "tests/proxy/test_model_server_records.py",
    "tests/cli/test_router.py",
    "tests/proxy/test_faults.py",
    "tests/clients/test_real_clients.py",
    "tests/proxy/test_clients_demo.py",
    "tests/cli/test_learn.py",
    "tests/annotation/test_chat.py",
    "tests/dashboard/test_page.py",
    "tests/proxy/test_model_server.py",
    "tests/proxy/test_memory.py",
    "tests/proxy/test_shapes.py",
    "bench/tests/cli/test_ablate.py",
)
_PLACE = {ROOT / name: place for place, name in enumerate(LONGEST)}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: _PLACE.get(item.path, len(_PLACE)))
