"""Questions of our own over chat completions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from statecomp.llm.chat import ChatUsage, Completion
from statecomp.llm.http import LIMIT_FIELD, HttpChat
from statecomp.llm.replies import CALLED, REFUSED, Json, mapping, number, string, whole, words

OPENAI_URL = "https://api.openai.com/v1"
PUBLIC_HOSTS = ("api.openai.com", "api.anthropic.com")


def bearing(chat: HttpChat, path: str) -> tuple[str, dict[str, str]]:
    """An address of OpenAI's, and the headers with the key."""
    headers = {"content-type": "application/json"}
    if chat.api_key:
        headers["authorization"] = f"Bearer {chat.api_key}"
    return f"{chat.base_url.rstrip('/')}{path}", headers


@dataclass(frozen=True, slots=True)
class CompletionsChat(HttpChat):
    """POST {base_url}/chat/completions, as OpenAI and most local servers speak it."""

    base_url: str = OPENAI_URL

    def _address(self) -> tuple[str, dict[str, str]]:
        return bearing(self, "/chat/completions")

    def _body(
        self, system: str, prompt: str, max_tokens: int, schema: Mapping[str, Any] | None
    ) -> Json:
        messages = [{"role": "system", "content": system}, {"role": "user", "content": prompt}]
        # Newer models of the public host refuse `max_tokens`; many other servers know only that.
        public = urlsplit(self.base_url).hostname in PUBLIC_HOSTS
        limit = LIMIT_FIELD if public else "max_tokens"
        body: Json = {"model": self.model, "messages": messages, limit: max_tokens}
        if schema is not None:
            form = {"name": "answer", "strict": True, "schema": dict(schema)}
            body["response_format"] = {"type": "json_schema", "json_schema": form}
        return body

    def _completion(self, reply: Json) -> Completion:
        choices = reply.get("choices")
        choice = mapping(choices[0]) if isinstance(choices, list) and choices else {}
        message = mapping(choice.get("message"))
        stop = string(choice.get("finish_reason"))
        called = message.get("tool_calls") or message.get("function_call")
        problem = REFUSED if message.get("refusal") else CALLED if called else ""
        counts = mapping(reply.get("usage"))
        usage = ChatUsage(
            number(counts.get("prompt_tokens")),
            number(counts.get("completion_tokens")),
            number(mapping(counts.get("prompt_tokens_details")).get("cached_tokens")),
        )
        model = string(reply.get("model")) or self.model
        return whole(problem, Completion(words(message.get("content")), usage, stop, model))
