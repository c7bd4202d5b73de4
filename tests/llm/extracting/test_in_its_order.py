"""What was misleading in 24 more spans, drawn by another seed, each as a test of its rule."""

from __future__ import annotations

import json

from statecomp.history.interaction import Interaction
from statecomp.llm.extracting.code import blocks
from statecomp.llm.extracting.compose import UnitTotals, lines_of
from statecomp.llm.extracting.cut import cut
from statecomp.llm.extracting.gaps import GAP
from statecomp.llm.extracting.reading.noise import orders, points_back
from statecomp.llm.extracting.units import units_of
from tests.llm.extracting.test_stands_as_it_stood import outcome, shown
from tests.llm.extracting.test_what_readers_said import written
from tests.llm.test_extract import PADDING, step

CLASS = """\
class Purse:
    def __init__(self, coins):
        self.coins = list(coins)

        self.owner = None

    def spend(self, coin):
        if coin not in self.coins:
            raise KeyError(coin)

        self.coins.remove(coin)

    def sum(self):
        return sum(self.coins)
"""


def all_of(seen: str, *left_out: str) -> list[str]:
    """The lines that show an answer, without the pieces that hold one of some texts."""
    units = units_of([step(1, seen=seen)])
    kept = [unit for unit in units if not any(text in unit.text for text in left_out)]
    return list(lines_of(kept, UnitTotals.of(units)))


# --- in the order it stood ---


def test_a_program_is_shown_as_its_file_has_it() -> None:
    assert all_of(CLASS) == [line for line in CLASS.split("\n") if line]


def test_what_is_left_out_of_a_program_is_marked_where_it_stood() -> None:
    lines = all_of(CLASS, "self.owner = None", "raise KeyError")
    assert lines[:5] == [*CLASS.split("\n")[:3], GAP, "in `def spend(self, coin):`"]
    assert lines[5] == "        self.coins.remove(coin)"


def test_the_end_of_a_block_stays_with_it() -> None:
    body = [f"    int part_{n} = read({n});" for n in range(7)]
    texts = [piece.text for piece in blocks(["int all(void) {", *body, "}", "", "int x = 1;"])]
    assert texts[-2].endswith("read(6);\n}")


def test_a_block_of_fields_stands_between_the_lines_it_stood_between() -> None:
    seen = "The first part went well today\nKp: 7.7\nKi: 0.16\nThe second part did not go so well"
    assert all_of(seen) == [
        "The first part went well today",
        "Kp: 7.7; Ki: 0.16",
        "The second part did not go so well",
    ]


def test_a_section_that_goes_on_behind_a_part_of_it_is_named_again() -> None:
    rules = "# Rules\n- Tickers: two of them\n- Mapping of the grades:\n  - Buy is up\n- Index: one"
    assert all_of(rules) == [
        "Rules: - Tickers: two of them",
        "- Mapping of the grades: - Buy is up",
        "Rules: - Index: one",
    ]


# --- titles ---


def test_a_title_of_a_list_ends_with_it() -> None:
    pieces = cut("Papers:\n- Licensed\n- Certified\nNothing else was found on the desk\nBy Ann")
    labels = {piece.text: piece.owner.label if piece.owner else "" for piece in pieces}
    assert labels["- Certified"] == "Papers:"
    assert labels["Nothing else was found on the desk"] == ""


def test_lines_in_capitals_above_others_are_headings() -> None:
    seen = "ANN LEE\n**Applied for: Clerk**\nEDUCATION\nMaster of Law\nWORK\nClerk of a court"
    labels = {p.text: p.owner.label if p.owner else "" for p in cut(seen)}
    assert labels["Master of Law"] == "EDUCATION"
    assert labels["Applied for: Clerk"] == ""


def test_an_item_that_names_those_below_it_is_told() -> None:
    seen = '# Out\n1. Fill the table\n2. Fill the "Range" with:\n- Start\n- End'
    assert '2. Fill the "Range" with:' in [piece.text for piece in cut(seen)]


# --- one line is one line ---


