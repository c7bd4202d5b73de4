"""Every framework that has an adapter: what is installed to prove it, and which agent is driven."""

from __future__ import annotations

from dataclasses import dataclass

from tests.adapters.environments import Environment


@dataclass(frozen=True)
class Proof:
    """`variants` are runs of the driver; the first is also run with broken parts.

    The variants in `quick` are part of `make test`: their framework installs in a minute.  Those in
    `untouched` are ones whose history must not be changed, those `in_words` have no tools, and
    those `doubled` have two adapters on one loop.
    """

    name: str
    environment: Environment
    driver: str
    variants: tuple[str, ...]
    quick: tuple[str, ...] = ()
    untouched: tuple[str, ...] = ()
    in_words: tuple[str, ...] = ()
    doubled: tuple[str, ...] = ()


LANGCHAIN = Environment(
    "langchain",
    (
        "langchain==1.4.7",
        "langchain-core==1.6.13",
        "langchain-openai==1.6.7",
        "langchain-anthropic==1.7.7",
        "langgraph==1.2.20",
        "langgraph-checkpoint-sqlite==3.1.2",
        "deepagents==0.7.30",
    ),
)

PROOFS = (
    Proof(
        "langchain",
        LANGCHAIN,
        "langchain_driver.py",
        ("sync", "async", "streamed", "responses", "anthropic", "thinking", "bound", "deepagents"),
        quick=("sync", "async"),
        untouched=("kept elsewhere", "forbidden"),
        doubled=("twice",),
    ),
    Proof(
        "langgraph",
        LANGCHAIN,
        "langgraph_driver.py",
        ("sync", "async", "streamed", "own graph", "bound"),
        untouched=("forbidden",),
    ),
    Proof(
        "openai_agents",
        Environment("openai-agents", ("openai-agents==0.24.0",)),
        "openai_agents_driver.py",
        ("chat", "sync", "responses", "streamed", "set once", "set once, streamed"),
        quick=("chat",),
        untouched=("kept elsewhere", "set once, kept elsewhere"),
    ),
    Proof(
        "pydantic_ai",
        Environment("pydantic-ai", ("pydantic-ai-slim[openai,anthropic]==2.66.0",)),
        "pydantic_ai_driver.py",
        ("chat", "sync", "streamed", "responses", "anthropic", "bound", "model", "model, streamed"),
        untouched=("kept elsewhere", "model, kept elsewhere", "forbidden"),
    ),
    Proof(
        "pydantic_ai_1",
        Environment("pydantic-ai-1", ("pydantic-ai-slim[openai,anthropic]==1.107.0",)),
        "pydantic_ai_driver.py",
        ("model", "model, sync", "model, streamed"),
    ),
    Proof(
        "litellm",
        Environment("litellm", ("litellm==1.106.2", "mcp==2.3.0")),
        "litellm_driver.py",
        (
            *("async", "sync", "attached", "streamed", "router"),
            *("responses", "responses, sync", "messages", "bound"),
        ),
        untouched=("kept elsewhere",),
    ),
    Proof(
        "litellm_proxy",
        Environment("litellm-proxy", ("litellm[proxy]==1.106.2", "mcp==2.3.0")),
        "litellm_proxy_driver.py",
        ("proxy", "proxy, responses", "proxy, messages"),
    ),
    Proof(
        "mini_swe_agent",
        Environment("mini-swe-agent", ("mini-swe-agent==2.4.6", "litellm==1.106.2", "mcp==2.3.0")),
        "mini_swe_agent_driver.py",
        ("tool", "text", "responses", "bound"),
        in_words=("text",),
    ),
    Proof(
        "strands",
        Environment("strands", ("strands-agents[openai,anthropic]==1.62.0",)),
        "strands_driver.py",
        ("sync", "async", "anthropic", "alternating", "bound", "responses"),
        untouched=("kept elsewhere", "forbidden"),
    ),
    Proof(
        "google_adk",
        Environment("google-adk", ("google-adk==2.13.0", "litellm==1.106.2", "mcp==2.3.0")),
        "google_adk_driver.py",
        ("async", "sync", "streamed", "gemini", "bound"),
        untouched=("kept elsewhere", "cached", "forbidden"),
    ),
    Proof(
        "openhands",
        Environment("openhands", ("openhands-sdk==1.58.0",), "3.12"),
        "openhands_driver.py",
        ("sync", "async", "streamed", "bound"),
        untouched=("forbidden",),
    ),
    Proof(
        "agent_framework",
        Environment(
            "agent-framework",
            (
                "agent-framework-core==1.23.0",
                "agent-framework-openai==1.17.0",
                "agent-framework-anthropic==1.0.0b261022",
            ),
        ),
        "agent_framework_driver.py",
        ("chat", "responses", "streamed", "bound", "bound, streamed"),
        untouched=("kept elsewhere", "forbidden", "stored by call"),
    ),
    Proof(
        "smolagents",
        Environment("smolagents", ("smolagents[openai]==1.26.0",)),
        "smolagents_driver.py",
        ("sync", "streamed"),
    ),
    Proof(
        "crewai",
        Environment("crewai", ("crewai[anthropic]==1.15.30",)),
        "crewai_driver.py",
        ("sync", "async", "streamed", "responses", "bound"),
        untouched=("kept elsewhere",),
    ),
    Proof(
        "llama_index",
        Environment(
            "llama-index",
            (
                "llama-index-core==0.14.25",
                "llama-index-llms-openai==0.8.3",
                "llama-index-llms-anthropic==0.12.3",
                "anthropic==0.125.0",  # the newest has another kind of message
            ),
        ),
        "llama_index_driver.py",
        ("async", "streamed", "sync", "sync, streamed", "bound"),
        untouched=("kept elsewhere", "forbidden"),
    ),
)
