"""The economic inequality of a commit in words, with its numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields
from math import isfinite
from typing import Any

from statecomp.strategy import Ruling

_CACHE = {
    "warm": "the provider's cache was warm",
    "cold": "the provider's cache had run out, so nothing in it was lost",
    "none": "this model has no prompt cache, so every token is billed in full each time",
}
_TOLD = {field.name for field in fields(Ruling)} | {"net_dollars", "text"}
NO_GATE = (
    "No economic gate was in force: the span was replaced because it was scored READY, long and "
    "large enough."
)


def gate_words(ruling: Mapping[str, Any]) -> dict[str, Any]:
    """Sentences for people, the two sides of the inequality, and what is not known here."""
    saving, margin = _number(ruling, "saving_dollars"), _number(ruling, "margin")
    rest = [[name, _value(value)] for name, value in ruling.items() if name not in _TOLD]
    if saving is None or margin is None:
        told = str(ruling.get("text") or (NO_GATE if not ruling else "The numbers were not kept."))
        return {"verdict": told, "lines": [], "saving": None, "cost": None, "rest": rest}
    asked = margin * _cost(ruling)
    return {
        "verdict": _verdict(ruling, saving, asked),
        "lines": list(_lines(ruling)),
        "saving": saving,
        "cost": asked,
        "rest": rest,
    }


def money(amount: float) -> str:
    """Dollars with enough digits for what one request costs; negative as negative."""
    size = abs(amount)
    digits = 2 if size >= 100 else 4 if size >= 0.01 or size == 0 else 6
    return f"{'−' if amount < 0 else ''}${size:,.{digits}f}"


def _verdict(ruling: Mapping[str, Any], saving: float, asked: float) -> str:
    margin = f"{_number(ruling, 'margin'):g}"
    if ruling.get("forced"):
        return "Forced: the context window was nearly full, so whatever shortens was done."
    sides = f"{money(saving)} saved, {money(asked)} asked ({margin} × the cost)"
    if not ruling.get("commit"):
        return f"Did not pay yet: {sides}."
    if saving > asked:
        return f"It pays: {sides}."
    return (
        f"It pays: {money(saving)} saved; the summary had been written and paid for already, and "
        "decided nothing."
    )


def _lines(ruling: Mapping[str, Any]) -> Iterator[str]:
    spans = int(_number(ruling, "spans") or 1)
    if spans > 1:
        yield f"One rewrite replaced {spans} spans together, so the cache is broken once."
    yield (
        f"Saving: {_count(ruling, 'saved_tokens')} tokens fewer in each of "
        f"{_number(ruling, 'requests') or 0:.1f} expected requests, "
        f"{money(_number(ruling, 'saving_dollars') or 0)} at the price they would be billed at."
    )
    yield (
        f"Cost: {_count(ruling, 'rewritten_tokens')} tokens behind the first change are written to "
        f"the cache again, {money(_number(ruling, 'rebilling_dollars') or 0)}; summaries "
        f"{money(_number(ruling, 'summary_dollars') or 0)}."
    )
    cache = _CACHE.get(str(ruling.get("cache")))
    told = f"When it was decided, {cache}" if cache else "The state of the cache is not known"
    prices = f"; prices are those of {ruling['prices']}" if ruling.get("prices") else ""
    yield f"{told}{prices}."
    if (net := _number(ruling, "net_dollars")) is not None:
        yield f"Expected net effect: {money(net)}."


def _cost(ruling: Mapping[str, Any]) -> float:
    parts = (_number(ruling, name) for name in ("rebilling_dollars", "summary_dollars"))
    return sum(part or 0.0 for part in parts)


def _number(ruling: Mapping[str, Any], name: str) -> float | None:
    value = ruling.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value):
        return None
    return value


def _count(ruling: Mapping[str, Any], name: str) -> str:
    return f"{_number(ruling, name) or 0:,.0f}"


def _value(value: Any) -> str:
    return f"{value:,.6g}" if isinstance(value, float) else str(value)
