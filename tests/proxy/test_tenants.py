"""Each tenant has a compressor and a log of its own; the store behind them is one."""

from __future__ import annotations

from statecomp.ledger.open import open_ledger
from statecomp.method import Method
from statecomp.proxy.settings import ProxySettings
from statecomp.proxy.tenants import TenantCompressors
from statecomp.testing.words import WordScorer


def test_a_new_tenant_does_not_hide_that_the_store_was_slow_for_another() -> None:
    ledger = open_ledger(":memory:")
    tenants = TenantCompressors(ProxySettings(), Method(scorer=WordScorer), ledger)
    first = tenants.of("first", "openai-chat")
    before = tenants.slow
    (log,) = tenants._logs.values()
    log._slow_until = float("inf")
    assert tenants.of("second", "openai-chat") is not first
    assert (before, tenants.slow) == (False, True)
    tenants.close()
    ledger.close()
