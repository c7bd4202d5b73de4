"""The shape of what clients send, for tests.

    python -m benchmarks.clients.recording FOLDER [CASE ...]

One file a case: the last request of a short session with its headers.  Structure, names, tags and
markers are theirs; every longer text is replaced, and what could name a machine or a person is
taken out.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks.clients.running import Outcome, Wish, run

STEPS = 7
CASES = {
    "claude_opus_5_5": Wish("claude", STEPS),
    "claude_opus_4_8_no_thinking": Wish("claude", STEPS, thinking=False),
    "claude_haiku_4_5": Wish("claude", STEPS, model="claude-haiku-4-5"),
    "claude_agent_sdk": Wish("claude-agent-sdk", STEPS),
    "claude_2_1_197": Wish("claude", STEPS, version="2.1.197"),
    "codex": Wish("codex", STEPS),
    "codex_gpt_5_5": Wish("codex", STEPS, model="gpt-5.5"),
    "vercel": Wish("vercel", STEPS),
    "langchain": Wish("langchain", STEPS),
    "pydantic_ai": Wish("pydantic-ai", STEPS),
    "openai_agents": Wish("openai-agents", STEPS),
    "openai_agents_responses": Wish("openai-agents-responses", STEPS),
    "smolagents": Wish("smolagents", STEPS),
    "mini_swe_agent": Wish("mini-swe-agent", STEPS),
}
HEADERS = re.compile(
    r"^(?:accept(?:-encoding)?|anthropic-(?:beta|version)|content-(?:type|encoding)|originator"
    r"|user-agent|x-app|x-codex-beta-features|x-openai-internal-.*)$"
)
# What the script itself wrote, and what is known by its name.
KEPT = frozenset({"arguments", "input", "signature", "encrypted_content", "type", "role", "name"})
LONG = 60
# By these an agent's calls and answers are known where it writes them as text.
_CALLING = re.compile(r"(?s)^(.*?)(Calling tools:\n\[.*\])$")
_ANSWERING = re.compile(r"Observation:\n")
_TAG = re.compile(r"<(/?[a-z_-]+(?: instructions)?)>")
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_HEX = re.compile(r"\b[0-9a-f]{32,64}\b")


def recorded(outcome: Outcome) -> dict[str, Any]:
    last = outcome.requests[-1]
    # Behind its version a client tells the machine it runs on.
    headers = {k: v.split(" (")[0] for k, v in last.headers.items() if HEADERS.match(k)}
    folder = next(re.finditer(r"/\S+?-clients-\d+/\d+/work", last.raw.decode()), None)
    text = last.raw.decode().replace(folder[0] if folder else "\0", "/work")
    for number, name in enumerate(dict.fromkeys(_UUID.findall(text))):
        text = text.replace(name, f"{number:036d}")
    return {"path": last.path, "headers": headers, "body": shortened(json.loads(text))}


def shortened(value: Any, key: str = "") -> Any:
    if isinstance(value, Mapping):
        if key in ("input_schema", "parameters") and "properties" in value:
            return {"type": "object", "properties": {name: {} for name in value["properties"]}}
        if key == "format" and "definition" in value:
            return {**value, "definition": "start: (a grammar)"}
        return {name: shortened(part, name) for name, part in value.items()}
    if isinstance(value, list):
        return [shortened(part, key) for part in value]
    return _shortened(value, key) if isinstance(value, str) else value


def _shortened(text: str, key: str) -> str:
    if key in ("user_id", "x-codex-turn-metadata"):
        return "{}"
    text = _HEX.sub("0" * 32, text)
    if len(text) <= LONG or key in KEPT:
        return text
    if calling := _CALLING.match(text):
        return f"{_shortened(calling[1].strip(), key)}\n{calling[2]}".lstrip()
    if answering := _ANSWERING.match(text):
        return f"{answering[0]}{_shortened(text[answering.end() :], key)}"
    # Tags tell a reader what a text is, so they stay: the outermost, around words of our own.
    opening = _TAG.match(text.strip())
    if opening and f"</{opening[1]}>" in text:
        return f"<{opening[1]}>\n(a text of {len(text):,} characters)\n</{opening[1]}>"
    return f"(a text of {len(text):,} characters)"


def main() -> None:
    folder, *wanted = Path(sys.argv[1]), *sys.argv[2:]
    for name, wish in CASES.items():
        if wanted and name not in wanted:
            continue
        made = {"client": f"{wish.client} {wish.version}".strip(), **recorded(run(wish))}
        (folder / f"{name}.json").write_text(json.dumps(made, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
