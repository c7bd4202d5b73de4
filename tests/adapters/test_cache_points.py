"""A cache point on what is replaced stands on the record, in the framework's own words."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

import statecomp
from tests.adapters.frameworks import PROOFS

SHARED = """
import json
from statecomp.adapters.shortener import Shortener
lines = "\\n".join(f"line {n} is checked" for n in range(40))
eager = dict(scorer="age:after=2", longer_than=1, min_source_tokens=50)
"""
STRANDS = """
from statecomp.adapters.strands import to_anthropic, to_record
said = [{"role": "user", "content": [{"text": "Look at everything."}]}]
for n in range(8):
    use = {"toolUseId": f"t{n}", "name": "look", "input": {}}
    told = {"toolUseId": f"t{n}", "status": "success", "content": [{"text": lines}]}
    point = [{"cachePoint": {"type": "default"}}] if n == 1 else []
    said.append({"role": "assistant", "content": [{"toolUse": use}]})
    said.append({"role": "user", "content": [{"toolResult": told}, *point]})
made = Shortener("strands", **eager).rewrite(said, to_anthropic, to_record, protocol="anthropic")
print(json.dumps([one for one in made if one not in said]))
"""
LANGCHAIN = """
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from statecomp.adapters.langgraph import to_chat, to_record
said = [HumanMessage("Look at everything.")]
for n in range(8):
    block = {"type": "text", "text": lines}
    if n == 1:
        block["cache_control"] = {"type": "ephemeral"}
    said.append(AIMessage("", tool_calls=[{"id": f"t{n}", "name": "look", "args": {}}]))
    said.append(ToolMessage([block], tool_call_id=f"t{n}"))
made = Shortener("langchain", **eager).rewrite(said, to_chat, to_record)
print(json.dumps([{"content": one.content} for one in made if one not in said]))
"""


@pytest.mark.parametrize(
    ("name", "code", "point"),
    [("strands", STRANDS, "cachePoint"), ("langchain", LANGCHAIN, "cache_control")],
)
def test_a_cache_point_of_what_goes_stands_on_its_record(name: str, code: str, point: str) -> None:
    (environment,) = (proof.environment for proof in PROOFS if proof.name == name)
    if not environment.is_there:
        pytest.skip(f"`make adapters` installs {name}")
    done = subprocess.run(
        [str(environment.program), "-c", SHARED + code],
        capture_output=True,
        text=True,
        env={"PYTHONPATH": str(Path(statecomp.__file__).parents[1]), "PATH": ""},
        check=False,
    )
    assert not done.returncode, done.stderr
    (record,) = json.loads(done.stdout)
    assert "[Record of past steps" in json.dumps(record)
    assert sum(point in part for part in record["content"]) == 1
