"""How each client is started headless, with a dummy key and the address of the proxy."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.clients.coding.project import TASK
from benchmarks.clients.installing import NotInstalled, program_of

KEY = "sk-test-0123456789abcdef"
CHAT_MODEL = "gpt-5"
CLAUDE_ALONE = {
    "ANTHROPIC_API_KEY": KEY,
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "DISABLE_AUTOUPDATER": "1",
    "IS_SANDBOX": "1",  # what it asks for before it acts without questions as root
}
OFFLINE = {"LITELLM_LOCAL_MODEL_COST_MAP": "True"}


@dataclass(frozen=True, slots=True)
class Errand:
    """What a client is to do: where, at which address, in whose home, how."""

    url: str
    workspace: Path
    home: Path
    thinking: bool = True
    model: str = ""
    version: str = ""
    steps: int = 0


@dataclass(frozen=True, slots=True)
class Launch:
    command: Sequence[str]
    env: Mapping[str, str]


def claude(errand: Errand) -> Launch:
    command = [str(program_of("claude", errand.version)), "-p", TASK]
    command += ["--dangerously-skip-permissions", "--output-format", "text"]
    if errand.model:
        command += ["--model", errand.model]
    env = {"ANTHROPIC_BASE_URL": errand.url, **CLAUDE_ALONE}
    if not errand.thinking:
        env["MAX_THINKING_TOKENS"] = "0"
    return Launch(command, env)


def agent_sdk(errand: Errand) -> Launch:
    """The address is told in the program, as the guide says; it brings a Claude Code along."""
    python = str(program_of("claude-agent-sdk", errand.version))
    file = str(Path(__file__).parent / "agents" / "claude_agent_sdk_agent.py")
    return Launch([python, file, errand.url, errand.model, TASK], CLAUDE_ALONE)


def codex(errand: Errand) -> Launch:
    provider = f'name="scripted",base_url="{errand.url}/v1",wire_api="responses"'
    settings = [
        'model_provider="scripted"',
        f'model_providers.scripted={{{provider},env_key="OPENAI_API_KEY"}}',
        "analytics.enabled=false",
    ]
    if not errand.thinking:
        settings.append('model_reasoning_effort="none"')
    command = [str(program_of("codex", errand.version)), "exec", "--skip-git-repo-check"]
    command += ["--dangerously-bypass-approvals-and-sandbox", "-C", str(errand.workspace)]
    command += [word for setting in settings for word in ("-c", setting)]
    if errand.model:
        command += ["-m", errand.model]
    return Launch([*command, TASK], {"OPENAI_API_KEY": KEY})


def framework(package: str, script: str, *words: str) -> Callable[[Errand], Launch]:
    """An agent of a few lines, run by the Python that its framework is installed for."""

    def launch(errand: Errand) -> Launch:
        python = str(program_of(package, errand.version))
        file = str(Path(__file__).parent / "agents" / script)
        command = [python, file, errand.url, errand.model or CHAT_MODEL, TASK, *words]
        return Launch(command, {"OPENAI_API_KEY": KEY, "DO_NOT_TRACK": "1", **OFFLINE})

    return launch


def vercel(errand: Errand) -> Launch:
    """An agent of a few lines for the AI SDK, which finds it in the folder it is installed in."""
    node = shutil.which("node")
    if node is None:
        raise NotInstalled("there is no node, which the Vercel AI SDK runs on")
    folder = program_of("vercel", errand.version).parents[1]
    file = str(Path(__file__).parent / "agents" / "vercel_agent.mjs")
    command = [node, file, str(folder), errand.url, errand.model or CHAT_MODEL, TASK]
    return Launch([*command, "low" if errand.thinking else ""], {"OPENAI_API_KEY": KEY})


CLIENTS: Mapping[str, Callable[[Errand], Launch]] = {
    "claude": claude,
    "claude-agent-sdk": agent_sdk,
    "codex": codex,
    "vercel": vercel,
    "langchain": framework("langchain", "langchain_agent.py"),
    "pydantic-ai": framework("pydantic-ai", "pydantic_ai_agent.py"),
    "openai-agents": framework("openai-agents", "openai_agents_agent.py"),
    "openai-agents-responses": framework("openai-agents", "openai_agents_agent.py", "responses"),
    "smolagents": framework("smolagents", "smolagents_agent.py"),
    "mini-swe-agent": framework("mini-swe-agent", "mini_swe_agent.py"),
}
# Models that can be told not to think, where the client's own choice cannot.
UNTHINKING = {"claude": "claude-opus-4-8"}
PRICED_AS = {"claude": "claude-opus", "claude-agent-sdk": "claude-opus"}
"""Whose list price a model has that the price book does not know; else GPT-5's."""


def environment(errand: Errand, launch: Launch) -> dict[str, str]:
    """Nothing of the user's but the path: no settings, no keys, no proxies of their own."""
    kept = {name: os.environ[name] for name in ("PATH", "LANG", "TMPDIR") if name in os.environ}
    return {**kept, "HOME": str(errand.home), **launch.env}
