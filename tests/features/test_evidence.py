"""What each piece of evidence claims, on histories small enough to read."""

from __future__ import annotations

import json
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from statecomp.features.evidence import GROUPS, NAMES, EvidenceReader
from statecomp.features.overlap import MANY
from statecomp.history.history import History, Span
from statecomp.history.interaction import (
    Call,
    Interaction,
    Observation,
    Pinned,
    Segment,
    Summary,
)

TASK = Pinned("task", (), 10, "user", "Repair the harbour crane described in docs/crane.md")
TABLE = "berth,ship,tons\nA17,Halcyon,18250\nB42,Meridian,90317\nC08,Borealis,55021"


def step(
    number: int,
    told: str,
    said: str = "",
    tool: str = "read_file",
    *,
    error: bool = False,
    **given: str,
) -> Interaction:
    call = Call(f"c{number}", tool, json.dumps(given))
    observation = Observation(call.id, told, error)
    name = f"{number} {said} {told} {tool} {given}"
    return Interaction(name, number, (), 50, "", said, (call,), (observation,))


def summary(first: int, last: int, text: str) -> Summary:
    return Summary(f"summary {first} {last} {text}", (), 10, text, ("x",), first, last)


def evidence(*segments: Segment, row: int = 0) -> dict[str, float]:
    """The features of the interaction in that row, by name."""
    _, matrix = EvidenceReader().read(History((TASK, *segments)))
    return {name: float(value) for name, value in zip(NAMES, matrix[row], strict=True)}


def idle(number: int) -> Interaction:
    return step(number, "calm sea", tool="wait")


def test_there_is_a_column_for_every_name_and_no_name_twice() -> None:
    ids, matrix = EvidenceReader().read(History((TASK, idle(1), idle(2))))
    assert matrix.shape == (2, len(NAMES))
    assert matrix.dtype == np.float32
    assert ids == (idle(1).id, idle(2).id)
    assert len(set(NAMES)) == len(NAMES) == sum(map(len, GROUPS.values()))


def test_a_history_without_interactions_has_no_rows() -> None:
    for history in (History(()), History((TASK,)), History((summary(1, 3, "done"),))):
        ids, matrix = EvidenceReader().read(history)
        assert (ids, matrix.shape) == ((), (0, len(NAMES)))


def test_age_counts_from_the_numbers_even_behind_a_summary() -> None:
    found = evidence(summary(1, 6, "six steps"), idle(7), idle(8), idle(9))
    assert found["age_log"] == pytest.approx(np.log(3))
    assert found["position"] == pytest.approx(0.7)


def test_a_longer_observation_is_larger_and_holds_more_of_the_history() -> None:
    long, short = evidence(step(1, TABLE), idle(2)), evidence(step(1, "ok"), idle(2))
    for name in ("observed_log", "lines_log", "words_log", "identifiers_log", "size_share"):
        assert long[name] > short[name]
    assert (long["table_share"], short["table_share"]) == (1.0, 0.0)
    assert (long["brief"], evidence(step(1, "word " * 100), idle(2))["brief"]) == (1.0, 0.0)


def test_the_kind_of_step_and_of_the_steps_now_are_told() -> None:
    found = evidence(step(1, TABLE), step(2, "saved", tool="write_file"))
    assert (found["is_read"], found["is_edit"]) == (1.0, 0.0)
    assert found["now_edit"] == found["now_read"] == 0.5


def test_an_error_is_open_until_the_same_tool_works() -> None:
    broken = step(1, "no such berth", tool="moor", berth="Z99", error=True)
    still = evidence(broken, step(2, "no such berth", tool="moor", berth="Z98", error=True))
    assert (still["came_to_nothing"], still["nothing_open"]) == (1.0, 1.0)
    solved = evidence(broken, step(2, "moored", tool="moor", berth="A17"))
    assert (solved["nothing_open"], solved["nothing_worked"]) == (0.0, 1.0)
    elsewhere = evidence(broken, step(2, "moored", tool="anchor", berth="A17"))
    assert elsewhere["nothing_open"] == 1.0


