"""What tokens cost: a price book by model, dated and editable, and how each provider caches."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import date
from importlib.resources import files
from typing import Any

from statecomp.errors import BadInput
from statecomp.llm.side import SideCall

MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class Prices:
    """Dollars per million tokens of one model, as of a day, and how its provider caches.

    A prefix shorter than `least_cached` tokens is not cached at all, a longer one in whole blocks
    of `cache_block` tokens.  An entry nobody has used for `ttl_s` seconds is gone; `long_write` is
    what a write costs that lives longer, where the provider sells one.
    """

    model: str
    as_of: date
    input: float
    cached: float
    write: float
    output: float
    ttl_s: int
    least_cached: int = 1024
    cache_block: int = 1
    long_write: float | None = None
    sibling: str = ""  # a cheaper model of the same provider, for records
    source: str = ""  # how the figures are known

    def readable(self, prefix_tokens: int) -> int:
        """How much of an unchanged prefix comes from the cache."""
        if prefix_tokens < self.least_cached:
            return 0
        return prefix_tokens - prefix_tokens % self.cache_block

    def dollars(self, *, input_tokens: int, unchanged: int = 0, output_tokens: int = 0) -> float:
        """One request whose first `unchanged` tokens stood in the request before it.

        What is not read from the cache is written to it, if the request is long enough to cache.
        """
        read = self.readable(unchanged)
        fresh = self.write if input_tokens >= self.least_cached else self.input
        cost = read * self.cached + (input_tokens - read) * fresh + output_tokens * self.output
        return cost / MILLION

    def side_dollars(self, input_tokens: int, output_tokens: int, cached_tokens: int = 0) -> float:
        """A side call shares nothing with the agent's requests, at most instructions with others.

        `cached_tokens` are those of the input that came from a cache, as far as a provider said so.
        """
        fresh = (input_tokens - cached_tokens) * self.input + cached_tokens * self.cached
        return (fresh + output_tokens * self.output) / MILLION

    def uncached(self) -> Prices:
        """The same model asked by a client that does not use the cache."""
        return replace(self, cached=self.input, write=self.input, ttl_s=0)

    def lasting(self, ttl_s: float) -> Prices:
        """The same model asked by a client that wants its cache entries to live so long."""
        write = self.write if self.long_write is None or ttl_s <= self.ttl_s else self.long_write
        return replace(self, write=write, ttl_s=int(ttl_s))


def side_dollars(calls: Iterable[SideCall], acting: Prices) -> float:
    """What side calls cost: each its own dollars, else as if the acting model had been asked."""
    return sum(
        acting.side_dollars(call.input_tokens, call.output_tokens)
        if call.dollars is None
        else call.dollars
        for call in calls
    )


@dataclass(frozen=True)
class PriceBook:
    """Prices by model; `default` is the model that stands for those nobody has priced."""

    models: Mapping[str, Prices]
    default: str

    def of(self, model: str = "") -> Prices:
        """The prices of this very model, or of the default; BadInput where there are none."""
        name = model or self.default
        if name not in self.models:
            known = ", ".join(self.models)
            raise BadInput(f"has no prices; known are {known}", field=f"model {name!r}")
        return self.models[name]

    def sibling(self, model: str) -> str:
        """A cheaper model for records: one the book names, or this very model.

        Named as the request names its own: a gateway tells providers by what stands before them.
        """
        prices = self.nearest(model)
        if not prices.sibling or prices.model not in model:
            return model
        gateway, slash, _ = model.rpartition("/")
        return prices.sibling if "/" in prices.sibling else gateway + slash + prices.sibling

    def nearest(self, model: str) -> Prices:
        """The entry whose name is the longest part of a full model name, or the default's.

        Requests name models as providers do, with dates and prefixes; a request must not fail
        because of that, and the entry says by its name whose prices it holds.
        """
        names = [name for name in self.models if name in model]
        return self.models[max(names, key=len, default=self.default)]


def parse_prices(text: str, source: str = "prices.toml") -> PriceBook:
    try:
        document = tomllib.loads(text)
        models = {name: _prices(name, entry) for name, entry in document["models"].items()}
        default = document.get("default", {}).get("model") or next(iter(models))
    except (tomllib.TOMLDecodeError, KeyError, TypeError, ValueError, StopIteration) as error:
        problem = f"is not a price book like the shipped prices.toml ({error})"
        raise BadInput(problem, file=source) from error
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
        least_cached=int(entry.get("least_cached", 1024)),
        cache_block=max(1, int(entry.get("cache_block", 1))),
        long_write=float(entry["long_write"]) if "long_write" in entry else None,
        sibling=str(entry.get("sibling", "")),
        source=str(entry.get("source", "")),
    )
