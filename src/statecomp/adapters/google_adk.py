"""Google ADK: a plugin before each model call; the session's events stay as they are.

App(name=..., root_agent=agent, plugins=[StateCompPlugin()])
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from statecomp.adapters.catalogue import needs
from statecomp.adapters.chat import assistant, call, result, thought
from statecomp.adapters.ownership import NotOurs
from statecomp.adapters.shortener import Saving, Shortener
from statecomp.history.interaction import JsonObject
from statecomp.wire.content import text_of

needs("google_adk")

from google.adk.plugins.base_plugin import BasePlugin  # noqa: E402  what is missing is said first
from google.genai import types  # noqa: E402

CACHED = "with a cache_config the provider keeps a part of the history; it goes out as it came"


class Converter:
    """One request: Gemini's contents carry no ids, so answers are matched by order and name."""

    def __init__(self) -> None:
        self._count = 0
        self._open: list[tuple[str, str]] = []  # name and id of each call without an answer

    def to_chat(self, content: Any) -> list[JsonObject]:
        self._count += 1
        if content.role == "model":
            return [self._assistant(content)]
        made = [self._result(p.function_response) for p in _parts(content) if p.function_response]
        said = [_words(part) for part in _parts(content) if not part.function_response]
        return [*made, {"role": "user", "content": said}] if said or not made else made

    def _assistant(self, content: Any) -> JsonObject:
        parts = _parts(content)
        said = [_words(p) for p in parts if not p.function_call and not p.thought]
        thoughts = [thought(part.text) for part in parts if part.thought]
        calls = [self._call(p.function_call, n) for n, p in enumerate(parts) if p.function_call]
        return assistant(said, calls, thoughts)

    def _call(self, made: Any, place: int) -> JsonObject:
        name = made.id or f"{self._count}.{place}"
        self._open.append((made.name, name))
        return call(name, made.name, made.args)

    def _result(self, response: Any) -> JsonObject:
        for found in self._open:
            if response.id == found[1] or (not response.id and response.name == found[0]):
                self._open.remove(found)
                return result(found[1], response.response)
        raise NotOurs(f"nothing called {response.name!r}, which is answered")


def _parts(content: Any) -> Sequence[Any]:
    return content.parts or ()


def _words(part: Any) -> JsonObject:
    if part.text is not None:
        return {"type": "text", "text": part.text}
    kind = next((name for name, value in part if value is not None), "part")
    return {"type": "text", "text": f"[{kind}]"}


def to_record(message: JsonObject) -> Any:
    return types.Content(role="user", parts=[types.Part(text=text_of(message["content"]))])


def part_of(content: Any, kept: Sequence[int]) -> Any:
    """The user's words, whose message held the answers to calls as well."""
    answers = [part for part in _parts(content) if part.function_response]
    words = [part for part in _parts(content) if not part.function_response]
    stay = [answers[place] for place in kept if place < len(answers)]
    return types.Content(role=content.role, parts=stay + (words if len(answers) in kept else []))


def keep(content: Any) -> bool:
    """Whatever is neither said nor called stays: code that ran, files, media."""
    known = ("text", "function_call", "function_response", "thought", "thought_signature")
    return content.role == "model" and any(
        name not in known for part in _parts(content) for name, value in part if value is not None
    )


class StateCompPlugin(Saving, BasePlugin):
    """Takes what `Shortener` takes, or a shortener that others use too."""

    def __init__(self, *, shortener: Shortener | None = None, **options: Any) -> None:
        super().__init__(name="statecomp")
        self.shortener = shortener or Shortener("google_adk", **options)

    async def before_model_callback(self, *, callback_context: Any, llm_request: Any) -> None:
        if llm_request.previous_interaction_id:
            return
        if llm_request.cache_config:
            self.shortener.say(CACHED)
            return
        llm_request.contents = await self.shortener.arewrite(
            llm_request.contents,
            Converter().to_chat,
            to_record,
            part=part_of,
            keep=keep,
            beside={"model": llm_request.model or "", "tools": list(llm_request.tools_dict)},
        )
