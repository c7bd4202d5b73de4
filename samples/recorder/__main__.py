"""Records the samples: `python -m samples.recorder [--out DIR] [--only NAME]`."""

from __future__ import annotations

import argparse
import json
import shutil
from pathlib import Path

from samples.recorder import code, office, security, web
from samples.recorder.agent import Scenario, as_text_actions, perform
from samples.recorder.workspace import TOOLS, Workspace
from statecomp_bench.sandbox import Sandbox

RUNS: dict[str, tuple[Scenario, str]] = {
    "code": (code.SCENARIO, "tool-calls"),
    "code-text-action": (code.SCENARIO, "text-action"),
    "office": (office.SCENARIO, "tool-calls"),
    "security": (security.SCENARIO, "tool-calls"),
    "web": (web.SCENARIO, "tool-calls"),
}
HOW_TO_ACT = {
    "tool-calls": "Call tools; calls of one message are answered together.",
    "text-action": "Write one action a message, in a fenced block: bash for the shell, "
    "json for any other tool.",
}


def system_prompt(style: str) -> str:
    return (
        "You are an agent working in the directory /workspace with these tools: "
        f"{', '.join(TOOLS)}. {HOW_TO_ACT[style]} Base every step on what the tools printed, and "
        "end with a message without an action that says what was done."
    )


def record(name: str, keep: Path | None = None) -> dict[str, object]:
    """One run, as the object a sample file holds."""
    scenario, style = RUNS[name]
    with Sandbox(unprotected=True) as sandbox:  # every command of these runs is our own
        workspace = Workspace(sandbox)
        scenario.build(workspace)
        messages = perform(scenario, system_prompt(style), workspace)
        success = scenario.check(workspace)
        if keep is not None:
            shutil.copytree(workspace.root, keep / name)
    if style == "text-action":
        messages = list(as_text_actions(messages))
    return {
        "id": f"sample-{name}",
        "domain": scenario.domain,
        "subdomain": scenario.subdomain,
        "source_repo": "statecomp",
        "license": "Apache-2.0",
        "scaffold": "statecomp-recorder",
        "model": "scripted",
        "task": scenario.task,
        "group": f"statecomp-{scenario.domain.lower()}",
        "outcome": {"success": success},
        "style": style,
        "messages": messages,
    }


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m samples.recorder", description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("samples"), help="where samples go")
    parser.add_argument("--only", choices=sorted(RUNS), help="record one run")
    parser.add_argument("--keep", type=Path, help="copy the finished workspaces here")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    for name in [options.only] if options.only else RUNS:
        sample = record(name, options.keep)
        line = json.dumps(sample, ensure_ascii=False)
        target: Path = options.out / f"{name}.jsonl"
        target.write_text(f"{line}\n", encoding="utf-8")
        print(f"{target}: {len(line)} characters, outcome {sample['outcome']}")


if __name__ == "__main__":
    main()
