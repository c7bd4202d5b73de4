"""A session: several tasks in one conversation, recorded with labels that are true."""

from __future__ import annotations

import json
import re
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from bench.tests.running import needs_sandbox
from statecomp.annotation.labels import Label, read_labels
from statecomp.baselines.none import NoCompression
from statecomp.errors import BadInput
from statecomp.history.history import History
from statecomp.history.interaction import Interaction
from statecomp.strategy import Strategy, View
from statecomp.tokens import ESTIMATE, count_message
from statecomp.traces.jsonl import read_runs
from statecomp.wire.openai_chat.wire import OpenAIChat
from statecomp_bench.cli.app import app
from statecomp_bench.models import ModelFailed
from statecomp_bench.sessions.acting import HABITS, SessionModel
from statecomp_bench.sessions.day import NOTE, SEED, day
from statecomp_bench.sessions.session import Held, hold

SAMPLES = Path(__file__).resolve().parents[2] / "samples"
FILE, LABELS = SAMPLES / "session.jsonl", SAMPLES / "labels" / "session.jsonl"
SAMPLE = json.loads(FILE.read_text("utf-8"))
MESSAGES: Sequence[Any] = SAMPLE["messages"]
SESSION = day()
BOUNDARIES: Mapping[int, Label] = read_labels(LABELS)[SAMPLE["id"]]


class Forgetting(Strategy):
    """Drops each interaction from its boundary on."""

    def before_request(self, history: History) -> View:
        ready = {n for n, label in BOUNDARIES.items() if label.ready(history.checkpoint)}
        left = (
            segment
            for segment in history.segments
            if not isinstance(segment, Interaction) or segment.number not in ready
        )
        return View(History(tuple(left)))


def held(strategy: Strategy) -> Held:
    needs_sandbox()
    # Whoever trusts what it made does not look for it again; else numbers would shift.
    model = SessionModel(SESSION, SEED, replace(HABITS, trust=1.0))
    return hold(SESSION, model, strategy)


def course(messages: Sequence[Any]) -> list[Any]:
    """All that was said, done and seen; ids of calls are counted from what is in sight."""
    return [
        (m["role"], m["content"], [call["function"] for call in m.get("tool_calls", ())])
        for m in messages
    ]


@pytest.mark.skipif(
    sys.version_info[:2] != (3, 11) or sys.platform != "linux" or not shutil.which("git"),
    reason="recorded with Python 3.11 and git on Linux; other tools print other text",
)
def test_recording_again_gives_the_committed_files(tmp_path: Path) -> None:
    needs_sandbox()
    out, labels = tmp_path / "s.jsonl", tmp_path / "l.jsonl"
    done = CliRunner().invoke(app, ["session", "-o", str(out), "--labels", str(labels)])
    assert done.exit_code == 0, done.output
    assert "handover 100" in done.stdout
    assert out.read_bytes() == FILE.read_bytes()
    assert labels.read_bytes() == LABELS.read_bytes()


def test_the_sample_is_a_long_conversation_of_several_tasks() -> None:
    (run,) = read_runs(FILE)
    assert not isinstance(run, BadInput)
    assert SAMPLE["outcome"] == {"success": True}
    asked = [message["content"] for message in MESSAGES if message["role"] == "user"]
    assert asked == [errand.words for errand in SESSION.errands]
    assert SAMPLE["task"] == asked[0]
    assert 100 <= sum(message["role"] == "assistant" for message in MESSAGES) <= 130
    assert 60_000 <= sum(count_message(m, ESTIMATE) for m in MESSAGES) <= 110_000
    assert FILE.stat().st_size < 700_000


def test_the_sample_is_one_that_a_provider_accepts() -> None:
    assert not OpenAIChat().check(MESSAGES)
    ids = [call["id"] for m in MESSAGES for call in m.get("tool_calls", ())]
    assert len(set(ids)) == len(ids)


def test_no_path_of_the_recording_machine() -> None:
    text = FILE.read_text("utf-8")
    assert not re.search(r"/(root|Users|tmp|home|work|site-packages|\.venv)\b", text)


def test_from_its_boundary_on_no_later_step_misses_an_interaction() -> None:
    whole, forgetting = held(NoCompression()), held(Forgetting())
    assert forgetting.rewards == whole.rewards == dict.fromkeys(whole.rewards, 1.0)
    assert whole.run.messages == MESSAGES
    assert course(forgetting.run.messages) == course(MESSAGES)
    assert forgetting.run.bill.input < whole.run.bill.input // 2


def test_what_the_evening_asks_for_is_needed_since_the_morning() -> None:
    notes = [n for n, label in BOUNDARIES.items() if "harbour" in label.reason]
    assert {label.number for label in BOUNDARIES.values()} == set(range(1, len(BOUNDARIES) + 1))
    morning = BOUNDARIES[min(notes)]
    assert morning.number < 10
    assert morning.boundary is not None
    assert morning.boundary > len(BOUNDARIES) - 5


def test_the_model_knows_only_what_it_is_shown() -> None:
    evening = next(n for n, m in enumerate(MESSAGES) if NOTE in str(m["content"]))
    model = SessionModel(SESSION, SEED)
    alone = model.reply([MESSAGES[0], MESSAGES[evening]], ()).message
    assert "look at the version" in alone["content"]
    whole = model.reply(MESSAGES[: evening + 1], ()).message
    assert whole == MESSAGES[evening + 1]
    with pytest.raises(ModelFailed, match="no request of the session is in sight"):
        model.reply(MESSAGES[:1], ())


def test_a_recording_under_compression_is_refused(tmp_path: Path) -> None:
    arguments = ["session", "--strategy", "window", "-o", str(tmp_path / "s.jsonl")]
    with pytest.raises(BadInput, match="recorded without compression"):
        CliRunner().invoke(app, arguments, catch_exceptions=False)
