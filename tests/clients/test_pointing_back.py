"""Claude Code does not show an unchanged file twice: it must find the first reading in place.

The version that is known to do so is asked for by name; the newest one showed the file again.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pytest

from benchmarks.clients.coding.hands import ending, hands_of
from benchmarks.clients.coding.session import ASIDE, CodingSession
from benchmarks.clients.installing import NotInstalled
from benchmarks.clients.running import Outcome, Wish, run
from statecomp.testing.provider.turns import Body, ScriptedCall, Turn
from tests.proxy.serving import EAGER_OPTIONS

STEPS, AGAIN = 14, 10
STUB = "file unchanged since your last Read"
OPENING = "What the tests share"
"""The first line of the file that is read twice."""
LONG = os.environ.get("STATECOMP_CLIENT_STEPS", "")
pytestmark = pytest.mark.skipif(not LONG, reason="an older Claude Code, run by `make clients`")


@dataclass(frozen=True)
class Reader(CodingSession):
    """Reads one file after the other, and the first once more."""

    def turn(self, body: Body, step: int) -> Turn:
        if hands_of(body, self.workspace) is None:
            return Turn(said=ASIDE)
        if step >= self.length:
            return ending(body, self.report)
        files = sorted(p for p in self.workspace.rglob("*.py") if p.stat().st_size > 1500)
        given = json.dumps({"file_path": str(files[0 if step == AGAIN else step])})
        return Turn(f"Step {step}.", "", (ScriptedCall("Read", given),))


@pytest.fixture(scope="module")
def outcome() -> Iterator[Outcome]:
    serve = " ".join((*EAGER_OPTIONS, "--commit", "now"))
    try:
        yield run(Wish("claude", STEPS, version="2.1.197"), serve, Reader)
    except NotInstalled as error:
        pytest.skip(str(error))


def results(body: Mapping[str, Any]) -> str:
    blocks = [b for m in body["messages"] if isinstance(m["content"], list) for b in m["content"]]
    return json.dumps([block for block in blocks if block["type"] == "tool_result"])


def test_the_first_reading_goes_and_comes_back_when_the_client_points_to_it(
    outcome: Outcome,
) -> None:
    shown = [OPENING in results(request.body) for request in outcome.requests]
    pointed = [STUB in results(request.body) for request in outcome.requests]
    assert not shown[AGAIN], "replaced by the time it is read again"
    assert pointed.index(True) == AGAIN + 1
    assert shown[AGAIN + 1 :] == [True] * (STEPS - AGAIN)
    assert outcome.ended
    assert outcome.provider.refusals == []
