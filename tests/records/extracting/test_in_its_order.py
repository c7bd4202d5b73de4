"""What was misleading in 24 more spans, drawn by another seed, each as a test of its rule."""

from __future__ import annotations

import json

import pytest

from statecomp.history.interaction import Interaction
from statecomp.records.extracting.code import blocks
from statecomp.records.extracting.cut import cut
from statecomp.records.extracting.gaps import GAP
from statecomp.records.extracting.pieces import Form
from statecomp.records.extracting.reading.lasting import overwritten
from statecomp.records.extracting.reading.noise import orders
from statecomp.records.extracting.showing.lines import lines_of
from statecomp.records.extracting.showing.totals import UnitTotals
from statecomp.records.extracting.units import units_of
from tests.records.extracting.test_stands_as_it_stood import outcome, shown
from tests.records.extracting.test_what_readers_said import written
from tests.records.test_extract import PADDING, step

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
    told = "\n".join(f"        self.tell(coin, {n})" for n in range(9))
    seen = f"{CLASS}\n    def close(self, coin):\n        self.coins.clear()\n\n{told}\n"
    lines = all_of(seen, "raise KeyError", "self.coins.clear")
    assert lines[3:6] == ["        self.owner = None", GAP, "    def sum(self):"]
    assert lines[7:10] == [GAP, "in `def close(self, coin):`", told.split("\n")[0]]


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


def test_in_a_text_that_is_all_capitals_no_line_is_a_heading() -> None:
    script = (
        "THE MILL IS OLD\nSO IS THE MILLER\n\nTHE BAKERS\nBUY BARLEY BY THE SACK, AND RYE TOO, AND "
        "SOMETIMES A LITTLE OF THE WHEAT\n\nWHO PAYS\nANN DOES, AND NOBODY ELSE IN ALL OF THE "
        "TOWN KNOWS WHY THAT IS SO\n"
    )
    assert not any(piece.owner for piece in cut(script))


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
    assert lines == ["name: area:0, area:1, area:2, area:3 (5 more not shown)"]


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


# --- a second draw ---


@pytest.mark.parametrize(
    "said",
    [
        "songs = [\n'A Love Written in `stars.mp3`',\n'A Fading Reflection in `water.mp3`']",
        "### The `print_main_menu` function of the game",
        'Given that the `check` function prints "Hey Hacker! Welcome to it" it works.',
        "Since the file `encrypt.py` shows the flag as\n\n gctf{h1dden}",
        "The flag of `encrypt.py` will be something like gctf{h1dden}.",
        "bash-$ Found the flag of `encrypt.py`: gctf{h1dden}",
        "from rfc8032 import point_add, encodepoint",
        "assert alice_shared == bob_shared and key_length",
    ],
)
def test_what_is_no_sentence_of_the_agent_is_not_quoted(said: str) -> None:
    body = written(step(1, seen="nothing to see"), step(2, said=said, seen=PADDING)).body
    assert "agent's view" not in body


def test_a_line_that_is_the_title_of_others_stands_once() -> None:
    seen = "Page 12\n  The calendar of the year\n  The hours of a day\n\nPage 13\n  Rules\n  More"
    assert [line for line in all_of(seen) if line.strip() == "Page 12"] == ["Page 12"]


def test_what_an_answer_says_twice_is_shown_once() -> None:
    plan = "day: monday\nexercises:\n- Kettlebell swings - 3 sets of 15\n- Rest - 5 minutes"
    seen = f"[Reply to the clerk]\n# Plan\n\n{plan}\n\n[Message to the clerk]\n# Plan\n\n{plan}"
    texts = [unit.text for unit in units_of([step(1, seen=seen)])]
    assert texts.count("- Kettlebell swings - 3 sets of 15") == 1
    assert texts.count("- Rest - 5 minutes") == 1


def test_the_rest_of_a_list_does_not_look_like_its_beginning() -> None:
    numbers = [10**17 + n for n in range(30)]
    units = units_of([step(1, seen=f"ct = {numbers}")])
    late = [unit for unit in units if str(numbers[12]) in unit.text]
    (line,) = (x for x in lines_of(late, UnitTotals.of(units)) if str(numbers[12]) in x)
    assert line.lstrip().startswith("...")
    whole = "\n".join(lines_of(units, UnitTotals.of(units)))
    assert "..." not in whole


def test_a_label_on_a_page_holds_for_what_stands_behind_it() -> None:
    seen = "\n".join(
        [
            "_[:]On the width of all tables",
            "_[:]Comments:",
            "_[:]39 pages, 7 figures",
            "_[:]Lists and how they may end",
            *(f"L{n}[:]<a>Link number {n}</a>" for n in range(6)),
        ]
    )
    texts = {piece.text: piece.owner for piece in cut(seen)}
    assert texts["Comments: 39 pages, 7 figures"] is None
    assert texts["Lists and how they may end"] is None


def test_counts_are_what_an_answer_came_to() -> None:
    counts = "   3 north\n   5 south\n  12 east\n   1 west\n  40 above\n   7 below"
    assert outcome(counts).startswith("3 north; 5 south; 12 east; 1 west; 40 above; 7 below")


