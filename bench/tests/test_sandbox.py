"""The sandbox: what tools may do, and what becomes of those that do more."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from bench.tests.running import needs_sandbox, sandbox
from statecomp.history.interaction import Call
from statecomp_bench.environment import Environment
from statecomp_bench.sandbox import Sandbox, SandboxFailed, SandboxLimits


@pytest.fixture
def box() -> Iterator[Sandbox]:
    with sandbox(SandboxLimits(seconds=1.0, folder_bytes=24 << 20, file_bytes=4 << 20)) as opened:
        yield opened


def say(box: Sandbox, tool: str, **arguments: object) -> str:
    return Environment(box).call(Call("c", tool, json.dumps(arguments)))


def test_every_tool_does_its_work(box: Sandbox) -> None:
    assert (
        say(box, "write_file", path="a/b.txt", content="one\ntwo\n") == "wrote 8 bytes to a/b.txt"
    )
    assert (
        say(box, "edit_file", path="a/b.txt", old="two", new="three") == "edited a/b.txt at line 2"
    )
    assert say(box, "read_file", path="/workspace/a/b.txt", first=2).endswith("    2  three")
    assert "a/b.txt" in say(box, "list_files")
    assert say(box, "shell", command="cat a/b.txt; exit 3") == "one\nthree\n[exit code 3]"
    made = "import sqlite3\nc = sqlite3.connect('d.db')\nc.execute('create table t (n)')"
    assert say(box, "python", code=made) == "[no output]"
    assert (
        say(box, "sqlite", database="d.db", query="insert into t values (7)") == "[1 rows changed]"
    )
    assert say(box, "sqlite", database="d.db", query="select n from t") == "n\n7\n[1 rows]"
    say(box, "write_file", path="p.html", content="<html lang='en'><h1>Hi</h1></html>")
    assert say(box, "inspect_html", path="p.html", view="outline") == "lang: en\n   1: h1 Hi"


def test_what_cannot_be_done_is_said(box: Sandbox) -> None:
    assert "outside the workspace" in say(box, "read_file", path="../../etc/passwd")
    assert "no such file" in say(box, "read_file", path="nothing")
    assert "found 0 times" in say(box, "edit_file", path=_file(box), old="absent", new="y")
    assert "no such table" in say(box, "sqlite", database=_file(box, ""), query="select * from t")
    assert "is not a whole number" in say(box, "read_file", path=_file(box), first="two")
    assert "unknown view" in say(box, "inspect_html", path=_file(box), view="colour")
    environment = Environment(box)
    assert "not JSON" in environment.call(Call("c", "shell", "{"))
    assert "no JSON object" in environment.call(Call("c", "shell", "[]"))
    assert "no tool named" in environment.call(Call("c", "fly", "{}"))
    assert (
        say(box, "python", code="1 / 0").splitlines()[1] == '  File "<stdin>", line 1, in <module>'
    )


def _file(box: Sandbox, text: str = "text") -> str:
    (box.root / "f.txt").write_text(text)
    return "f.txt"


def test_the_users_files_cannot_be_read_or_written(box: Sandbox, tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("key")
    assert "Permission denied" in say(box, "shell", command=f"cat {secret}")
    assert "Permission denied" in say(box, "shell", command=f"echo changed > {secret}")
    assert "PermissionError" in say(box, "python", code=f"open({str(secret)!r}).read()")
    (box.root / "link").symlink_to(secret)
    assert "outside the workspace" in say(box, "read_file", path="link")
    assert secret.read_text() == "key"


def test_nothing_of_the_environment_comes_in(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("MY_API_KEY", "sk-secret")
    with sandbox() as box:
        shown = say(box, "shell", command="env; echo $HOME")
    assert "sk-secret" not in shown
    assert str(Path.home()) not in shown


def test_there_is_no_network(box: Sandbox) -> None:
    code = "import socket\nsocket.create_connection(('127.0.0.1', 9), timeout=0.5)"
    assert "Error" in say(box, "python", code=code)
    assert box.protection.network in ("namespace", "seccomp")


def test_a_hanging_tool_is_killed_with_all_it_started(box: Sandbox) -> None:
    say(box, "shell", command="(sleep 0.6; touch late) & echo started")
    assert "[stopped after 1 seconds]" in say(box, "shell", command="sleep 60")
    assert "late" not in say(box, "list_files")
    assert say(box, "shell", command="echo alive") == "alive"


def test_a_run_whose_tools_keep_hanging_is_ended() -> None:
    with sandbox(SandboxLimits(seconds=0.2, hangs=2)) as box:
        environment = Environment(box)
        loop = Call("c", "python", json.dumps({"code": "while True: pass"}))
        environment.call(loop)
        with pytest.raises(SandboxFailed, match="2 tool calls hung"):
            environment.call(loop)


def test_size_limits_hold(box: Sandbox) -> None:
    assert "Error" in say(box, "python", code="open('big', 'wb').write(b'x' * (5 << 20))")
    assert "MemoryError" in say(box, "python", code="bytearray(3 << 30)")
    many = "for n in range(8): open(f'f{n}', 'wb').write(b'x' * (4 << 20))"
    with pytest.raises(SandboxFailed, match="outgrown"):
        say(box, "python", code=many)


def test_long_output_is_cut_in_the_middle(box: Sandbox) -> None:
    shown = say(box, "python", code="print('a' * 9000 + 'b' * 9000)")
    assert "characters left out" in shown
    assert shown.startswith("aaa")
    assert shown.endswith("bbb")
    assert len(shown) < 10_100


def test_a_sandbox_leaves_nothing_behind() -> None:
    with sandbox() as box:
        base = box.root.parent
        assert base.exists()
    assert not base.exists()


FILTERED = """
import socket
from statecomp_bench.inside.confine import lock_network
print(lock_network())
socket.socket(socket.AF_UNIX).close()
try:
    socket.socket(socket.AF_INET)
