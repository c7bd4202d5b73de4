"""What a writer of records is told besides the span: lists, documents, and what is open."""

from __future__ import annotations

import json

from statecomp.history.situation import Situation
from statecomp.records.writing.question import question
from tests.records.test_extract import step


def listed(**items: str) -> str:
    return json.dumps({"todos": [{"content": key, "status": how} for key, how in items.items()]})


def test_a_model_is_told_the_newest_list_of_the_agent_where_an_older_one_stays() -> None:
    old = step(1, listed(parser="pending"), name="todo_write")
    new = step(3, listed(parser="completed"), name="todo_write")
    asked = question([[new]], Situation(before=(old,)))
    told = asked.partition("own list]\n")[2]
    assert told.startswith(new.calls[0].arguments)
