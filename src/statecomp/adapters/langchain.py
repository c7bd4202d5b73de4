"""LangChain 1.x, and deepagents: a middleware around each model call; the state stays whole.

create_agent(model, tools, middleware=[StateCompMiddleware()])      # ours last: innermost
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from statecomp.adapters.binding import dropping
from statecomp.adapters.catalogue import needs
from statecomp.adapters.ownership import unchanged
from statecomp.adapters.shortener import Saving, Shortener

needs("langchain")

from langchain.agents.middleware import (  # noqa: E402  what is missing is said first
    AgentMiddleware,
    ModelRequest,
    ModelResponse,
)
from langchain_core.messages import BaseMessage  # noqa: E402
from langchain_core.utils.function_calling import convert_to_openai_tool  # noqa: E402

from statecomp.adapters.langgraph import to_chat, to_record  # noqa: E402


class StateCompMiddleware(Saving, AgentMiddleware):
    """Takes what `Shortener` takes, or a shortener that others use too."""

    def __init__(self, *, shortener: Shortener | None = None, **options: Any) -> None:
        super().__init__()
        self.shortener = shortener or Shortener("langchain", **options)
        self._tools: tuple[tuple[int, ...], list[Any]] = ((), [])

    def wrap_model_call(
        self, request: ModelRequest, handler: Callable[[ModelRequest], ModelResponse]
    ) -> ModelResponse:
        if not _sends_it_all(request):
            return handler(request)
        items = _messages(request)
        more = self._more(request)
        made = self.shortener.rewrite(items, to_chat, to_record, **more)
        return handler(_with(request, items, made))

    async def awrap_model_call(
        self, request: ModelRequest, handler: Callable[[ModelRequest], Awaitable[ModelResponse]]
    ) -> ModelResponse:
        if not _sends_it_all(request):
            return await handler(request)
        items = _messages(request)
        more = self._more(request)
        made = await self.shortener.arewrite(items, to_chat, to_record, **more)
        return await handler(_with(request, items, made))

    def _more(self, request: ModelRequest) -> Mapping[str, Any]:
        beside = {"model": _name(request.model), "tools": self._described(request.tools)}
        thinking = getattr(request.model, "thinking", None)
        return {"beside": {**beside, "thinking": thinking}, "tells": _can_tell(request.model)}

    def _described(self, tools: Sequence[Any]) -> list[Any]:
        """Tools as they are sent, for their tokens; they are nearly always the same."""
        names = tuple(map(id, tools))
        if names != self._tools[0]:
            try:
                self._tools = names, [convert_to_openai_tool(tool) for tool in tools]
            except Exception:  # noqa: BLE001  only a count depends on it
                self._tools = names, []
        return self._tools[1]


def _name(model: Any) -> str:
    return str(getattr(model, "model_name", None) or getattr(model, "model", ""))


def _can_tell(model: Any) -> bool:
    """Claude's own class has a place for what must be said about thinking."""
    return hasattr(model, "thinking") and hasattr(model, "betas") and hasattr(model, "model_copy")


def _asked_model(model: Any, items: Sequence[BaseMessage]) -> Any:
    """The model as it must be asked behind a record; the one that was given stays as it is."""
    messages = (one for item in items for one in to_chat(item))
    told = dropping(_name(model), model.thinking, messages) if _can_tell(model) else None
    if told is None:
        return model
    betas = list(dict.fromkeys([*(model.betas or ()), *told.headers.values()]))
    return model.model_copy(update={"thinking": told.body["thinking"], "betas": betas})


def _sends_it_all(request: ModelRequest) -> bool:
    """Whether the history is ours to change: the provider may keep it, and be sent the news."""
    return not getattr(request.model, "use_previous_response_id", False)


def _messages(request: ModelRequest) -> list[BaseMessage]:
    first = [request.system_message] if request.system_message is not None else []
    return [*first, *request.messages]


def _with(
    request: ModelRequest, items: Sequence[BaseMessage], made: Sequence[BaseMessage]
) -> ModelRequest:
    """The same request where nothing changed; the system message stands apart from the others."""
    if unchanged(items, made):
        return request
    skip = 1 if request.system_message is not None else 0
    return request.override(messages=list(made[skip:]), model=_asked_model(request.model, items))
