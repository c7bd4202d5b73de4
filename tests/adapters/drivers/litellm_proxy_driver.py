"""LiteLLM's proxy with its config file and our callback named in it; three of its APIs."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import httpx
import litellm
from drill import CLAUDE, MODEL, SYSTEM, TURNS, Ended, Errand, awaited, main, unsigned
from litellm.proxy import proxy_server
from litellm.types.llms.openai import ResponsesAPIResponse
from litellm_driver import MESSAGES_TOOLS, RESPONSES_TOOLS, Chat, Messages, Responses, said

from statecomp.adapters.litellm import StateCompCallback

MASTER = "sk-the-master-key-of-this-proxy-0123456789"
HOOKS: list[StateCompCallback] = []
"""The module beside the config file, which the proxy loads, names the newest of these."""


def deployment(name: str, model: str, url: str, key: str) -> dict[str, Any]:
    return {
        "model_name": name,
        "litellm_params": {"model": model, "api_base": url, "api_key": key},
    }


async def started(errand: Errand, number: int) -> httpx.AsyncClient:
    """The proxy as its config file says, behind a client."""
    settings: dict[str, Any] = {
        "model_list": [
            deployment("any", f"openai/{MODEL}", f"{errand.url}/v1", errand.key_),
            deployment("claude", f"anthropic/{CLAUDE}", errand.url, errand.key_),
        ],
        "general_settings": {"master_key": MASTER},
    }
    litellm.callbacks = []
    if errand.adapted:
        HOOKS.append(StateCompCallback(shortener=errand.shortener("litellm")))
        hook = f"hook_{len(HOOKS)}"
        code = "import __main__\n\ncallback = __main__.HOOKS[-1]\n"
        (errand.folder / f"{hook}.py").write_text(code)
        settings["litellm_settings"] = {"callbacks": f"{hook}.callback"}
    config = errand.folder / f"config_{number}.yaml"
    config.write_text(json.dumps(settings))  # all JSON is YAML
    await proxy_server.initialize(config=str(config))
    transport = httpx.ASGITransport(app=proxy_server.app)
    headers = {"authorization": f"Bearer {MASTER}"}
    return httpx.AsyncClient(transport=transport, base_url="http://proxy", headers=headers)


class Asking:
    """Posts to the proxy; what is not 200 ends the run."""

    client: httpx.AsyncClient

    async def post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        reply = await self.client.post(path, json=body, timeout=None)
        if reply.status_code != 200:
            raise RuntimeError(reply.text)
        told: dict[str, Any] = reply.json()
        return told


class ChatAsked(Asking, Chat):
    async def ask(self) -> Any:
        given = self.request()
        body = {"model": "any", "messages": given["messages"], "tools": given["tools"]}
        return litellm.ModelResponse(**await self.post("/v1/chat/completions", body))


class ResponsesAsked(Asking, Responses):
    async def ask(self) -> Any:
        said = [{"role": "system", "content": SYSTEM}, *self.history]
        body = {"model": "any", "input": said, "tools": RESPONSES_TOOLS, "store": False}
        return ResponsesAPIResponse(**await self.post("/v1/responses", body))


class MessagesAsked(Asking, Messages):
    async def ask(self) -> Any:
        body = {"model": "claude", "messages": self.history, "system": SYSTEM, "max_tokens": 2000}
        return await self.post("/v1/messages", {**body, "tools": MESSAGES_TOOLS})


def held(kind: Any) -> Callable[[Errand], Any]:
    async def run(errand: Errand) -> Ended:
        finals: list[str] = []
        for number, turns in enumerate((TURNS[:2], TURNS[2:])):
            talk = kind(errand, None)
            talk.client = await started(errand, number)
            finals += await said(talk, turns)
        return Ended(finals, unsigned(talk.history))

    return run


if __name__ == "__main__":
    kinds = {
        "proxy": ChatAsked,
        "proxy, responses": ResponsesAsked,
        "proxy, messages": MessagesAsked,
    }
    main({name: awaited(held(kind)) for name, kind in kinds.items()})
