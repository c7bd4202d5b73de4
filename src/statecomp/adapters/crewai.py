"""CrewAI: a model class of yours, sent less; what the crew remembers stays as it is.

    llm = shorter(OpenAICompletion)(model="gpt-5")      # shorter(..., recipe="careful")
    Agent(role=..., goal=..., backstory=..., llm=llm)

The native classes are in `crewai.llms.providers`.  The hook before a call would change what is
stored.
"""

from __future__ import annotations

from typing import Any, ClassVar

from statecomp.adapters.catalogue import needs
from statecomp.adapters.shortener import KEPT_ELSEWHERE, Shortener

needs("crewai")

PROTOCOL = "openai-chat"  # CrewAI's own messages, whatever it is spoken to
ELSEWHERE = ("previous_response_id", "auto_chain", "auto_chain_reasoning", "thinking")
"""With these set more is sent, or is there already, than the messages show."""


def shorter(llm_class: Any, *, shortener: Shortener | None = None, **options: Any) -> Any:
    """The class, whose `shortener` tells the savings; takes what `Shortener` takes."""
    used = shortener or Shortener("crewai", **options)

    def body(llm: Any, messages: Any, tools: Any) -> dict[str, Any]:
        given = messages if isinstance(messages, list) else []
        elsewhere = [name for name in ELSEWHERE if getattr(llm, name, None)]
        asked = {"model": str(getattr(llm, "model", "")), "messages": given, "tools": tools}
        return {**asked, KEPT_ELSEWHERE: elsewhere}

    class Shorter(llm_class):
        shortener: ClassVar[Shortener] = used

        def call(self, messages: Any, tools: Any = None, *others: Any, **more: Any) -> Any:
            made = used.checkpoint(body(self, messages, tools), PROTOCOL)
            return super().call(made.messages if made else messages, tools, *others, **more)

        async def acall(self, messages: Any, tools: Any = None, *others: Any, **more: Any) -> Any:
            made = await used.acheckpoint(body(self, messages, tools), PROTOCOL)
            return await super().acall(made.messages if made else messages, tools, *others, **more)

    Shorter.__name__ = Shorter.__qualname__ = llm_class.__name__
    return Shorter
