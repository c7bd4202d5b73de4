"""What goes out, with a ledger behind the engine: the same bytes whoever asks, and whenever."""

from __future__ import annotations

import json
from threading import Event, Thread

from statecomp import AgeScorer, Gates, StateComp
from statecomp.ledger.commits import CommitLog
from statecomp.ledger.ledger import Ledger
from statecomp.testing.words import chat_of
from tests.ledger.conftest import Opener
from tests.ledger.samples import commit

WORD = "p" + "r" * 14


def engine(log: CommitLog) -> StateComp:
    gates = Gates(threshold=0.5, longer_than=3, min_source_tokens=100)
    return StateComp(AgeScorer(after=4), rule=gates, log=log)


def sent(comp: StateComp, length: int) -> str:
    return json.dumps(comp.checkpoint(chat_of(WORD[:length])).messages)


def test_every_process_sends_the_same_bytes_for_good(opener: Opener) -> None:
    first = engine(opener().commits("t"))
    views = {length: sent(first, length) for length in range(2, len(WORD) + 1)}
    assert any("Record of past" in view for view in views.values())
    for length, view in views.items():
        assert sent(engine(opener().commits("t")), length) == view


def test_an_undone_commit_is_out_of_the_next_request(ledger: Ledger, opener: Opener) -> None:
    running = engine(ledger.commits("t"))
    raw = json.dumps(chat_of(WORD))
    checkpoint = running.checkpoint(chat_of(WORD))
    assert checkpoint.commits
    for made in checkpoint.commits:
        assert opener().undo(made.id)
    assert sent(running, len(WORD)) == raw
    assert sent(engine(opener().commits("t")), len(WORD)) == raw


def test_a_reader_never_misses_what_was_appended_before_it_asked(opener: Opener) -> None:
    """Readers remember what they found; appending from elsewhere must not be lost on them."""
    states = [f"s{number}" for number in range(40)]
    done, ended, missed = 0, Event(), list[str]()
    reading = opener().commits("t")

    def read() -> None:
        while not ended.is_set():
            sure = done
            found = [found.at for found in reading.find(states)]
            if found[:sure] != states[:sure]:
                missed.append(f"{sure} were there, found {found}")
                return

    readers = [Thread(target=read) for _ in range(3)]
    for reader in readers:
        reader.start()
    writing = opener().commits("t")
    for state in states:
        writing.append(state, [commit(state)])
        done += 1
    ended.set()
    for reader in readers:
        reader.join()
    assert not missed
    assert [found.at for found in reading.find(states)] == states
