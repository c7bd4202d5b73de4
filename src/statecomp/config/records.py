"""Who writes records: the extract of the package, or a model asked over HTTP."""

from __future__ import annotations

from math import inf

from statecomp.controller.prices import PriceBook
from statecomp.errors import BadInput
from statecomp.options import Options, Settings, record_wait_of
from statecomp.records.extract import ExtractiveSummarizer
from statecomp.writers import SAME, ModelRecords


def model_records(
    options: Options, settings: Settings, extract: ExtractiveSummarizer, book: PriceBook
) -> ModelRecords | None:
    """`chat:openai:MODEL[@URL]`, `chat:anthropic:MODEL[@URL]` or `same`; None for `extract`."""
    spec = options.text("records", "extract")
    name, _, rest = spec.partition(":")
    model = options.text("records_model", "")
    session = options.real("records_session", inf)
    day = options.real("records_day", inf)
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
