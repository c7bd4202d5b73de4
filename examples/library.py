"""A growing agent run through StateComp: the raw history goes in before every model call."""

from __future__ import annotations

from typing import Any

from statecomp import StateComp


def tool_step(number: int) -> list[dict[str, Any]]:
    """One interaction: the agent reads a log, the tool answers at length."""
    arguments = f'{{"path": "/var/log/app/{number}.log"}}'
    call = {"id": f"call_{number}", "type": "function"}
    lines = "\n".join(f"12:00:{s:02d} worker-{number} INFO request {s} done" for s in range(40))
    return [
        {
            "role": "assistant",
            "content": f"Reading log {number}.",
            "tool_calls": [{**call, "function": {"name": "read_file", "arguments": arguments}}],
        },
        {"role": "tool", "tool_call_id": f"call_{number}", "content": lines},
    ]


def main() -> None:
    comp = StateComp()
    messages: list[dict[str, Any]] = [{"role": "user", "content": "Which worker is slow?"}]
    for number in range(1, 31):
        messages += tool_step(number)
        checkpoint = comp.checkpoint(messages)
        print(
            f"step {number + 1:2}: {checkpoint.raw_tokens:6,} tokens raw, "
            f"{checkpoint.sent_tokens:6,} sent; {checkpoint.why}"
        )


if __name__ == "__main__":
    main()
