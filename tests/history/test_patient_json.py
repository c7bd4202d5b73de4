"""What is written and read patiently is what json writes and reads, and others get their turn."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from random import Random
from typing import Any, NoReturn

import pytest

from statecomp.history import patient_json
from statecomp.history.identity import canonical
from statecomp.history.patient_json import MOST_FIELDS, TooManyFields, dumps, raw_decode
from tests.turns import MANY, turns_during

NUMBERS = [1.1, -0.0, 10**30, 1e-7] * 100_000
MIXED = {"b": NUMBERS, "a": [None, True, {"é": "ü\ud800\n"}], "": [[]] * 10}
TEXT = json.dumps([MIXED] * 8)


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
    assert turns_during(work) > MANY


def test_one_that_is_refused_is_not_read_to_its_end() -> None:
    fields = json.dumps({str(number): number for number in range(MOST_FIELDS + 1)})
    text = fields[:-1] + ", and no JSON from here on"
    with pytest.raises(TooManyFields):
        raw_decode(text, refuse)(text)


@pytest.mark.parametrize(
    "item", [1.5, "x, y", {"role": "user", "content": "x"}, [1, [2, {"a": 3}]], {"a": {}}]
)
def test_what_is_short_is_taken_by_the_piece(item: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A list of very many things takes fewer calls in Python than it has things."""
    monkeypatch.setattr(patient_json, "LONG", -1)
    text = json.dumps({"all": [item] * 20_000})
    read, calls = raw_decode(text, refuse), 0

    def called(frame: object, event: str, given: object) -> None:
        nonlocal calls
        calls += event == "call"

    sys.setprofile(called)
    try:
        found = read(text)
    finally:
        sys.setprofile(None)
    assert found == ({"all": [item] * 20_000}, len(text))
    assert calls < 20_000 / 3


def pieces_of(draw: Random, depth: int = 0) -> Any:
    kind = draw.choice("nsslod" if depth < 4 else "nsd")
    if kind == "n":
        return draw.choice([0, -1.5, 10**20, True, None])
    if kind == "s":
        return draw.choice(["", ",", '"]', "},{", "\\", "é\ud800", "long " * draw.randrange(40)])
    if kind == "l":
        return [pieces_of(draw, depth + 1) for _ in range(draw.randrange(6))]
    if kind == "o":
        return {f"k{n}": pieces_of(draw, depth + 1) for n in range(draw.randrange(6))}
    return draw.randrange(10_000)


@pytest.mark.parametrize("seed", range(30))
def test_wherever_the_pieces_end_it_is_read_as_json_reads_it(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whole, cut off, and with a character too many or another one."""
    monkeypatch.setattr(patient_json, "LONG", -1)
    monkeypatch.setattr(patient_json, "PIECE", 16 + seed * 3)
    draw = Random(seed)
    made = [pieces_of(draw) for _ in range(8)]
    whole = json.dumps(made, separators=draw.choice([(",", ":"), (", ", ": "), (" ,\n", " :\t")]))
    texts = [whole]
    for _ in range(120):
        place = draw.randrange(len(whole))
        new = draw.choice(["", "", ",", "]", "}", " ", '"', "[", "{", "1"])
        texts += [whole[:place], whole[:place] + new + whole[place + draw.randrange(2) :]]

    def tried(reads: Callable[..., Any], text: str) -> object:
        try:
            return repr(reads(text))
        except ValueError:
            return ValueError

    for text in texts:
        quick = json.JSONDecoder(parse_constant=refuse).raw_decode
        assert tried(raw_decode(text, refuse), text) == tried(quick, text), text
