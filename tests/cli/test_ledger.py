"""The ledger as a person meets it: looking, taking back, exporting, deleting."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from statecomp.annotation.labels import read_labels
from statecomp.cli.ledger import seconds
from statecomp.cli.ledger_open import forget_nearby
from statecomp.config.places import nearby_of, open_store
from statecomp.errors import BadInput
from statecomp.history.trajectory import Trajectory
from statecomp.ledger.audit import Cell, Entry, Regret, Request, Session, Totals
from statecomp.ledger.commits import Commit
from statecomp.ledger.nearby import NearbyFile
from statecomp.proxy.sessions import salt_of
from statecomp.testing.words import chat_of
from statecomp.traces.jsonl import read_runs
from tests.command import ROOT, statecomp

HOSTILE = "\x1b]0;owned\x07[bold]fine[/bold] \x9b2J"
SECRET = "ghp_" + "a1B2c3D4e5" * 4
DAY_S = 86_400


def commit_at(at: str, first: int, last: int) -> Commit:
    sources = tuple(f"{at}/{number}" for number in range(first, last + 1))
    text = f"Facts:\n- steps {first} to {last} of {at}"
    return Commit(f"c0ffee-{at}", at, sources, first, last, text, 4000, 300)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A data folder whose ledger holds an old session and a new one with a regretted commit."""
    ledger = open_store("", {"XDG_DATA_HOME": str(tmp_path)})
    now = time.time()
    for name, age_s in (("aaa-old", 40 * DAY_S), ("bbb-new", 60)):
        when_s = now - age_s
        about = ("agent/1.0", f"task of {name} {HOSTILE}", "openai-chat", "gpt-5")
        session = Session(name, "t", *about, started_s=when_s, last_s=when_s, totals=Totals())
        commit = commit_at(name, 2, 4)
        ledger.commits("t").append(name, [commit])
        messages = chat_of("p" + "r" * 7, bulk=f"{HOSTILE} key {SECRET}")
        grid = tuple(Cell(number, "kept") for number in range(1, 8))
        request = Request(
            *(name, 3, when_s, "openai-chat", "gpt-5", "compress", 9000, 5000, 0.25, 0.75),
            status=200,
            grid=grid,
        )
        ruling = {"saves": 12.5, "why": "it pays", "writer": "an extract, because it was cut off"}
        entry = Entry(commit, name, when_s, "live", {2: 0.9}, ruling, tuple(messages[3:5]))
        regrets = [Regret(name, 3, commit.id, "repeated call", "read {}")] if age_s == 60 else []
        ledger.record(session, request, [entry], regrets, messages)
    ledger.close()
    return tmp_path


def test_sessions_come_latest_first_with_what_they_saved(home: Path) -> None:
    done = statecomp("sessions", home=home)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert [line.split()[0] for line in lines[1:3]] == ["bbb-new", "aaa-old"]
    assert "44%" in lines[1]
    assert "-0.50" in lines[1], "a loss is shown as a loss"
    assert "2 requests, 18,000 tokens of history came in, 10,000 went out" in lines[-1]
    records = [
        json.loads(x) for x in statecomp("sessions", "--json", home=home).stdout.splitlines()
    ]
    assert [r["totals"]["commits"] for r in records] == [1, 1]


def test_what_was_only_observed_is_told_apart_from_what_was_saved(home: Path) -> None:
    assert "would" not in statecomp("sessions", home=home).stdout
    ledger = open_store("", {"XDG_DATA_HOME": str(home)})
    now = time.time()
    about = ("agent/1.0", "watched", "openai-chat", "gpt-5")
    session = Session("ccc-seen", "t", *about, started_s=now, last_s=now, totals=Totals())
    sums = (1000, 250, 4.0, 1.0)
    request = Request("ccc-seen", 1, now, "openai-chat", "gpt-5", "observe", *sums)
    ledger.record(session, request)
    ledger.close()
    done = statecomp("sessions", home=home)
    heads, seen, *_ = done.stdout.splitlines()
    assert "would save" in heads
    cells = ["1,000", "1,000", "-", "0.00", "0", "0", "75%", "3.00", "0", "watched"]
    assert seen.split()[-len(cells) :] == cells
    assert (
        "2 requests, 18,000 tokens of history came in, 10,000 went out (44% saved)" in done.stdout
    )
    assert "only observed: 1 request, which went out as they came" in done.stdout
    assert "(1 would be sent less)" in statecomp("log", "ccc", home=home).stdout
    assert "would have saved 75% of their tokens and 3.00 dollars, with 0 regrets" in done.stdout