def test_an_answer_with_nothing_in_it_came_to_nothing_and_a_flag_of_success_did_not() -> None:
    assert evidence(step(1, "[]"), idle(2))["came_to_nothing"] == 1.0
    assert evidence(step(1, '{"isError": false}'), idle(2))["came_to_nothing"] == 0.0


def test_atoms_restated_by_the_agent_are_counted_once_and_remembered() -> None:
    table = step(1, TABLE)
    once = evidence(table, step(2, "noted", said="B42 carries 90317"))
    twice = evidence(table, step(2, "noted", said="B42 carries 90317"), step(3, "x", said="B42"))
    assert once["identifiers_restated"] > 0
    assert twice["identifiers_restated"] == once["identifiers_restated"]
    assert evidence(table, idle(2))["identifiers_restated"] == 0


def test_recent_use_fades_and_the_age_of_the_last_use_grows() -> None:
    used = (step(1, TABLE), step(2, "noted", said="Borealis is at 55021"))
    fresh, faded = evidence(*used), evidence(*used, idle(3), idle(4))
    assert fresh["words_recent"] > faded["words_recent"] > 0
    assert fresh["words_use_age"] == 0.0
    assert faded["words_use_age"] == pytest.approx(np.log(3))


def test_only_a_use_after_the_reply_is_late() -> None:
    use = "Borealis is at 55021"
    assert evidence(step(1, TABLE), step(2, "x", said=use))["words_late"] == 0
    assert evidence(step(1, TABLE), idle(2), step(3, "x", said=use))["words_late"] > 0


def test_a_list_that_is_worked_through_has_ever_less_left() -> None:
    steps: list[Segment] = [step(1, TABLE)]
    left = []
    for number, ship in enumerate(("Halcyon", "Meridian", "Borealis"), start=2):
        steps.append(step(number, "hailed", tool="hail", ship=ship))
        found = evidence(*steps)
        left.append(found["words_left"])
        assert found["words_gained"] > 0
    assert left == sorted(left, reverse=True)
    assert left[0] > left[-1]
    assert evidence(*steps, idle(5))["words_gained"] == 0


def test_what_stands_nowhere_else_is_sole_until_it_stands_elsewhere() -> None:
    alone = evidence(step(1, TABLE), idle(2))
    shown = evidence(step(1, TABLE), step(2, TABLE))
    assert alone["identifiers_sole"] > 0
    assert shown["words_left"] == shown["identifiers_left"] == 0
    assert shown["identifiers_sole"] < alone["identifiers_sole"]
    assert evidence(step(1, "docs/crane.md"), idle(2))["task_identifiers"] == 1.0


def test_the_same_observation_again_later_is_seen_from_both_sides() -> None:
    pair = (step(1, TABLE), step(2, TABLE))
    first, second = evidence(*pair, row=0), evidence(*pair, row=1)
    assert (first["words_shown"], second["words_shown"]) == (1.0, 0.0)
    assert (first["shown_before"], second["shown_before"]) == (0.0, 1.0)
    assert second["words_fresh"] == 0.0


def test_the_same_request_again_and_the_same_tool_again_are_told_apart() -> None:
    first = step(1, TABLE, path="berths.csv")
    again = evidence(first, step(2, "gone", path="berths.csv"))
    other = evidence(first, step(2, "gone", path="cranes.csv"))
    assert (again["same_request"], other["same_request"]) == (1.0, 0.0)
    assert again["same_tool"] == other["same_tool"] > 0
    assert again["target_now"] == 1.0
    assert evidence(first, idle(2))["same_tool"] == 0


def test_what_the_agent_wrote_is_covered_when_it_is_shown_or_written_again() -> None:
    wrote = step(1, "saved", tool="write_file", text="hoist winch pulley")
    assert evidence(wrote, idle(2))["action_covered"] == 0
    assert evidence(wrote, step(2, "hoist winch pulley"))["action_covered"] > 0.5


def test_the_reply_is_the_next_step_and_stays_when_others_follow() -> None:
    replied = (step(1, TABLE), step(2, "x", said="Halcyon Meridian Borealis", tool="think"))
    assert evidence(*replied)["reply_words"] > 0
    assert evidence(*replied, idle(3))["reply_words"] == evidence(*replied)["reply_words"]
    assert evidence(*replied, idle(3))["words_now"] == 0
    assert evidence(*replied)["next_action"] > 0


