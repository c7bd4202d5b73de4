"""What is written and read patiently is what json writes and reads, and others get their turn."""

from __future__ import annotations

import json
from collections.abc import Callable
from threading import Event, Thread
from typing import Any, NoReturn

import pytest

from statecomp.history import patient_json
from statecomp.history.identity import canonical
from statecomp.history.patient_json import MOST_FIELDS, TooManyFields, dumps, raw_decode

NUMBERS = [1.1, -0.0, 10**30, 1e-7] * 100_000
MIXED = {"b": NUMBERS, "a": [None, True, {"é": "ü\ud800\n"}], "": [[]] * 10}
TEXT = json.dumps(MIXED)
TURNS = 20


def refuse(constant: str) -> NoReturn:
    raise ValueError(constant)


@pytest.mark.parametrize("value", [MIXED, NUMBERS, {"n": [[1]] * 30_000}, "x", {}, [], None])
@pytest.mark.parametrize(
    "how", [{}, {"sort_keys": True, "separators": (",", ":")}, {"ensure_ascii": False}]
)
def test_it_is_written_as_json_writes_it(value: Any, how: dict[str, Any]) -> None:
    assert dumps(value, **how) == json.dumps(value, **how)


def test_what_json_has_no_word_for_is_written_by_its_own() -> None:
    assert dumps({"a": NUMBERS, "b": {1}}, default=str).endswith('"b": "{1}"}')
    with pytest.raises(TypeError):
        dumps([*NUMBERS, {1}])


@pytest.mark.parametrize("text", [json.dumps(MIXED), '{"a": NaN}', "[1, 2", '{"a" 1}', "[1,]", ""])
def test_it_is_read_as_json_reads_it(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patient_json, "LONG", -1)

    def tried(reads: Callable[..., Any]) -> object:
        try:
            return reads(text)
        except ValueError:
            return ValueError

    quick = json.JSONDecoder(parse_constant=refuse).raw_decode
    assert tried(raw_decode(text, refuse)) == tried(quick)


def test_an_object_of_more_fields_than_anybody_reads_is_refused() -> None:
    fields = {str(number): number for number in range(MOST_FIELDS)}
    text = json.dumps(fields)
    assert raw_decode(text, refuse)(text)[0] == fields
    text = json.dumps({**fields, "more": 1})
    with pytest.raises(TooManyFields):
        raw_decode(text, refuse)(text)


@pytest.mark.parametrize(
    "work",
    [
        lambda: canonical(MIXED),
        lambda: raw_decode(TEXT, refuse)(TEXT),
    ],
    ids=["written", "read"],
)
def test_others_get_their_turn_meanwhile(work: Callable[[], object]) -> None:
    ended, turns = Event(), [0]

    def other() -> None:
        while not ended.wait(0.0005):
            turns[0] += 1

    thread = Thread(target=other)
    thread.start()
    before = turns[0]
    work()
    during = turns[0] - before
    ended.set()
    thread.join()
    assert during > TURNS