def test_nothing_a_tool_printed_can_act_on_the_terminal(home: Path) -> None:
    for verb in (["sessions"], ["log"], ["show", "c0ffee-b"], ["diff", "c0ffee-b"]):
        done = statecomp(*verb, home=home)
        assert done.returncode == 0, done.stderr
        assert not {"\x1b", "\x07", "\x9b"} & set(done.stdout)
    assert "[bold]fine[/bold]" in done.stdout


def test_log_lists_commits_of_one_session_or_the_latest(home: Path) -> None:
    everything = statecomp("log", home=home).stdout
    assert [line.split()[0] for line in everything.splitlines()[1:]] == [
        "c0ffee-bbb-new",
        "c0ffee-aaa-old",
        "bbb-new:",
        "aaa-old:",
    ]
    assert "1 request (1 sent less)" in everything
    assert everything.count(" an extract\n") == 2
    one = statecomp("log", "aaa", home=home).stdout
    assert "2-4" in one
    assert "bbb-new" not in one
    unknown = statecomp("log", "zzz", home=home)
    assert (unknown.returncode, unknown.stdout) == (2, "")
    assert "no session begins with 'zzz'" in unknown.stderr


def test_what_a_chapter_stands_for_is_told_apart(home: Path) -> None:
    ledger = open_store("", {"XDG_DATA_HOME": str(home)})
    now = time.time()
    (entry,) = ledger.entries("bbb-new")
    wider = replace(entry.commit, id="chapter", first=1, last=9, over=(entry.commit.id,))
    session = ledger.session("bbb-new")
    assert session is not None
    request = replace(ledger.requests("bbb-new")[-1], number=4, when_s=now)
    ledger.record(session, request, [replace(entry, commit=wider, when_s=now)])
    ledger.close()
    rows = [line.split() for line in statecomp("log", "bbb", home=home).stdout.splitlines()[1:3]]
    assert [" ".join(row[4:7]) for row in rows] == ["live 1-9 4,000", "live in 1-9"]
    assert "state    live in 1-9" in statecomp("show", "c0ffee-b", home=home).stdout


def test_the_inequality_is_told_in_words(home: Path) -> None:
    ledger = open_store("", {"XDG_DATA_HOME": str(home)})
    (entry,) = ledger.entries("bbb-new")
    session = ledger.session("bbb-new")
    assert session is not None
    ruling = {"commit": True, "saving_dollars": 0.02, "rebilling_dollars": 0.01, "requests": 7.0}
    commit = replace(entry.commit, id="d00d")
    request = replace(ledger.requests("bbb-new")[-1], number=4)
    ledger.record(session, request, [replace(entry, commit=commit, ruling=ruling)])
    ledger.close()
    page = statecomp("show", "d00d", home=home).stdout
    assert "because  It pays: $0.0200 for carrying it, $0.0100 for replacing it." in page
    assert "saving_dollars" not in page


def test_show_tells_scores_inequality_summary_and_regrets(home: Path) -> None:
    page = statecomp("show", "c0ffee-b", home=home).stdout
    for part in (
        *("c0ffee-bbb-new", "live", "4,000 became 300", "2: 0.900", "saves = 12.5"),
        *(
            "record   an extract, because it was cut off",
            "why = it pays",
            "request 3, repeated call: read {}",
            "- steps 2 to 4 of bbb-new",
        ),
    ):
        assert part in page
    record = json.loads(statecomp("show", "c0ffee-b", "--json", home=home).stdout)
    assert record["commit"]["sources"] == ["bbb-new/2", "bbb-new/3", "bbb-new/4"]
    assert "see statecomp log" in statecomp("show", "c0ffee", home=home).stderr


