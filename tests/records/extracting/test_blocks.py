"""A line that belongs to a thing never stands without it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import combinations

import pytest

from statecomp.history.interaction import Call, Interaction, Observation
from statecomp.records.extracting.code import blocks
from statecomp.records.extracting.cut import cut
from statecomp.records.extracting.decode import decoded, parted, spelled
from statecomp.records.extracting.listing.outlines import outlined
from statecomp.records.extracting.objects import pieces_of
from statecomp.records.extracting.pieces import Form, Piece
from statecomp.records.extracting.reading.nesting import Nest
from statecomp.records.extracting.showing.lines import lines_of
from statecomp.records.extracting.showing.totals import UnitTotals
from statecomp.records.extracting.units import Place, units_of
from tests.records.test_extract import step


def labelled(text: str) -> list[tuple[str, str]]:
    """What a text is cut into, each piece with what it is of."""
    return [(piece.owner.label if piece.owner else "", piece.text) for piece in cut(text)]


def _data(name: str, text: str) -> list[Piece]:
    data = spelled(text)
    return [] if data is None else list(pieces_of(data, cut, name))


def whole(pieces: Sequence[Piece], head: str, *members: str) -> None:
    """Each member stands with its head, in one piece or behind its name."""
    for member in members:
        of = [piece for piece in pieces if member in piece.text]
        assert of, member
        assert all(head in f"{p.owner.label if p.owner else ''} {p.text}" for p in of), member


# --- entries in brackets ---


def entry(key: str, *more: str) -> str:
    fields = (f"  title={{Grain of {key}}}", "  author={Mill, Anna and Stone, Bert}", *more)
    return f"@article{{{key},\n" + ",\n".join((*fields, f"  year={{{len(key)}}}")) + "\n}"


KEYS = ("mill2001", "stone1999river", "reed2010mud")


def test_fields_of_an_entry_stand_with_its_key() -> None:
    pieces = cut("\n".join(map(entry, KEYS)))
    for key in KEYS:
        whole(pieces, f"@article{{{key},", f"title={{Grain of {key}}}", f"year={{{len(key)}}}")


def test_fields_of_a_long_entry_stand_with_its_key_whichever_are_shown() -> None:
    more = [f"  note{n}={{{'water and corn ' * 6}}}" for n in range(9)]
    units = units_of([step(1, seen=f"{entry('short1')}\n{entry('long2', *more)}")])
    totals = UnitTotals.of(units)
    for kept in (*combinations(units, 1), *combinations(units, 2)):
        told = "\n".join(lines_of(kept, totals))
        if "note" in told or "{5}" in told:
            assert "@article{long2," in told


def test_an_entry_as_deep_as_its_head_is_one_thing() -> None:
    flat = "@misc{\nreed2010,\ntitle={Mud},\nauthor={Anna Reed},\nyear={2010}\n}"
    (piece,) = cut(f"{flat}\n{flat}".replace("\n@misc", "\n\n@misc"))[:1]
    assert piece.text == flat


def test_a_bracket_alone_is_no_piece() -> None:
    torn = '            "items"\n          ]\n        }\n      }\n    ]\n  }\n'
    assert not [p for p in blocks(torn.split("\n")) if "]" in p.text or "}" in p.text]


def test_what_a_diff_leaves_as_it_is_is_no_change() -> None:
    same = "".join(f" line {n} of the mill\n" for n in range(40))
    pieces = cut(f"--- a/mill.py\n+++ b/mill.py\n@@ -1,41 +1,41 @@\n{same}-old\n+new\n")
    assert [piece.text for piece in pieces] == ["-old\n+new"]


# --- programs ---

PROGRAM = """\
def grind(corn):
    flour = []
    for sack in corn:
        if sack.dry:
            flour.append(fine(sack))
            told(sack)
            log(sack.name, sack.weight)
            weigh(sack)
            close(sack)
        else:
            spoiled.append(sack)
            burn(sack)
            log("spoiled", sack.name)
        sack.done = True
        river.turn(sack)
    return flour