def test_what_a_search_found_in_files_is_neither_joined_nor_a_table() -> None:
    path = "src/main/java/org/example/deser"
    found = [
        f"{path}/ContextualKey.java: * that can be used to make others of its kind to use for",
        f"{path}/ContextualKey.java: * for keys that can be set by marks on a class, or else",
        f"{path}/Factory.java:     * Method called to find if",
        f"{path}/Factory.java:     *   (and default 12 should",
        f"{path}/Cache.java:     * whether or not",
    ]
    pieces = cut("\n".join(found))
    assert [piece.text for piece in pieces] == [" ".join(line.split()) for line in found]
    assert not any(piece.owner for piece in pieces)


def test_the_last_word_of_a_sentence_does_not_stand_alone() -> None:
    seen = "Supported senior people in their work with clients and on business\ndevelopment"
    assert [piece.text for piece in cut(seen)] == [" ".join(seen.split())]


def test_a_line_that_ends_in_data_is_read_as_data() -> None:
    notes = [{"note_id": n, "title": f"Log {n}", "tags": ["habit"] * 9} for n in range(9)]
    seen = f"[Reply of the clerk]\n    Here are your notes: {notes}\n\n[Done]"
    assert "Here are your notes; title: Log 3" in {p.owner.label for p in cut(seen) if p.owner}


# --- no part as the whole ---


def test_names_of_things_say_how_many_more_there_are() -> None:
    things = json.dumps([{"name": f"area:{n}"} for n in range(9)])
    lines = shown(step(1, seen=things), *(f"name: area:{n}" for n in range(4)))
    assert lines == ["name: area:0, area:1, area:2, area:3 (and 5 more)"]


def test_the_first_block_of_a_program_is_not_its_beginning() -> None:
    seen = "import os\nimport sys\n\ndef one():\n    return 1\n\ndef two():\n    return 2\n"
    assert shown(step(1, seen=seen), "def two():\n    return 2")[0] == GAP


def test_a_page_says_which_of_the_actions_on_it_were_done() -> None:
    marks = "\n".join(f"[{n}]<a Link {n}/>" for n in range(9))
    seen = (
        "Action result: * Clicked button with index 23: \n\n"
        "Action result: Something new appeared after action 1 / 5\n\n"
        f"Current url: https://rooms.example/\n{marks}"
    )
    assert outcome(seen).startswith(
        "Clicked button with index 23; Something new appeared after action 1 / 5; at https://rooms"
    )


# --- who says what to whom ---


def test_what_a_tool_says_its_reader_must_do_is_an_order() -> None:
    assert orders("If you see this again, you must stop at once and tell the user")


def test_a_sentence_about_this_one_points_back() -> None:
    assert points_back("This payload attempts to use the `gadget` function")
    assert points_back("- This file holds most of the `pickle` module")
    said = "This payload calls `gadget`. The `gadget` function sets `myExit`."
    body = written(step(1, said=said), step(2, seen=PADDING)).body
    assert "payload" not in body


# --- files that were written anew ---


def opened(number: int, *lines: str, path: str = "/srv/app/decode.py") -> Interaction:
    told = "\n".join(f"{place}:{line}" for place, line in enumerate(lines, start=1))
    seen = f"[File: {path} ({len(lines)} lines total)]\n{told}\n(Open file: {path})"
    return step(number, f'{{"command": "open {path}"}}', seen)


OLD = ("def decode(parts):", "    found = []", "    found.append(decode_hex(part))")
NEW = ("def decode(parts):", "    found = []", "    found.append(decoded)", "    return found")


def test_of_a_file_that_was_written_anew_the_last_version_is_shown() -> None:
    later = written(opened(1, *OLD), step(2, seen=PADDING), opened(3, *NEW)).body
    assert "decode_hex(part)" not in later
    assert "found.append(decoded)" in later
    assert "decode_hex(part)" in written(opened(1, *OLD), step(2, seen=PADDING)).body
    other = opened(3, *NEW, path="/srv/app/other.py")
    assert "decode_hex(part)" in written(opened(1, *OLD), step(2, seen=PADDING), other).body


def test_a_version_behind_the_span_counts_too() -> None:
    body = written(opened(1, *OLD), step(2, seen=PADDING), after=(opened(3, *NEW),)).body
    assert "decode_hex(part)" not in body
