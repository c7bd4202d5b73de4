"""What is sent beside the history may be of any length too: it stops nobody and is not kept."""

from __future__ import annotations

import json

import pytest

from statecomp.proxy.account.outside import NOTHING, Definitions
from statecomp.proxy.bodies.documents import Unreadable, parsed, written
from statecomp.tokens import ESTIMATE
from tests.turns import MANY, turns_during

NUMBERS = [1.1, -0.0, 10**30, 1e-7] * 500_000


class Counting:
    """A token counter that knows how often it was asked."""

    name, exact, times = "counting", False, 0

    def __call__(self, text: str) -> int:
        self.times += 1
        return ESTIMATE(text)


def test_definitions_without_end_hold_up_nobody() -> None:
    definitions = Definitions()
    assert turns_during(lambda: definitions.of(NUMBERS)) > MANY


def test_of_long_definitions_a_name_is_kept_and_they_are_counted_once() -> None:
    counting = Counting()
    definitions = Definitions(counting)
    tools = [{"name": "read", "description": "Reads. " * 10_000}]
    found = definitions.of(tools)
    assert definitions.of(json.loads(json.dumps(tools))) == found
    assert counting.times == 1
    assert found.tokens == ESTIMATE(json.dumps(tools))
    assert all(len(name) < 100 for name, _ in definitions._known.items(9))


@pytest.mark.parametrize("tools", [None, [], ""])
def test_without_definitions_there_is_nothing(tools: object) -> None:
    assert Definitions().of(tools) == NOTHING


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-32", "utf-8-sig"])
def test_a_body_in_another_encoding_is_read_and_written_as_patiently(encoding: str) -> None:
    given = {"model": "gpt-5", "messages": [], "weights": NUMBERS, "said": "é\U0001f600"}
    body = json.dumps(given, ensure_ascii=False).encode(encoding)
    assert parsed(body) == given
    assert turns_during(lambda: parsed(body)) > MANY
    assert turns_during(lambda: written(given)) > MANY


@pytest.mark.parametrize("body", [b"\xff\xfe[\x00", b"\xfe\xff\x00[\x00]", b"\xff", b""])
def test_what_is_no_object_in_any_encoding_goes_out_as_it_came(body: bytes) -> None:
    with pytest.raises(Unreadable):
        parsed(body)
