"""Rows whole, code as deep as it stands, counts of all there was, listings of what was listed."""

from __future__ import annotations

from statecomp.history.interaction import Call, Interaction, Observation
from statecomp.history.situation import Situation
from statecomp.records.extracting.code import blocks
from statecomp.records.extracting.listing.tables import table_end
from statecomp.records.extracting.pieces import sentences
from statecomp.records.extracting.prose import pieces_of
from statecomp.records.extracting.reading.noise import intends
from statecomp.records.extracting.showing.headings import headings_of
from statecomp.records.extracting.units import units_of
from statecomp.records.extracting.unread import unread
from tests.records.extracting.test_what_readers_said import written
from tests.records.test_extract import step

FRAME = """\
                              0                    1               2         3
0     TABLE 12. Fixed investment                 NaN             NaN       NaN
1          [Billions of dollars]                 NaN             NaN       NaN
2                Year or quarter   Fixed  investment  Nonresidential       NaN
6                          1973.                 251           172.7      55.1
""".splitlines()
DISKS = """\
Filesystem            Size  Used Avail Use% Mounted on
overlay               453G   32G  398G   8% /
/run/host_mark/Users  461G  302G  160G  66% /logs/agent
shm                    64M   24K   64M   1% /dev/shm
""".splitlines()
PROSE = """\
The report was written by two people  and read by a third, who had
nothing to say about it.  It was sent on the same day, as was the
other one, and nobody has looked at either of them since then.
""".splitlines()


def test_cells_that_stand_below_each_other_are_a_table_whatever_their_gaps() -> None:
    assert table_end(FRAME, 0) == len(FRAME)
    assert table_end(DISKS, 0) == len(DISKS)
    assert table_end(PROSE, 0) == 0


def test_a_row_stays_whole_though_a_cell_ends_with_a_stop() -> None:
    texts = [piece.text for piece in pieces_of(["First rows:", *FRAME], lambda name, value: ())]
    assert "6 1973. 251 172.7 55.1" in texts


def test_a_row_stands_below_the_header_of_its_columns() -> None:
    pieces = list(pieces_of(["$ df -h", *DISKS], lambda name, value: ()))
    (shared,) = [piece for piece in pieces if piece.text.startswith("shm")]
    assert shared.owner is not None
    assert shared.owner.label == "$ df -h: Filesystem Size Used Avail Use% Mounted on"


def test_a_row_does_not_go_on_in_the_next_line() -> None:
    wide = f"total{' ' * 40}12 parts{' ' * 40}of the whole"
    texts = [piece.text for piece in pieces_of([wide, "3 files"], lambda name, value: ())]
    assert texts == ["total 12 parts of the whole", "3 files"]


CODE = """\
def main():
    used = set()
    while True:

        number = int(input("which? "))
        check(number)
        told(number)
        kept(number)

        if number in used:
            exit(1)

        used.add(number)
        shown(used)

    return used
""".splitlines()


def test_lines_of_a_function_are_as_deep_as_they_stand_in_the_file() -> None:
    assert [piece.text for piece in blocks(CODE)] == [
        "def main():\n    used = set()",
        '    while True:\n        number = int(input("which? "))\n        check(number)\n'
        "        told(number)\n        kept(number)",
        "        if number in used:\n            exit(1)",
        "        used.add(number)\n        shown(used)",
        "    return used",
    ]


def test_code_without_its_definition_begins_at_the_margin() -> None:
    (piece,) = blocks(["        x = 1", "        y = 2", "            z = 3"])
    assert piece.text == "x = 1\ny = 2\n    z = 3"


def test_what_is_missing_of_a_listing_is_told_over_all_of_it() -> None:
    rows = [f"drwxr-xr-x {n * n:>5} root root {4096 + n:>6} part_{n}" for n in range(90)]
    record = written(step(1, seen="\n".join(rows)))
    shown = record.body.count("root root")
    assert 0 < shown < 90
    assert record.body.count("not shown)") == 1
    assert record.body.endswith(" of 90 not shown)")


def test_of_several_calls_only_those_that_list_have_listed_files() -> None:
    calls = (Call("a", "bash", '{"cmd": "ls -a"}'), Call("b", "bash", '{"cmd": "readelf -S app"}'))
    seen = (Observation("a", "notes.md\napp.c"), Observation("b", "[ 4] .gnu.hash\n[ 9] .rela.dyn"))
    member = Interaction("i1", 1, (), 99, calls=calls, observations=seen)
    assert unread([member], Situation()) == ("1: listed, not read: notes.md, app.c",)


def test_one_binding_word_makes_no_rules_of_a_section() -> None:
    items = [f"- It is known that part {n} of the method is in use" for n in range(9)]
    section = "\n".join(["# The method", *items, "- It is required for some statistics"])
    remark = "# Summary\nThis summary should help in understanding the flow of control."
    rules = "\n".join(["# Rules", *(f"- A refund must not exceed {n} dollars" for n in range(4))])
    for text, heading in ((section, "facts"), (rules, "constraints"), (remark, "facts")):
        units = units_of([step(1, seen=text)])
        assert set(headings_of(units, {0})) == {heading}


def test_tables_end_where_their_columns_do() -> None:
    mixed = [*DISKS, "", *PROSE]
    ends = [table_end(mixed, start) for start in range(len(mixed))]
    assert all(end <= len(DISKS) or end == start for start, end in enumerate(ends))
    assert ends[0] == len(DISKS)


def test_a_numbered_row_is_shown_with_its_name() -> None:
    rows = [("client_id", "STRING"), ("booked_at", "TIMESTAMP"), ("amount", "FLOAT64")]
    seen = "\n".join(
        f"Row {n}: {{'column_name': '{name}', 'data_type': '{kind}'}}"
        for n, (name, kind) in enumerate(rows, start=1)
    )
    units = units_of([step(1, seen=f"Sample results:\n{seen}")])
    typed = [unit for unit in units if unit.text == "data_type: TIMESTAMP"]
    assert typed
    assert all("booked_at" in unit.label for unit in typed)


def test_a_sentence_does_not_end_at_an_abbreviation() -> None:
    assert sentences("It is Guardians, Vol. 3 of the row. See No. 7.") == [
        "It is Guardians, Vol. 3 of the row.",
        "See No. 7.",
    ]


def test_a_plan_under_a_heading_is_no_view() -> None:
    assert intends("**Server Availability**: Ensure that `victim:1337` is the right address.")
    assert intends("2. Utilize the constructor to send it.")
    assert not intends("The server at `victim:1337` has timed out.")


def test_what_a_tool_cut_is_not_counted_as_the_whole() -> None:
    cut = "The output of your call was too long to be displayed.\nHere is a truncated version:\n"
    lines = "\n".join(f"value_{n} = read_{n}()" for n in range(60))
    assert "-> 62 lines; cut by the tool" in written(step(1, seen=cut + lines)).body
    whole = written(step(1, seen=lines)).body
    assert "-> 60 lines" in whole
    assert "cut by" not in whole
