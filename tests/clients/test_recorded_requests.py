"""What clients and frameworks really send: each request is read, and all but its end may go.

The files are made by `python -m benchmarks.clients.recording tests/clients/fixtures`: the structure
is the clients', the texts are ours.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from benchmarks.clients.launching import CLIENTS
from statecomp import AgeScorer, Gates, StateComp
from statecomp.testing.provider.dialects import CHAT, MESSAGES, RESPONSES
from statecomp.testing.provider.refusals import STRICT
from statecomp.testing.provider.signing import sign_messages
from statecomp.wire.assemble import parse
from statecomp.wire.placement import render
from statecomp.wire.protocol import Wire
from statecomp.wire.providers import detect, wire_named

FIXTURES = sorted((Path(__file__).parent / "fixtures").glob("*.json"))
each = pytest.mark.parametrize("path", FIXTURES, ids=lambda path: path.stem)
DIALECTS = {dialect.path: dialect for dialect in (CHAT, MESSAGES, RESPONSES)}
PLACEHOLDER = re.compile(r"\(a text of ([\d,]+) characters\)")


def _filled(found: re.Match[str]) -> str:
    length = int(found[1].replace(",", ""))
    return "".join(f"line {n} is as it was; " for n in range(length // 20 + 1))[:length]


def read(path: Path) -> tuple[Mapping[str, Any], dict[str, Any], Wire]:
    """A request with texts as long as they were, signed as by the scripted provider."""
    recorded = json.loads(PLACEHOLDER.sub(_filled, path.read_text("utf-8")))
    body = recorded["body"]
    if recorded["path"] == MESSAGES.path:
        body = sign_messages(body)
    return recorded, body, wire_named(detect(body))


def test_there_are_requests_of_every_client_that_is_run() -> None:
    names = {json.loads(path.read_text("utf-8"))["client"].split()[0] for path in FIXTURES}
    assert names == set(CLIENTS)


@each
def test_nothing_in_it_names_a_machine_or_a_person(path: Path) -> None:
    text = path.read_text("utf-8")
    for private in ("/home/", "/tmp/", "/root", "sk-", "Bearer"):
        assert private not in text, private
    # Names that clients make up for machines and sessions are numbers here.
    assert not re.search(r"[0-9a-f]{8}-[0-9a-f]{4}-[1-9a-f]", text)


@each
def test_a_strict_provider_takes_it(path: Path) -> None:
    recorded, body, _ = read(path)
    DIALECTS[recorded["path"]].check(body, recorded["headers"], STRICT)


@each
def test_it_goes_out_as_the_very_messages_that_came(path: Path) -> None:
    _, body, wire = read(path)
    sent = render(parse(body, wire), wire)
    assert all(new is old for new, old in zip(sent, body[wire.key], strict=True))
    assert wire.check(body[wire.key]) == []


@each
def test_nothing_in_it_forbids_reading_it(path: Path) -> None:
    _, body, wire = read(path)
    assert wire.untouchable(body) == ""


@each
def test_every_step_but_the_newest_may_go(path: Path) -> None:
    _, body, wire = read(path)
    history = parse(body, wire)
    # The newest may be locked: its thinking belongs to the live tool loop.
    locked = [i.locked for i in history.interactions[:-1] if i.locked]
    assert len(history.interactions) >= 7
    assert locked == []


@each
def test_the_rewritten_request_is_taken_by_a_strict_provider(path: Path) -> None:
    recorded, body, wire = read(path)
    gates = Gates(threshold=0.5, longer_than=1, min_source_tokens=50)
    made = StateComp(AgeScorer(after=2), rule=gates, protocol=wire.name).checkpoint(body)
    assert made.rewritten
    assert made.sent_tokens < made.raw_tokens
    headers = {**recorded["headers"], **made.headers}
    DIALECTS[recorded["path"]].check(made.body, headers, STRICT)
