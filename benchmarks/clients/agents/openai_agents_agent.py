"""The OpenAI Agents SDK over chat completions, or over Responses where that is asked for."""

from __future__ import annotations

import sys

from agents import (
    Agent,
    OpenAIChatCompletionsModel,
    OpenAIResponsesModel,
    Runner,
    function_tool,
    set_tracing_disabled,
)
from openai import AsyncOpenAI
from tools import SYSTEM, TOOLS, asked  # type: ignore[import-not-found]

url, model, task = asked()
set_tracing_disabled(disabled=True)
kind = OpenAIResponsesModel if "responses" in sys.argv[4:] else OpenAIChatCompletionsModel
chosen = kind(model=model, openai_client=AsyncOpenAI(base_url=f"{url}/v1"))
tools = [function_tool(tool) for tool in TOOLS]
agent = Agent(name="engineer", instructions=SYSTEM, model=chosen, tools=tools)
print(Runner.run_sync(agent, task, max_turns=10_000).final_output)
