"""What is new is read while nobody waits: once, bounded, and whatever goes wrong with it."""

from __future__ import annotations

from dataclasses import dataclass, field
from threading import current_thread

import pytest

from statecomp.compressor import StateComp
from statecomp.controller import judging
from statecomp.controller.spans import Gates
from statecomp.history.interaction import Interaction, Segment
from statecomp.method import Method
from statecomp.testing.words import OneLiner, WordScorer, chat_of, history_of
from tests.proxy.small_upstream import running

GATES = Gates(longer_than=1, min_source_tokens=50)


@dataclass
class Reader(OneLiner):
    """Remembers what it was given to read, and by which thread."""

    fails: bool = False
    read: list[str] = field(default_factory=list)
    threads: set[str] = field(default_factory=set)

    def read_ahead(self, segment: Segment) -> None:
        kind = f"{segment.number}" if isinstance(segment, Interaction) else type(segment).__name__
        self.read.append(kind)
        self.threads.add(current_thread().name)
        if self.fails:
            raise ValueError("it cannot be read")


def engine(reader: OneLiner) -> StateComp:
    return StateComp(WordScorer(), rule=GATES, summarizer=reader)


def test_each_segment_is_read_once_the_newest_first_and_none_that_may_change() -> None:
    reader = Reader()
    comp = engine(reader)
    comp.checkpoint(chat_of("pkkk"))
    assert reader.read == ["3", "2", "1", "Pinned"]
    comp.checkpoint(chat_of("pkkkko"))
    assert reader.read[4:] == ["4"]


def test_what_is_replaced_is_not_read_but_its_record_is() -> None:
    reader = Reader()
    comp = engine(reader)
    comp.checkpoint(chat_of("prrrr"))
    assert reader.calls == 1
    assert reader.read == ["Summary", "Pinned"]


def test_so_much_is_read_behind_one_request_and_the_rest_behind_the_next(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(judging, "FORESEEN", 3000)
    reader = Reader()
    comp = engine(reader)
    comp.checkpoint(chat_of("pkkkk"))
    assert reader.read == ["4", "3", "Pinned"]
    comp.checkpoint(chat_of("pkkkkk"))
    assert reader.read[3:] == ["5", "2"]


def test_reading_that_fails_changes_nothing_of_what_is_sent() -> None:
    failing, plain = Reader(fails=True), OneLiner()
    for word in ("pkkk", "pkrrrr"):
        sent, expected = (engine(s).checkpoint(chat_of(word)) for s in (failing, plain))
        assert (sent.messages, sent.note) == (expected.messages, expected.note)
    assert failing.read


def test_who_prepares_reads_ahead_when_told_to() -> None:
    reader = Reader()
    comp = engine(reader)
    view = comp.prepare(history_of("pkk"))
    assert reader.read == []
    comp.read_ahead(view.history)
    assert reader.read == ["2", "1", "Pinned"]


def test_a_proxy_reads_behind_the_decision_and_in_no_thread_that_answers() -> None:
    reader = Reader()
    method = Method(scorer=WordScorer, rule=GATES, summarizer=lambda account: reader)
    with running(commit="background", method=method) as proxy:
        assert proxy.chat(chat_of("pkkk")).status_code == 200
        proxy.drain()
    assert sorted(reader.read) == ["1", "2", "3", "Pinned"]
    assert all(name.startswith("statecomp-decide-") for name in reader.threads)