def test_the_step_before_is_told_by_its_kind_and_by_how_alike_the_two_actions_are() -> None:
    steps = (step(1, TABLE, path="berths.csv"), step(2, TABLE, path="cranes.csv"), idle(3))
    assert evidence(*steps, row=0)["before_read"] == 0
    second, third = evidence(*steps, row=1), evidence(*steps, row=2)
    assert (second["before_read"], second["before_edit"]) == (1.0, 0.0)
    assert second["before_alike"] > 0 == third["before_alike"]
    assert evidence(*steps, row=0)["next_alike"] == second["before_alike"]


def test_the_next_step_is_remembered_and_the_one_behind_it_by_its_prose() -> None:
    failing = step(2, "no such berth", said="However, next I will try another.", error=True)
    steps = (step(1, TABLE), failing, step(3, "x", said="Great, it worked."))
    found = evidence(*steps, idle(4))
    assert found["next_nothing"] == 1.0
    assert found["next_trouble"] > 0 == found["next_settled"]
    assert found["next_plans"] > 0
    assert evidence(*steps[:2])["second_prose"] == 0 < found["second_prose"]
    assert evidence(*steps, row=2)["next_trouble"] == 0


def test_an_action_written_again_and_a_target_handled_again_are_found_at_their_best() -> None:
    first = step(1, "x", tool="run", code="hoist winch pulley", path="docs/crane.md")
    again = step(2, "x", tool="run", code="hoist winch pulley", path="docs/crane.md")
    found = evidence(first, again, idle(3))
    assert found["action_again"] == found["target_again"] == 1.0
    apart = evidence(first, idle(2))
    assert (apart["action_again"], apart["target_again"]) == (0.0, 0.0)


def test_words_taken_are_those_that_the_observation_brought_into_the_history() -> None:
    use = step(3, "hailed", tool="hail", ships="Halcyon Meridian")
    assert evidence(step(1, TABLE), idle(2), use)["words_taken"] == pytest.approx(np.log(3))
    # What was shown again was first brought by the earlier one.
    assert evidence(step(1, TABLE), step(2, TABLE), use, row=1)["words_taken"] == 0


def test_an_observation_much_like_a_later_one_stays_so() -> None:
    found = evidence(step(1, TABLE), step(2, TABLE), idle(3))
    assert found["words_alike"] == pytest.approx(1.0)
    assert found["words_beside"] == 0


def test_after_an_error_the_steps_that_worked_are_counted() -> None:
    broken = step(1, "no such berth", tool="moor", error=True)
    assert evidence(broken)["nothing_passed"] == 0
    later = evidence(broken, step(2, "no such berth", error=True), idle(3), idle(4))
    assert later["nothing_passed"] == pytest.approx(np.log(3))
    assert evidence(idle(1), idle(2))["nothing_passed"] == 0


def test_what_happened_since_counts_only_later_steps() -> None:
    steps = (
        step(1, "x", said="It worked, confirmed."),
        step(2, "saved", said="However, that failed.", tool="write_file"),
        step(3, "x", said="Great, it worked."),
    )
    first, last = evidence(*steps, row=0), evidence(*steps, row=2)
    for name in ("prose_since", "settled_since", "trouble_since", "edits_since"):
        assert first[name] > 0
        assert last[name] == 0
    assert first["longest_prose"] > last["longest_prose"] == 0


def test_a_user_message_starts_the_count_of_steps_anew() -> None:
    more = Pinned("more", (), 5, "user", "Also check the winch")
    assert evidence(idle(1), idle(2), more, idle(3))["since_user"] == pytest.approx(np.log(2))


def test_a_summary_is_a_source_and_no_use() -> None:
    table = step(1, TABLE)
    told = evidence(table, summary(2, 3, "Borealis lies at C08 with 55021 tons"), idle(4))
    bare = evidence(table, summary(2, 3, "nothing of note"), idle(4))
    assert told["identifiers_left"] < bare["identifiers_left"]
    assert told["identifiers_sole"] < bare["identifiers_sole"]
    assert told["identifiers_restated"] == bare["identifiers_restated"] == 0