except PermissionError:
    print("refused")
"""


def test_without_namespaces_a_filter_keeps_the_network_away() -> None:
    done = subprocess.run([sys.executable, "-c", FILTERED], capture_output=True, text=True)
    said = done.stdout.split()
    if said[:1] == ["False"]:
        pytest.skip("no seccomp filter for this machine")
    assert said == ["True", "refused"]


def test_without_landlock_nothing_starts_unless_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker that cannot lock files is not handed any work."""
    boot = "import json; input(); print(json.dumps(dict(files='', network='', processes='')))"
    monkeypatch.setattr("statecomp_bench.sandbox.BOOT", boot)
    with pytest.raises(SandboxFailed, match="no Landlock"), Sandbox():
        pass
    with Sandbox(unprotected=True) as box:
        assert str(box.protection) == "files: NONE, network: NONE, processes: NONE"


UNSHARED = (
    "import sys; sys.path.insert(0, sys.argv[1]); from inside import worker; "
    "worker.enter_namespaces = lambda: False; worker.main()"
)


def test_a_kernel_without_user_namespaces_still_protects(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    needs_sandbox()
    monkeypatch.setattr("statecomp_bench.sandbox.BOOT", UNSHARED)
    (tmp_path / "secret.txt").write_text("key")
    with Sandbox(SandboxLimits(seconds=1.0)) as box:
        assert box.protection.files == "landlock"
        assert box.protection.network == "seccomp"
        assert "Permission denied" in say(box, "shell", command=f"cat {tmp_path}/secret.txt")
        code = "import socket\nsocket.socket(socket.AF_INET)"
        assert "PermissionError" in say(box, "python", code=code)
        assert "[stopped after 1 seconds]" in say(box, "shell", command="sleep 60")
        assert say(box, "shell", command="echo alive") == "alive"
