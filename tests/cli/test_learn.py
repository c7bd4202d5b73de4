"""`statecomp learn` and `statecomp routers` as a person meets them."""

from __future__ import annotations

import json
from pathlib import Path
from shutil import rmtree

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


def test_what_a_chat_would_take_is_said_before_anything_is_asked(
    home: Path, tmp_path: Path
) -> None:
    ledger_of(home, 6, 8)
    chat = ("--chat", "openai:tiny@http://127.0.0.1:9")
    whole = statecomp("learn", *chat, said="n\n").stderr
    # Of each of six sessions: seven judged checkpoints, seven reviews, six forecasts.
    assert "at most 120 calls: about " in whole
    assert "list prices of" in whole
    told = tmp_path / "forecasts.jsonl"
    told.write_text('{"id": "session-00", "k": 3, "ready": [0.5]}\n')
    assert "at most 84 calls: " in statecomp("learn", *chat, "--forecasts", told, said="n\n").stderr


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("--chat", "nobody"), "a chat is named"),
        (("--use", "-o", "router"), "--use is for routers that `statecomp routers` lists"),
        (("-o", "/dev/null"), "/dev/null: is no folder"),
    ],
)
def test_what_cannot_be_done_is_said_before_anything_is_asked(
    home: Path, words: tuple[str, ...], problem: str
) -> None:
    ledger_of(home, 6, 8)
    done = statecomp("learn", *words)
    assert done.returncode == 2
    assert problem in done.stderr
    assert "This reads" not in done.stderr


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


@pytest.mark.parametrize(
    ("name", "step", "ready", "problem"),
    [
        ("elsewhere", 3, 0.5, "name none of the runs; were they made from others?"),
        ("elsewhere", 3, 1.7, "between 0 and 1"),
        ("session-00", 900, 0.5, "at checkpoint 900, which it does not have"),
    ],
)
def test_forecasts_that_do_not_fit_are_one_sentence_before_anything_is_asked(
    home: Path, tmp_path: Path, name: str, step: int, ready: float, problem: str
) -> None:
    ledger_of(home, 6, 8)
    told = tmp_path / "forecasts.jsonl"
    told.write_text(json.dumps({"id": name, "k": step, "ready": [ready]}) + "\n")
    done = statecomp("learn", "--forecasts", told)
    assert done.returncode == 2
    assert problem in done.stderr
    assert done.stderr.count("\n") == 1


def test_what_a_chat_answered_is_kept_in_the_folder_of_the_router(
    home: Path, tmp_path: Path
) -> None:
    ledger_of(home, 6, 8)
    folder = tmp_path / "router.1"
    done = statecomp("learn", "--yes", "--chat", "openai:tiny@http://127.0.0.1:9", "-o", folder)
    assert "Connection refused" in done.stderr
    assert [file.name for file in folder.iterdir()] == ["learn.journal"]


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


def test_a_router_in_use_whose_folder_is_gone_is_said(home: Path) -> None:
    shelf = Routers(home / "routers")
    name = shelf.put(open_bundle(), {"better": True, "sessions": 9}, "")
    shelf.use(name)
    rmtree(shelf.folder / name)
    listed = statecomp("routers").stdout
    assert f"* {name}  is no longer there, so the shipped one decides" in listed


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
