"""The journal: what was answered is never lost and never asked again."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from statecomp.annotation.journal import Journal
from statecomp.errors import BadInput


def test_answers_come_back_after_a_restart(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "j"
    with Journal(path) as journal:
        journal.put("a", {"text": "one"})
        journal.put("b", {"text": "t\ud800wo"})
    with Journal(path) as again:
        assert again.get("a") == {"text": "one"}
        assert "b" in again
        assert len(again) == 2
    assert path.stat().st_mode & 0o077 == 0


def test_half_a_line_is_cut_off_and_the_rest_kept(tmp_path: Path) -> None:
    path = tmp_path / "j"
    with Journal(path) as journal:
        journal.put("a", {"text": "one"})
    with path.open("ab") as file:
        file.write(b'{"key": "b", "val')
    with Journal(path) as again:
        assert len(again) == 1
        again.put("c", {"text": "three"})
    with Journal(path) as third:
        assert third.get("c") == {"text": "three"}


def test_damage_in_the_middle_is_said_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "j"
    path.write_bytes(b'{"key": "a", "value": {}}\nnonsense\n')
    with pytest.raises(BadInput, match="j, line 2: is damaged; move the journal away"):
        Journal(path)


def test_a_place_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="cannot be opened"):
        Journal(tmp_path)


FILL = """
import resource, signal, sys
from pathlib import Path
from statecomp.annotation.journal import Journal
from statecomp.errors import BadInput
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
journal = Journal(Path(sys.argv[1]))
journal.put("a", {"text": "x" * 100})
resource.setrlimit(resource.RLIMIT_FSIZE, (400, resource.RLIM_INFINITY))
try:
    journal.put("b", {"text": "y" * 4000})
except BadInput as error:
    print(error)
resource.setrlimit(resource.RLIMIT_FSIZE, (4000, resource.RLIM_INFINITY))
journal.put("c", {"text": "z"})
"""


def test_a_full_disk_leaves_the_journal_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "j"
    done = subprocess.run(
        [sys.executable, "-c", FILL, str(path)], capture_output=True, text=True, check=True
    )
    assert "cannot be written: File too large; what was answered before is kept" in done.stdout
    with Journal(path) as journal:
        assert ("a" in journal, "b" in journal, "c" in journal) == (True, False, True)
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] != 400


WRITE_FOREVER = """
import sys
from pathlib import Path
from statecomp.annotation.journal import Journal
journal = Journal(Path(sys.argv[1]))
for n in range(10**9):
    journal.put(f"k{n}", {"text": "x" * (n % 5000)})
    print(n, flush=True)
"""


def test_kill_minus_nine_loses_nothing_that_was_acknowledged(tmp_path: Path) -> None:
    path = tmp_path / "j"
    process = subprocess.Popen(
        [sys.executable, "-c", WRITE_FOREVER, str(path)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    with process, process.stdout:
        while int(process.stdout.readline()) < 40:
            pass
        os.kill(process.pid, signal.SIGKILL)
        acknowledged = 40 + len(process.stdout.readlines())
    with Journal(path) as journal:
        assert all(f"k{n}" in journal for n in range(acknowledged + 1))