"""


def test_lines_of_a_program_stand_with_what_they_are_in() -> None:
    pieces = list(blocks(PROGRAM.splitlines()))
    assert len(pieces) > 2
    whole(pieces, "def grind(corn):", *(line.strip() for line in PROGRAM.splitlines()[1:]))
    whole(pieces, "for sack in corn:", "sack.done = True", "river.turn(sack)")


def test_a_head_that_stands_above_is_not_said_again() -> None:
    units = units_of([step(1, seen=PROGRAM)])
    assert list(lines_of(units, UnitTotals.of(units))) == PROGRAM.splitlines()


def test_what_goes_on_is_of_what_it_goes_on_with() -> None:
    lines = ["if (dry) {", "  grind();", "} else {", "  burn();", "}", "done();"]
    assert list(Nest.of(lines).parent) == [-1, 0, 0, 2, 0, -1]


def test_a_bracket_below_a_line_opens_what_the_line_names() -> None:
    lines = ["static int grind(int corn)", "{", "    return corn;", "}"]
    assert list(Nest.of(lines).parent) == [-1, 0, 0, 0]


def test_settings_are_of_their_section() -> None:
    parts = "\n".join(f"part_{n} = {n}" for n in range(20))
    pieces = cut(f"[river]\n{parts}\n\n[mill]\nhost = alpha.example\nport = 8080\n")
    whole(pieces, "[river]", "part_3 = 3", "part_17 = 17")
    whole(pieces, "[mill]", "port = 8080")


def test_what_a_shell_repeats_of_its_input_is_of_the_command() -> None:
    program = "\n".join(f"> {line}" for line in PROGRAM.splitlines())
    pieces = list(blocks(f"$ cat > grind.py << 'EOF'\n{program}\n> EOF\n$ ls".split("\n")))
    whole(pieces, "grind", "river.turn(sack)", "spoiled.append(sack)")
    assert not any(p.owner and "EOF`" in p.owner.label for p in pieces if p.text == "$ ls")


@pytest.mark.parametrize(
    "line", ["It was too coarse for bread.", "0x00401a2b  c3  ret", "# ground", "--"]
)
def test_not_below_every_line_stands_what_is_of_it(line: str) -> None:
    assert list(Nest.of([line, "    deeper"]).parent) == [-1, -1]


def test_a_comment_of_several_lines_ends_nothing() -> None:
    lines = ["int grind() {", "  if (dry) {", "    /* mills", " * grind", "*/", "    burn();"]
    assert list(Nest.of(lines).parent) == [-1, 0, 1, 1, 1, 1]


def test_a_word_of_a_program_names_nothing() -> None:
    assert Nest.of(["try:", "    grind()"]).name(0) == ""
    assert Nest.of(["{", '    "port": 1,', '    "name": "mill",', "}"]).name(0) == '"name": "mill"'


def test_a_list_of_a_page_is_no_program() -> None:
    page = "*   [Mills](/mills)\n    *   [North](/mills/north)\n*   [Rivers](/rivers)\n\n" * 5
    assert not any(piece.form is Form.CODE for piece in cut(page))
    assert cut("/**\n * Grinds the corn.\n *\n * @see mill\n */\n")[0].form is Form.CODE


def test_brackets_of_a_flat_page_are_no_things() -> None:
    page = "Mills of the north\n(\nNorth\nnew, recent, search\n)\nMills of the south\n(\nSouth\n)"
    assert not any(piece.form is Form.CODE for piece in cut(page))


# --- data in programs, and data cut off ---

COURSES = [
    {"name": name, "id": f"MILL{n}", "time": f"Mon {n}-{n + 1}", "room": "N4", "points": str(n)}
    for n, name in enumerate(("Rivers", "Grain"), start=2)
]


def test_things_a_program_spells_out_are_told_as_things() -> None:
    spelled = json.dumps(COURSES, indent=4).replace('"\n', '",  # as told\n')
    call = Call("a", "run", json.dumps({"code": f"import re\ncourses = {spelled}\nprint(1)\n"}))
    units = units_of([Interaction("i1", 1, (), 99, calls=(call,), observations=())])
    (of,) = [unit for unit in units if unit.text == "id: MILL3"]
    assert of.place is Place.CALL
    assert list(lines_of([of], UnitTotals.of(units))) == [
        "courses; name: Grain; id: MILL3; not shown: points, room, ...",
        "  (1 more not shown)",
    ]


def test_what_a_program_works_out_is_no_data() -> None:
    lines = ["scores = {"] + [f'    "part {n}": weight * {n} + 1,' for n in range(20)] + ["}"]
    pieces = cut("\n".join(("import math", *lines)))
    assert {piece.form for piece in pieces} == {Form.CODE}
    whole(pieces, "scores = {", '"part 17"')


def test_data_cut_off_keeps_its_whole_items_and_nothing_of_the_rest() -> None:
    data = '{\n  "mill": "north",\n  "sacks": [\n    {\n      "corn": 3\n    },\n    {\n'
    said = "(The output was too long. It is in /srv/out.json)"
    for end in ("", f"      ...\n\n{said}", f'      "wei\n{said}'):
        assert parted(data + end)[1] == {"mill": "north", "sacks": [{"corn": "3"}]}
    assert parted(f"{data}      ...\n\n{said}")[2].strip() == said
    assert parted('{\n  "a": {"b": "c"},\n  "price": 2\n}\n]\n}')[2].strip(" \n]}") == ""


def test_a_comma_behind_the_last_item_and_a_comment_are_no_data() -> None:
    assert decoded("[{'a': 1,}, # one\n {'a': 2,},\n]") == [{"a": "1"}, {"a": "2"}]
    assert decoded("{'a': one + two}") is None


def test_data_inside_a_program_is_not_taken_out_of_it() -> None:
    first = '[\n  {"name": "Anna", "age": 3},\n  {"name": "Bert", "age": 4}\n]'
    text = f"import re\nfirst = {first}\nprint(first)\n"
    assert parted(text)[1] is None


def test_data_behind_many_words_is_read_as_data() -> None:
    said = "The archive was searched for what was asked, and this is what it had to say of it. " * 6
    hits = [{"id": f"a{n}", "title": f"Mill {n}"} for n in range(3)]
    seen = f"{said}\n{json.dumps({'hits': hits}, indent=2)}\nAll of it was read."
    assert ("hits: name | id", "Mill 2 | a2") in labelled(seen)
    assert labelled(seen)[-1] == ("", "All of it was read.")


def test_data_below_its_title_is_told_by_it() -> None:
    lines = ["import json", "Sample of Mill:", *json.dumps(COURSES, indent=2).split("\n")]
    (of,) = [p for p in blocks(lines, data=_data) if p.text == "id: MILL3"]
    assert of.owner is not None
    assert of.owner.label == "Sample of Mill; name: Grain"


# --- outlines ---

OUTLINE = """\
# Settings of the site
title: Anna Mill   # as on the door
author:
  name: Anna
  # Social media
  kaggle:        # Username
  github: anna-m
