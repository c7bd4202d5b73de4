"""Questions of our own to the Messages API."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from statecomp.llm.chat import ChatUsage, Completion
from statecomp.llm.http import HttpChat
from statecomp.llm.replies import CALLED, Json, mapping, number, string, whole, words

ANTHROPIC_URL = "https://api.anthropic.com"
ANTHROPIC_VERSION = "2023-06-01"


@dataclass(frozen=True, slots=True)
class AnthropicChat(HttpChat):
    """POST {base_url}/v1/messages; new models refuse a forced tool, so none is offered."""

    base_url: str = ANTHROPIC_URL

    def _address(self) -> tuple[str, dict[str, str]]:
        headers = {"content-type": "application/json", "anthropic-version": ANTHROPIC_VERSION}
        if self.api_key:
            headers["x-api-key"] = self.api_key
        return f"{self.base_url.rstrip('/')}/v1/messages", headers

    def _body(
        self, system: str, prompt: str, max_tokens: int, schema: Mapping[str, Any] | None
    ) -> Json:
        messages = [{"role": "user", "content": prompt}]
        # The instructions are the same in every call: whoever asks often reads them from the cache.
        text = {"type": "text", "text": system, "cache_control": {"type": "ephemeral"}}
        body: Json = {"model": self.model, "system": [text], "messages": messages}
        body["max_tokens"] = max_tokens
        if schema is not None:
            form = {"type": "json_schema", "schema": dict(schema)}
            body["output_config"] = {"format": form}
        return body

    def _completion(self, reply: Json) -> Completion:
        content = reply.get("content")
        blocks = content if isinstance(content, list) else []
        called = any("tool_use" in string(mapping(block).get("type")) for block in blocks)
        counts = mapping(reply.get("usage"))
        cached = number(counts.get("cache_read_input_tokens"))
        # This protocol counts what the cache gave and took beside the input, not within it.
        fresh = ("input_tokens", "cache_creation_input_tokens")
        read = cached + sum(number(counts.get(name)) for name in fresh)
        usage = ChatUsage(read, number(counts.get("output_tokens")), cached)
        stop, model = string(reply.get("stop_reason")), string(reply.get("model")) or self.model
        return whole(CALLED if called else "", Completion(words(blocks), usage, stop, model))
