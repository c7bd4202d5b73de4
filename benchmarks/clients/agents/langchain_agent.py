"""LangChain's own agent over ChatOpenAI."""

from __future__ import annotations

from langchain.agents import create_agent
from langchain_openai import ChatOpenAI
from tools import SYSTEM, TOOLS, asked  # type: ignore[import-not-found]

url, model, task = asked()
agent = create_agent(ChatOpenAI(model=model, base_url=f"{url}/v1"), TOOLS, system_prompt=SYSTEM)
question = {"messages": [{"role": "user", "content": task}]}
print(agent.invoke(question, {"recursion_limit": 10_000})["messages"][-1].text)
