"""What comes first within a record's room: what was asked for by name, changed or corrected."""

from __future__ import annotations

import json

import pytest

from statecomp.history.interaction import Interaction, Pinned, Segment, Summary
from statecomp.history.situation import Situation
from statecomp.records.extracting.order.foremost import corrections, form_of_line
from statecomp.records.extracting.units import units_of
from tests.records.extracting.test_what_readers_said import lines_with, written
from tests.records.test_extract import NOISE, step


def user(text: str) -> Pinned:
    return Pinned("p1", (), len(text), "user", text)


def table(count: int, row: str, at: int) -> str:
    rows = [f"node-{n:03},{n * 7 % 50}.{n % 10},rack {n % 9}" for n in range(count)]
    return "\n".join(["host,offset,place", *rows[:at], row, *rows[at:]])


def chatter(count: int) -> list[str]:
    return [
        f"{NOISE[n % 8]} was moved to {NOISE[n * 3 % 8]}, as {NOISE[n * 5 % 8].title()} had asked"
        f" on day {n}"
        for n in range(count)
    ]


# --- what the user named ---


@pytest.mark.parametrize(
    "asked", ["What is the clock of fw-alder-85?", "Compare gw-1, fw-alder-85 and\nml-3, please."]
)
def test_a_row_the_user_names_is_kept_whole_below_its_header(asked: str) -> None:
    seen = table(200, "fw-alder-85,31.7,rack 4", at=130)
    record = written(step(1, seen=seen), before=[user(asked)])
    assert lines_with("fw-alder-85,31.7,rack 4", record)
    assert lines_with("host,offset,place", record)


def test_a_row_is_also_found_by_another_cell_and_by_a_name_of_two_words() -> None:
    rows = [f"K{n:03} | {NOISE[n % 8]} {NOISE[n // 8 % 8]} | {n}.5" for n in range(120)]
    seen = "\n".join(["| key | person | hours |", "|---|---|---|", *(f"| {r} |" for r in rows)])
    record = written(step(1, seen=seen), before=[user("How long did Timber Cobalt work?")])
    assert lines_with("K077 | timber cobalt | 77.5", record)


def test_a_later_word_of_the_user_counts_like_the_task() -> None:
    seen = table(200, "fw-alder-85,31.7,rack 4", at=130)
    after = [Pinned("p2", (), 0, "user", "And now fw-alder-85.")]
    assert lines_with("fw-alder-85,31.7", written(step(1, seen=seen), after=after))


def test_an_object_the_user_names_keeps_its_fields() -> None:
    things = [{"id": f"TR-{n}", "note": f"{NOISE[n % 8]} {n}", "sum": n * 3} for n in range(90)]
    things[61] |= {"waiver": "granted by hand"}
    record = written(step(1, seen=json.dumps(things)), before=[user("Was TR-61 waived?")])
    (line,) = lines_with("granted by hand", record)
    assert "TR-61" in line


def test_a_cell_that_most_rows_have_names_none_of_them() -> None:
    seen = table(200, "fw-alder-85,31.7,rack 4", at=130)
    asked = "The rack 4 and all of rack 1 to rack 9"
    plain = written(step(1, seen=seen), before=[user("Have a look")])
    assert len(written(step(1, seen=seen), before=[user(asked)]).body) < 1.2 * len(plain.body)


# --- what a version changed ---


def counting(number: int, name: str, valid: int) -> Interaction:
    program = (
        f"# recount {name}\nimport csv\nrows = list(csv.reader(open('survey.csv')))\n"
        f"good = [row for row in rows if row[3] and row[1] in offices]\n"
        f"print(summary(good, rows, strict=True, {number}))\nprint(histogram(good))\n"
    )
    bars = [f"{NOISE[n]} {'+' * (n + number % 5)}" for n in range(6)]
    seen = "\n".join([f"count of {name}: {valid} valid, {number % 7} void", *bars])
    return step(number, json.dumps({"code": program}), seen, name="python")


def test_a_program_much_like_the_one_before_says_whose_it_is_and_what_it_came_to() -> None:
    span = [counting(107, "Juhl", 33), counting(108, "Hollis", 19), counting(109, "Quist", 41)]
    asked = user("Survey the offices.")
    record = written(
        *span, before=[asked, Summary("s", (), 0, "- 105. count of Quist: 44 valid", (), 0, 0)]
    )
    (entry,) = [fact for fact in record.facts if fact.startswith("109.")]
    assert "recount Quist" in entry
    assert "count of Quist: 41 valid" in entry


