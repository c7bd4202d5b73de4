"""A rule for tests that are not about how bold it is."""

from __future__ import annotations

from typing import Any

from statecomp.controller.economics import Economics
from statecomp.controller.prices import PriceBook, shipped_prices


def paying(book: PriceBook | None = None, **changes: Any) -> Economics:
    """Replaces what pays, neither warily nor boldly."""
    plain = {"wariness": 1.0, "ahead": 3.0, "ratio": 0.3}
    return Economics(book or shipped_prices(), **{**plain, **changes})
