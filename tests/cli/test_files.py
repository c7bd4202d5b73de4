"""What commands read and write, where that is odd: pipes, links, devices, numbers without end."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Sequence
from pathlib import Path
from threading import Thread

import pytest
from click.testing import CliRunner, Result

from statecomp.cli.app import app
from statecomp.cli.files import write_lines, write_text
from statecomp.errors import BadInput, StateCompError
from statecomp.testing.words import chat_of

RUN = {"id": "a", "messages": chat_of("prrr", bulk="x")}
LONG = "9" * 6000


def test_a_pipe_is_written_through_and_stays_a_pipe(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read: list[str] = []
    reader = Thread(target=lambda: read.append(pipe.read_text()), daemon=True)
    reader.start()
    write_text(pipe, "through")
    reader.join(30)
    assert read == ["through"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_a_device_is_written_through_and_stays_a_device() -> None:
    before = os.stat("/dev/null")  # noqa: PTH116
    write_lines(Path("/dev/null"), [{"a": 1}], private=True)
    after = os.stat("/dev/null")  # noqa: PTH116
    assert stat.S_ISCHR(after.st_mode)
    assert (before.st_mode, before.st_ino) == (after.st_mode, after.st_ino)


def test_a_link_stays_and_what_it_points_to_is_replaced_with_its_permissions(
    tmp_path: Path,
) -> None:
    file, link = tmp_path / "file", tmp_path / "link"
    file.write_text("old")
    file.chmod(0o640)
    link.symlink_to(file)
    write_text(link, "new")
    assert link.is_symlink()
    assert file.read_text() == "new"
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    write_text(link, "mine", private=True)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_what_cannot_be_written_leaves_nothing_and_is_said(tmp_path: Path) -> None:
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    with pytest.raises(BadInput, match="cannot be written"):
        write_text(loop, "x")
    assert [path.name for path in tmp_path.iterdir()] == ["loop"]


def said(arguments: Sequence[str]) -> Result:
    return CliRunner().invoke(app, list(arguments))


@pytest.fixture
def odd(tmp_path: Path) -> Path:
    """Files with numbers of 6,000 digits, lists in lists in lists, and links in a circle."""
    call = RUN["messages"][1] if isinstance(RUN["messages"], list) else {}
    (tmp_path / "runs.jsonl").write_text(json.dumps(RUN) + "\n")
    (tmp_path / "long.jsonl").write_text(f'{{"messages": [{{"role": "user", "n": {LONG}}}]}}\n')
    deep = json.dumps({**RUN, "messages": [{**call, "content": "x"}]})
    (tmp_path / "deep.jsonl").write_text(deep[:-1] + ', "x": ' + "[" * 50_000 + "]" * 50_000 + "}")
    (tmp_path / "circle").symlink_to(tmp_path / "circle")
    return tmp_path


@pytest.mark.parametrize("name", ["long.jsonl", "deep.jsonl", "circle"])
@pytest.mark.parametrize(
    "command",
    [
        "lint {odd}",
        "replay {odd} --strategy none",
        "annotate {odd} -o {out}",
        "import {odd} -o {out}",
        "replay {runs} --strategy none --labels {odd}",
        "labels stats {odd}",
        "labels compare {odd} {odd}",
        "evaluate {runs} --labels {odd}",
        "replay {runs} --strategy none --prices {odd}",
        "sessions --store {odd}",
    ],
)
def test_whatever_is_in_a_file_a_command_says_it_in_a_sentence(
    command: str, name: str, odd: Path
) -> None:
    given = {"odd": odd / name, "runs": odd / "runs.jsonl", "out": odd / "out.jsonl"}
    ended = said(command.format(**given).split())
    assert ended.exit_code != 0
    told = ended.exception
    assert isinstance(told, StateCompError | SystemExit), repr(told)


@pytest.mark.parametrize("given", ["-1", "0", "nan", "inf", "soon"])
def test_a_time_nobody_can_wait_for_is_refused(given: str) -> None:
    ended = said(["serve", "--timeout", given])
    assert ended.exit_code == 2
    assert "--timeout" in ended.output
