"""mini-swe-agent with its default settings, over litellm."""

from __future__ import annotations

from pathlib import Path

import minisweagent
import yaml  # type: ignore[import-not-found,import-untyped,unused-ignore]
from minisweagent.agents.default import DefaultAgent
from minisweagent.environments.local import LocalEnvironment
from minisweagent.models.litellm_model import LitellmModel
from tools import asked  # type: ignore[import-not-found]

url, model, task = asked()
place = Path(minisweagent.__file__).parent / "config" / "default.yaml"
settings = yaml.safe_load(place.read_text("utf-8"))
extra = {**settings.get("model", {}), "cost_tracking": "ignore_errors"}
extra["model_kwargs"] = {**extra.get("model_kwargs", {}), "api_base": f"{url}/v1"}
chat = LitellmModel(model_name=f"openai/{model}", **extra)
limits = {**settings["agent"], "cost_limit": 0, "step_limit": 0}
agent = DefaultAgent(chat, LocalEnvironment(**settings.get("environment", {})), **limits)
print(agent.run(task)["submission"])
