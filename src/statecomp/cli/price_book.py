"""The price book a person names, or the one that is shipped."""

from __future__ import annotations

from pathlib import Path

from statecomp.controller.prices import PriceBook, parse_prices, shipped_prices
from statecomp.errors import BadInput


def read_price_book(path: Path | None) -> PriceBook:
    try:
        return parse_prices(path.read_text("utf-8"), str(path)) if path else shipped_prices()
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"cannot be read: {error}", file=str(path)) from error