def test_of_a_file_that_calls_wrote_twice_the_last_version_is_shown() -> None:
    def wrote(number: int, *lines: str) -> Interaction:
        sent = {"path": "/srv/decode.py", "contents": "\n".join((*lines, *OTHER))}
        return step(number, json.dumps(sent), "success: true", name="createfile")

    span = (wrote(1, *OLD), step(2, seen=PADDING), wrote(3, *NEW))
    units = units_of(span)
    left = overwritten(units, span, ())
    gone = {units[place].text.strip() for place in left}
    assert any("decode_hex(part)" in text for text in gone)
    assert not any(units[place].step == 2 or "success" in units[place].text for place in left)


OTHER = [f"\ndef part_{n}(x):\n    return x + {n}" for n in range(9)]


def test_rows_without_a_header_stand_with_the_lines_of_their_section() -> None:
    seen = "# Results\nAll went well\na1  9  x\nb2  8  y\nc3  7  z\nNothing else"
    assert [line for line in all_of(seen) if not line.startswith(" ")] == ["Results"]


# --- what a blind reading of twelve more spans found ---


def test_things_of_a_list_of_which_some_are_shown_say_how_many_more_there_are() -> None:
    columns = [{"column": f"Col{n}", "data_type": f"type {n}", "note": f"n{n}"} for n in range(5)]
    seen = json.dumps({"basic": {"name": "Line"}, "columns": columns})
    texts = [f"{key}: {value}" for column in columns[:3] for key, value in column.items()]
    lines = shown(step(1, seen=seen), *texts)
    assert lines[-1] == "  (2 more not shown)"
    everything = [f"{key}: {value}" for column in columns for key, value in column.items()]
    assert "not shown" not in shown(step(1, seen=seen), *everything)[-1]


def test_data_of_a_thing_stands_below_the_thing_however_long_it_is() -> None:
    links = [{"title": f"Section {n}", "link": f"https://wiki.example/{n}#{n}"} for n in range(12)]
    seen = f"Title: The final of the cup\nSnippet: It was played in June.\nSitelinks: {links}"
    labels = {piece.owner.label for piece in cut(seen) if piece.owner and "Section" in piece.text}
    assert labels
    assert all(label.startswith("Title: The final of the cup") for label in labels)


def test_a_bracket_is_no_title() -> None:
    told = "\n".join(f"Examining the part number {n} of the whole store" for n in range(20))
    seen = f'{told}\n{{\n  "new_york": {{\n    "parts": 17,\n    "logs": 32\n  }}\n}}'
    assert not any(piece.owner and piece.owner.label.startswith("{") for piece in cut(seen))


def test_lines_and_sections_left_out_before_a_section_are_marked() -> None:
    groups = "\n".join(
        f"{name}: {count} units\n  - Dallas: {count}\n  - Boston: {count}"
        for name, count in (("Central", 851), ("East", 647), ("West", 986))
    )
    lines = all_of(f"First line here\nSecond line here\n{groups}", "Second", "851", "647")
    assert lines[0] == "First line here"
    assert lines[1] == GAP
    kept = all_of(groups, "647")
    assert GAP in kept
    assert GAP not in all_of(groups)


def test_a_text_in_a_cell_does_not_end_in_the_middle_as_if_that_were_all() -> None:
    told = "a compact museum yet rich in paintings that everybody should see once "
    things = [
        {"author_name": f"Ann {n}", "text": f"No. {n}: {told * 20}", "rating": n} for n in range(5)
    ]
    rows = [piece.text for piece in cut(json.dumps(things)) if piece.form == "row"]
    assert rows
    for row in rows:
        text = next(cell for cell in row.split(" | ") if cell.startswith("No. "))
        assert text.endswith("...")


def test_a_column_of_numbers_set_right_makes_no_line_the_heading_of_the_next() -> None:
    listing = "\n".join(
        f"{size:>6}  {name}"
        for size, name in ((120, "a.md"), (1616, "b.md"), (3, "c.md"), (63, "d.md"))
    )
    assert all_of(listing) == ["120 a.md", "1616 b.md", "3 c.md", "63 d.md"]


def test_things_that_a_table_of_a_part_shows_are_counted_there() -> None:
    mills = [{"name": f"Mill {n}", "sku": f"M-{n}{n}7", "note": f"note {n}"} for n in range(7)]
    seen = json.dumps({"valley": "North", "mills": mills})
    rows = [unit.text for unit in units_of([step(1, seen=seen)]) if unit.form is Form.ROW]
    lines = shown(step(1, seen=seen), *rows, "note: note 4")
    assert "valley: North; mills: name | sku" in lines
    assert lines[-1] == "valley: North; mills; name: Mill 4; note: note 4"
    few = shown(step(1, seen=seen), *rows[:5], "note: note 4")
    assert [line for line in few if "not shown" in line] == ["  (not shown: Mill 5, Mill 6)"]
