"""Recordings damaged anywhere cost what is damaged: no importer ever breaks."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from statecomp.errors import BadInput
from statecomp.history.trajectory import Trajectory
from statecomp.traces.format import Format
from statecomp.traces.formats import FORMATS
from statecomp.traces.records import as_record
from statecomp.wire.providers import wire_named
from tests.traces.test_claude_code import SESSION
from tests.traces.test_codex import META, TURN
from tests.traces.test_openhands import APP, SDK
from tests.traces.test_requests import CALL, DONE, RESULT, TASK, chat, choice
from tests.traces.test_swe_agents import EXIT, OPENING, TEXT_RUN, TOOL_RUN, made, mini

TOLD: list[dict[str, Any]] = [*OPENING, {"role": "assistant", "tool_calls": made("c1")}, EXIT]
RECORDINGS: dict[str, list[Any]] = {
    "claude-code": SESSION,
    "codex": [META, *TURN],
    "swe-agent": [TEXT_RUN, TOOL_RUN],
    "mini-swe-agent": [mini(TOLD)],
    "openhands": [*APP],
    "openhands-sdk": [*SDK],
    "requests": [
        {"request": chat(TASK), "response": choice(CALL)},
        {"request": chat(TASK, CALL, RESULT), "response": choice(DONE)},
    ],
    "statecomp": [{"id": "x", "style": "tool-calls", "messages": [TASK, CALL, RESULT]}],
}
JUNK = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 3),
    st.text(max_size=5),
    st.just([]),
    st.just({}),
    st.just([None, 1, "x", [], {"type": "tool_result"}]),
    st.just({"role": "assistant", "type": "message", "content": [5]}),
)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value)
    found = [path] if path else []
    if isinstance(value, dict | list):
        for key, item in inner:
            found += places(item, (*path, key)) if isinstance(item, dict | list) else [(*path, key)]
    return found


def damaged(records: list[Any], path: tuple[Any, ...], junk: Any) -> list[Any]:
    out: list[Any] = json.loads(
        json.dumps(records)
    )  # parts that records share come apart, as in a file
    spot: Any = out
    for key in path[:-1]:
        spot = spot[key]
    if isinstance(spot, dict) and not isinstance(path[-1], str):
        raise KeyError(path[-1])  # JSON has no such keys
    spot[path[-1]] = junk
    return out


@pytest.mark.parametrize("name", RECORDINGS)
@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_damage_is_survived_or_said(name: str, data: Any) -> None:
    records = RECORDINGS[name]
    every = places(records)
    for _ in range(data.draw(st.integers(1, 3))):
        path = data.draw(st.sampled_from(every))
        try:
            records = damaged(records, path, data.draw(JUNK))
        except (KeyError, IndexError, TypeError):
            continue  # an earlier damage took the place away
    form: Format = next(f for f in FORMATS if name.startswith(f.name))
    for each in FORMATS:
        each.recognises(records)
    try:
        for run in form.runs(records, "x"):
            if isinstance(run, Trajectory):
                json.dumps(as_record(run))
                list(wire_named(run.protocol).groups(run.messages))
    except BadInput:
        pass  # the importer says it, and goes on with the next file