def test_diff_is_plain_lines_in_a_pipe_with_secrets_masked(home: Path) -> None:
    done = statecomp("diff", "c0ffee-b", home=home)
    lines = done.stdout.splitlines()
    assert lines[0] == "--- original, steps 2-4, 4,000 tokens"
    assert lines[1] == "+++ summary, 300 tokens (live)"
    assert [line for line in lines[2:] if line.startswith("+")][-1] == "+- steps 2 to 4 of bbb-new"
    assert any("[masked:github:" in line for line in lines if line.startswith("-"))
    assert SECRET not in done.stdout


def test_diff_shows_each_call_with_its_name_and_arguments_in_each_protocol(tmp_path: Path) -> None:
    call = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "ls -la src"}}
    result = {"type": "tool_result", "tool_use_id": "t1", "content": "main.py\nutil.py"}
    made = commit_at("run", 1, 1)
    entry = Entry(
        made,
        "run",
        1.0,
        originals=(
            {"role": "assistant", "content": [{"type": "text", "text": "I look."}, call]},
            {"role": "user", "content": [result]},
        ),
    )
    ledger = open_store("", {"XDG_DATA_HOME": str(tmp_path)})
    about = ("claude-cli/2", "look", "anthropic", "claude")
    session = Session("run", "t", *about, started_s=1.0, last_s=1.0, totals=Totals())
    request = Request("run", 1, 1.0, "anthropic", "claude", "compress", 10, 5)
    ledger.commits("t").append("run", [made])
    ledger.record(session, request, [entry])
    ledger.close()
    lines = statecomp("diff", made.id, home=tmp_path).stdout.splitlines()
    assert [line for line in lines[2:] if line.startswith("-")] == [
        "-[step 1]",
        "-said: I look.",
        '-call: Bash: {"command":"ls -la src"}',
        "-result: main.py",
        "-util.py",
    ]


def test_what_saved_nothing_says_why_in_the_list_and_in_the_log(tmp_path: Path) -> None:
    ledger = open_store("", {"XDG_DATA_HOME": str(tmp_path)})
    about = ("codex/1", "fix it", "openai-responses", "gpt-5")
    session = Session("run", "t", *about, started_s=1.0, last_s=1.0, totals=Totals(), parent="up")
    notes = ["too short: 1 step so far", "nothing ready: a", "nothing ready: b"]
    for number, note in enumerate(notes, start=1):
        told = ("run", number, float(number), "openai-responses", "gpt-5", "compress", 10, 10)
        ledger.record(session, Request(*told, note=note, outside_tokens=500))
    ledger.close()
    listed = statecomp("sessions", home=tmp_path).stdout
    assert "run saved nothing; at its last request: nothing ready: b" in listed
    assert "sub-agent: fix it" in listed
    assert "1,500 tokens of tool definitions were sent beside the histories" in listed
    logged = statecomp("log", home=tmp_path).stdout
    assert "Nothing was committed." in logged
    assert "run: 3 requests (2 nothing ready, 1 too short); the last: nothing ready: b" in logged


def test_diff_stands_side_by_side_and_in_colour_on_a_wide_terminal(home: Path) -> None:
    outer, inner = pty.openpty()
    environ = {**os.environ, "XDG_DATA_HOME": str(home), "COLUMNS": "160", "TERM": "xterm"}
    command = [sys.executable, "-m", "statecomp", "diff", "c0ffee-bbb-new"]
    with subprocess.Popen(command, stdout=inner, stderr=inner, cwd=ROOT, env=environ) as process:
        os.close(inner)
        shown = b""
        try:
            while part := os.read(outer, 4096):
                shown += part
        except OSError:
            pass  # how Linux says that the other end is closed
        assert process.wait() == 0
    os.close(outer)
    text = shown.decode()
    assert "\x1b[" in text
    assert "\x1b]0;" not in text
    (title,) = (line for line in text.splitlines() if "original, steps" in line)
    assert "summary, 300 tokens" in title


def test_undo_takes_a_commit_back_once_and_for_good(home: Path) -> None:
    done = statecomp("undo", "c0ffee-b", "-m", "it needed them", home=home)
    assert done.returncode == 0, done.stderr
    assert "steps 2-4 go out raw from now on" in done.stdout
    ledger = open_store("", {"XDG_DATA_HOME": str(home)})
    log = ledger.commits("t")
    assert log.find(["bbb-new", "aaa-old"]) == [commit_at("aaa-old", 2, 4)]
    assert log.held(["bbb-new/3"]) == {"bbb-new/3": "it needed them"}
    ledger.close()
    assert "undone" in statecomp("log", home=home).stdout
    assert statecomp("undo", "nothing", home=home).returncode == 2


