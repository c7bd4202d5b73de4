"""A loop of one's own over LiteLLM, in its three protocols; the history is kept in a file."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import litellm
from drill import BINDING, CLAUDE, MODEL, SYSTEM, TURNS, Ended, Errand, awaited, main, unsigned

from statecomp.adapters.litellm import StateCompCallback

litellm.disable_streaming_logging = True
SCHEMA = {
    "type": "object",
    "properties": {"step": {"type": "integer"}, "part": {"type": "integer"}},
    "required": ["step", "part"],
}
FUNCTION = {"name": "look", "description": "Look at one part.", "parameters": SCHEMA}
CHAT_TOOLS = [{"type": "function", "function": FUNCTION}]
RESPONSES_TOOLS = [{"type": "function", **FUNCTION}]
MESSAGES_TOOLS = [{"name": "look", "description": "Look.", "input_schema": SCHEMA}]

KEPT = ("role", "content", "tool_calls", "thinking_blocks")


class Conversation:
    """What is stored, and how one more turn of it is asked for."""

    def __init__(self, errand: Errand, callback: StateCompCallback | None) -> None:
        self.errand = errand
        self.callback = callback
        self.file: Path = errand.folder / "history.json"
        self.history: list[Any] = json.loads(self.file.read_text()) if self.file.exists() else []

    def save(self) -> None:
        self.file.write_text(json.dumps(self.history))

    def look(self, arguments: Any) -> str:
        given = json.loads(arguments) if isinstance(arguments, str) else arguments
        said: str = self.errand.look(**given)
        return said


class Chat(Conversation):
    def request(self) -> dict[str, Any]:
        self.history = self.history or [{"role": "system", "content": SYSTEM}]
        return {
            "model": f"openai/{MODEL}",
            "messages": self.history,
            "tools": CHAT_TOOLS,
            "api_base": f"{self.errand.url}/v1",
            "api_key": self.errand.key_,
        }

    def heard(self, reply: Any) -> str:
        message = reply.choices[0].message.model_dump(exclude_none=True)
        message = {k: v for k, v in message.items() if k in KEPT}
        self.history.append(message)
        for call in message.get("tool_calls") or ():
            text = self.look(call["function"]["arguments"])
            self.history.append({"role": "tool", "tool_call_id": call["id"], "content": text})
        return "" if message.get("tool_calls") else str(message["content"])

    async def ask(self) -> Any:
        return await litellm.acompletion(**self.request())


class Blocking(Chat):
    async def ask(self) -> Any:
        completion = self.callback.completion if self.callback else litellm.completion
        return completion(**self.request())


class Attached(Chat):
    """As a library would call it that knows nothing of us."""

    async def ask(self) -> Any:
        if self.callback:
            litellm.callbacks = []
            self.callback.attach()
        try:
            return litellm.completion(**self.request())
        finally:
            if self.callback:
                self.callback.detach()


class Streamed(Chat):
    async def ask(self) -> Any:
        chunks = [chunk async for chunk in await litellm.acompletion(**self.request(), stream=True)]
        return litellm.stream_chunk_builder(chunks)


class Routed(Chat):
    async def ask(self) -> Any:
        given = self.request()
        names = ("model", "api_base", "api_key")
        deployment = {"model_name": "any", "litellm_params": {name: given[name] for name in names}}
        router = litellm.Router(model_list=[deployment])
        return await router.acompletion(
            model="any", messages=given["messages"], tools=given["tools"]
        )


class Bound(Chat):
    """Claude, asked by way of chat; its thinking stands beside its calls."""

    def request(self) -> dict[str, Any]:
        given = {**super().request(), "model": f"anthropic/{BINDING}", "api_base": self.errand.url}
        return {**given, "thinking": {"type": "adaptive"}, "max_tokens": 2000}


class Responses(Conversation):
    async def ask(self) -> Any:
        return await litellm.aresponses(
            model=f"openai/{MODEL}",
            input=[{"role": "system", "content": SYSTEM}, *self.history],
            tools=RESPONSES_TOOLS,
            store=False,
            api_base=f"{self.errand.url}/v1",
            api_key=self.errand.key_,
        )

    def heard(self, reply: Any) -> str:
        said = ""
        for item in reply.output:
            made = item.model_dump(exclude_none=True)
            if made["type"] == "reasoning":
                continue
            made.pop("id", None)
            self.history.append(made)
            if made["type"] == "message":
                said = made["content"][0]["text"]
        calls = [i for i in self.history if i.get("type") == "function_call"]
        done = {i["call_id"] for i in self.history if i.get("type") == "function_call_output"}
        fresh = [call for call in calls if call["call_id"] not in done]
        for call in fresh:
            output = self.look(call["arguments"])
            result = {"type": "function_call_output", "call_id": call["call_id"], "output": output}
            self.history.append(result)
        return "" if fresh else said


class Elsewhere(Responses):
    """The provider keeps the history, and is sent its news; our own copy is for the test alone."""

    def __init__(self, errand: Errand, callback: StateCompCallback | None) -> None:
        super().__init__(errand, callback)
        self.name: Path = errand.folder / "last.txt"
        self.last = self.name.read_text() if self.name.exists() else None
        self.told = len(self.history)

    def save(self) -> None:
        super().save()
        self.name.write_text(self.last or "")

    async def ask(self) -> Any:
        fresh, self.told = self.history[self.told :], len(self.history)
        news = [item for item in fresh if item.get("type") not in ("function_call", "message")]
        reply = await litellm.aresponses(
            model=f"openai/{MODEL}",
            input=news,
            instructions=SYSTEM,
            tools=RESPONSES_TOOLS,
            previous_response_id=self.last,
            api_base=f"{self.errand.url}/v1",
            api_key=self.errand.key_,
        )
        # LiteLLM's own name for it tells where it came from as well.
        self.last = reply.id
        return reply


class AtOnce(Responses):
    """`litellm.responses`, which asks no callback."""

    async def ask(self) -> Any:
        responses = self.callback.responses if self.callback else litellm.responses
        return responses(
            model=f"openai/{MODEL}",
            input=[{"role": "system", "content": SYSTEM}, *self.history],
            tools=RESPONSES_TOOLS,
            store=False,
            api_base=f"{self.errand.url}/v1",
            api_key=self.errand.key_,
        )


class Messages(Conversation):
    async def ask(self) -> Any:
        return await litellm.anthropic.messages.acreate(
            model=f"anthropic/{CLAUDE}",
            messages=self.history,
            system=SYSTEM,
            tools=MESSAGES_TOOLS,
            max_tokens=2000,
            api_base=self.errand.url,
            api_key=self.errand.key_,
        )

    def heard(self, reply: Any) -> str:
        content = [{k: v for k, v in b.items() if v is not None} for b in reply["content"]]
        self.history.append({"role": "assistant", "content": content})
        calls = [block for block in content if block["type"] == "tool_use"]
        results = [
            {"type": "tool_result", "tool_use_id": c["id"], "content": self.look(c["input"])}
            for c in calls
        ]
        if results:
            self.history.append({"role": "user", "content": results})
        return "" if results else str(content[-1]["text"])


async def said(talk: Any, turns: Sequence[str]) -> list[str]:
    """What the model says at the end of each turn; the conversation is saved after the last."""
    finals = []
    for turn in turns:
        if not talk.history and isinstance(talk, Chat):
            talk.request()
        talk.history.append({"role": "user", "content": turn})
        while not (final := talk.heard(await talk.ask())):
            pass
        finals.append(final)
    talk.save()
    return finals


def held(kind: Any) -> Callable[[Errand], Any]:
    async def run(errand: Errand) -> Ended:
        finals: list[str] = []
        for turns in (TURNS[:2], TURNS[2:]):
            shortener = errand.shortener("litellm") if errand.adapted else None
            callback = StateCompCallback(shortener=shortener) if shortener else None
            litellm.callbacks = [callback] if callback else []
            talk = kind(errand, callback)
            finals += await said(talk, turns)
        return Ended(finals, unsigned(talk.history))

    return run


if __name__ == "__main__":
    kinds = {
        "async": Chat,
        "sync": Blocking,
        "attached": Attached,
        "streamed": Streamed,
        "router": Routed,
        "responses": Responses,
        "responses, sync": AtOnce,
        "kept elsewhere": Elsewhere,
        "messages": Messages,
        "bound": Bound,
    }
    main({name: awaited(held(kind)) for name, kind in kinds.items()})
