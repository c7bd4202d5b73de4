"""smolagents' tool calling agent."""

from __future__ import annotations

from smolagents import OpenAIModel, ToolCallingAgent, tool
from tools import TOOLS, asked  # type: ignore[import-not-found]

url, model, task = asked()
chat = OpenAIModel(model_id=model, api_base=f"{url}/v1")
agent = ToolCallingAgent([tool(each) for each in TOOLS], chat, max_steps=10_000, verbosity_level=0)
print(agent.run(task))
