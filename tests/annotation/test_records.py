"""The rules a judgment must obey, whoever made it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from statecomp.annotation.labels import Evidence, Label, Veto
from statecomp.annotation.records import Judgment, Reading, enforced, problems, sound
from statecomp.annotation.review import contradictions, defensible, held_to_rules
from statecomp.errors import BadInput
from statecomp.history.trajectory import Trajectory


def reading_of(*outputs: str) -> Reading:
    """A run of one call a step; step n printed the n-th output."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": "count the apples"}]
    for n, output in enumerate(outputs, start=1):
        call = {"name": "run", "arguments": f'{{"step": "say \\"{n}\\""}}'}
        calls = [{"id": f"c{n}", "type": "function", "function": call}]
        messages.append({"role": "assistant", "content": f"step {n}", "tool_calls": calls})
        messages.append({"role": "tool", "tool_call_id": f"c{n}", "content": output})
    return Reading.of(Trajectory("run", tuple(messages)))


def test_a_run_of_no_protocol_names_its_file() -> None:
    with pytest.raises(BadInput, match=r"runs\.jsonl: there is no protocol named 'gopher'"):
        Reading.of(Trajectory("run", (), "gopher", source="runs.jsonl"))


READING = reading_of("there are 12 apples", "twelve\n  apples indeed", "basket full", "done")


def ready(at: int, quote: str, *, checkpoint: int = 3, veto: tuple[Veto, ...] = ()) -> Judgment:
    return Judgment(1, checkpoint, ready=True, evidence=(Evidence(at, quote),), veto=veto)


def test_evidence_inside_the_prefix_supports_ready() -> None:
    judgment = ready(2, "twelve apples indeed")  # whitespace aside
    assert sound(judgment, READING) is judgment
    assert sound(ready(1, 'step: say "1"'), READING).ready  # arguments without their escapes


@pytest.mark.parametrize(
    ("judgment", "problem"),
    [
        (ready(2, "thirteen apples"), "the quote does not occur in interaction 2"),
        (ready(2, "   "), "the quote does not occur in interaction 2"),
        (ready(3, "basket full"), "evidence at 3 lies outside the prefix"),
        (ready(0, "there are"), "evidence at 0 lies outside the prefix"),
        (ready(2, "twelve", veto=(Veto(4, "the count"),)), "a later step still needs it"),
        (Judgment(1, 3, ready=True), "no evidence was given"),
    ],
)
def test_a_ready_judgment_that_breaks_a_rule_is_keep_and_says_which(
    judgment: Judgment, problem: str
) -> None:
    checked = sound(judgment, READING)
    assert not checked.ready
    assert checked.problem == problem


def test_every_interaction_of_the_prefix_gets_exactly_one_judgment() -> None:
    said = [
        ready(2, "twelve"),
        ready(1, "there"),
        Judgment(7, 3, ready=True),
        Judgment(2, 9, ready=False),
    ]
    first, second = enforced(said, READING, 3)
    assert (first.number, first.ready) == (1, True)
    assert (second.number, second.problem) == (2, "no judgment was given")
    assert problems([first, second]) == {"no judgment was given": 1}


def at(checkpoint: int, verdict: str) -> Judgment:
    veto = (Veto(9, "x"),) if verdict == "v" else ()
    return Judgment(1, checkpoint, ready=verdict == "r", veto=veto)


@pytest.mark.parametrize(
    ("verdicts", "points"),
    [("krr", [3, 4]), ("rkr", [2, 4]), ("rvr", [4]), ("rrv", []), ("kkk", [])],
)
def test_a_later_veto_speaks_against_every_earlier_ready(verdicts: str, points: list[int]) -> None:
    assert defensible([at(k, v) for k, v in enumerate(verdicts, start=2)]) == points


def test_stage_one_disagreeing_with_itself_is_exposed() -> None:
    assert contradictions([at(2, "k"), at(3, "r"), at(4, "k"), at(5, "r")]) == [4]
    assert contradictions([at(2, "k"), at(3, "k")]) == []


def test_a_boundary_nobody_supports_is_unresolved_and_stays_keep() -> None:
    judgments = [at(2, "k"), at(3, "r"), at(4, "r")]
    proposed = Label("run", 1, 2, must_keep=("12", "not there"), annotator="x")
    label = held_to_rules(proposed, READING, judgments)
    assert label.boundary is None
    assert label.reason == "unresolved: checkpoint 2 is not supported by stage 1"
    assert label.must_keep == ("12",)
    assert held_to_rules(Label("run", 1, 3), READING, judgments).boundary == 3


@given(st.lists(st.sampled_from("krv"), max_size=12), st.integers(0, 15) | st.none())
def test_a_settled_boundary_is_always_defensible(verdicts: list[str], proposed: int | None) -> None:
    judgments = [at(k, v) for k, v in enumerate(verdicts, start=2)]
    label = held_to_rules(Label("run", 1, proposed), READING, judgments)
    assert label.boundary is None or label.boundary in defensible(judgments)
