"""The scripted upstream for tests, and small agents that speak to it with the real SDKs.

An agent is a generator: it yields what to ask, is sent the reply as plain JSON, and returns what it
has seen.  So one agent serves clients that block, clients that await, and streams of both.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import anthropic
import openai

from statecomp.testing.provider.app import ScriptedUpstream
from statecomp.testing.provider.refusals import STRICT, Strictness
from statecomp.testing.provider.turns import drill

KEY = "sk-test-0123456789abcdef"
SYSTEM = "You look at things and report."
TASK = "Look at every part and report when all are done. Never delete anything."
SCHEMA = {
    "type": "object",
    "properties": {"step": {"type": "integer"}, "part": {"type": "integer"}},
    "required": ["step", "part"],
}

Reply: TypeAlias = Mapping[str, Any]
Agent: TypeAlias = Generator[dict[str, Any], Reply, "Run"]


@dataclass(frozen=True)
class Run:
    """What an agent saw: every reply in order, and the words it ended with."""

    final: str
    replies: tuple[Reply, ...] = field(repr=False)

    @property
    def steps(self) -> int:
        return len(self.replies)


def upstream(steps: int = 32, *, rules: Strictness = STRICT, **options: Any) -> ScriptedUpstream:
    return ScriptedUpstream(drill(steps), rules=rules, **options)


def look(arguments: str) -> str:
    """The one tool: some 150 tokens about a part, the same each time it is looked at."""
    asked = json.loads(arguments)
    name = f"src/part_{asked['step']:03d}_{asked['part']}.py"
    lines = [f"line {n}: value {asked['step'] * 1000 + n} is checked and fine" for n in range(12)]
    return "\n".join([f"{name}: 12 lines", *lines])


def chat_agent(history: Sequence[Reply] = ()) -> Agent:
    function = {"name": "look", "parameters": SCHEMA}
    tools = [{"type": "function", "function": function}]
    messages: list[Any] = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": TASK}]
    messages += history
    replies: list[Reply] = []
    while True:
        reply = yield {"messages": list(messages), "tools": tools}
        replies.append(reply)
        messages.append(reply)
        if not reply.get("tool_calls"):
            return Run(str(reply["content"]), tuple(replies))
        for call in reply["tool_calls"]:
            text = look(call["function"]["arguments"])
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": text})


def responses_agent() -> Agent:
    tools = [{"type": "function", "name": "look", "parameters": SCHEMA, "strict": False}]
    items: list[Any] = [{"role": "user", "content": TASK}]
    request = {"tools": tools, "instructions": SYSTEM, "store": False}
    replies: list[Reply] = []
    while True:
        include = ["reasoning.encrypted_content"]
        reply = yield {**request, "input": list(items), "include": include}
        replies.append(reply)
        items += reply["output"]
        calls = [item for item in reply["output"] if item["type"] == "function_call"]
        if not calls:
            said = [item for item in reply["output"] if item["type"] == "message"]
            return Run(str(said[-1]["content"][0]["text"]), tuple(replies))
        for call in calls:
            text = look(call["arguments"])
            output = {"type": "function_call_output", "call_id": call["call_id"], "output": text}
            items.append(output)


def messages_agent(thinking: Mapping[str, Any] | None = None) -> Agent:
    """Caches as Claude Code does: a marker on the system prompt, one on the last message."""
    tools = [{"name": "look", "input_schema": SCHEMA}]
    mark = {"cache_control": {"type": "ephemeral"}}
    request: dict[str, Any] = {
        "tools": tools,
        "system": [{"type": "text", "text": SYSTEM, **mark}],
        "max_tokens": 4096,
    }
    if thinking:
        request["thinking"] = dict(thinking)
    messages: list[Any] = [{"role": "user", "content": [{"type": "text", "text": TASK}]}]
    replies: list[Reply] = []
    while True:
        *before, last = messages
        content = [*last["content"][:-1], {**last["content"][-1], **mark}]
        reply = yield {**request, "messages": [*before, {**last, "content": content}]}
        replies.append(reply)
        messages.append({"role": "assistant", "content": reply["content"]})
        calls = [block for block in reply["content"] if block["type"] == "tool_use"]
        if not calls:
            return Run(str(reply["content"][-1]["text"]), tuple(replies))
        results = [
            {
                "type": "tool_result",
                "tool_use_id": call["id"],
                "content": look(json.dumps(call["input"])),
            }
            for call in calls
        ]
        messages.append({"role": "user", "content": results})


Ask: TypeAlias = Callable[[dict[str, Any]], Reply]
AskLater: TypeAlias = Callable[[dict[str, Any]], Awaitable[Reply]]


def drive(agent: Agent, ask: Ask) -> Run:
    request = next(agent)
    while True:
        try:
            request = agent.send(ask(request))
        except StopIteration as end:
            run: Run = end.value
            return run


async def drive_async(agent: Agent, ask: AskLater) -> Run:
    request = next(agent)
    while True:
        try:
            request = agent.send(await ask(request))
        except StopIteration as end:
            run: Run = end.value
            return run


# Each answer ends its connection, so that no test has to close its clients.
CLOSE = {"connection": "close"}


def _options(options: dict[str, Any]) -> dict[str, Any]:
    headers = {**CLOSE, **options.pop("default_headers", {})}
    return {"api_key": KEY, "max_retries": 0, "default_headers": headers, **options}


def openai_client(url: str, **options: Any) -> openai.OpenAI:
    return openai.OpenAI(base_url=f"{url}/v1", **_options(options))


def anthropic_client(url: str, **options: Any) -> anthropic.Anthropic:
    return anthropic.Anthropic(base_url=url, **_options(options))


def async_openai_client(url: str, **options: Any) -> openai.AsyncOpenAI:
    return openai.AsyncOpenAI(base_url=f"{url}/v1", **_options(options))


def async_anthropic_client(url: str, **options: Any) -> anthropic.AsyncAnthropic:
    return anthropic.AsyncAnthropic(base_url=url, **_options(options))


def ask_chat(client: openai.OpenAI, model: str, *, stream: bool = False) -> Ask:
    def whole(request: dict[str, Any]) -> Reply:
        done = client.chat.completions.create(model=model, **request)
        reply: Reply = done.choices[0].message.to_dict()
        return reply

    def streamed(request: dict[str, Any]) -> Reply:
        with client.chat.completions.stream(model=model, **request) as events:
            done = events.get_final_completion()
        reply: Reply = done.choices[0].message.to_dict()
        return reply

    return streamed if stream else whole


def untyped(request: dict[str, Any]) -> dict[str, Any]:
    """The request with its items beside the typed arguments, where the SDK sends them as they are.

    It takes the SDK half a second to walk a long list of items along their types.
    """
    rest = {name: value for name, value in request.items() if name != "input"}
    return {**rest, "input": [], "extra_body": {"input": request["input"]}}


def ask_responses(client: openai.OpenAI, model: str, *, stream: bool = False) -> Ask:
    def whole(request: dict[str, Any]) -> Reply:
        reply: Reply = client.responses.create(model=model, **untyped(request)).to_dict()
        return reply

    def streamed(request: dict[str, Any]) -> Reply:
        with client.responses.stream(model=model, **untyped(request)) as events:
            reply: Reply = events.get_final_response().to_dict()
        return sendable(reply)

    return streamed if stream else whole


def ask_messages(client: anthropic.Anthropic, model: str, *, stream: bool = False) -> Ask:
    def whole(request: dict[str, Any]) -> Reply:
        reply: Reply = client.messages.create(model=model, **request).to_dict()
        return reply

    def streamed(request: dict[str, Any]) -> Reply:
        with client.messages.stream(model=model, **request) as events:
            reply: Reply = events.get_final_message().to_dict()
        return reply

    return streamed if stream else whole


def sendable(reply: Reply) -> Reply:
    """The stream reader of the SDK adds what it parsed; the API does not take that back."""
    drop = ("parsed", "parsed_arguments")
    output = [{k: v for k, v in item.items() if k not in drop} for item in reply["output"]]
    for item in output:
        if item["type"] == "message":
            parts = item["content"]
            item["content"] = [{k: v for k, v in p.items() if k not in drop} for p in parts]
    return {**reply, "output": output}
