from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from statecomp.history import text as lexing
from statecomp.history.text import COMMON, Kind, argument_text, identifier_set, identifiers


@pytest.mark.parametrize(
    ("text", "name", "kind"),
    [
        ("It is in /srv/app/main.py.", "/srv/app/main.py", Kind.PATH),
        ("at (src/app/views.py), line 3", "src/app/views.py", Kind.PATH),
        ("see ./run.sh", "./run.sh", Kind.PATH),
        (r"open C:\Users\bob\new.txt now", r"C:\Users\bob\new.txt", Kind.PATH),
        ("under ~/.config/tool", "~/.config/tool", Kind.PATH),
        ("go to https://ex.org/a?b=1&c=2.", "https://ex.org/a?b=1&c=2", Kind.URL),
        ("www.example.com, they said", "www.example.com", Kind.URL),
        ("mail ann.lee@example.org!", "ann.lee@example.org", Kind.ID),
        ("as in ABC-123:", "ABC-123", Kind.ID),
        ("at 10.1.2.3:8443", "10.1.2.3:8443", Kind.ID),
        ("commit a1b2c3d is bad", "a1b2c3d", Kind.ID),
        (
            "id 550e8400-e29b-41d4-a716-446655440000",
            "550e8400-e29b-41d4-a716-446655440000",
            Kind.ID,
        ),
        ("at 0x7ffe12", "0x7ffe12", Kind.ID),
        ("call load_config() first", "load_config", Kind.SYMBOL),
        ("use parseAll here", "parseAll", Kind.SYMBOL),
        ("set MAX_RETRIES to it", "MAX_RETRIES", Kind.SYMBOL),
        ("std::vec::Vec", "std::vec::Vec", Kind.SYMBOL),
        ('the "Blue Lamp X1" model', "Blue Lamp X1", Kind.QUOTED),
        ("ValueError: bad", "ValueError", Kind.ERROR),
        ("open: ENOENT", "ENOENT", Kind.ERROR),
        ("error[E0425]: no", "E0425", Kind.ERROR),
        ("162 in all", "162", Kind.NUMBER),
        ("about 1,234,567.89 units", "1,234,567.89", Kind.NUMBER),
        ("costs $45", "$45", Kind.NUMBER),
        ("up by 12%", "12%", Kind.NUMBER),
        ("on 2024-05-01", "2024-05-01", Kind.NUMBER),
        ("at 12:30", "12:30", Kind.NUMBER),
        ("was 29.2", "29.2", Kind.NUMBER),
    ],
)
def test_an_identifier_is_found_without_its_punctuation(text: str, name: str, kind: Kind) -> None:
    assert identifiers(text).get(name) is kind


@pytest.mark.parametrize(
    "text",
    [
        "The quick brown fox, well-known and state-of-the-art, jumps.",
        "in 2024 there were 7 or 42 of them, the 1st and the 22nd",
        "don't touch the users' data",
        "yes/no, and so on; e.g. this, i.e. that",
        "TODO README JSON",
        'a "word" alone',
    ],
)
def test_plain_english_and_small_numbers_are_not_identifiers(text: str) -> None:
    assert identifier_set(text) == frozenset()


def test_a_line_number_is_cut_from_a_path() -> None:
    assert list(identifiers("/a/b.py:12: and /a/c.py:7:3")) == ["/a/b.py", "/a/c.py"]


def test_an_escaped_line_break_does_not_stick_to_the_next_word() -> None:
    assert list(identifiers(r"cat /tmp/notes\nload_config")) == ["/tmp/notes", "load_config"]


def test_each_identifier_comes_once_in_order_of_appearance() -> None:
    assert list(identifiers("b_2 a_1 b_2")) == ["b_2", "a_1"]


def test_common_names_say_nothing() -> None:
    assert identifier_set("python3 /dev/null utf-8 __init__ application/json") == frozenset()
    assert "/dev/null" in COMMON


def test_arguments_lose_their_escapes() -> None:
    assert argument_text('{"cmd": "ls\\n/srv", "n": [1, {"deep": null}]}') == (
        "cmd: ls\n/srv\nn: 1\ndeep: null"
    )
    assert argument_text("{not json") == "{not json"


@given(st.text(st.characters(exclude_categories=()), max_size=300))
def test_no_text_raises(text: str) -> None:
    found = identifiers(text + " \ud800/x/\udfff")
    assert all(len(name.splitlines()) == 1 for name in found)


@given(st.lists(st.sampled_from(["/a/b.py", "x_1", "162", "$4", "ABC-12", "."]), max_size=8))
def test_names_between_blanks_are_found_whatever_stands_around(words: list[str]) -> None:
    assert set(identifiers(" ".join(words))) == set(words) - {"."}


@given(st.text(alphabet="ab1 $€%./@#~:&+-_()\"'`\n<>é"))
def test_the_quick_lexer_cuts_what_it_is_given_like_the_long_one(text: str) -> None:
    plain = text.replace("://", "")
    assert lexing._PLAIN_LEXER.findall(plain) == lexing._LEXER.findall(plain)


HOSTILE = [
    *("a" * 10**6, "/" * 10**6, '"' * 10**6, "1" * 10**6, "\\n" * 500_000, "`a" * 500_000),
    *("'a" * 500_000, "a.a-" * 250_000, "1,234" * 200_000, "a://" * 250_000, "C:\\" * 300_000),
    " ".join("a." * 100 + f"{n}!" for n in range(4_700)),
    " ".join("a-1" * 60 + f"{n}$:" for n in range(5_000)),
]


@pytest.mark.parametrize("text", HOSTILE, ids=lambda text: repr(text[:8]))
def test_a_megabyte_of_hostile_text_takes_linear_time(text: str) -> None:
    start = time.thread_time()
    identifiers(text)
    # Around a second of processor on a slow machine; anything quadratic would need hours.
    assert time.thread_time() - start < 10
