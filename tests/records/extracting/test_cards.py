"""Things between `BEGIN:` and `END:`, and blocks in which the same keys come again."""

from __future__ import annotations

from statecomp.records.extracting.listing.cards import cards, cards_end
from tests.records.extracting.test_in_its_order import all_of


def entry(name: str, room: str) -> list[str]:
    return [
        "BEGIN:VEVENT",
        f"UID:{name}@hall",
        f"SUMMARY:Concert of {name}",
        "DTSTART;TZID=Europe/Rome:20250522T190000",
        f"LOCATION:{room}",
        "END:VEVENT",
    ]


CALENDAR = [
    "BEGIN:VCALENDAR",
    *entry("ada", "blue hall"),
    *entry("bob", "red hall"),
    *entry("eve", "green hall"),
    "END:VCALENDAR",
]


def test_an_entry_of_a_calendar_is_one_thing() -> None:
    things = cards(CALENDAR)
    assert [place for place, _ in things] == [2, 8, 14]
    assert things[0][1] == [
        "UID: ada@hall",
        "SUMMARY: Concert of ada",
        "DTSTART: 20250522T190000",
        "LOCATION: blue hall",
    ]


def test_a_folded_line_goes_on_in_its_property_and_nowhere_else() -> None:
    lines = [" lost", "BEGIN:VCARD", " lost too", "NOTE:asks for", "  a room", "END:VCARD"]
    assert cards_end(lines, 0) == 0
    assert cards(lines[1:]) == [(2, ["NOTE: asks for a room"])]


def test_the_first_entry_of_a_part_has_lost_its_begin() -> None:
    assert cards_end(CALENDAR, 2) == len(CALENDAR)
    assert len(cards(CALENDAR[2:])) == 3


def test_lines_of_a_log_are_no_properties() -> None:
    assert cards_end(["ERROR:db:gone", "INFO:db:back", "done"], 0) == 0


def test_what_is_kept_of_an_entry_stands_with_its_name() -> None:
    told = "\n".join(all_of("\n".join(CALENDAR), "Concert of bob", "20250522T190000"))
    for line in told.split("\n"):
        named = [name for name in ("ada", "bob", "eve") if name in line]
        assert named or "hall" not in line


def test_keys_that_come_again_begin_another_thing() -> None:
    block = "\n".join(
        f"name: {name}\nsize: {size}\nstate: open" for name, size in (("ada", 3), ("bob", 4))
    )
    told = all_of(block, "size: 3")
    assert not any("ada" in line and "4" in line for line in told)
    assert any("bob" in line and "4" in line for line in told)


def test_a_key_that_comes_twice_in_one_thing_makes_no_two_of_it() -> None:
    told = all_of("to: ada\nto: bob\nsubject: the room\nstate: sent")
    assert told == ["to: ada; to: bob; subject: the room; state: sent"]