def test_an_atom_that_very_many_hold_is_found_in_the_latest_of_them() -> None:
    steps = [step(n, "Halcyon") for n in range(1, MANY + 6)]
    last = step(MANY + 6, "x", said="Halcyon")
    assert evidence(*steps, last, row=0)["words_now"] == 0
    assert evidence(*steps, last, row=MANY + 4)["words_now"] > 0


def test_two_texts_with_one_id_are_not_taken_for_each_other() -> None:
    reader = EvidenceReader()
    short = Interaction("same", 1, (), 5, observations=(Observation("", "ok"),))
    long = Interaction("same", 1, (), 5, observations=(Observation("", TABLE),))
    one, two = (reader.read(History((TASK, found)))[1] for found in (short, long))
    assert not np.array_equal(one, two)
    assert np.array_equal(two, EvidenceReader().read(History((TASK, long)))[1])


TEXTS = st.sampled_from(
    [
        "",
        "ok",
        "[]",
        "Error: no such berth",
        TABLE,
        "B42 Meridian 90317",
        "see docs/crane.md",
        "\x00 é 漢字 ١٢",
    ]
)
LETTERS = st.sampled_from("iiiiips")


@st.composite
def histories(draw: st.DrawFn) -> History:
    segments: list[Segment] = []
    number = 0
    for place, letter in enumerate(draw(st.lists(LETTERS, max_size=9))):
        text = draw(TEXTS)
        if letter == "p":
            segments.append(Pinned(f"p{place}{text}", (), 3, "user", text))
        elif letter == "s":
            segments.append(summary(number + 1, number + 2, text))
            number += 2
        else:
            number += 1
            tool = draw(st.sampled_from(["read_file", "write_file", "wait"]))
            segments.append(step(number, text, said=draw(TEXTS), tool=tool, path=draw(TEXTS)))
    return History(tuple(segments))


def prefixes(history: History) -> Sequence[History]:
    return [History(history.segments[:stop]) for stop in range(len(history.segments) + 1)]


@given(histories())
def test_every_number_is_finite_and_of_modest_size(history: History) -> None:
    _, matrix = EvidenceReader().read(history)
    assert np.isfinite(matrix).all()
    assert (matrix >= 0).all()
    assert (matrix < 30).all()


@given(histories())
@settings(deadline=None)
def test_a_reader_that_follows_a_history_equals_a_fresh_one_at_every_prefix(
    history: History,
) -> None:
    reader = EvidenceReader(remembered=3)
    for prefix in prefixes(history):
        followed, fresh = reader.read(prefix), EvidenceReader().read(prefix)
        assert followed[0] == fresh[0] == tuple(i.id for i in prefix.interactions)
        assert np.array_equal(followed[1], fresh[1])


@given(histories())
@settings(deadline=None)
def test_what_is_not_in_the_history_changes_nothing(history: History) -> None:
    after = EvidenceReader()
    after.read(history)
    for prefix in reversed(prefixes(history)):
        assert np.array_equal(after.read(prefix)[1], EvidenceReader().read(prefix)[1])


@given(histories(), histories())
@settings(deadline=None)
def test_histories_read_in_turns_do_not_mix(one: History, two: History) -> None:
    reader = EvidenceReader(histories=1)
    for a, b in zip(prefixes(one), prefixes(two), strict=False):
        for history in (a, b):
            assert np.array_equal(reader.read(history)[1], EvidenceReader().read(history)[1])


@given(histories(), TEXTS)
@settings(deadline=None)
def test_after_a_rewrite_the_rows_are_those_of_the_rewritten_history(
    history: History, text: str
) -> None:
    reader = EvidenceReader()
    reader.read(history)
    for place, segment in enumerate(history.segments):
        if isinstance(segment, Interaction):
            short = summary(segment.number, segment.number, text)
            rewritten = history.replace(Span(place, place + 1), short)
            ids, matrix = reader.read(rewritten)
            assert segment.id not in ids
            assert np.array_equal(matrix, EvidenceReader().read(rewritten)[1])