jobs:
  build:
    steps:
    - name: Check out
      uses: tools/checkout
    - name: Grind
      run: |
        set -e

        grind --fine corn
plugins: [feed, sitemap]
"""


def test_an_outline_is_read_as_data() -> None:
    assert outlined(OUTLINE.split("\n")) == {
        "title": "Anna Mill",
        "author": {"name": "Anna", "kaggle": "", "github": "anna-m"},
        "jobs": {
            "build": {
                "steps": [
                    {"name": "Check out", "uses": "tools/checkout"},
                    {"name": "Grind", "run": "set -e\n\ngrind --fine corn"},
                ]
            }
        },
        "plugins": "[feed, sitemap]",
    }


def test_settings_stand_with_what_they_are_of() -> None:
    told = labelled(OUTLINE)
    assert ("title: Anna Mill", "author github: anna-m") in told
    assert ("title: Anna Mill; jobs build steps; name: Check out", "uses: tools/checkout") in told


def test_sections_of_data_without_a_name_are_named_by_their_keys() -> None:
    data = {"worker": {"batch": 5, "rate": 2}, "trainer": {"epochs": 15, "nodes": 1}}
    assert ("trainer", "epochs: 15") in labelled(json.dumps(data))


@pytest.mark.parametrize(
    "text",
    [
        "Menu:\n- an entry of the menu leads to a page\n- another one leads to the mill\nEnd: no",
        "Found:\n  nothing that was asked for\nTook: 3 s\nLeft: 4",
        "class Mill:\n    corn: int\n    def grind(self):\n        return 1",
        "a: 1\nb: 2\nc: 3\nd: 4",
        "a:\n  b: 1\n c: 2\nd: 3",
        "a:\n  b: 1\n  b: 2\nd: 3",
        "- " * 3000 + "x",
    ],
    ids=lambda text: text[:12],
)
def test_what_is_no_outline_is_not_read_as_one(text: str) -> None:
    assert outlined(text.split("\n")) is None


# --- paragraphs and lists ---

LOG = """\
commit 3f2a9b1c0d
Author: Anna Mill <anna@mill.example>
Date:   Mon Mar 3 10:00:00 2025

    Grind the corn finer

commit 77aa01be22
Author: Bert Stone <bert@mill.example>
Date:   Tue Mar 4 10:00:00 2025

    Repair the wheel of the mill
"""


def test_a_paragraph_of_fields_and_what_is_deeper_are_of_its_first_line() -> None:
    told = {text: label for label, text in labelled(LOG)}
    assert told["Date: Tue Mar 4 10:00:00 2025"].startswith("commit 77aa01be22:")
    assert told["Grind the corn finer"] == "commit 3f2a9b1c0d:"
    assert told["Repair the wheel of the mill"] == "commit 77aa01be22:"


def test_items_below_an_item_of_several_lines_are_of_it() -> None:
    orders = "\n".join(
        f"{n}. Order 471{n}\n   Customer: {name}\n   Items:\n     - flour of {name}\n     - bran"
        for n, name in ((1, "Anna"), (2, "Bert"))
    )
    told = labelled(f"Orders\n======\n{orders}\n")
    assert ("Orders; 2. Order 4712", "- flour of Bert") in told
    assert ("Orders", "2. Order 4712 Customer: Bert Items:") in told


def test_fields_that_were_sent_are_told_with_what_they_are_of() -> None:
    content = (
        "Anna Mill\nCorn: 3 sacks\nFlour: 2 sacks\n\nBert Stone\nCorn: 5 sacks\nFlour: 4 sacks"
    )
    call = Call("a", "write", json.dumps({"path": "/srv/mill.txt", "content": content * 3}))
    member = Interaction("i1", 1, (), 99, calls=(call,), observations=(Observation("a", "ok"),))
    units = units_of([member])
    (of,) = [unit for unit in units if unit.text == "Flour: 4 sacks"][:1]
    assert "Bert Stone" in "\n".join(lines_of([of], UnitTotals.of(units)))
