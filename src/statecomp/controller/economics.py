"""What tokens cost: a price book per model, dated and editable."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from importlib.resources import files
from typing import Any

from statecomp.errors import BadInput

MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class Prices:
    """Dollars per million tokens of one model, as of a day."""

    model: str
    as_of: date
    input: float
    cached: float
    write: float
    output: float
    ttl_s: int

    def dollars(self, *, fresh: int = 0, cached: int = 0, output: int = 0) -> float:
        """A request under prefix caching: what is fresh is written to the cache as it is read."""
        cost = fresh * self.write + cached * self.cached + output * self.output
        return cost / MILLION

    def side_dollars(self, input_tokens: int, output_tokens: int) -> float:
        """A side call shares no prefix with anything: no cache read, no cache write."""
        return (input_tokens * self.input + output_tokens * self.output) / MILLION


@dataclass(frozen=True)
class PriceBook:
    models: Mapping[str, Prices]
    default: str

    def of(self, model: str = "") -> Prices:
        name = model or self.default
        if name not in self.models:
            known = ", ".join(self.models)
            raise BadInput(f"has no prices; known are {known}", field=f"model {name!r}")
        return self.models[name]


def parse_prices(text: str, source: str = "prices.toml") -> PriceBook:
    try:
        document = tomllib.loads(text)
        models = {name: _prices(name, entry) for name, entry in document["models"].items()}
        default = document.get("default", {}).get("model") or next(iter(models))
    except (tomllib.TOMLDecodeError, KeyError, TypeError, ValueError, StopIteration) as error:
        raise BadInput(f"is not a price book: {error!r}", file=source) from error
    return PriceBook(models, default)


def shipped_prices() -> PriceBook:
    return parse_prices(files("statecomp").joinpath("prices.toml").read_text("utf-8"))


def _prices(name: str, entry: Mapping[str, Any]) -> Prices:
    return Prices(
        model=name,
        as_of=entry["as_of"],
        input=float(entry["input"]),
        cached=float(entry["cached"]),
        write=float(entry["write"]),
        output=float(entry["output"]),
        ttl_s=int(entry["ttl_s"]),
    )
