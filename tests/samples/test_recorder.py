"""The samples are what the recorder records, and they are what the project needs of a sample."""

from __future__ import annotations

import csv
import json
import re
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
SAMPLES = ROOT / "samples"
NAMES = ("code", "code-text-action", "office", "security", "web")
TOOL_CALLS = tuple(name for name in NAMES if name != "code-text-action")
KEYS = {
    *("id", "domain", "subdomain", "source_repo", "license", "scaffold", "model", "task"),
    *("group", "outcome", "style", "messages"),
}


def load(name: str) -> dict[str, Any]:
    (line,) = (SAMPLES / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    sample: dict[str, Any] = json.loads(line)
    return sample


def characters(message: dict[str, Any]) -> int:
    calls = message.get("tool_calls", ())
    return len(message["content"]) + sum(len(call["function"]["arguments"]) for call in calls)


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A new recording of everything: `out` has the samples, `end` the finished workspaces."""
    folder = tmp_path_factory.mktemp("recorded")
    command = [sys.executable, "-m", "samples.recorder", "--out", str(folder / "out")]
    subprocess.run([*command, "--keep", str(folder / "end")], cwd=ROOT, check=True)
    return folder


@pytest.mark.skipif(
    sys.version_info[:2] != (3, 11) or sys.platform != "linux",
    reason="recorded with Python 3.11 on Linux; tracebacks and commands print other text elsewhere",
)
@pytest.mark.parametrize("name", NAMES)
def test_recording_again_gives_the_committed_file(recorded: Path, name: str) -> None:
    again = (recorded / "out" / f"{name}.jsonl").read_bytes()
    assert again == (SAMPLES / f"{name}.jsonl").read_bytes()


@pytest.mark.parametrize("name", NAMES)
def test_form(name: str) -> None:
    sample = load(name)
    assert set(sample) == KEYS
    assert sample["outcome"] == {"success": True}
    assert sample["messages"][0]["role"] == "system"
    assert sample["messages"][1] == {"role": "user", "content": sample["task"]}
    assert set(sample["messages"][-1]) == {"role", "content"}
    assert sample["messages"][-1]["role"] == "assistant"


@pytest.mark.parametrize("name", NAMES)
def test_size(name: str) -> None:
    messages = load(name)["messages"]
    assert sum(message["role"] == "assistant" for message in messages[:-1]) >= 25
    assert sum(characters(message) for message in messages) >= 60_000


@pytest.mark.parametrize("name", TOOL_CALLS)
def test_every_call_is_answered_at_once_and_in_order(name: str) -> None:
    messages = load(name)["messages"]
    open_calls: list[str] = []
    seen: set[str] = set()
    for message in messages[2:]:
        if message["role"] == "tool":
            assert open_calls.pop(0) == message["tool_call_id"]
            continue
        assert not open_calls
        open_calls = [call["id"] for call in message.get("tool_calls", ())]
        assert not seen & set(open_calls)
        seen |= set(open_calls)
    assert not open_calls


@pytest.mark.parametrize("name", TOOL_CALLS)
def test_there_are_parallel_calls_and_errors(name: str) -> None:
    messages = load(name)["messages"]
    observations = [message["content"] for message in messages if message["role"] == "tool"]
    assert sum(len(message.get("tool_calls", ())) > 1 for message in messages) >= 5
    assert sum("[exit code" in text or text.startswith("error:") for text in observations) >= 2


def test_text_actions_alternate() -> None:
    messages = load("code-text-action")["messages"][2:]
    for action, observation in zip(messages[0:-1:2], messages[1::2], strict=True):
        assert action["role"] == "assistant"
        assert re.search(r"\n\n```(bash|json)\n.*\n```$", action["content"], re.DOTALL)
        assert observation["role"] == "user"
        assert observation["content"].startswith("Observation:\n")


@pytest.mark.parametrize("name", NAMES)
def test_no_path_of_the_recording_machine(name: str) -> None:
    text = (SAMPLES / f"{name}.jsonl").read_text(encoding="utf-8")
    assert not re.search(r"/(root|Users|tmp/tmp\w+|site-packages|\.venv)\b|/home/(?!svc-)", text)


def test_code_ends_with_passing_tests(recorded: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-B", "run_tests.py"],
        cwd=recorded / "end" / "code",
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.endswith("38 tests, 0 failures, 0 errors\n")


def test_office_balances(recorded: Path) -> None:
    end = recorded / "end" / "office"
    with (end / "out" / "reconciliation.csv").open(encoding="utf-8") as stream:
        due = sum(int(row["due_cents"]) for row in csv.DictReader(stream))
    with closing(sqlite3.connect(end / "ledger.db")) as ledger:
        (posted,) = ledger.execute(
            "SELECT (SELECT sum(amount_cents) FROM postings WHERE account = 1400) + "
            "(SELECT sum(amount_cents) FROM adjustments WHERE kind != 'write-off')"
        ).fetchone()
    assert posted == due
    assert f"{due // 100}.{due % 100:02d} EUR" in (end / "out" / "report.md").read_text("utf-8")


def test_security_indicators_stand_in_the_logs(recorded: Path) -> None:
    end = recorded / "end" / "security"
    found = json.loads((end / "incident" / "iocs.json").read_text(encoding="utf-8"))
    flows = (end / "logs" / "netflow.csv").read_text(encoding="utf-8")
    sizes = re.findall(rf",{re.escape(found['resolved'])},\d+,(\d+)$", flows, re.MULTILINE)
    auth = (end / "logs" / "auth.log").read_text(encoding="utf-8")
    assert found["bytes_out"] == sum(map(int, sizes))
    assert all(
        f"Accepted {how} for {found['account']}" in auth for how in ("password", "publickey")
    )
    assert all(f" from {address} " in auth for address in found["addresses"])


def test_web_pages_have_alternatives_and_titles(recorded: Path) -> None:
    pages = [path.read_text("utf-8") for path in (recorded / "end" / "web").glob("*.html")]
    titles = [re.findall("<title>(.+)</title>", page) for page in pages]
    assert len({title for (title,) in titles}) == len(pages) == 5
    assert all("alt=" in image for page in pages for image in re.findall("<img[^>]*>", page))
