"""The annotator without a model: each rule on the smallest run that shows it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from statecomp.annotation.dataflow import MUST_KEEP, NAME, Dataflow
from statecomp.annotation.evidence import (
    COMMENT_CHARS,
    FAILURE_PATIENCE,
    LONG_PATIENCE,
    MANY_ATOMS,
    PATIENCE,
    QUOTE_CHARS,
    came_to_nothing,
)
from statecomp.annotation.flow import FAR_WORDS, NEAR, TOGETHER, WHOLESALE
from statecomp.annotation.labels import Evidence, Label, Veto
from statecomp.annotation.pipeline import Annotated, annotate
from statecomp.annotation.records import Judgment, Reading, enforced, supported
from statecomp.history.trajectory import Trajectory


@dataclass(frozen=True)
class Step:
    """One interaction: what is said, the value given to a tool, and its answer."""

    gives: str
    sees: str
    says: str = ""
    tool: str = "look"


IDLE = Step("onward", "ok")
"""Touches nothing: it neither needs nor says anything of an earlier step."""


def run(*steps: Step, task: str = "tidy the garden") -> Reading:
    messages: list[dict[str, Any]] = [{"role": "user", "content": task}]
    for n, step in enumerate(steps, start=1):
        function = {"name": step.tool, "arguments": json.dumps({"what": step.gives})}
        call = {"id": f"c{n}", "type": "function", "function": function}
        messages.append({"role": "assistant", "content": step.says, "tool_calls": [call]})
        messages.append({"role": "tool", "tool_call_id": f"c{n}", "content": step.sees})
    return Reading.of(Trajectory("run", tuple(messages)))


def annotated(reading: Reading) -> Annotated:
    return annotate(reading, Dataflow())


def first_label(*steps: Step) -> Label:
    return annotated(run(*steps)).labels[0]


def judgment(reading: Reading, number: int, checkpoint: int) -> Judgment:
    return Dataflow().judge(reading, checkpoint)[number - 1]


def named(count: int, stem: str = "rose") -> str:
    """So many different words that no agent would use by chance."""
    return " ".join(f"{stem}{'abcdefghij'[n // 10]}{'klmnopqrst'[n % 10]}" for n in range(count))


# Evidence: what the prefix must show.


def test_nothing_is_ready_before_anyone_has_reacted_to_it() -> None:
    reading = run(Step("a", "ok"), IDLE, IDLE)
    assert not judgment(reading, 1, 2).ready
    assert not judgment(reading, 1, 2).evidence


def test_an_acknowledgement_is_ready_when_the_agent_goes_on() -> None:
    label = first_label(Step("sow", "ok"), IDLE, IDLE)
    assert label.boundary == 3
    assert label.evidence[0].at == 2
    assert label.reason == "served: acknowledged"


def test_a_finding_restated_by_the_agent_is_ready_and_its_words_are_the_evidence() -> None:
    seen = Step("beds", "tulips limping, daffodils blooming, hedgehog asleep")
    said = Step("onward", "ok", says="So: tulips limping, hedgehog asleep.")
    label = first_label(seen, said, IDLE, IDLE)
    assert label.boundary == 3
    assert label.evidence == (Evidence(2, "So: tulips limping, hedgehog asleep."),)
    assert label.reason == "served: restated"


def test_a_long_comment_shows_that_the_text_was_taken_in() -> None:
    seen = Step("beds", named(30))
    brief, long = "Good. " * 3, "Good. " * (COMMENT_CHARS // 5)
    assert first_label(seen, replace(IDLE, says=long), *[IDLE] * 8).boundary == 3
    assert first_label(seen, replace(IDLE, says=brief), *[IDLE] * 8).boundary == 2 + PATIENCE


def test_what_nobody_mentions_is_ready_only_after_some_patience() -> None:
    label = first_label(Step("beds", named(10)), *[IDLE] * 8)
    assert label.boundary == 2 + PATIENCE
    assert label.reason == "served: the work moved on"


def test_a_long_text_takes_more_patience_than_a_short_one() -> None:
    label = first_label(Step("beds", named(MANY_ATOMS + 1)), *[IDLE] * 8)
    assert label.boundary == 2 + LONG_PATIENCE


def test_a_failure_waits_for_a_working_retry() -> None:
    failure = Step("pump", "Error: jammed", tool="start")
    retry = Step("pump", "ok", tool="start")
    label = first_label(failure, IDLE, retry, IDLE, IDLE)
    assert label.boundary == 4
    assert Evidence(3, "ok") in label.evidence
    assert "working retry" in label.reason


def test_a_failure_the_agent_names_needs_no_retry() -> None:
    failure = Step("pump", "Error: jammed", tool="start")
    label = first_label(failure, replace(IDLE, says="The valve is jammed."), IDLE, IDLE)
    assert label.boundary == 3
    assert Evidence(2, "The valve is jammed.") in label.evidence


def test_a_failure_nobody_resolves_is_kept_for_its_patience() -> None:
    failure = Step("pump", "Error: jammed", tool="start")
    assert first_label(failure, *[IDLE] * 8).boundary == 2 + FAILURE_PATIENCE
    assert first_label(failure, *[IDLE] * 2).boundary is None


@pytest.mark.parametrize(
    ("seen", "nothing"),
    [
        ("Error: jammed", True),
        ("ValueError: no rake", True),
        ("bash: rake: command not found", True),
        ("[]", True),
        ("", True),
        ('{"beds": 3, "isError": false, "error": null}', False),
        ("three beds", False),
        (f"error handling, chapter 1\n{'a long book ' * 400}", False),
    ],
)
def test_an_error_or_an_empty_answer_came_to_nothing(seen: str, nothing: bool) -> None:
    assert came_to_nothing(run(Step("beds", seen)).interactions[0]) is nothing


# Vetoes: what a later step still takes from it.


def test_an_identifier_taken_over_later_vetoes_until_then() -> None:
    seen = Step("shed", "the key hangs on hook_17b", says="")
    label = first_label(seen, *[IDLE] * 4, Step("hook_17b", "ok"), IDLE)
    assert label.boundary == 7
    assert label.veto == (Veto(6, "takes over what only this still holds: hook_17b"),)
    assert label.reason.endswith("last drawn on at 6")


def test_once_restated_an_identifier_is_taken_from_there() -> None:
    seen = Step("shed", "the key hangs on hook_17b")
    restated = replace(IDLE, says="It is hook_17b.")
    label = first_label(seen, restated, *[IDLE] * 3, Step("hook_17b", "ok"), IDLE)
    assert label.boundary is not None
    assert label.boundary < 6
    assert "hook_17b" in label.must_keep  # a summary has to carry it all the same


def test_once_observed_again_it_is_drawn_from_the_later_observation() -> None:
    seen = Step("shed", "the key hangs on hook_17b")
    label = first_label(seen, IDLE, seen, *[IDLE] * 3, Step("hook_17b", "ok"), IDLE)
    assert label.boundary is not None
    assert label.boundary <= 4


def test_what_the_task_says_is_never_missed() -> None:
    steps = (Step("shed", "hook_17b"), *[IDLE] * 4, Step("hook_17b", "ok"), IDLE)
    with_task = annotated(run(*steps, task="fetch hook_17b")).labels[0]
    assert with_task.veto == ()
    assert with_task.must_keep == ()


def test_one_rare_word_is_a_use_soon_after_but_chance_much_later() -> None:
    seen = Step("beds", "wisteria")
    soon = first_label(seen, *[IDLE] * (NEAR - 1), Step("wisteria", "ok"), IDLE)
    late = first_label(seen, *[IDLE] * NEAR, Step("wisteria", "ok"), IDLE)
    assert soon.boundary == NEAR + 2
    assert late.veto == ()
    some = named(FAR_WORDS)
    far = first_label(Step("beds", some), *[IDLE] * NEAR, Step(some, "ok"), IDLE)
    assert far.boundary == NEAR + 3


def test_two_identifiers_in_the_reasoning_are_a_use_and_one_is_not() -> None:
    seen = Step("shed", "hook_17b and hook_18c")
    both = replace(IDLE, says="Was it hook_17b or hook_18c?")
    one = replace(IDLE, says="Was it hook_17b?")
    assert first_label(seen, *[IDLE] * 3, both, IDLE).veto[0].at == 5
    assert first_label(seen, *[IDLE] * 3, one, IDLE).veto == ()


def test_a_script_the_agent_builds_on_again_is_kept_until_then() -> None:
    script = "dig_bed(); sow_seed(); pour_water()"
    label = first_label(Step(script, "ok"), *[IDLE] * 3, Step(f"{script}; rest", "ok"), IDLE)
    assert label.boundary == 6


def test_words_that_stand_together_only_here_are_drawn_from_here() -> None:
    words = named(TOGETHER).split()
    one_by_one = [Step(word, "ok") for word in words]
    seen = Step("beds", " ".join(words))
    apart = first_label(seen, *one_by_one, *[IDLE] * 2, Step(" ".join(words), "ok"), IDLE)
    assert apart.veto[-1].at == len(words) + 4
    listed = Step(" ".join(words), "ok")
    again = first_label(seen, listed, *[IDLE] * 2, Step(" ".join(words), "ok"), IDLE)
    assert again.veto[-1].at == 2  # the whole list stands in 2, so 5 draws on that one


def test_a_wholesale_copy_is_drawn_from_the_text_wherever_else_it_stands() -> None:
    text = named(WHOLESALE)
    label = first_label(Step("beds", text), Step(text, "ok"), IDLE, Step(text, "ok"), IDLE)
    assert [veto.at for veto in label.veto] == [2, 4]


def test_a_long_text_looked_up_again_was_needed_until_then() -> None:
    page = Step("beds", named(30))
    label = first_label(page, *[IDLE] * 5, page, IDLE)
    assert label.boundary == 8
    assert label.veto == (Veto(7, "looks up the same text again"),)


# Both stages.


def test_each_judgment_says_how_things_stand() -> None:
    made = judgment(run(Step("beds", "tulips, hedgehog, hook_17b"), IDLE, IDLE, IDLE), 1, 3)
    assert made.progress == "2 interactions done, 0 of them came to nothing"
    assert made.complexity.startswith("1 lines, ")
    assert made.utility == "not yet seen to have served"


def test_the_last_interactions_have_no_boundary() -> None:
    labels = annotated(run(IDLE, IDLE, IDLE)).labels
    assert [label.boundary for label in labels] == [3, None, None]
    assert {label.annotator for label in labels} == {NAME}


def test_a_ready_followed_by_a_veto_moves_the_boundary_behind_it() -> None:
    reading = run(*[IDLE] * 6)
    ground = (Evidence(2, "look"),)

    def says(checkpoint: int, veto: tuple[Veto, ...] = ()) -> Judgment:
        return Judgment(1, checkpoint, not veto, ground, veto)

    late = Veto(5, "the count")
    moved = Dataflow().review(reading, 1, [says(3), says(4, (late,)), says(5), says(6)])
    assert moved.boundary == 5
    assert moved.veto == (late,)
    never = Dataflow().review(reading, 1, [says(3), says(4), says(5), says(6, (late,))])
    assert never.boundary is None


def test_must_keep_is_what_the_agent_writes_again_and_stays_short() -> None:
    many = " ".join(f"hook_{n}b" for n in range(10, 22))
    reading = run(Step("shed", many), Step(many, "ok"), IDLE, Step(many, "ok"), *[IDLE] * 3)
    label = annotated(reading).labels[0]
    assert len(label.must_keep) == MUST_KEEP
    assert all(atom in reading.interactions[0].text for atom in label.must_keep)


def test_two_runs_of_one_id_are_not_mistaken_for_each_other() -> None:
    rules = Dataflow()
    kept = run(Step("shed", "hook_17b"), IDLE, IDLE, Step("hook_17b", "ok"), IDLE)
    free = run(Step("shed", "hook_17b"), *[IDLE] * 4)
    assert rules.judge(kept, 4)[0].veto
    assert not rules.judge(free, 4)[0].veto
    assert rules.judge(kept, 4) == Dataflow().judge(kept, 4)


WORDS = ["hook_17b", "wisteria", "tulip", "Error: jammed", "/shed/rake.txt", "ok", "42", "", "\n"]
TEXT = st.lists(st.sampled_from(WORDS), max_size=6).map(" ".join) | st.text(max_size=30)
STEPS = st.lists(
    st.builds(Step, gives=TEXT, sees=TEXT, says=TEXT, tool=st.sampled_from(["look", "dig"])),
    min_size=2,
    max_size=7,
)


@settings(deadline=None)
@given(STEPS)
def test_every_judgment_is_sound_and_its_evidence_lies_in_the_prefix(steps: list[Step]) -> None:
    reading = run(*steps)
    rules = Dataflow()
    for checkpoint in reading.checkpoints:
        made = rules.judge(reading, checkpoint)
        assert enforced(made, reading, checkpoint) == made
        for one in made:
            assert not one.problem
            assert all(found.at < checkpoint for found in one.evidence)
            assert all(len(found.quote) <= QUOTE_CHARS for found in one.evidence)
            assert all(veto.at >= checkpoint for veto in one.veto)


@settings(deadline=None)
@given(STEPS, STEPS)
def test_another_future_changes_no_evidence_and_can_only_veto(
    steps: list[Step], future: list[Step]
) -> None:
    checkpoint = len(steps) + 1
    known = Dataflow().judge(run(*steps, IDLE), checkpoint)
    other = Dataflow().judge(run(*steps, *future), checkpoint)
    alone = Dataflow().judge(run(*steps), checkpoint)
    assert [j.evidence for j in known] == [j.evidence for j in other]
    for one, free in zip(other, alone, strict=True):
        assert one.ready == (free.ready and not one.veto)


@settings(deadline=None)
@given(STEPS)
def test_labelling_is_deterministic_and_boundaries_are_supported(steps: list[Step]) -> None:
    reading = run(*steps)
    first, second = annotated(reading), annotated(run(*steps))
    assert first == second
    assert not first.problems
    assert not first.contradictions
    by_number = _by_number(first.judgments)
    for label in first.labels[:-1]:
        checkpoints = supported(by_number[label.number])
        assert label.boundary is None or label.boundary in checkpoints


def _by_number(judgments: Sequence[Judgment]) -> dict[int, list[Judgment]]:
    grouped: dict[int, list[Judgment]] = {}
    for one in judgments:
        grouped.setdefault(one.number, []).append(one)
    return grouped
