"""Google ADK over LiteLLM and over both of Gemini's APIs; sessions in SQLite."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from drill import BETA, BINDING, DROPS, MODEL, SYSTEM, TURNS, Ended, Errand, awaited, main, tool
from google.adk.agents import Agent
from google.adk.agents.context_cache_config import ContextCacheConfig
from google.adk.agents.run_config import RunConfig, StreamingMode
from google.adk.apps import App
from google.adk.models.google_llm import Gemini
from google.adk.models.lite_llm import LiteLlm
from google.adk.runners import Runner
from google.adk.sessions.sqlite_session_service import SqliteSessionService
from google.genai import types

from statecomp.adapters.google_adk import StateCompPlugin

GEMINI = "gemini-3-pro"
WHO = {"user_id": "somebody", "session_id": "one"}


Model = Callable[[Errand], Any]


def openai(errand: Errand) -> Any:
    return LiteLlm(f"openai/{MODEL}", api_base=f"{errand.url}/v1", api_key=errand.key_)


def gemini(errand: Errand, **more: Any) -> Any:
    """Its calls have no ids, and each step's first one carries the signature of a thought."""
    client = {"api_key": errand.key_}
    return Gemini(model=GEMINI, base_url=errand.url, client_kwargs=client, **more)


def elsewhere(errand: Errand) -> Any:
    """The provider keeps the history."""
    return gemini(errand, use_interactions_api=True)


def binding(errand: Errand) -> Any:
    """Claude, set by its owner to drop thinking behind a change."""
    return refusing(errand, thinking=DROPS, extra_headers={"anthropic-beta": BETA})


def refusing(errand: Errand, **more: Any) -> Any:
    given = {"thinking": {"type": "adaptive"}, "max_tokens": 2000, **more}
    return LiteLlm(f"anthropic/{BINDING}", api_base=errand.url, api_key=errand.key_, **given)


def runner(errand: Errand, model: Model, **more: Any) -> Runner:
    agent = Agent(name="one", model=model(errand), instruction=SYSTEM, tools=[tool(errand)])
    plugins = []
    if errand.adapted:
        shortener = errand.shortener("google_adk", drops_thinking=model is binding)
        plugins = [StateCompPlugin(shortener=shortener)]
    app = App(name="drill", root_agent=agent, plugins=plugins, **more)
    sessions = SqliteSessionService(str(errand.folder / "sessions.sqlite"))
    return Runner(app=app, session_service=sessions)


def asked(turn: str, mode: Any = StreamingMode.NONE) -> dict[str, Any]:
    said = types.Content(role="user", parts=[types.Part(text=turn)])
    return {**WHO, "new_message": said, "run_config": RunConfig(streaming_mode=mode)}


def final(events: list[Any]) -> str:
    last = [e for e in events if e.is_final_response() and e.content and not e.partial][-1]
    return "".join(part.text or "" for part in last.content.parts if not part.thought).strip()


async def ended(finals: list[str], made: Runner) -> Ended:
    kept = await made.session_service.get_session(app_name="drill", **WHO)
    return Ended(finals, [essence(event) for event in kept.events])


def held(model: Model, mode: Any = StreamingMode.NONE, **more: Any) -> Callable[[Errand], Any]:
    async def run(errand: Errand) -> Ended:
        finals: list[str] = []
        for turns in (TURNS[:2], TURNS[2:]):
            made = runner(errand, model, **more)
            if not finals:
                await made.session_service.create_session(app_name="drill", **WHO)
            for turn in turns:
                finals.append(final([e async for e in made.run_async(**asked(turn, mode))]))
        return await ended(finals, made)

    return run


def at_once(errand: Errand) -> Ended:
    """As from a program without a loop."""
    finals: list[str] = []
    for turns in (TURNS[:2], TURNS[2:]):
        made = runner(errand, openai)
        if not finals:
            asyncio.run(made.session_service.create_session(app_name="drill", **WHO))
        finals += [final(list(made.run(**asked(turn)))) for turn in turns]
    return asyncio.run(ended(finals, made))


def essence(event: Any) -> Any:
    told = event.content.model_dump(mode="json", exclude_none=True) if event.content else None
    for part in (told or {}).get("parts", ()):
        # Made over what stands before it; and a name that ADK makes up where Gemini gives none.
        part.pop("thought_signature", None)
        for kind in ("function_call", "function_response"):
            if str(part.get(kind, {}).get("id", "")).startswith("adk-"):
                del part[kind]["id"]
    return told


if __name__ == "__main__":
    main(
        {
            "async": awaited(held(openai)),
            "sync": at_once,
            "streamed": awaited(held(openai, StreamingMode.SSE)),
            "gemini": awaited(held(gemini)),
            "bound": awaited(held(binding)),
            "forbidden": awaited(held(refusing)),
            "kept elsewhere": awaited(held(elsewhere)),
            "cached": awaited(held(openai, context_cache_config=ContextCacheConfig())),
        }
    )
