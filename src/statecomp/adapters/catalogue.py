"""The frameworks there is an adapter for: since which version, and which were proved to work."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from importlib.resources import files
from typing import Any

from statecomp.errors import BadInput


@dataclass(frozen=True, slots=True)
class Framework:
    """`name` is that of our file and of the extra, `package` what pip calls it.

    `since` is the first version whose hook is known to work.  `line` is how it is connected.
    """

    name: str
    title: str
    package: str
    since: str
    line: str

    @property
    def installed(self) -> str:
        """Its version here, empty where it is not."""
        try:
            return version(self.package)
        except PackageNotFoundError:
            return ""

    @property
    def extra(self) -> str:
        return self.name.replace("_", "-")


FRAMEWORKS: Mapping[str, Framework] = {
    framework.name: framework
    for framework in (
        Framework(
            "langchain",
            "LangChain, deepagents",
            "langchain",
            "1.4.0",
            "create_agent(model, tools, middleware=[StateCompMiddleware()])",
        ),
        Framework(
            "langgraph",
            "LangGraph",
            "langgraph",
            "1.2.0",
            "create_react_agent(model, tools, pre_model_hook=StateCompHook().runnable)",
        ),
        Framework(
            "openai_agents",
            "OpenAI Agents SDK",
            "openai-agents",
            "0.24.0",
            "RunConfig(call_model_input_filter=StateCompFilter())",
        ),
        Framework(
            "pydantic_ai",
            "Pydantic AI",
            "pydantic-ai-slim",
            "1.107.0",
            "Agent(model, capabilities=[StateCompCapability()])",
        ),
        Framework(
            "litellm",
            "LiteLLM, library and proxy",
            "litellm",
            "1.106.0",
            "litellm.callbacks = [StateCompCallback()]",
        ),
        Framework(
            "mini_swe_agent",
            "mini-swe-agent",
            "mini-swe-agent",
            "2.4.0",
            'model_class: "statecomp.adapters.mini_swe_agent.StateCompModel"',
        ),
        Framework(
            "strands",
            "Strands Agents",
            "strands-agents",
            "1.62.0",
            "Agent(plugins=[StateCompPlugin()], conversation_manager=NullConversationManager())",
        ),
        Framework(
            "google_adk",
            "Google ADK",
            "google-adk",
            "2.13.0",
            "App(name=..., root_agent=agent, plugins=[StateCompPlugin()])",
        ),
        Framework(
            "openhands",
            "OpenHands SDK",
            "openhands-sdk",
            "1.58.0",
            "Agent(llm=llm, tools=tools, condenser=StateCompCondenser())",
        ),
        Framework(
            "agent_framework",
            "Microsoft Agent Framework",
            "agent-framework-core",
            "1.23.0",
            "Agent(client, tools=tools, middleware=[StateCompMiddleware()])",
        ),
        Framework(
            "smolagents",
            "smolagents",
            "smolagents",
            "1.26.0",
            "attach(agent)",
        ),
        Framework(
            "crewai",
            "CrewAI",
            "crewai",
            "1.15.0",
            'Agent(role=..., llm=shorter(OpenAICompletion)(model="gpt-5"))',
        ),
        Framework(
            "llama_index",
            "LlamaIndex",
            "llama-index-core",
            "0.14.0",
            'FunctionAgent(tools=tools, llm=shorter(OpenAI)(model="gpt-5"))',
        ),
    )
}


class NotSupported(BadInput, ImportError):
    """The framework is not here, or is too old to have the hook."""


def needs(name: str) -> None:
    """Raises NotSupported, in one sentence, where a framework's adapter cannot work."""
    framework = FRAMEWORKS[name]
    here = framework.installed
    wanted = f"pip install 'statecomp[{framework.extra}]'"
    if not here:
        raise NotSupported(f"is not installed: {wanted}", field=framework.package)
    if _numbers(here) < _numbers(framework.since):
        shown = ", ".join(proved_versions(name)) or framework.since
        problem = f"is too old for this adapter, which was proved with {shown}: {wanted}"
        raise NotSupported(problem, field=f"{framework.package} {here}")


def client_name(name: str) -> str:
    """What the account calls it, as a user agent would: product and version."""
    framework = FRAMEWORKS.get(name)
    return f"{framework.package}/{framework.installed}" if framework else name


def proved_versions(name: str) -> list[str]:
    """As `make adapters` last wrote them down."""
    told = proved().get(name, {}).get("versions", {})
    return [f"{package} {number}" for package, number in told.items()]


@cache
def proved() -> Mapping[str, Any]:
    text = files("statecomp.adapters").joinpath("proved.json").read_text("utf-8")
    found: Mapping[str, Any] = json.loads(text)
    return found


def _numbers(text: str) -> tuple[int, ...]:
    """A version as far as it is made of numbers, which is all a lower bound needs."""
    found = re.match(r"\d+(?:\.\d+)*", text)
    return tuple(int(part) for part in found[0].split(".")) if found else ()
