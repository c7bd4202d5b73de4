"""A person and services outside the workspace: some things are said once."""

from __future__ import annotations

import json

from bench.tests.running import sandbox
from statecomp.history.interaction import Call
from statecomp_bench.environment import TOOLS, Environment
from statecomp_bench.outside import ASK, HTTP, NOBODY, OutsideWorld, Scene

TOKEN = Scene(HTTP, r"POST https://keys\.example/a\b", ("201 secret 17", "409 shown already"))
WORD = Scene(ASK, r"\bharbour\b", ("The word is quay.",))


def test_answers_come_in_order_and_the_last_one_stays() -> None:
    outside = OutsideWorld((TOKEN,))
    call = {"method": "POST", "url": "https://keys.example/a"}
    said = [outside.call(HTTP, call) for _ in range(3)]
    assert said == ["201 secret 17", "409 shown already", "409 shown already"]


def test_the_first_scene_that_fits_answers_and_others_are_left_alone() -> None:
    other = Scene(HTTP, "keys", ("other",))
    outside = OutsideWorld((TOKEN, other))
    assert outside.call(HTTP, {"method": "GET", "url": "https://keys.example/b"}) == "other"
    assert (
        outside.call(HTTP, {"method": "POST", "url": "https://keys.example/a"}) == "201 secret 17"
    )


def test_what_nobody_knows_is_answered_all_the_same() -> None:
    outside = OutsideWorld((WORD,))
    assert outside.call(ASK, {"question": "What about the ledger?"}) == NOBODY[ASK]
    assert outside.call(HTTP, {}) == NOBODY[HTTP]


def test_every_call_is_logged_on_one_line() -> None:
    outside = OutsideWorld((WORD,))
    outside.call(ASK, {"question": "harbour?\nplease"})
    outside.call(HTTP, {"url": "https://x.example", "method": "GET"})
    assert outside.calls == ["ask_user harbour? please", "http GET https://x.example"]


def test_tools_are_offered_where_a_case_has_a_use_for_them() -> None:
    with sandbox() as box:
        assert Environment(box).tools == TOOLS
        environment = Environment(box, OutsideWorld((WORD,)))
        assert [t["function"]["name"] for t in environment.tools[len(TOOLS) :]] == [ASK]
        arguments = json.dumps({"question": "harbour?"})
        assert environment.call(Call("c", ASK, arguments)) == "The word is quay."
        assert environment.call(Call("c", ASK, "[]")).startswith("error:")
