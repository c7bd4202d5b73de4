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
NAMES = {"router", "writer"}
"""Who scored and who wrote; they decide nothing."""
_TOLD = {field.name for field in fields(Ruling)} | {"net_dollars", "text", *NAMES}
_COSTS = ("rebilling_dollars", "summary_dollars")
NO_GATE = (
    "No economic gate was in force: the span was replaced because it was scored READY, long and "
    "large enough."
)


def gate_words(ruling: Mapping[str, Any]) -> dict[str, Any]:
    """Sentences for people, the two sides of the inequality, and what is not known here."""
    saving = _number(ruling, "saving_dollars")
    rest = [[name, _value(value)] for name, value in ruling.items() if name not in _TOLD]
    if saving is None:
        none = ruling.keys() <= NAMES
        told = str(ruling.get("text") or (NO_GATE if none else "The numbers were not kept."))
        return {"verdict": told, "lines": [], "saving": None, "cost": None, "rest": rest}
    cost = sum(_number(ruling, name) or 0.0 for name in _COSTS)
    return {
        "verdict": _verdict(ruling, saving, cost),
        "lines": list(_lines(ruling)),
        "saving": saving,
        "cost": cost,
        "rest": rest,
    }


def money(amount: float) -> str:
    """Dollars with enough digits for what one request costs; negative as negative."""
    size = abs(amount)
    digits = 2 if size >= 100 else 4 if size >= 0.01 or size == 0 else 6
    return f"{'−' if amount < 0 else ''}${size:,.{digits}f}"


def _verdict(ruling: Mapping[str, Any], saving: float, cost: float) -> str:
    if ruling.get("forced"):
        return "Forced: the context window was nearly full, so whatever shortens was done."
    sides = f"{money(saving)} for carrying it, {money(cost)} for replacing it"
    if not ruling.get("commit"):
        when = _number(ruling, "pays_at")
        later = f"; it would from about request {when:.0f} on" if when else ""
        return f"Did not pay yet: {sides}{later}."
    if saving > cost:
        return f"It pays: {sides}."
    return (
        f"It pays: {money(saving)} for carrying it; the summary had been written and paid for "
        "already, and decided nothing."
    )


def _lines(ruling: Mapping[str, Any]) -> Iterator[str]:
    spans = int(_number(ruling, "spans") or 1)
    if spans > 1:
        yield f"One rewrite replaced {spans} spans together, so the cache is broken once."
    yield (
        f"Carrying: {_count(ruling, 'saved_tokens')} tokens in each of "
        f"{_number(ruling, 'requests') or 0:.1f} requests (those that sent them already, and some "
        f"of those expected), {_dollars(ruling, 'saving_dollars')} at the price they are billed at."
    )
    yield (
        f"Replacing: {_count(ruling, 'rewritten_tokens')} tokens behind the first change are "
        f"written to the cache again, {_dollars(ruling, 'rebilling_dollars')}; summaries "
        f"{_dollars(ruling, 'summary_dollars')}."
    )
    if (risk := _number(ruling, "risk_dollars")) is not None:
        yield (
            f"Risk: {money(risk)}, the chance that the agent needs an original again times what "
            "that counts; each step was found worth it before."
        )
    cache = _CACHE.get(str(ruling.get("cache")))
    told = f"When it was decided, {cache}" if cache else "The state of the cache is not known"
    prices = f"; prices are those of {ruling['prices']}" if ruling.get("prices") else ""
    yield f"{told}{prices}."
    if (net := _number(ruling, "net_dollars")) is not None:
        yield f"Expected net effect: {money(net)}."


def _number(ruling: Mapping[str, Any], name: str) -> float | None:
    value = ruling.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value):
        return None
    return value


def _count(ruling: Mapping[str, Any], name: str) -> str:
    return f"{_number(ruling, name) or 0:,.0f}"


def _dollars(ruling: Mapping[str, Any], name: str) -> str:
    return money(_number(ruling, name) or 0.0)


def _value(value: Any) -> str:
    return f"{value:,.6g}" if isinstance(value, float) else str(value)
