"""What is remembered of histories is weighed, and all readers together keep within one budget."""

from __future__ import annotations

import gc
import tracemalloc
from random import Random
from string import ascii_lowercase

import numpy as np
import pytest

from statecomp import recent
from statecomp.features.evidence import EvidenceReader
from statecomp.features.evidence_look import Looks
from statecomp.features.evidence_state import HistoryState
from statecomp.history.history import History
from statecomp.recent import MemoryBudget
from statecomp.testing.words import chat_of
from statecomp.wire.assemble import parse
from statecomp.wire.openai_chat.wire import OpenAIChat

MEGABYTE = 1 << 20


def history(number: int, steps: int = 8) -> History:
    """Long and full of words of its own."""
    chance = Random(number)
    words = ["".join(chance.choices(ascii_lowercase, k=8)) for _ in range(2000)]
    messages = chat_of("p" + "r" * steps, bulk=" ".join(words))
    for message in messages[2::2]:
        message["content"] = " ".join(chance.choices(words, k=1500))
    return parse([{"role": "system", "content": f"run {number}"}, *messages], OpenAIChat())


@pytest.fixture
def budget(monkeypatch: pytest.MonkeyPatch) -> MemoryBudget:
    """One of its own: what other tests left in that of the process is older and would go first."""
    small = MemoryBudget(8 * MEGABYTE)
    monkeypatch.setattr(recent, "MEMORY", small)
    return small


def test_a_standing_takes_what_it_says_it_weighs() -> None:
    read, looks = history(1, steps=30), Looks(100)
    for interaction in read.interactions:
        looks.of(interaction)
    HistoryState(looks).follow(read)  # what is made on first use, and readings, are made by now
    gc.collect()
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    standing = HistoryState(looks)
    standing.follow(read)
    gc.collect()
    took = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    assert took / 2 < standing.weight() < took * 2


def test_all_readers_together_keep_within_one_budget(budget: MemoryBudget) -> None:
    readers = [EvidenceReader() for _ in range(3)]
    for number in range(30):
        readers[number % 3].read(history(number))
        assert 0 < budget.bytes <= budget.most_bytes * 1.01
    assert all(len(reader._standing) < 10 for reader in readers)


def test_what_was_forgotten_is_read_anew_and_is_the_same(budget: MemoryBudget) -> None:
    reader = EvidenceReader()
    ids, rows = reader.read(history(0))
    for number in range(1, 20):
        reader.read(history(number))
    again = reader.read(history(0))
    assert again[0] == ids
    np.testing.assert_array_equal(again[1], rows)
