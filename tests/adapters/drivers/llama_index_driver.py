"""LlamaIndex's function agent with its memory in SQLite, and a loop of one's own, not async."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from drill import (
    BETA,
    BINDING,
    DROPS,
    MODEL,
    SYSTEM,
    TURNS,
    Ended,
    Errand,
    awaited,
    main,
    tool,
    unsigned,
)
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.base.llms.types import ChatMessage, LLMMetadata
from llama_index.core.memory import Memory
from llama_index.core.tools import FunctionTool
from llama_index.llms.anthropic import Anthropic
from llama_index.llms.openai import OpenAI, OpenAIResponses

from statecomp.adapters.llama_index import shorter

Make = Callable[[Errand], Any]


class Fable(Anthropic):
    """Newer than the list of models that this package knows."""

    @property
    def metadata(self) -> LLMMetadata:
        known = {"is_chat_model": True, "is_function_calling_model": True}
        return LLMMetadata(context_window=1_000_000, model_name=self.model, **known)


def adapted(errand: Errand, kind: Any, **options: Any) -> Any:
    if not errand.adapted:
        return kind
    return shorter(kind, shortener=errand.shortener("llama_index", **options))


def openai(errand: Errand) -> Any:
    made = adapted(errand, OpenAI)
    return made(model=MODEL, api_base=f"{errand.url}/v1", api_key=errand.key_)


def claude(thinking: Any, **options: Any) -> Make:
    def make(errand: Errand) -> Any:
        headers = {"anthropic-beta": BETA} if thinking is DROPS else None
        more = {"max_tokens": 2000, "thinking_dict": thinking, "default_headers": headers}
        made = adapted(errand, Fable, **options)
        return made(model=BINDING, base_url=errand.url, api_key=errand.key_, **more)

    return make


def elsewhere(errand: Errand) -> Any:
    """The provider keeps the history."""
    made = adapted(errand, OpenAIResponses)
    more = {"track_previous_responses": True}
    return made(model=MODEL, api_base=f"{errand.url}/v1", api_key=errand.key_, **more)


def held(make: Make, *, streams: bool = False) -> Callable[[Errand], Any]:
    async def run(errand: Errand) -> Ended:
        finals: list[str] = []
        place = f"sqlite+aiosqlite:///{errand.folder / 'memory.sqlite'}"
        for turns in (TURNS[:2], TURNS[2:]):
            memory = Memory.from_defaults(
                session_id="one", token_limit=10_000_000, async_database_uri=place
            )
            made = FunctionAgent(
                tools=[FunctionTool.from_defaults(tool(errand))],
                llm=make(errand),
                system_prompt=SYSTEM,
                streaming=streams,
                timeout=None,
            )
            for turn in turns:
                done = await made.run(turn, memory=memory, max_iterations=100)
                finals.append(str(done))
            kept = await memory.aget_all()
        return Ended(finals, [essence(message) for message in kept])

    return run


def at_once(make: Make, *, streams: bool = False, news: bool = False) -> Callable[[Errand], Ended]:
    """A loop of one's own, outside of any event loop; with `news`, no message is sent twice."""

    def run(errand: Errand) -> Ended:
        finals: list[str] = []
        file = errand.folder / "history.json"
        given = FunctionTool.from_defaults(tool(errand))
        llm = make(errand)
        for turns in (TURNS[:2], TURNS[2:]):
            history = _read(file) or [ChatMessage(role="system", content=SYSTEM)]
            # Which response comes next is known to the model object alone.
            llm = llm if news else make(errand)
            sent = len(history) if file.exists() else 0
            for turn in turns:
                history.append(ChatMessage(role="user", content=turn))
                while not finals or len(finals) <= TURNS.index(turn):
                    told = history[sent:] if news else history
                    sent = len(history) + 1
                    reply = _asked(llm, given, told, streams=streams)
                    history.append(reply.message)
                    calls = llm.get_tool_calls_from_response(reply, error_on_no_tool_call=False)
                    history += [_answer(given, call) for call in calls]
                    if not calls:
                        finals.append(str(reply.message.content).strip())
            file.write_text(json.dumps([m.model_dump(mode="json") for m in history]))
        return Ended(finals, [] if news else [essence(message) for message in history])

    return run


def _asked(llm: Any, given: Any, history: list[Any], *, streams: bool) -> Any:
    more = {"chat_history": history, "allow_parallel_tool_calls": True}
    if not streams:
        return llm.chat_with_tools([given], **more)
    return list(llm.stream_chat_with_tools([given], **more))[-1]


def _answer(given: Any, call: Any) -> ChatMessage:
    said = str(given.call(**call.tool_kwargs))
    return ChatMessage(role="tool", content=said, additional_kwargs={"tool_call_id": call.tool_id})


def _read(file: Any) -> list[ChatMessage]:
    if not file.exists():
        return []
    return [ChatMessage.model_validate(one) for one in json.loads(file.read_text())]


def essence(message: Any) -> Any:
    blocks = [block.model_dump(mode="json") for block in message.blocks]
    for block in blocks:
        # Where a signature is kept, which is made over what stands before it.
        block.pop("additional_information", None)
    return [str(message.role.value), unsigned(blocks)]


if __name__ == "__main__":
    main(
        {
            "async": awaited(held(openai)),
            "streamed": awaited(held(openai, streams=True)),
            "sync": at_once(openai),
            "sync, streamed": at_once(openai, streams=True),
            "bound": awaited(held(claude(DROPS, drops_thinking=True))),
            "forbidden": awaited(held(claude({"type": "adaptive"}))),
            "kept elsewhere": at_once(elsewhere, news=True),
        }
    )