def test_a_long_line_that_changed_is_told_by_its_changed_words() -> None:
    words = " ".join(f"--{NOISE[n % 8]}{n}" for n in range(40))
    first, second = (
        step(n, json.dumps({"cmd": f"build {words} --limit {limit} {words}"}), f"built {n}")
        for n, limit in ((1, "30"), (2, "45"))
    )
    line = written(first, second).facts[1].split("\n")[0]
    assert "as at step 1, but without: ... --limit 30 --" in line
    assert "with: ... --limit 45 --" in line


# --- corrections ---

OLD = "The agent noted: travel of Granite: 128.6, travel of Flint: 90.1"
MEMO = [
    "The sheet is corrected. It reads: planned travel of Granite: 73.8",
    "The sheet is corrected. It reads: planned rent of Flint: 12.4",
    "The sheet is corrected. It reads: planned food of Anchor: 55.0",
    "The sheet is corrected. It reads: planned travel of Parcel: 9.3",
]


def memo(lines: list[str]) -> str:
    text = chatter(76)
    for place, line in zip((11, 30, 52, 70), lines, strict=False):
        text.insert(place, line)
    return "\n".join(text)


@pytest.mark.parametrize("held", [Summary("s", (), 0, f"- 3: {OLD}", (), 0, 0), step(3, said=OLD)])
def test_a_value_that_corrects_an_older_one_is_kept(held: Segment) -> None:
    record = written(step(9, seen=memo(MEMO[:1])), before=[held])
    assert lines_with("travel of Granite: 73.8", record)


def test_a_correction_is_found_in_a_long_list() -> None:
    lines = [f"travel of {NOISE[n % 8]} {n}: {n * 7 % 50}.{n % 10}" for n in range(200)]
    old = "- 3: travel of ember 131: 88.8, travel of hazel 8: 6.8"
    record = written(step(9, seen="\n".join(lines)), before=[Summary("s", (), 0, old, (), 0, 0)])
    assert lines_with(lines[131], record)


def test_lines_of_the_form_of_a_kept_line_come_before_chatter() -> None:
    record = written(step(9, seen=memo(MEMO)), before=[step(3, said=OLD)])
    for line in MEMO:
        assert line.rpartition("reads: ")[2] in record.body


@pytest.mark.parametrize("after", [True, False])
def test_what_the_agent_said_before_a_correction_is_left_out(after: bool) -> None:
    said = "I noted in plan_7.csv the travel of Granite: 128.6"
    old, new = step(3, said=said, seen=memo([])), step(9, seen=memo(MEMO[:1]))
    record = written(old, after=[new]) if after else written(old, new)
    assert "128.6" not in record.body
    assert after or lines_with("travel of Granite: 73.8", record)


def corrected(
    *span: Interaction, before: tuple[Segment, ...] = (), after: tuple[Segment, ...] = ()
) -> list[str]:
    units = units_of(span)
    return [units[n].text for n in corrections(units, Situation(before=before, after=after))]


def test_only_the_last_of_several_values_is_a_correction() -> None:
    first, second = (step(n, seen=f"count of Quist: {n * 10} valid\nelse nothing") for n in (1, 2))
    assert corrected(first, second) == ["count of Quist: 20 valid"]
    assert corrected(first, before=(second,)) == ["count of Quist: 10 valid"]
    assert corrected(first, after=(second,)) == []
    assert corrected(second, before=(first,), after=(second,)) == ["count of Quist: 20 valid"]


def test_what_each_of_many_has_is_no_correction() -> None:
    mails = [step(n, seen=f"From: person {n}\nSubject: {NOISE[n]}\nelse nothing") for n in range(3)]
    assert corrected(*mails) == []
    twice = step(1, seen="load of Quist: 3\nand so on\nload of Quist: 4")
    assert corrected(twice, before=(step(0, seen="load of Quist: 5"),)) == []


def test_lines_have_one_form_where_names_and_a_word_in_the_middle_differ() -> None:
    assert len({form_of_line(line) for line in MEMO}) == 1
    assert form_of_line("count of Juhl: 33") == form_of_line("count of Hollis: 19")
    assert not form_of_line("it was moved as they had asked")
