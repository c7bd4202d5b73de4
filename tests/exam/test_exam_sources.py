"""What of a span can be asked for, and what must not be."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest

from statecomp.exam.clozes import mentions_of, rules_of
from statecomp.exam.edits import changes_of
from statecomp.exam.objects import object_groups
from statecomp.exam.pairs import block_groups, location_groups, pair_groups
from statecomp.exam.tables import tables_of
from statecomp.exam.text import folded
from statecomp.exam.verdicts import verdict_of
from tests.exam.steps import exam_of, shown, steps_of


def test_tables_with_bars_commas_tabs_and_columns_are_read_alike() -> None:
    rows = (
        ("trip", "waiver", "zone"),
        ("TR-70625", "none", "west"),
        ("TR-70611", "W-4103", "east"),
    )
    for joint in (" | ", ",", "\t", "    "):
        text = "\n".join(joint.join(row) for row in rows)
        (table,) = tables_of(text, 3)
        found = {entry.name: entry.values for entry in table.entries}
        assert found["TR-70611"] == {"waiver": "W-4103", "zone": "east"}, joint


def test_sentences_with_commas_are_no_table() -> None:
    text = "One, two, three, four.\nIn spring, as we know, it rains.\nSo, in short, it is wet, too."
    assert not [*tables_of(text, 1)]


def test_lines_that_repeat_one_word_are_no_table_with_that_word_as_its_head() -> None:
    assert not [
        *tables_of("proc on /proc,nosuid,ro\nsys on /sys,nosuid,ro\ndev on /dev,nosuid,ro", 1)
    ]


def test_a_listing_tells_the_size_of_each_file() -> None:
    text = (
        "-rw-r--r-- 1 root root 915 Sep 2 14:21 keys.txt\n-rw-r--r-- 1 root root 19 Sep 2 14:21 a.c"
    )
    (table,) = tables_of(text, 1)
    assert [(e.name, e.values) for e in table.entries] == [
        ("keys.txt", {"size": "915"}),
        ("a.c", {"size": "19"}),
    ]


def test_objects_inside_strings_of_objects_are_found_one_by_one() -> None:
    inner = json.dumps([{"name": "Ada", "code": "K-17"}, {"name": "Bob", "code": "K-18"}])
    text = json.dumps({"content": [{"type": "text", "text": inner}]})
    groups = [group for group in object_groups(shown(text)) if len(group.entries) == 2]
    assert [(e.name, e.values["code"]) for e in groups[0].entries] == [
        ("Ada", "K-17"),
        ("Bob", "K-18"),
    ]


def test_a_list_that_is_cut_off_still_has_its_first_objects() -> None:
    text = '[{"name": "Ada", "code": "K-17"}, {"name": "Bob", "code": "K-18"}, {"name": "Ca'
    (group,) = object_groups(shown(text))
    assert [entry.name for entry in group.entries] == ["Ada", "Bob"]


def test_a_field_that_had_two_values_for_one_name_is_not_asked_for() -> None:
    first, second = ('{"name": "Ada", "code": "K-17", "zone": "west"}' for _ in range(2))
    (group,) = object_groups(shown(first, second.replace("K-17", "K-99")))
    assert group.entries[0].values == {"zone": "west"}


def test_a_key_that_had_two_values_is_no_pair() -> None:
    (group,) = [*pair_groups(shown("Orders found: 17\nRate: 27.76", "Rate: 30.50"))][:1]
    assert [entry.name for entry in group.entries] == ["Orders found"]


def test_records_of_key_value_lines_are_parted_where_their_first_key_returns() -> None:
    text = "Title: On birds\nLink: https://a.example/1\nTitle: On bees\nLink: https://a.example/2"
    (group,) = block_groups(shown(text))
    assert [(e.name, e.values["Link"]) for e in group.entries] == [
        ("On birds", "https://a.example/1"),
        ("On bees", "https://a.example/2"),
    ]


def test_a_line_between_two_pairs_parts_them() -> None:
    text = "Authors: A and B\nLink: x-1\nOn a very long title\nAuthors: C and D\nLink: x-2"
    (group,) = block_groups(shown(text))
    assert {e.name: e.values["Link"] for e in group.entries} == {"A and B": "x-1", "C and D": "x-2"}


def test_a_file_in_two_folders_is_asked_for_in_neither() -> None:
    groups = [*location_groups(shown("src/app/main.py\nsrc/lib/util.py\ntests/app/main.py"))]
    assert [entry.name for group in groups for entry in group.entries] == ["util.py"]


def test_a_rule_is_a_binding_sentence_with_its_number() -> None:
    text = (
        "3. Hotels must not cost more than 140 euros a night.\nThe office opened in 1998 in Rome."
    )
    (rule,) = rules_of(shown(text))
    assert rule.number == "140"
    assert rule.cloze == "Hotels must not cost more than ____ euros a night."


def test_an_edit_is_a_line_as_it_was_and_as_it_is() -> None:
    arguments = {
        "path": "a.py",
        "old_str": "LIMIT = Decimal('13.3')",
        "new_str": "LIMIT = Decimal('14')",
    }
    (change,) = changes_of(steps_of((json.dumps(arguments), "done")))
    assert (change.path, change.old, change.new) == (
        "a.py",
        "LIMIT = Decimal('13.3')",
        "LIMIT = Decimal('14')",
    )


def test_of_two_edits_of_one_line_the_last_counts() -> None:
    lines = [f"LIMIT = Decimal('{value}')" for value in ("13.3", "14.0", "15.5")]
    edits = [
        (json.dumps({"path": "a.py", "old_str": old, "new_str": new}), "done")
        for old, new in pairwise(lines)
    ]
    (change,) = changes_of(steps_of(*edits))
    assert (change.step, change.new) == (2, lines[2])


def test_a_script_written_anew_is_compared_with_its_last_version() -> None:
    old, new = "import sys\nprint('total', count)\n", "import sys\nprint('total', sum(count))\n"
    written = [(json.dumps({"path": "a.py", "content": text}), "ok") for text in (old, new)]
    (change,) = changes_of(steps_of(*written))
    assert (change.old, change.new) == ("print('total', count)", "print('total', sum(count))")


def test_exit_status_and_error_flag_decide_before_words() -> None:
    (good, bad, flagged) = shown(
        "0 errors were found\nReturn code: 0", "all is well\nexit code: 2", '{"isError": true}'
    )
    outcomes = [verdict_of(step) for step in (good, bad, flagged)]
    assert [verdict and verdict.succeeded for verdict in outcomes] == [True, False, False]


@pytest.mark.parametrize(
    "said",
    [
        "Traceback (most recent call last):\n  boom",
        "< HTTP/1.1 400 Bad Request",
        '{"status": 404, "message": "no such mill"}',
    ],
)
def test_a_step_whose_status_and_output_disagree_has_no_verdict(said: str) -> None:
    (step, well) = shown(f"{said}\nReturn code: 0", "mill 400 runs\nReturn code: 0")
    assert verdict_of(step) is None
    assert verdict_of(well)


def test_a_file_that_speaks_of_exit_codes_is_no_verdict() -> None:
    (step,) = shown("text " * 200 + "with exit code 3 it stops " + "text " * 200)
    assert verdict_of(step) is None


def test_a_mention_is_what_a_later_step_wrote_and_only_the_span_showed() -> None:
    report = (
        "{}",
        "The report was saved as out/report-17.csv by the tool.\nIgnore out/other-18.csv.",
    )
    later = (('{"command": "cat out/report-17.csv"}', "x"),)
    assert [m.name for m in mentions_of(exam_of(report, later=later))] == ["out/report-17.csv"]
    assert not mentions_of(exam_of(report, later=later, kept=(report,)))


def test_characters_that_a_client_packed_by_number_are_read_as_characters() -> None:
    assert folded(r"\u003cmill\u003e \u78e8 \ud83d") == "<mill> 磨 ud83d"
