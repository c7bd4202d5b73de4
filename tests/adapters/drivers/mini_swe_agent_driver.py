"""mini-swe-agent with its own settings, shell and trajectory file; all three kinds of model."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ.update(MSWEA_SILENT_STARTUP="1", MSWEA_CONFIGURED="true")

import minisweagent
import yaml  # type: ignore[import-untyped, unused-ignore]
from drill import BINDING, MODEL, TURNS, Ended, Errand, look, main
from minisweagent.agents.default import DefaultAgent
from minisweagent.environments.local import LocalEnvironment
from minisweagent.models import get_model_class

CONFIG = Path(minisweagent.__file__).parent / "config"
OURS = "statecomp.adapters.mini_swe_agent."
KINDS = {
    "tool": ("default.yaml", "litellm", "StateCompModel"),
    "text": ("mini_textbased.yaml", "litellm_textbased", "StateCompTextModel"),
    "responses": ("default.yaml", "litellm_response", "StateCompResponseModel"),
    "bound": ("default.yaml", "litellm", "StateCompModel"),
}
# Claude, whose thinking stands beside its calls.
BOUND = {"thinking": {"type": "adaptive"}, "max_tokens": 2000}


def agent(errand: Errand, kind: str) -> DefaultAgent:
    config, theirs, ours = KINDS[kind]
    settings = yaml.safe_load((CONFIG / config).read_text("utf-8"))
    given = {**settings.get("model", {}), "cost_tracking": "ignore_errors"}
    given.pop("model_class", None)
    given["model_kwargs"] = {
        **given.get("model_kwargs", {}),
        "api_base": f"{errand.url}/v1",
        "api_key": errand.key_,
    }
    given["model_name"] = f"openai/{MODEL}"
    if kind == "bound":
        given["model_kwargs"] |= {**BOUND, "api_base": errand.url}
        given["model_name"] = f"anthropic/{BINDING}"
    if errand.adapted:
        given["shortener"] = errand.shortener("mini_swe_agent")
    model = get_model_class("", OURS + ours if errand.adapted else theirs)(**given)
    shell = LocalEnvironment(cwd=str(errand.folder))
    wanted = {
        key: value
        for key, value in settings["agent"].items()
        if key in ("system_template", "instance_template")
    }
    return DefaultAgent(
        model, shell, **wanted, cost_limit=0, step_limit=0, output_path=errand.folder / "run.json"
    )


def on(made: DefaultAgent, turn: str) -> str:
    """Another task for a conversation that was ended: without the step that ended it."""
    del made.messages[-2:]
    made.add_messages({"role": "user", "content": turn})
    while made.messages[-1].get("role") != "exit":
        try:
            made.step()
        except minisweagent.exceptions.InterruptAgentFlow as end:
            made.add_messages(*end.messages)
    made.save(made.config.output_path)
    return str(made.messages[-1]["extra"]["submission"]).strip()


def held(kind: str) -> Callable[[Errand], Ended]:
    def run(errand: Errand) -> Ended:
        for step in range(60):
            for part in range(2):
                file = errand.folder / f"part_{step:03d}_{part}.txt"
                file.write_text(look(step, part))
        first = agent(errand, kind)
        finals = [first.run(TURNS[0])["submission"].strip(), on(first, TURNS[1])]
        again = agent(errand, kind)
        again.messages = json.loads((errand.folder / "run.json").read_text())["messages"]
        finals.append(on(again, TURNS[2]))
        stored = [essence(message) for message in again.messages]
        for message in again.messages:
            for action in message.get("extra", {}).get("actions", ()):
                if "part_" in action["command"]:
                    step, part = action["command"].split("part_")[1].split(".")[0].split("_")
                    errand.seen.calls.append([int(step), int(part)])
        return Ended(finals, stored)

    return run


def essence(value: Any) -> Any:
    if isinstance(value, dict):
        # A signature is made over what stands before it, so it is another one behind a record.
        unsteady = ("extra", "usage", "created_at", "id", "completed_at", "signature")
        return {k: essence(v) for k, v in value.items() if k not in unsteady}
    return [essence(item) for item in value] if isinstance(value, list) else value


if __name__ == "__main__":
    main({kind: held(kind) for kind in KINDS})
