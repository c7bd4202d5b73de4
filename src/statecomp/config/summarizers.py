"""What writes summaries: the extractive one of the package, or a model asked over HTTP."""

from __future__ import annotations

from collections.abc import Callable

from statecomp.config.options import Options, Settings
from statecomp.errors import BadInput
from statecomp.llm.extract import ExtractiveSummarizer
from statecomp.llm.side import SideAccount
from statecomp.llm.summarize import ChatSummarizer
from statecomp.strategy import Summarizer


def summarizer_of(
    spec: str, options: Options, settings: Settings, usual: ExtractiveSummarizer
) -> Callable[[SideAccount], Summarizer]:
    """`extractive` (no model), or `chat:openai:MODEL[@URL]` / `chat:anthropic:MODEL[@URL]`.

    An extract is as long as the `usual` one, unless the options say otherwise.
    """
    name, _, rest = spec.partition(":")
    if name == "extractive":
        summarizer = ExtractiveSummarizer(
            budget=options.real("budget", usual.budget),
            name_worth=options.whole("name_worth", usual.name_worth),
            dense=options.whole("dense", usual.dense),
        )
        return lambda account: summarizer
    if name == "chat":
        chat = settings.chat(rest)
        return lambda account: ChatSummarizer(chat, on_side_call=account.charge)
    problem = f"is {name!r}; known are extractive and chat:openai:MODEL"
    raise BadInput(problem, field="summarizer")
