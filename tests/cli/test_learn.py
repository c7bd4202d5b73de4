"""`statecomp learn` and `statecomp routers` as a person meets them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from statecomp.learning.routers import Routers
from statecomp.ledger.audit import Regret
from statecomp.router.shipped import open_bundle
from tests.cli.test_forecast import seer
from tests.command import statecomp
from tests.learning.made_up import entry_at, live, opened

pytest.importorskip("sklearn", reason="learning needs statecomp[learn]")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    return tmp_path / "statecomp"


def ledger_of(home: Path, sessions: int, steps: int = 24) -> None:
    home.mkdir(parents=True, exist_ok=True)
    ledger = opened(home / "ledger.sqlite")
    for seed in range(sessions):
        name = f"session-{seed:02}"
        back = Regret(
            name, 12, f"commit-{name}-4", "repeated call", 'read_file {"path": "src/m4.py"}'
        )
        entries = [entry_at(name, 4, 4, 8)]
        live(ledger, seed, steps=steps, entries=entries, regrets=[back])
    ledger.close()


def test_a_ledger_with_three_sessions_is_one_sentence_and_nothing_is_asked(home: Path) -> None:
    ledger_of(home, 3, 8)
    done = statecomp("learn")
    assert done.returncode == 2
    assert "tasks that can be learned from: 3, and 6 are needed" in done.stderr
    assert "Traceback" not in done.stderr


def test_it_says_what_it_reads_and_a_no_ends_it(home: Path) -> None:
    ledger_of(home, 6, 8)
    done = statecomp("learn", said="n\n")
    assert done.returncode == 130
    assert "This reads 102 messages of 6 sessions (claude-cli, codex)" in done.stderr
    assert "Nothing leaves this machine." in done.stderr
    assert not (home / "routers").exists()


def test_a_chat_is_named_before_anything_is_sent_to_it(home: Path) -> None:
    ledger_of(home, 6, 8)
    done = statecomp("learn", "--chat", "openai:tiny@http://127.0.0.1:9", said="n\n")
    assert "They are sent to openai:tiny@http://127.0.0.1:9." in done.stderr
    assert done.returncode == 130


def test_who_writes_records_in_the_replay_is_named_too_or_refused(home: Path) -> None:
    ledger_of(home, 6, 8)
    done = statecomp("learn", "--records", "chat:openai:tiny@http://127.0.0.1:9", said="n\n")
    assert "They are sent to openai:tiny@http://127.0.0.1:9." in done.stderr
    for spec, problem in (("nobody", "known are extract"), ("same", "name a chat")):
        wrong = statecomp("learn", "--records", spec, said="n\n")
        assert wrong.returncode == 2
        assert problem in wrong.stderr
        assert "This reads" not in wrong.stderr


def test_a_chat_that_forecasts_more_than_certain_is_one_sentence(home: Path) -> None:
    ledger_of(home, 6, 8)
    with seer(1.7) as chat:
        done = statecomp("learn", "--yes", "--chat", chat)
    assert done.stderr.count("1.7") == 1
    said = "checkpoints are left out; the first, session-00 at step 3: the probability of step 1"
    assert said in done.stderr
    assert "the shipped router's own scores stand instead" in done.stderr


def test_forecasts_of_other_runs_are_one_sentence(home: Path, tmp_path: Path) -> None:
    ledger_of(home, 6, 8)
    told = tmp_path / "forecasts.jsonl"
    for ready, problem in ((0.5, "name none of these sessions"), (1.7, "between 0 and 1")):
        told.write_text(json.dumps({"id": "elsewhere", "k": 3, "ready": [ready]}) + "\n")
        done = statecomp("learn", "--yes", "--forecasts", told)
        assert done.returncode == 2
        assert problem in done.stderr
        assert "Traceback" not in done.stderr
        assert "learning from" not in done.stderr


def test_it_learns_writes_a_router_with_its_page_and_says_both_numbers(home: Path) -> None:
    ledger_of(home, 7)
    done = statecomp("learn", "--yes", "--use", "--members", "2")
    assert done.returncode == 0, done.stderr
    assert "AUROC" in done.stdout
    (name,) = Routers(home / "routers").names()
    report = json.loads((home / "routers" / name / "report.json").read_text())
    assert report["sessions"] == 7
    assert report["labels"] == "rules over identifiers"
    assert (home / "routers" / name / "report.html").read_text().startswith("<!doctype html>")
    # It is switched to if, and only if, it was found better.
    in_use = Routers(home / "routers").in_use
    assert in_use == (name if report["better"] else "shipped")
    assert ("not better:" in done.stdout) is (not report["better"])


def test_routers_are_listed_used_refused_and_left_again(home: Path) -> None:
    shelf = Routers(home / "routers")
    good = shelf.put(open_bundle(), {"better": True, "sessions": 9}, "")
    bad = shelf.put(open_bundle(), {"better": False, "sessions": 9}, "")
    assert "* shipped" in statecomp("routers").stdout
    assert statecomp("routers", "use", good).returncode == 0
    refused = statecomp("routers", "use", bad)
    assert refused.returncode == 2
    assert "was not better than the shipped one" in refused.stderr
    listed = statecomp("routers").stdout
    assert f"* {good}" in listed
    assert f"  {bad}  not better" in listed
    assert "shipped decides" in statecomp("routers", "back").stdout
    assert shelf.in_use == "shipped"


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("--router", "nowhere"), "neither a folder nor one that `statecomp routers` lists"),
        (("--router", "shipped", "--scorer", "age"), "give one of them"),
    ],
)
def test_serve_says_what_is_wrong_with_a_router(
    home: Path, words: tuple[str, ...], problem: str
) -> None:
    done = statecomp("serve", "--port", "18499", *words)
    assert done.returncode == 2
    assert problem in done.stderr
