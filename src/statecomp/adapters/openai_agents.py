"""OpenAI Agents SDK: a filter for one run, or a model that carries it everywhere.

    RunConfig(call_model_input_filter=StateCompFilter())          # for Runner.run(run_config=...)
    Agent(name=..., model=StateCompModel(OpenAIResponsesModel(...)))        # set once

Its items are those of the Responses API whatever is spoken to, so nothing is converted.  Where the
provider keeps the conversation only its news is sent, and that goes out as it came.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from typing import Any

from statecomp.adapters.catalogue import needs
from statecomp.adapters.shortener import Saving, Shortener

needs("openai_agents")

from agents import Model, ModelResponse  # noqa: E402  what is missing is said first
from agents.run import CallModelData, ModelInputData  # noqa: E402

KEPT_ELSEWHERE = ("previous_response_id", "conversation_id")


class StateCompFilter(Saving):
    """Takes what `Shortener` takes, or a shortener that others use too."""

    def __init__(self, *, shortener: Shortener | None = None, **options: Any) -> None:
        self.shortener = shortener or Shortener("openai_agents", **options)

    async def __call__(self, data: CallModelData) -> ModelInputData:
        given = data.model_data
        body = {
            "model": _name(getattr(data.agent, "model", "")),
            "instructions": given.instructions or "",
            "input": given.input,
            "tools": _described(getattr(data.agent, "tools", ())),
        }
        made = await self.shortener.acheckpoint(body, "openai-responses")
        if made is None:
            return given
        return ModelInputData(input=made.messages, instructions=given.instructions)


class StateCompModel(Saving, Model):
    """Another model, sent less; all that it can do, it still can."""

    def __init__(self, model: Model, *, shortener: Shortener | None = None, **options: Any) -> None:
        self.wrapped = model
        self.shortener = shortener or Shortener("openai_agents", **options)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.wrapped, name)

    async def get_response(
        self,
        system_instructions: str | None,
        input: str | list[Any],  # noqa: A002  the framework's name for it
        model_settings: Any,
        tools: list[Any],
        *others: Any,
        **more: Any,
    ) -> ModelResponse:
        items = await self._shorter(system_instructions, input, tools, more)
        return await self.wrapped.get_response(
            system_instructions, items, model_settings, tools, *others, **more
        )

    async def stream_response(
        self,
        system_instructions: str | None,
        input: str | list[Any],  # noqa: A002  the framework's name for it
        model_settings: Any,
        tools: list[Any],
        *others: Any,
        **more: Any,
    ) -> AsyncIterator[Any]:
        items = await self._shorter(system_instructions, input, tools, more)
        async for event in self.wrapped.stream_response(
            system_instructions, items, model_settings, tools, *others, **more
        ):
            yield event

    async def close(self) -> None:
        await self.wrapped.close()

    def get_retry_advice(self, request: Any) -> Any:
        return self.wrapped.get_retry_advice(request)

    async def _shorter(
        self, told: str | None, items: str | list[Any], tools: list[Any], more: Mapping[str, Any]
    ) -> str | list[Any]:
        if isinstance(items, str) or any(more.get(name) for name in KEPT_ELSEWHERE):
            return items
        body = {
            "model": _name(self.wrapped),
            "instructions": told or "",
            "input": items,
            "tools": _described(tools),
        }
        made = await self.shortener.acheckpoint(body, "openai-responses")
        return items if made is None else made.messages


def _name(model: Any) -> str:
    return model if isinstance(model, str) else str(getattr(model, "model", ""))


def _described(tools: Any) -> list[Any]:
    """Tools about as they are sent, for their tokens."""
    return [
        [getattr(tool, name, "") for name in ("name", "description", "params_json_schema")]
        for tool in tools or ()
    ]
