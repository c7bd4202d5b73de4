"""The Claude Agent SDK, which runs the Claude Code it brings along."""

from __future__ import annotations

import asyncio
import sys

from claude_agent_sdk import (  # type: ignore[import-not-found, unused-ignore]
    ClaudeAgentOptions,
    ResultMessage,
    query,
)


async def main(url: str, model: str, task: str) -> None:
    options = ClaudeAgentOptions(
        env={"ANTHROPIC_BASE_URL": url},
        model=model or None,
        permission_mode="bypassPermissions",
        tools={"type": "preset", "preset": "claude_code"},
    )
    async for message in query(prompt=task, options=options):
        if isinstance(message, ResultMessage):
            print(message.result)


asyncio.run(main(*sys.argv[1:4]))
