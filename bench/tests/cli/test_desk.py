"""`statecomp-bench desk`: what is served, listed, claimed and refused."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

from statecomp.errors import BadInput
from statecomp.testing.provider.serving import free_port
from statecomp.wire.openai_chat.chat import CompletionsChat
from statecomp_bench.cli.app import app
from statecomp_bench.desk.question import DeskQuestion
from statecomp_bench.desk.queue import Queue


def run(*arguments: str, given: str = "") -> Result:
    return CliRunner().invoke(app, ["desk", *arguments], input=given, catch_exceptions=False)


def asked(folder: Path, *texts: str) -> list[str]:
    queue = Queue(folder)
    queue.prepare()
    return [queue.ask(DeskQuestion([{"role": "user", "content": text}])) for text in texts]


def test_questions_are_claimed_answered_and_listed(tmp_path: Path) -> None:
    first, second, third = asked(tmp_path, "one", "two", "three")
    claimed = run(str(tmp_path), "--next", "ada").stdout.strip()
    assert claimed == str(tmp_path / "questions" / f"{first}.md")
    assert run(str(tmp_path), "--next", "bob").exit_code == 0
    assert run(str(tmp_path), "--answer", first, given="done\n").exit_code == 0
    listed = [line.split() for line in run(str(tmp_path), "--list").stdout.splitlines()[1:]]
    wanted = [[first, "answered", "ada"], [second, "claimed", "bob"], [third, "open"]]
    assert listed == wanted


def test_with_nothing_open_the_next_question_is_a_sentence_and_a_code(tmp_path: Path) -> None:
    asked(tmp_path)
    result = run(str(tmp_path), "--next", "ada")
    assert (result.exit_code, result.stdout) == (1, "")
    assert "no question is open" in result.stderr


def test_a_wrong_folder_or_answer_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="is no desk"):
        run(str(tmp_path / "typo"), "--list")
    (name,) = asked(tmp_path, "one")
    with pytest.raises(BadInput, match="is empty"):
        run(str(tmp_path), "--answer", name, given="\n")
    (tmp_path / "file").touch()
    with pytest.raises(BadInput, match="cannot be written"):
        run(str(tmp_path / "file"))
    assert run(str(tmp_path), "--list", "--next", "ada").exit_code == click.UsageError.exit_code


def test_the_command_serves_the_folder(tmp_path: Path) -> None:
    port = free_port()
    command = [sys.executable, "-m", "statecomp_bench", "desk", str(tmp_path / "desk")]
    process = subprocess.Popen(
        [*command, "--port", str(port), "--wait", "0"], stderr=subprocess.PIPE, text=True
    )
    try:
        assert process.stderr is not None
        assert f"http://127.0.0.1:{port}/v1" in process.stderr.readline()
        with pytest.raises(Exception, match="nobody has answered"):
            CompletionsChat("any", f"http://127.0.0.1:{port}/v1", retries=0).ask(
                "", "hi", max_tokens=9
            )
        queue = Queue(tmp_path / "desk")
        (standing,) = queue.standings()
        queue.write_answer(standing.name, "hello")
        chat = CompletionsChat("any", f"http://127.0.0.1:{port}/v1", retries=0)
        assert chat.ask("", "hi", max_tokens=9).text == "hello"
    finally:
        process.terminate()
        process.communicate(timeout=60)
    assert process.returncode == 0
