"""How a table calls a method."""

from __future__ import annotations

from statecomp.config.strategies import CARDS

MODEL_RECORDS = "a model's records"


def label(strategy: str) -> str:
    """The method's title and the options it was given; who wrote records is said in words."""
    name, _, options = strategy.partition(":")
    title = CARDS[name].title if name in CARDS else name
    said = ",".join(filter(None, map(_said, options.split(","))))
    return f"{title} ({said})" if said else title


def _said(option: str) -> str:
    """An option as a table shows it: no address, and not how long somebody was waited for."""
    if option.startswith("records_"):
        return ""
    return MODEL_RECORDS if option.startswith("records=chat:") else option
