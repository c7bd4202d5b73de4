"""What an agent gave a tool is read once, and not at all where no model could have written it."""

from __future__ import annotations

import pytest

from statecomp.history import given as room
from statecomp.history.given import LONGEST, NotGiven, given
from statecomp.history.text import argument_text
from statecomp.recent import MemoryBudget, Weighed


def test_arguments_are_read_once_however_often_they_are_asked_for() -> None:
    arguments = '{"path": "/srv/app.py", "lines": [1, 2]}'
    assert given(arguments) == {"path": "/srv/app.py", "lines": [1, 2]}
    assert given(arguments) is given(arguments)


@pytest.mark.parametrize(
    "arguments",
    ["ls -l", '{"path": ', "[" * 100_000, "", '{"text": "' + "word " * (LONGEST // 5) + '"}'],
)
def test_what_is_no_json_or_more_than_a_model_writes_is_text(arguments: str) -> None:
    for _ in range(2):  # also what is remembered of it
        with pytest.raises(NotGiven):
            given(arguments)
    assert argument_text(arguments) == arguments


def test_what_is_remembered_counts_in_the_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    budget = MemoryBudget(200_000)
    monkeypatch.setattr(room, "_memory", Weighed(4096, room._weight, budget))
    for number in range(100):
        given(f'{{"text": "{number:0>20000}"}}')
    assert 0 < budget.bytes <= budget.most_bytes
