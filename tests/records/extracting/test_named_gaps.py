"""What is left out is named where it is missing, and what the task names comes first."""

from __future__ import annotations

import json

from statecomp.history.facts import FactIndex
from statecomp.history.interaction import Pinned
from statecomp.history.situation import Situation
from statecomp.records.extracting.order.idle import idle
from statecomp.records.extracting.order.ranking import Setting
from statecomp.records.extracting.showing.nested import Labelled, nested
from statecomp.records.extracting.units import units_of
from statecomp.records.record import Record
from statecomp.records.verify import inventions
from tests.records.extracting.test_comes_first import user
from tests.records.extracting.test_stands_as_it_stood import shown
from tests.records.extracting.test_what_readers_said import lines_with, written
from tests.records.test_extract import NOISE, PADDING, step

# --- gaps ---


def rows_shown(count: int, *kept: int) -> str:
    rows = [f"{n}0 | {NOISE[n % 8]}" for n in range(1, count + 1)]
    seen = "\n".join(["| size | wood |", "|---|---|", *(f"| {row} |" for row in rows)])
    return shown(step(1, seen=seen), *(f"| {rows[n - 1]} |" for n in kept))[-1].strip()


def test_rows_that_are_missing_are_told_by_their_numbers() -> None:
    assert rows_shown(12, 1, 2, 3) == "(rows 4-12 of 12 not shown)"
    assert rows_shown(6, 1, 2, 4, 5, 6) == "(row 3 of 6 not shown)"


def test_of_many_missing_rows_those_that_are_shown_are_told() -> None:
    assert rows_shown(20, 4, 9) == "(only rows 4, 9 of 20 shown)"


def test_the_numbers_of_missing_rows_are_no_invention() -> None:
    span = [step(1, seen="nothing")]
    fact = "1. run {}\n  (rows 104-912 of 2417 not shown)"
    assert inventions(Record(facts=(fact,)), span, Situation()) == {}


def test_rows_in_too_many_runs_are_counted() -> None:
    assert rows_shown(30, *range(1, 30, 2)) == "(15 more not shown)"


def test_a_few_missing_things_are_told_by_their_names() -> None:
    things = [{"name": f"{wood.title()} mill", "sku": f"M-{wood}"} for wood in NOISE[:6]]
    rows = [f"{thing['name']} | {thing['sku']}" for thing in things]
    (line,) = (x for x in shown(step(1, seen=json.dumps(things)), *rows[:5]) if "not shown" in x)
    assert line.strip() == f"(not shown: {NOISE[5].title()} mill)"


def test_a_row_whose_thing_is_told_by_its_fields_is_not_missing() -> None:
    things = [
        {"name": f"{wood.title()} mill", "sku": f"M-{wood}", "note": f"{wood} " * 30}
        for wood in NOISE[:6]
    ]
    rows = [f"{thing['name']} | {thing['sku']}" for thing in things]
    note = f"note: {things[5]['note'].strip()}"
    lines = shown(step(1, seen=json.dumps(things)), *rows[:5], note)
    assert any(note in line for line in lines)
    assert not any("not shown: " in line and things[5]["name"] in line for line in lines)


def test_the_keys_that_are_missing_are_named_and_those_of_a_series_are_not() -> None:
    thing = {"path": "/ovens", "heat": "low heat", "depth": "9 cm", "rack 7": "iron", "fan": "slow"}
    lines = shown(step(1, seen=json.dumps(thing)), "heat: low heat")
    assert lines == ["path: /ovens; heat: low heat; not shown: depth, fan, ..."]


def test_of_missing_keys_those_that_say_most_are_named_and_flags_are_not() -> None:
    thing = {
        "dish": "pea soup",
        "locked": False,
        "diet": "vegan",
        "steps": "Soak the peas, boil them for an hour, then salt the pot",
        "parent": None,
        "portions": "four",
        "archived": "false",
    }
    (line,) = shown(step(1, seen=json.dumps(thing)), "portions: four")
    assert line == "dish: pea soup; portions: four; not shown: steps, diet, ..."


# --- one label ---


def test_a_part_stands_below_what_it_is_of_without_its_label() -> None:
    blocks = [
        Labelled("mill: A", ("mill: A; size: 3",)),
        Labelled("mill: A; notes:", ("mill: A; notes:", "  of oak")),
        Labelled("mill: B", ("mill: B; size: 4",)),
    ]
    told = ["mill: A; size: 3", "  notes:", "    of oak", "mill: B; size: 4"]
    assert list(nested(blocks, {"mill: A", "mill: B"})) == told


def test_several_parts_of_a_thing_get_its_label_above_them() -> None:
    label = "mill: the old one behind the hill"
    parts = [Labelled(f"{label}; wheel: {n}", (f"{label}; wheel: {n}; size: {n}",)) for n in "ab"]
    told = [label, "  wheel: a; size: a", "  wheel: b; size: b"]
    assert list(nested(parts, {label})) == told


def test_parts_of_two_things_that_are_called_alike_are_not_put_together() -> None:
    label = "mill: the old one behind the hill"
    parts = [Labelled(f"{label}; wheel: {n}", (f"{label}; wheel: {n}; size: {n}",)) for n in "ab"]
    assert list(nested(parts, {"another"})) == [line for part in parts for line in part.lines]


# --- what the task names ---


def settings(batch: int, fan: str) -> str:
    others = {f"{wood}_{kind}": f"{wood} {kind}" for wood in NOISE for kind in ("mode", "limit")}
    return json.dumps({"name": "oven", "fan": fan, **others, "oven_batch_size": batch})


def test_a_key_the_user_names_is_shown_at_every_step_with_its_value_then() -> None:
    span = [
        step(n, f'{{"version": "v{n}"}}', settings(batch, f"fan {n}"))
        for n, batch in ((1, 4), (2, 4), (3, 1))
    ]
    asked = "When was `oven_batch_size` changed from 4 to 1?"
    record = written(*span, step(4, seen=PADDING), before=[user(asked)])
    values = [line.partition("oven_batch_size: ")[2][:1] for line in lines_with("oven_b", record)]
    assert values == ["4", "4", "1"]


# --- long lists ---


def listing(count: int) -> str:
    return "\n".join(f"essay_{n}.md by {NOISE[n % 8].title()}" for n in range(count))


def idle_texts(seen: str, said: str = "", *before: Pinned) -> list[str]:
    units = units_of([step(1, seen=seen), step(2, said, "done")])
    situation = Situation(FactIndex(before), before)
    return [units[place].text for place in sorted(idle(units, Setting.of(units, situation)))]


def test_of_a_long_list_of_which_nothing_matters_the_first_things_tell() -> None:
    assert len(idle_texts(listing(40))) == 38
    assert idle_texts(listing(12)) == []


def test_a_list_from_which_the_agent_took_something_is_not_idle() -> None:
    assert idle_texts(listing(40), '{"path": "essay_31.md"}') == []


def test_what_the_users_own_words_lead_to_is_not_idle() -> None:
    rows = listing(40).replace("essay_31.md by ", "essay_31.md by Whales ")
    left = idle_texts(rows, "", user("Which essay is by whales?"))
    assert left
    assert not any("Whales" in text for text in left)
