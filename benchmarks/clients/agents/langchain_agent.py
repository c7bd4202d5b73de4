"""LangChain's own agent over ChatOpenAI; with the word `adapted`, with our adapter in it."""

from __future__ import annotations

import sys

from langchain.agents import create_agent
from langchain_openai import ChatOpenAI
from tools import SYSTEM, TOOLS, asked  # type: ignore[import-not-found]

url, model, task = asked()
more = {}
if "adapted" in sys.argv:
    from statecomp.adapters.langchain import StateCompMiddleware

    more = {"middleware": [StateCompMiddleware(progress=True)]}
chat = ChatOpenAI(model=model, base_url=f"{url}/v1")
agent = create_agent(chat, TOOLS, system_prompt=SYSTEM, **more)
question = {"messages": [{"role": "user", "content": task}]}
print(agent.invoke(question, {"recursion_limit": 10_000})["messages"][-1].text)
