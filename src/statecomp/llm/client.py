"""The two wire protocols behind one `Chat`, and how a chat is named."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any
from urllib.parse import urlsplit

from statecomp.errors import BadInput
from statecomp.llm.chat import NOTHING_USED, Chat, ChatFailed, ChatUsage, Completion
from statecomp.llm.http import LARGEST_REPLY_BYTES, LIMIT_FIELD, HttpChat, Json, mapping, string

__all__ = [
    "LARGEST_REPLY_BYTES",
    "NOTHING_USED",
    "AnthropicChat",
    "Chat",
    "ChatFailed",
    "ChatUsage",
    "Completion",
    "CompletionsChat",
    "ResponsesChat",
    "open_chat",
]

OPENAI_URL = "https://api.openai.com/v1"
ANTHROPIC_URL = "https://api.anthropic.com"
ANTHROPIC_VERSION = "2023-06-01"
PUBLIC_HOSTS = ("api.openai.com", "api.anthropic.com")


def open_chat(spec: str, *, environ: Mapping[str, str]) -> Chat:
    """The chat that "openai:MODEL[@BASE_URL]" or "anthropic:MODEL[@BASE_URL]" names.

    Keys and default addresses come from `environ`.  No error repeats the spec: people paste keys
    into the wrong place.
    """
    parts = re.fullmatch(r"(openai|anthropic):(.+?)(?:@(https?://.+))?", spec)
    if parts is None:
        raise BadInput('a chat is named "openai:MODEL[@BASE_URL]" or "anthropic:MODEL[@BASE_URL]"')
    if find_spec("httpx") is None:
        raise BadInput("a remote chat needs httpx: install statecomp[chat]")
    kind, model, given_url = parts.groups()
    opened, public = (
        (CompletionsChat, OPENAI_URL) if kind == "openai" else (AnthropicChat, ANTHROPIC_URL)
    )
    key_name, url_name = f"{kind.upper()}_API_KEY", f"{kind.upper()}_BASE_URL"
    url = given_url or environ.get(url_name, "").strip() or public
    chat = opened(model, url, environ.get(key_name, "").strip())
    if not chat.api_key and urlsplit(url).hostname in PUBLIC_HOSTS:
        raise BadInput(f"{key_name} is not set, and {urlsplit(url).hostname} asks for it")
    return chat


@dataclass(frozen=True, slots=True)
class CompletionsChat(HttpChat):
    """POST {base_url}/chat/completions, as OpenAI and most local servers speak it."""

    base_url: str = OPENAI_URL

    def _address(self) -> tuple[str, dict[str, str]]:
        headers = {"content-type": "application/json"}
        if self.api_key:
            headers["authorization"] = f"Bearer {self.api_key}"
        return f"{self.base_url.rstrip('/')}/chat/completions", headers

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
        problem = _REFUSED if message.get("refusal") else _CALLED if called else ""
        counts = mapping(reply.get("usage"))
        usage = ChatUsage(
            _number(counts.get("prompt_tokens")),
            _number(counts.get("completion_tokens")),
            _number(mapping(counts.get("prompt_tokens_details")).get("cached_tokens")),
        )
        model = string(reply.get("model")) or self.model
        return _whole(problem, Completion(_words(message.get("content")), usage, stop, model))


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
        cached = _number(counts.get("cache_read_input_tokens"))
        # This protocol counts what the cache gave and took beside the input, not within it.
        fresh = ("input_tokens", "cache_creation_input_tokens")
        read = cached + sum(_number(counts.get(name)) for name in fresh)
        usage = ChatUsage(read, _number(counts.get("output_tokens")), cached)
        stop, model = string(reply.get("stop_reason")), string(reply.get("model")) or self.model
        return _whole(_CALLED if called else "", Completion(_words(blocks), usage, stop, model))


@dataclass(frozen=True, slots=True)
class ResponsesChat(HttpChat):
    """POST {base_url}/responses; nothing of it is stored there."""

    base_url: str = OPENAI_URL

    def _address(self) -> tuple[str, dict[str, str]]:
        headers = {"content-type": "application/json"}
        if self.api_key:
            headers["authorization"] = f"Bearer {self.api_key}"
        return f"{self.base_url.rstrip('/')}/responses", headers

    def _body(
        self, system: str, prompt: str, max_tokens: int, schema: Mapping[str, Any] | None
    ) -> Json:
        body: Json = {
            "model": self.model,
            "instructions": system,
            "input": [{"role": "user", "content": prompt}],
            "max_output_tokens": max_tokens,
            "store": False,
        }
        if schema is not None:
            form = {"type": "json_schema", "name": "answer", "strict": True, "schema": dict(schema)}
            body["text"] = {"format": form}
        return body

    def _completion(self, reply: Json) -> Completion:
        output = reply.get("output")
        items = [mapping(item) for item in output] if isinstance(output, list) else []
        called = any("call" in string(item.get("type")) for item in items)
        said = [item.get("content") for item in items if item.get("type") == "message"]
        parts = [mapping(part) for content in said if isinstance(content, list) for part in content]
        text = "".join(string(part.get("text")) for part in parts)
        refused = any(part.get("type") == "refusal" for part in parts)
        counts = mapping(reply.get("usage"))
        usage = ChatUsage(
            _number(counts.get("input_tokens")),
            _number(counts.get("output_tokens")),
            _number(mapping(counts.get("input_tokens_details")).get("cached_tokens")),
        )
        cut_off = string(mapping(reply.get("incomplete_details")).get("reason"))
        stop = "length" if cut_off else string(reply.get("status"))
        model = string(reply.get("model")) or self.model
        problem = _REFUSED if refused else _CALLED if called else ""
        return _whole(problem, Completion(text, usage, stop, model))


_REFUSED = "the model refused to answer"
_CALLED = "the model called a tool instead of answering"
_CUT_OFF = "the answer was cut off at its token limit"
_BAD_STOPS = {
    **dict.fromkeys(("length", "max_tokens", "model_context_window_exceeded"), _CUT_OFF),
    **dict.fromkeys(("content_filter", "refusal"), _REFUSED),
    **dict.fromkeys(("tool_calls", "function_call", "tool_use", "pause_turn"), _CALLED),
}


def _whole(problem: str, completion: Completion) -> Completion:
    """The completion, if it is a whole answer; what it cost is told in either case."""
    problem = problem or _BAD_STOPS.get(completion.stop, "")
    if not problem and not completion.text.strip():
        problem = "the model answered with no text"
    if problem:
        raise ChatFailed(problem, usage=completion.usage)
    return completion


def _words(content: object) -> str:
    """The text of a message, whether it came whole or in blocks; thinking is not part of it."""
    if not isinstance(content, list):
        return string(content)
    blocks = (mapping(block) for block in content)
    return "".join(string(b.get("text")) for b in blocks if b.get("type") == "text")


def _number(value: object) -> int:
    return value if isinstance(value, int) and value > 0 else 0
