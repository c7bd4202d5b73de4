"""Counters stay readable, whatever is added to them."""

from __future__ import annotations

import pytest

from statecomp.proxy.metrics import Metrics
from statecomp.proxy.stream import UsageReader


@pytest.mark.parametrize("number", [10**401, float("inf"), float("nan"), -(10**401)])
def test_a_number_nobody_could_have_meant_does_not_spoil_the_metrics(number: float) -> None:
    metrics = Metrics()
    metrics.add("statecomp_provider_tokens_total", 5)
    metrics.add("statecomp_provider_tokens_total", number)
    assert "statecomp_provider_tokens_total 5" in metrics.text().splitlines()


def test_a_usage_of_four_hundred_digits_counts_nothing() -> None:
    reader = UsageReader("application/json")
    reader.feed(b'{"usage":{"prompt_tokens":' + b"9" * 401 + b',"completion_tokens":5}}')
    assert (reader.finish().input, reader.usage.output) == (0, 5)
