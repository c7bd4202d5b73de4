"""A guarded pattern finds what the pattern alone finds: its words are in all that it may find."""

from __future__ import annotations

import re

import pytest

from statecomp.history.guarded import Guarded
from statecomp.history.kinds import _FAILED
from statecomp.records.extracting.reading.noise import _PLEASE
from statecomp.records.extracting.reading.size import _CUT, _SAVED

FOUND = {
    "failed": (
        _FAILED,
        "Traceback (most recent call last)\nerror: no mill\nFatal: no\nException in thread\n"
        "FAILED test_mill\nMillError: stuck\nmill.Exception: stuck\nsh: mill: command not found\n"
        "No such file or directory\nPermission denied\nreturncode: 1\nreturn_code=2\n"
        'exit code: 3\nexit_code 4\nExit status: 5\nexit_status=6\n{"error": "dry"}\n'
        "{'is_error': 1}",
    ),
    "cut": (
        _CUT,
        "too long to be displayed\nis too long\nis too large\na truncated version\n"
        "[output was truncated\nOutput truncated\noutput exceeded\n12 characters omitted\n"
        "9 LINES TRUNCATED\n[truncated]\n<truncated>",
    ),
    "saved": (
        _SAVED,
        "Full output saved to /tmp/mill.log\nwhole result written to ~/mill.txt\n"
        "complete response was stored at: ./mill",
    ),
    "asks": (_PLEASE, "Please retry\nyou must grind\nYou should rest\nyou have to\nUsage: mill"),
}


@pytest.mark.parametrize(("guarded", "lines"), FOUND.values(), ids=FOUND)
def test_a_guarded_pattern_finds_each_thing_that_the_pattern_finds(
    guarded: Guarded, lines: str
) -> None:
    for line in lines.split("\n"):
        for text in (line, line.upper(), f"the mill\n{line}"):
            alone = guarded._pattern.search(text)
            found = guarded.search(text)
            assert (found and found.span()) == (alone and alone.span()), text
        assert guarded.search(line), line


def test_a_text_without_its_words_is_not_looked_through() -> None:
    guarded = Guarded(r"a mill|grind\w+", needs="mill|grind")
    guarded._pattern = re.compile("")  # it would find something anywhere
    assert guarded.search("bread and butter") is None
    assert guarded.search("GRINDSTONE")
