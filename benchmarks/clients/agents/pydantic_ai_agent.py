"""pydantic-ai over chat completions."""

from __future__ import annotations

from pydantic_ai import Agent, UsageLimits
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider
from tools import SYSTEM, TOOLS, asked  # type: ignore[import-not-found]

url, model, task = asked()
chat = OpenAIChatModel(model, provider=OpenAIProvider(base_url=f"{url}/v1"))
agent = Agent(chat, tools=list(TOOLS), system_prompt=SYSTEM)
print(agent.run_sync(task, usage_limits=UsageLimits(request_limit=None)).output)
