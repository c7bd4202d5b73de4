"""The scripted model in sessions: what a record tells it need not be looked up again."""

from __future__ import annotations

import re

import pytest

from statecomp.history.interaction import JsonObject
from statecomp_bench.habits import habits_named
from statecomp_bench.sessions.acting import SessionModel
from statecomp_bench.sessions.book import session_named

SESSION = session_named("session-offers").session(1)
TASK, NOTE = SESSION.errands[0], SESSION.errands[2]


def told(lines: list[str]) -> list[JsonObject]:
    """The first task as a record that names no call, then the note about it."""
    record = "Steps 3-10: opened the live pages of all eight names.\n" + "\n".join(lines)
    return [
        {"role": "system", "content": "You work in a folder."},
        {"role": "user", "content": TASK.words},
        {"role": "user", "content": record},
        {"role": "assistant", "content": "The offers are online."},
        {"role": "user", "content": NOTE.words},
    ]


def shown() -> list[str]:
    """The lines of files and pages that say what the note asks for."""
    answers = (answer for scene in TASK.case.scenes for answer in scene.answers[:1])
    texts = [*(text for text in TASK.case.files.values() if isinstance(text, str)), *answers]
    asked = [fact.pattern for fact in NOTE.case.plan.facts if fact.source]
    lines = [line for text in texts for line in text.splitlines()]
    return [line for line in lines if any(re.search(pattern, line) for pattern in asked)]


@pytest.mark.parametrize(("variant", "first"), [("", "write_file"), ("literal", "http")])
def test_who_understands_a_record_opens_nothing_again_for_its_values(
    variant: str, first: str
) -> None:
    model = SessionModel(SESSION, 1, habits_named(variant))
    message = model.reply(told(shown()), ()).message
    assert message["tool_calls"][0]["function"]["name"] == first


def test_what_no_record_tells_is_looked_up() -> None:
    *most, _ = shown()
    message = SessionModel(SESSION, 1).reply(told(most), ()).message
    assert message["tool_calls"][0]["function"]["name"] != "write_file"
