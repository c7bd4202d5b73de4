"""What a question is, named by all that decides its answer, and what an answer must look like."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from statecomp.errors import BadInput
from statecomp.llm.replies import mapping, string
from statecomp.testing.provider.refusals import bare, digest
from statecomp.testing.provider.turns import ScriptedCall, Turn

ENVELOPE = frozenset({"text", "tool_calls"})
EXAMPLE = {"text": "...", "tool_calls": [{"name": "...", "arguments": {}}]}


@dataclass(frozen=True)
class DeskQuestion:
    """A request without the model's name and limits, which decide nothing about the answer."""

    messages: list[Any]
    system: Any = ""
    tools: Any = None
    choice: Any = None
    form: Any = None

    @cached_property
    def name(self) -> str:
        return digest(self.as_json())

    def as_json(self) -> dict[str, Any]:
        parts = {"system": self.system, "messages": self.messages, "tools": self.tools}
        return {**parts, "choice": self.choice, "form": self.form}


def asked(body: Mapping[str, Any], key: str) -> DeskQuestion:
    """The question of a request, whose messages stand under `key` in any of the three protocols.

    Cache marks move between requests and change no answer.
    """
    messages = body.get(key)
    if isinstance(messages, str) and messages:
        messages = [{"role": "user", "content": messages}]
    if not isinstance(messages, list) or not messages:
        raise BadInput("must be a list that is not empty", field=key)
    if not all(isinstance(message, Mapping) for message in messages):
        raise BadInput("must hold objects only", field=key)
    if body.get("previous_response_id"):
        raise BadInput("nothing is stored here; send the whole input", field="previous_response_id")
    return DeskQuestion(
        bare(messages),
        bare(body.get("instructions") or body.get("system") or ""),
        bare(body.get("tools") or None),
        bare(body.get("tool_choice")),
        bare(_form(body)),
    )


def _form(body: Mapping[str, Any]) -> Any:
    """The form wanted of the answer; plain text is no form."""
    named = (mapping(body.get(field)).get("format") for field in ("text", "output_config"))
    found = next((form for form in (body.get("response_format"), *named) if form), None)
    return None if mapping(found).get("type") == "text" else found


def answered(text: str, question: DeskQuestion) -> Turn:
    """The turn that an answer means; raises BadInput where it can mean none.

    A JSON object of `text` and `tool_calls` alone is an envelope; where another form is wanted of
    the answer, it must hold `tool_calls` to be one.
    """
    text = text.strip()
    if not text:
        raise BadInput("the answer is empty")
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        if text.startswith("{") and '"tool_calls"' in text:
            raise BadInput(f"the answer means tool calls and is no JSON: {error}") from error
        return Turn(text)
    if not isinstance(value, dict) or not value or not ENVELOPE.issuperset(value):
        return Turn(text)
    if question.form is not None and "tool_calls" not in value:
        return Turn(text)
    return _opened(value)


def _opened(envelope: Mapping[str, Any]) -> Turn:
    said, calls = envelope.get("text") or "", envelope.get("tool_calls") or []
    if not isinstance(said, str) or not isinstance(calls, list):
        raise BadInput("text must be a string and tool_calls a list", field="the answer")
    if not said and not calls:
        raise BadInput("the answer is empty")
    return Turn(said, calls=tuple(_call(call, n) for n, call in enumerate(calls)))


def _call(call: object, number: int) -> ScriptedCall:
    """A call as `{"name", "arguments"}`, or as chat completions write it."""
    given = mapping(mapping(call).get("function")) or mapping(call)
    name, arguments = string(given.get("name")), given.get("arguments", {})
    try:
        value = json.loads(arguments) if isinstance(arguments, str) else arguments
    except (ValueError, RecursionError):
        value = None
    if not name or not isinstance(value, dict):
        raise BadInput(
            "needs a name, and arguments that are an object", field=f"tool_calls[{number}]"
        )
    return ScriptedCall(name, json.dumps(value))


def readable(question: DeskQuestion) -> str:
    """The question for a person: what was said so far, and what is wanted."""
    return "\n".join(_parts(question))


def _parts(question: DeskQuestion) -> Iterator[str]:
    yield f"# Question {question.name}\n"
    if question.system:
        yield f"## System\n\n{fenced(_text(question.system))}"
    for number, message in enumerate(question.messages, start=1):
        yield f"## {number}. {message.get('role') or message.get('type') or 'message'}\n"
        yield fenced(_message(message))
    if question.tools:
        yield f"## Tools\n\n{fenced(_lines(question.tools))}"
    yield "## What is wanted\n"
    if question.choice is not None:
        yield f"Tool choice: `{json.dumps(question.choice)}`.\n"
    if question.form is not None:
        yield f"An answer of this form:\n\n{fenced(json.dumps(question.form, indent=1))}"
    yield (
        f"Write the next message of the assistant to `answers/{question.name}.txt`, beside the"
        " folder of this file, whole at once: elsewhere first, then moved there.  Plain text, or"
        f" for tool calls\n\n{fenced(json.dumps(EXAMPLE))}"
    )


def _message(message: Mapping[str, Any]) -> str:
    """What it says; then what else is in it, but its role."""
    rest = {k: v for k, v in message.items() if k not in ("role", "content") and v is not None}
    parts = (_text(message.get("content") or ""), _lines([rest]) if rest else "")
    return "\n".join(part for part in parts if part)


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else [content]
    return "\n".join(_part(part) for part in parts)


def _part(part: Any) -> str:
    plain = set(mapping(part)) == {"type", "text"} and isinstance(part["text"], str)
    return str(part["text"]) if plain else json.dumps(part, ensure_ascii=False)


def _lines(values: Any) -> str:
    found = values if isinstance(values, list) else [values]
    return "\n".join(json.dumps(value, ensure_ascii=False) for value in found)


def fenced(text: str) -> str:
    """A fence that nothing in the text can close: a tool's output must not pass for a message."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}\n{text}\n{fence}\n"
