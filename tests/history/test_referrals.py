"""A client that does not show an unchanged file twice: what it points to must stand there."""

from __future__ import annotations

import json
from typing import Any

import pytest

from statecomp.compressor import StateComp
from statecomp.controller.age import AgeScorer
from statecomp.controller.spans import Gates
from statecomp.history.interaction import Call, Interaction, Observation
from statecomp.history.referrals import POINTS_BACK, pointed_to

STUB = "Wasted call — file unchanged since your last Read. Refer to that earlier tool_result."
STUBS = (
    STUB,
    "File unchanged since last read. The content from the earlier Read tool_result in this "
    "conversation is still current.",
    f"{STUB}\n\n<system-reminder>\nThe task tools have not been used.\n</system-reminder>",
)
TEXT = "\n".join(f"line {n} of a file" for n in range(60))


def read(number: int, answer: str, name: str = "Read", **given: Any) -> Interaction:
    arguments = json.dumps({"file_path": "/src/a.py", **given})
    call, seen = Call(f"c{number}", name, arguments), Observation(f"c{number}", answer)
    return Interaction(f"i{number}", number, (), 10, calls=(call,), observations=(seen,))


@pytest.mark.parametrize("stub", STUBS)
def test_the_newest_reading_in_full_is_what_an_answer_points_to(stub: str) -> None:
    steps = [read(1, TEXT), read(2, TEXT, limit=20), read(3, stub, offset=1), read(4, stub)]
    assert pointed_to(steps) == {"i2": POINTS_BACK}


@pytest.mark.parametrize(
    "later",
    [
        read(2, TEXT),
        read(2, STUB, file_path="/src/b.py"),
        read(2, STUB, name="Grep"),
        read(2, f"{TEXT}\n# unchanged since the last read\n{TEXT}"),
    ],
)
def test_other_files_and_answers_that_show_something_point_nowhere(later: Interaction) -> None:
    assert pointed_to([read(1, TEXT), later]) == {}


@pytest.mark.parametrize("arguments", ["{", "[]", "{}"])
def test_a_call_that_names_no_file_points_nowhere(arguments: str) -> None:
    call, seen = Call("c2", "Read", arguments), Observation("c2", STUB)
    strange = Interaction("i2", 2, (), 10, calls=(call,), observations=(seen,))
    assert pointed_to([read(1, TEXT), strange]) == {}


def conversation(answers: list[str]) -> list[dict[str, Any]]:
    """The first and the last call read one file, those between them others."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": "Mend it."}]
    for step, answer in enumerate(answers):
        file = "/src/a.py" if step in (0, 9) else f"/src/other_{step}.py"
        use = {"type": "tool_use", "id": f"t{step}", "name": "Read", "input": {"file_path": file}}
        result = {"type": "tool_result", "tool_use_id": f"t{step}", "content": answer}
        messages.append({"role": "assistant", "content": [use]})
        messages.append({"role": "user", "content": [result]})
    return messages


def test_what_was_replaced_is_sent_again_once_the_client_points_to_it() -> None:
    rule = Gates(threshold=0.5, longer_than=1, min_source_tokens=50)
    comp = StateComp(AgeScorer(after=2), rule=rule, protocol="anthropic")
    whole = conversation([f"{TEXT} {step}" for step in range(9)] + [STUB])
    before = comp.checkpoint(whole[:-2])
    assert whole[2] not in before.messages
    again = comp.checkpoint(whole)
    assert again.messages[2] is whole[2]
    later = comp.checkpoint([*whole, *conversation([TEXT] * 14)[21:]])
    assert later.messages[2] is whole[2]
    assert later.rewritten, "the rest is still replaced"
