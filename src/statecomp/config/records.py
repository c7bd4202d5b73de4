"""Who writes records: the extract of the package, or a model asked over HTTP."""

from __future__ import annotations

from collections.abc import Callable
from math import inf

from statecomp.config.options import Options, Settings
from statecomp.controller.prices import PriceBook
from statecomp.errors import BadInput
from statecomp.llm.extract import ExtractiveSummarizer
from statecomp.llm.side import SideAccount
from statecomp.llm.writing.summarize import ChatSummarizer
from statecomp.records import SAME, ModelRecords
from statecomp.strategy import Summarizer


def extract_of(options: Options, usual: ExtractiveSummarizer) -> ExtractiveSummarizer:
    """An extract as long as the `usual` one, unless the options say otherwise."""
    return ExtractiveSummarizer(
        budget=options.real("budget", usual.budget),
        name_worth=options.whole("name_worth", usual.name_worth),
        dense=options.whole("dense", usual.dense),
    )


def model_records(
    options: Options, settings: Settings, extract: ExtractiveSummarizer, book: PriceBook
) -> ModelRecords | None:
    """`chat:openai:MODEL[@URL]`, `chat:anthropic:MODEL[@URL]` or `same`; None for `extract`."""
    spec = options.text("records", "extract")
    name, _, rest = spec.partition(":")
    model = options.text("records_model", "")
    session = options.real("records_session", inf)
    day = options.real("records_day", inf)
    if spec == "extract":
        return None
    if name != "chat" and spec != SAME:
        problem = f"is {spec!r}; known are extract, same and chat:PROVIDER:MODEL[@URL]"
        raise BadInput(problem, field="records")
    chat = settings.chat(rest) if name == "chat" else None
    if chat is not None and model:
        raise BadInput("is for `same`; a chat names its model itself", field="records_model")
    return ModelRecords(
        extract,
        chat,
        model,
        book,
        session_dollars=session,
        day_dollars=day,
        count=settings.count,
    )


def summarizer_of(
    options: Options, settings: Settings, usual: ExtractiveSummarizer
) -> Callable[[SideAccount], Summarizer]:
    """The same for methods of others: `extract`, or a chat and nothing beside it."""
    extract = extract_of(options, usual)
    name, _, rest = options.text("records", "extract").partition(":")
    if name == "extract":
        return lambda account: extract
    if name == "chat":
        chat = settings.chat(rest)
        return lambda account: ChatSummarizer(chat, objects=False, on_side_call=account.charge)
    problem = f"is {name!r}; known are extract and chat:PROVIDER:MODEL[@URL]"
    raise BadInput(problem, field="records")
