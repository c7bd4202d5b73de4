"""Strands' default conversation manager drops the task: the adapter says so, in its environment."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

import statecomp
from tests.adapters.frameworks import PROOFS

AGENT = """
import logging
logging.basicConfig(format="%(message)s")
from strands import Agent
from strands.agent.conversation_manager import NullConversationManager
from strands.models.openai import OpenAIModel
from statecomp.adapters.strands import StateCompPlugin
model = OpenAIModel(client_args={"api_key": "unused"}, model_id="gpt-5")
Agent(model=model, plugins=[StateCompPlugin()], callback_handler=None)
print("then")
quiet = NullConversationManager()
Agent(model=model, plugins=[StateCompPlugin()], callback_handler=None, conversation_manager=quiet)
"""


def test_the_manager_that_drops_the_task_is_warned_of_and_the_other_is_not() -> None:
    (environment,) = (proof.environment for proof in PROOFS if proof.name == "strands")
    if not environment.is_there:
        pytest.skip("`make adapters` installs strands-agents")
    done = subprocess.run(
        [str(environment.program), "-u", "-c", AGENT],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={"PYTHONPATH": str(Path(statecomp.__file__).parents[1]), "PATH": ""},
        check=True,
    )
    before, _, after = done.stdout.partition("then")
    assert "drops its oldest messages for good" in before
    assert "conversation_manager=NullConversationManager()" in before
    assert "drops" not in after
