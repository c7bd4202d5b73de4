"""Who writes records: the extract of the package, or a model asked over HTTP."""

from __future__ import annotations

from math import inf

from statecomp.controller.prices import PriceBook
from statecomp.errors import BadInput
from statecomp.options import Options, Settings, record_wait_of
from statecomp.records.extract import ExtractiveSummarizer
from statecomp.writers import SAME, ModelRecords

SESSION_DOLLARS, DAY_DOLLARS = 1.0, 10.0
"""What records by a model may cost whoever serves and says nothing else."""


def model_records(
    options: Options,
    settings: Settings,
    extract: ExtractiveSummarizer,
    book: PriceBook,
    *,
    serves: bool = False,
) -> ModelRecords | None:
    """`chat:openai:MODEL[@URL]`, `chat:anthropic:MODEL[@URL]` or `same`; None for `extract`."""
    spec = options.text("records", "extract")
    name, _, rest = spec.partition(":")
    if spec == "extract":
        for key in ("records_session", "records_day", "records_wait"):
            if key in options:
                raise BadInput("is for records by a model; extracts cost nothing", field=key)
    model = options.text("records_model", "")
    session = _dollars(options, "records_session", SESSION_DOLLARS if serves else inf)
    day = _dollars(options, "records_day", DAY_DOLLARS if serves else inf)
    deadline_s = record_wait_of(options)
    if model and spec != SAME:
        raise BadInput("is for records=same; a chat names its model itself", field="records_model")
    if spec == "extract":
        return None
    if name != "chat" and spec != SAME:
        problem = f"is {spec!r}; known are extract, same and chat:PROVIDER:MODEL[@URL]"
        raise BadInput(problem, field="records")
    chat = settings.chat(rest) if name == "chat" else None
    return ModelRecords(
        extract,
        chat,
        model,
        book,
        session_dollars=session,
        day_dollars=day,
        deadline_s=deadline_s,
        count=settings.count,
    )


def _dollars(options: Options, key: str, usual: float) -> float:
    dollars = options.real(key, usual)
    if dollars < 0:
        raise BadInput(f"must be dollars, 0 or more, not {dollars:g}", field=key)
    return dollars
