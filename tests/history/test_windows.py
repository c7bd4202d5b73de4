"""A long text is substituted in as a short one is, a window at a time."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from statecomp.features.evidence_look import words
from statecomp.history import text as texts
from statecomp.history import windows
from statecomp.history.documents import documents_in
from statecomp.history.text import identifiers, words_of
from statecomp.history.windows import found, substituted
from statecomp.traces.secrets import Masker
from tests.shapes import TEXTS

PATTERN = re.compile(r"(?<!a)b{2,}+c?|a[bc]")


@given(st.text("abc ", max_size=60))
def test_windows_change_nothing(text: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(windows, "WINDOW", 12)
        patch.setattr(windows, "OVERLAP", 4)
        assert substituted(PATTERN, lambda m: f"<{m[0]}>", text) == PATTERN.sub(r"<\g<0>>", text)
        assert [*found(PATTERN, text)] == PATTERN.findall(text)


@pytest.mark.parametrize("shape", TEXTS)
def test_what_is_masked_does_not_depend_on_windows(
    shape: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = TEXTS[shape](20_000)
    whole = Masker().text(text)
    monkeypatch.setattr(windows, "WINDOW", 5_000)
    assert Masker().text(text) == whole


@pytest.mark.parametrize("shape", TEXTS)
def test_what_is_found_in_a_text_does_not_depend_on_windows(
    shape: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = TEXTS[shape](20_000) + "\nas 'it was' and \"two words\" in `the end`"
    whole = [*identifiers(text).items()], words(text)
    monkeypatch.setattr(windows, "WINDOW", 500)
    monkeypatch.setattr(windows, "OVERLAP", 100)
    assert ([*identifiers(text).items()], words(text)) == whole


@pytest.mark.parametrize("shape", TEXTS)
def test_words_and_documents_do_not_depend_on_windows(
    shape: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = TEXTS[shape](20_000) + "\nRead docs/plan.md, then README and notes.txt."
    whole = words_of(text), documents_in(text)
    for room in (windows, texts):
        monkeypatch.setattr(room, "WINDOW", 500)
    monkeypatch.setattr(windows, "OVERLAP", 250)
    assert (words_of(text), documents_in(text)) == whole