def test_export_makes_runs_and_keep_labels_that_the_other_verbs_read(
    home: Path, tmp_path: Path
) -> None:
    runs, labels, annotated = (tmp_path / name for name in ("r.jsonl", "l.jsonl", "a.jsonl"))
    done = statecomp("export", "-o", runs, "--labels", labels, home=home)
    assert done.returncode == 0, done.stderr
    assert "2 runs written" in done.stdout
    assert "3 KEEP labels written" in done.stdout
    found = [run for run in read_runs(runs) if isinstance(run, Trajectory)]
    assert [run.id for run in found] == ["bbb-new", "aaa-old"]
    assert len(found[0].messages) == len(chat_of("p" + "r" * 7))
    assert found[0].about["recorded"]["requests"][0]["raw_tokens"] == 9000
    assert SECRET not in runs.read_text()
    assert (runs.stat().st_mode | labels.stat().st_mode) & 0o077 == 0
    by_number = read_labels(labels)["bbb-new"]
    assert sorted(by_number) == [2, 3, 4]
    assert all(not label.ready(99) for label in by_number.values())
    assert by_number[2].veto[0].at == 7
    assert by_number[2].veto[0].what == "repeated call: read {}"
    again = statecomp("annotate", runs, "-o", annotated, home=home)
    assert again.returncode == 0, again.stderr
    one = statecomp("export", "aaa", "-o", runs, home=home)
    assert "1 run written" in one.stdout


def test_purge_deletes_what_it_was_told_and_asks_first(home: Path) -> None:
    for arguments, sentence in (
        ((), "say what to delete"),
        (("--all", "--session", "aaa"), "say what to delete"),
        (("--older-than", "soon"), "write a number and h, d or w"),
        (("--all",), "add --yes"),
    ):
        refused = statecomp("purge", *arguments, home=home)
        assert refused.returncode == 2
        assert sentence in refused.stderr
    assert (
        "1 session deleted" in statecomp("purge", "--older-than", "30d", "--yes", home=home).stdout
    )
    assert "aaa-old" not in statecomp("sessions", home=home).stdout
    assert "1 session deleted" in statecomp("purge", "--session", "b", "--yes", home=home).stdout
    assert "holds no session yet" in statecomp("sessions", home=home).stdout
    assert "0 sessions deleted" in statecomp("purge", "--all", "--yes", home=home).stdout


def test_what_was_purged_leaves_the_file_beside_a_ledger_behind_a_network(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    url = "postgresql://somebody@127.0.0.1/ledger"
    forget_nearby(url)  # there is none yet, and none is made
    assert list(tmp_path.iterdir()) == []
    path = nearby_of(salt_of(url, tmp_path), {"XDG_DATA_HOME": str(tmp_path)})
    near = NearbyFile(path).of("t")
    near.keep({"s": [commit_at("s", 1, 2)]})
    near.first("owed", [])
    forget_nearby(url)
    assert near.find(["s"]) == {}
    assert near.owed(9) == {"owed": ()}
    left = b"".join(file.read_bytes() for file in path.parent.glob(f"{path.name}*"))
    assert b"steps 1 to 2" not in left


def test_a_ledger_that_is_not_there_is_not_made_by_looking(tmp_path: Path) -> None:
    done = statecomp("sessions", home=tmp_path)
    assert done.returncode == 2
    assert f"{tmp_path / 'statecomp' / 'ledger.sqlite'}: is not there" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_damaged_ledger_is_one_sentence(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite"
    path.write_bytes(b"no database at all " * 100)
    done = statecomp("sessions", "--store", path, home=tmp_path)
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
    assert "is damaged" in done.stderr
    assert path.read_bytes() == b"no database at all " * 100


def test_ages_are_numbers_with_a_unit() -> None:
    assert (seconds("12h"), seconds("1.5d"), seconds("2w")) == (43_200, 129_600, 1_209_600)
    with pytest.raises(BadInput, match="such as 30d"):
        seconds("30")
