"""Questions of our own over Responses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from statecomp.llm.chat import ChatUsage, Completion
from statecomp.llm.http import HttpChat
from statecomp.llm.replies import CALLED, REFUSED, Json, mapping, number, string, whole
from statecomp.wire.openai_chat.chat import OPENAI_URL, bearing


@dataclass(frozen=True, slots=True)
class ResponsesChat(HttpChat):
    """POST {base_url}/responses; nothing of it is stored there."""

    base_url: str = OPENAI_URL

    def _address(self) -> tuple[str, dict[str, str]]:
        return bearing(self, "/responses")

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
            number(counts.get("input_tokens")),
            number(counts.get("output_tokens")),
            number(mapping(counts.get("input_tokens_details")).get("cached_tokens")),
        )
        cut_off = string(mapping(reply.get("incomplete_details")).get("reason"))
        stop = "length" if cut_off else string(reply.get("status"))
        model = string(reply.get("model")) or self.model
        problem = REFUSED if refused else CALLED if called else ""
        return whole(problem, Completion(text, usage, stop, model))
