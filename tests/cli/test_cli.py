"""The command line as a person meets it: exit codes, sentences, files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from statecomp.testing.words import chat_of
from tests.command import Done, started, statecomp


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    path = tmp_path / "runs.jsonl"
    records = [
        {"id": name, "domain": domain, "style": "tool-calls", "messages": chat_of("prrrrrrrr")}
        for name, domain in (("one", "Code"), ("two", "Web"))
    ]
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def test_help_teaches_and_version_answers() -> None:
    page = started("--help")
    assert page.returncode == 0
    assert "statecomp replay samples/*.jsonl" in page.stdout
    assert statecomp("replay", "--help").stdout.count("window:keep=10") >= 2
    assert statecomp("--version").stdout.startswith("statecomp, version ")


def test_replay_prints_plain_lines_in_a_pipe(runs: Path) -> None:
    done = started("replay", runs, "--strategy", "window:keep=2", "--strategy", "none")
    assert done.returncode == 0
    assert "2 runs, 14 checkpoints" in done.stdout
    assert "window:keep=2" in done.stdout
    assert "\x1b" not in done.stdout + done.stderr
    assert not set("━│┃─") & set(done.stdout)


def test_replay_writes_views_numbers_and_a_report_whatever_the_number_of_jobs(
    runs: Path, tmp_path: Path
) -> None:
    spec = "statecomp:scorer=age:after=2"
    for jobs in ("1", "2"):
        views, numbers, report = (tmp_path / f"{name}{jobs}" for name in ("views", "n", "page"))
        done = statecomp(
            "replay", runs, "--strategy", spec, "--jobs", jobs,
            "--views", views, "--json", numbers, "--report", report,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
    lines = [json.loads(line) for line in views.read_text().splitlines()]
    assert [(v["id"], v["checkpoint"]) for v in lines[:2]] == [("one", 3), ("one", 5)]
    assert list(lines[0]) == ["id", "checkpoint", "messages"]
    assert len(lines[-1]["messages"]) < 17
    document = json.loads(numbers.read_text())
    assert document["strategies"][0]["saved"] > 0
    assert report.read_text().startswith("<!doctype html>")
    for path in (views, numbers):
        assert path.read_bytes() == path.with_name(path.name[:-1] + "1").read_bytes()


def test_the_gate_decides_by_the_prices_that_dollars_are_counted_in(
    runs: Path, tmp_path: Path
) -> None:
    """Where rewriting the cache costs a fortune nothing is rewritten, where it is free all is."""

    def commits(write: float, *options: str) -> tuple[int, set[str]]:
        book, numbers = tmp_path / "own.toml", tmp_path / "n.json"
        own = "as_of = 2026-01-01\ninput = 1\ncached = 1\noutput = 1\nttl_s = 300\nleast_cached = 1"
        book.write_text(f"[models.own]\n{own}\nwrite = {write}\n")
        spec = "statecomp:scorer=age:after=1"
        done = statecomp(
            "replay", runs, "--prices", book, "--json", numbers, "--strategy", spec, *options
        )
        assert done.returncode == 0, done.stderr
        document = json.loads(numbers.read_text())
        steps = [step for run in document["runs"] for step in run["strategies"][spec]]
        return document["strategies"][0]["commits"], {
            step["ruling"]["prices"] for step in steps if step["ruling"]
        }

    assert commits(1e6) == (0, {"own"})
    free, by = commits(1.0, "--jobs", "2")
    assert (free > 0, by) == (True, {"own"})


def test_domain_and_limit_choose_runs(runs: Path) -> None:
    assert "1 run," in statecomp("replay", runs, "--domain", "web").stdout
    assert "1 run," in statecomp("replay", runs, "--limit", "1").stdout
    nothing = statecomp("replay", runs, "--domain", "Office")
    assert nothing.returncode == 2
    assert "no run of the domain 'Office' could be read" in nothing.stderr


def test_a_bad_record_stops_with_its_place_or_is_left_out_and_counted(runs: Path) -> None:
    orphan = {"id": "bad", "messages": [{"role": "tool", "tool_call_id": "x", "content": ""}]}
    runs.write_text(runs.read_text() + json.dumps(orphan) + "\n" + '{"messages": [{"ro')
    stopped = statecomp("replay", runs)
    assert stopped.returncode == 2
    assert f"{runs}, line 4: is not valid JSON" in stopped.stderr
    assert "add --skip-bad" in stopped.stderr
    assert len(stopped.stderr.strip().splitlines()) == 1
    skipped = statecomp("replay", runs, "--skip-bad")
    assert skipped.returncode == 0
    assert "2 runs" in skipped.stdout
    assert "messages[0]: is a tool result that answers no call" in skipped.stderr


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("replay", "missing.jsonl"), "missing.jsonl: does not exist"),
        (("replay", "{runs}", "--strategy", "magic"), "strategy 'magic': is unknown"),
        (("replay", "{runs}", "--prices", "no.toml"), "no.toml: cannot be read"),
        (("replay", "{runs}", "--json", "/no/such/folder/x.json"), "cannot be written"),
        (("replay", "{runs}", "--tokenizer", "no.json"), "no.json"),
        (("lint", "missing.json"), "missing.json: does not exist"),
    ],
)
def test_bad_input_is_one_sentence_and_exit_code_2(
    arguments: tuple[str, ...], sentence: str, runs: Path
) -> None:
    done = statecomp(*(a.replace("{runs}", str(runs)) for a in arguments))
    assert done.returncode == 2
    assert sentence in done.stderr
    assert "Traceback" not in done.stderr


def lint(tmp_path: Path, document: Any) -> Done:
    path = tmp_path / "request.json"
    path.write_text(json.dumps(document))
    return statecomp("lint", path)


def test_lint_is_silent_about_what_a_provider_accepts(tmp_path: Path) -> None:
    done = lint(tmp_path, {"model": "m", "messages": chat_of("prk")})
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_lint_names_the_place_and_the_rule(tmp_path: Path) -> None:
    done = lint(tmp_path, {"model": "m", "messages": chat_of("prop")})
    assert done.returncode == 1
    assert "messages[3].tool_calls[0]: no tool message answers the call 'c2'" in done.stdout
    assert "[unanswered-call]" in done.stdout


def test_a_recording_may_end_inside_a_call_but_a_request_may_not(tmp_path: Path) -> None:
    assert lint(tmp_path, {"style": "tool-calls", "messages": chat_of("pro")}).returncode == 0
    assert lint(tmp_path, {"model": "m", "messages": chat_of("pro")}).returncode == 1


def test_completion_scripts_are_there_for_every_shell() -> None:
    for shell in ("bash", "zsh", "fish"):
        assert "_STATECOMP_COMPLETE" in statecomp("completion", shell).stdout
