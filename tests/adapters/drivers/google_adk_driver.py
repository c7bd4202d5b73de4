"""Google ADK over LiteLLM, with calls named and, like Gemini's, not; sessions in SQLite."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from drill import MODEL, SYSTEM, TURNS, Ended, Errand, awaited, main, tool
from google.adk.agents import Agent
from google.adk.agents.run_config import RunConfig, StreamingMode
from google.adk.apps import App
from google.adk.models.lite_llm import LiteLlm
from google.adk.runners import Runner
from google.adk.sessions.sqlite_session_service import SqliteSessionService
from google.genai import types

from statecomp.adapters.google_adk import StateCompPlugin

WHO = {"user_id": "somebody", "session_id": "one"}


class Forgetful(StateCompPlugin):
    """Judges contents without ids, as Gemini has them; sends those that came."""

    async def before_model_callback(self, *, callback_context: Any, llm_request: Any) -> None:
        real = llm_request.contents
        bare = [_without_ids(content) for content in real]
        owner = {id(one): other for one, other in zip(bare, real, strict=True)}
        llm_request.contents = bare
        await super().before_model_callback(
            callback_context=callback_context, llm_request=llm_request
        )
        llm_request.contents = [owner.get(id(one), one) for one in llm_request.contents]


def _without_ids(content: Any) -> Any:
    copy = content.model_copy(deep=True)
    for part in copy.parts or ():
        for held in (part.function_call, part.function_response):
            if held:
                held.id = None
    return copy


def runner(errand: Errand, kind: Any) -> Runner:
    model = LiteLlm(f"openai/{MODEL}", api_base=f"{errand.url}/v1", api_key=errand.key_)
    agent = Agent(name="one", model=model, instruction=SYSTEM, tools=[tool(errand)])
    plugins = [kind(shortener=errand.shortener("google_adk"))] if errand.adapted else []
    app = App(name="drill", root_agent=agent, plugins=plugins)
    sessions = SqliteSessionService(str(errand.folder / "sessions.sqlite"))
    return Runner(app=app, session_service=sessions)


def held(kind: Any, mode: Any = StreamingMode.NONE) -> Callable[[Errand], Any]:
    async def run(errand: Errand) -> Ended:
        finals: list[str] = []
        for turns in (TURNS[:2], TURNS[2:]):
            made = runner(errand, kind)
            if not finals:
                await made.session_service.create_session(app_name="drill", **WHO)
            for turn in turns:
                said = types.Content(role="user", parts=[types.Part(text=turn)])
                config = RunConfig(streaming_mode=mode)
                async for event in made.run_async(**WHO, new_message=said, run_config=config):
                    if event.is_final_response() and event.content and not event.partial:
                        final = "".join(part.text or "" for part in event.content.parts)
                finals.append(final.strip())
        kept = await made.session_service.get_session(app_name="drill", **WHO)
        return Ended(finals, [essence(event) for event in kept.events])

    return run


def essence(event: Any) -> Any:
    return event.content.model_dump(mode="json", exclude_none=True) if event.content else None


if __name__ == "__main__":
    main(
        {
            "async": awaited(held(StateCompPlugin)),
            "streamed": awaited(held(StateCompPlugin, StreamingMode.SSE)),
            "no ids": awaited(held(Forgetful)),
        }
    )
