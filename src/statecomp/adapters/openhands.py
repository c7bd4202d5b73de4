"""OpenHands SDK: a condenser that returns a view for this call, never a condensation to store.

    Agent(llm=llm, tools=tools, condenser=StateCompCondenser())

Saved conversations name the condenser by its kind: import this module before one is resumed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from statecomp.adapters.account import Savings
from statecomp.adapters.catalogue import needs
from statecomp.adapters.shortener import Shortener
from statecomp.history.interaction import JsonObject
from statecomp.wire.content import text_of

needs("openhands")

from openhands.sdk.context.condenser.base import CondenserBase  # noqa: E402  what is missing first
from openhands.sdk.context.view import View  # noqa: E402
from openhands.sdk.event import ActionEvent, LLMConvertibleEvent  # noqa: E402
from openhands.sdk.event.condenser import CondensationSummaryEvent  # noqa: E402
from pydantic import Field, PrivateAttr  # noqa: E402

Batch: TypeAlias = list[Any]
PLAIN = {
    "cache_enabled": False,
    "vision_enabled": False,
    "function_calling_enabled": True,
    "force_string_serializer": True,
    "send_reasoning_content": False,
}


def batches(events: Sequence[Any]) -> list[Batch]:
    """Calls that one answer of the model made at once are one message, and one item."""
    made: list[Batch] = []
    for event in events:
        before = made[-1][-1] if made else None
        if (
            isinstance(event, ActionEvent)
            and isinstance(before, ActionEvent)
            and before.llm_response_id == event.llm_response_id
        ):
            made[-1].append(event)
        else:
            made.append([event])
    return made


def to_chat(batch: Batch) -> Sequence[JsonObject]:
    messages = LLMConvertibleEvent.events_to_messages(batch)
    made = [dict(message.to_chat_dict(**PLAIN)) for message in messages]
    for plain, message in zip(made, messages, strict=True):
        if thoughts := getattr(message, "thinking_blocks", None):
            plain["reasoning_details"] = [thought.model_dump() for thought in thoughts]
    return made


def to_record(message: JsonObject) -> Batch:
    return [CondensationSummaryEvent(summary=text_of(message["content"]))]


class StateCompCondenser(CondenserBase):
    """`options` are what `Shortener` takes; they are saved with the agent, the engine is not."""

    store: str = ""
    options: dict[str, Any] = Field(default_factory=dict)
    _shortener: Shortener | None = PrivateAttr(default=None)

    def sharing(self, shortener: Shortener) -> StateCompCondenser:
        """The same condenser over a shortener that others use too."""
        self._shortener = shortener
        return self

    @property
    def shortener(self) -> Shortener:
        if self._shortener is None:
            self._shortener = Shortener("openhands", store=self.store, **self.options)
        return self._shortener

    @property
    def savings(self) -> Savings:
        return self.shortener.savings

    def condense(self, view: Any, agent_llm: Any = None) -> Any:
        items = batches(view.events)
        made = self.shortener.rewrite(items, to_chat, to_record, beside=_beside(agent_llm))
        return _with(view, items, made)

    async def acondense(self, view: Any, agent_llm: Any = None) -> Any:
        items = batches(view.events)
        made = await self.shortener.arewrite(items, to_chat, to_record, beside=_beside(agent_llm))
        return _with(view, items, made)


def _beside(llm: Any) -> Mapping[str, Any]:
    return {"model": str(getattr(llm, "model", ""))}


def _with(view: Any, items: Sequence[Batch], made: Sequence[Batch]) -> Any:
    """The view is shared with the conversation: a new one where anything changed."""
    if len(items) == len(made):
        return view
    events = [event for batch in made for event in batch]
    request = view.unhandled_condensation_request
    # Without checks: these are the events that were there.
    return View.model_construct(events=events, unhandled_condensation_request=request)
