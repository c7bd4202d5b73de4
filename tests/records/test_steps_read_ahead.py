"""What is read ahead is not read again, and the record is the same; a long record is shortened in
a few tries."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from statecomp.history.facts import FactIndex
from statecomp.history.interaction import Interaction, Pinned
from statecomp.history.situation import Situation
from statecomp.records import named
from statecomp.records.extract import ExtractiveSummarizer
from statecomp.records.extracting import draft, units
from statecomp.records.extracting.order import ranking
from statecomp.tokens import ESTIMATE
from tests.records.test_extract import NOISE, step

ASKED = Pinned("task", (), 9, "user", "Find the order of Ada and its tracking number.")


def orders(number: int, name: str) -> Interaction:
    rows = "\n".join(
        f"Order {name}-{n}00{number}: {NOISE[n % 8]}, tracking TRK-{number}{n:03}x, by u{n}_{name}"
        for n in range(40)
    )
    said = f"The orders of {name} are listed by report_{name}.py, and TRK-{number}002x is late."
    return step(number, f'{{"customer": "{name}"}}', rows, said=said, name="list_orders")


def span_of(name: str) -> list[Interaction]:
    """Steps that nobody has seen under these names."""
    return [replace(orders(n, w), id=f"{name}{n}") for n, w in enumerate(NOISE, 1)]


def situation() -> Situation:
    return Situation(FactIndex([ASKED]), (ASKED,))


def counted(monkeypatch: pytest.MonkeyPatch, where: object, name: str) -> list[str]:
    """The texts, or the ids, that a reader is called with from now on."""
    read: list[str] = []
    real: Callable[..., object] = getattr(where, name)

    def reads(given: object, *more: object) -> object:
        read.append(str(getattr(given, "text", given)))
        return real(given, *more)

    monkeypatch.setattr(where, name, reads)
    return read


def test_what_was_read_ahead_is_not_read_again_when_its_record_is_written(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    extract, span = ExtractiveSummarizer(), span_of("ahead")
    extract.read_ahead(ASKED)
    for member in span:
        extract.read_ahead(member)
    cut = counted(monkeypatch, units, "_read")
    lines = counted(monkeypatch, named.ReadLine, "of")
    marks = counted(monkeypatch, ranking, "markers_of")
    ahead = extract.summarize(span, situation())
    assert (cut, lines, marks) == ([], [], [])
    assert ahead == extract.summarize(span_of("unread"), situation())
    assert cut
    assert lines
    assert marks


def test_a_step_is_read_ahead_without_writing_a_record_of_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    written = counted(monkeypatch, draft, "composed")
    extract, span = ExtractiveSummarizer(), span_of("only read")
    for member in span:
        extract.read_ahead(member)
    assert not written
    assert extract.summarize(span, situation()).body
    assert written


def noted(span: list[Interaction]) -> set[tuple[str, object]]:
    """What was found out about the steps, and about each of their pieces."""
    parts = {member.id: units.parts_of(member) for member in span}
    pieces = {
        (f"{name} {place} {n}", note)
        for name, one in parts.items()
        for place, group in one.pieces
        for n, piece in enumerate(group)
        for note in piece.notes
    }
    return pieces | {(name, note) for name, one in parts.items() for note in one.notes}


def test_all_that_can_be_told_of_a_step_by_itself_is_told_ahead() -> None:
    extract, span = ExtractiveSummarizer(), span_of("told")[:2]
    for member in span:
        extract.read_ahead(member)
    before = noted(span)
    assert extract.summarize(span, situation()).body
    later = {str(note).rpartition(".")[2] for _, note in noted(span) - before}
    # What is asked of steps with others like them only, and of what was chosen.
    assert later <= {"_heads_shown", "_sent"}


def test_a_step_behind_the_span_is_cut_only_where_it_is_about_a_file_of_the_span(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shown = "[File: /srv/{}.txt (2 lines total)]\n1|grind the {}\n2|and rest"
    first, other, same = (
        replace(step(n, seen=shown.format(name, name)), id=f"{name}{n} of files")
        for n, name in enumerate(("mill", "barn", "mill"), 1)
    )
    cut = counted(monkeypatch, units, "_read")
    ExtractiveSummarizer().summarize([first], Situation(after=(other, same)))
    assert cut == [first.text, same.text]


def test_a_step_read_ahead_is_counted_once_by_each_counter() -> None:
    counts: list[str] = []

    def count(text: str) -> int:
        counts.append(text)
        return ESTIMATE(text)

    span = span_of("counted")
    extract = ExtractiveSummarizer(count=count)
    for member in span:
        extract.read_ahead(member)
    texts = {member.text for member in span}
    assert sorted(counts) == sorted(texts)
    counts.clear()
    assert extract.summarize(span, situation()).body
    assert texts.isdisjoint(counts)
    assert replace(extract, count=ESTIMATE).summarize(span, situation()).body


def test_a_record_that_is_too_long_is_tried_a_few_times_and_keeps_as_much_as_fits(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    kept: list[tuple[list[int], int, draft.Draft]] = []
    real = draft.Draft.shorten

    def shortens(self: draft.Draft, room: int, count: Callable[[str], int]) -> None:
        before = list(self._chosen)
        bodies: list[str] = []

        def counting(text: str) -> int:
            bodies.append(text)
            return count(text)

        real(self, room * 3 // 4, counting)
        lengths = draft._lengths(len(before))
        left, tries = list(self._chosen), len(bodies)
        kept.append((before, tries, self))
        for length in lengths[: lengths.index(len(left))]:
            self._chosen[:] = before[:length]
            assert self.tokens(count) > room * 3 // 4
        self._chosen[:] = left

    monkeypatch.setattr(draft.Draft, "shorten", shortens)
    ExtractiveSummarizer(name_worth=0, budget=0.5).summarize(span_of("long"), situation())
    (before, tries, filled) = kept[0]
    assert len(before) > 100
    assert len(filled._chosen) < len(before)
    assert tries < len(draft._lengths(len(before))) // 4
