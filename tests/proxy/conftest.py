"""One proxy for all tests of a file, and a tenant of it for each of them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.proxy.serving import Proxied, proxied


@pytest.fixture(scope="module")
def everyone() -> Iterator[Proxied]:
    with proxied() as shared:
        yield shared


@pytest.fixture
def proxy(everyone: Proxied) -> Proxied:
    return everyone.tenant()
