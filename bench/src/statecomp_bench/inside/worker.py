"""The worker: confines itself, then runs one tool call a line from standard input.

The first line it reads is its setting, the first it writes says what protects the user's files.
Each answer is a JSON object: {"text": ...}, with "hung": true where the call had to be killed.
"""

from __future__ import annotations

import json
import os
import select
import signal
import sys
import time
import traceback
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

from .confine import die_with_parent, enter_namespaces, limit, lock_files, lock_network
from .tools import TOOLS, ToolError

MOST_OUTPUT_BYTES = 400_000
OWN_FRAMES = 2


@dataclass(frozen=True, slots=True)
class WorkerSetting:
    """What the starting side decides; see `sandbox.py`."""

    root: str
    writable: tuple[str, ...]
    readable: tuple[str, ...]
    environment: Mapping[str, str]
    seconds: float
    memory_bytes: int
    file_bytes: int
    processes: int


@dataclass(frozen=True, slots=True)
class Ended:
    """A finished child: what it printed, and its exit code, or None where it was killed late."""

    text: str
    code: int | None


def main() -> None:
    setting = WorkerSetting(**json.loads(sys.stdin.readline()))
    alone = enter_namespaces()
    if alone:
        # Only a child is inside the new process namespace; it is the first there.
        child = os.fork()
        if child:
            _, status = os.waitpid(child, 0)
            os._exit(os.waitstatus_to_exitcode(status) & 0xFF)
        die_with_parent()
    protection = {
        "files": "landlock" if lock_files(setting.writable, setting.readable) else "",
        "network": "namespace" if alone else "seccomp" if lock_network() else "",
        "processes": "namespace" if alone else "",
    }
    os.chdir(setting.root)
    _answer(protection)
    serve(setting, alone)


def serve(setting: WorkerSetting, alone: bool) -> None:
    for line in sys.stdin:
        request = json.loads(line)
        name, arguments = request["tool"], request["arguments"]
        _answer(_ran(setting, alone, _work(setting, name, arguments)))


def _answer(answer: Mapping[str, Any]) -> None:
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()


def _work(setting: WorkerSetting, name: str, arguments: Mapping[str, Any]) -> Callable[[], None]:
    """What the child is to do.

    Tools of our own run in a child too: a query may never end, a file may exceed its limit.
    """
    if name == "shell":
        return partial(_shell, setting, str(arguments.get("command", "")))
    if name == "python":
        return partial(_python, str(arguments.get("code", "")))
    return partial(_own, setting, name, arguments)


def _own(setting: WorkerSetting, name: str, arguments: Mapping[str, Any]) -> None:
    try:
        text = TOOLS[name](setting.root, arguments)
    except ToolError as error:
        text = f"error: {error}"
    except OSError as error:
        text = f"error: {error.strerror}"
    sys.stdout.write(text)


def _ran(setting: WorkerSetting, alone: bool, work: Callable[[], None]) -> dict[str, Any]:
    ended = _child(setting, alone, work)
    if ended.code is None:
        seconds = f"{setting.seconds:g}"
        return {"text": f"{ended.text}\n[stopped after {seconds} seconds]", "hung": True}
    if ended.code:
        return {"text": f"{ended.text}[exit code {ended.code}]"}
    return {"text": ended.text or "[no output]"}


def _child(setting: WorkerSetting, alone: bool, work: Callable[[], None]) -> Ended:
    """Run `work` in a process group of its own; nothing of it is left when this returns."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        _become(setting, alone, writing)
        _finish(work)
    os.close(writing)
    with suppress(OSError):
        os.setpgid(child, child)  # also done by the child; whoever is first
    text, code = _watched(child, reading, time.monotonic() + setting.seconds)
    _clear(child, alone)
    os.close(reading)
    return Ended(text, code)


def _become(setting: WorkerSetting, alone: bool, writing: int) -> None:
    os.setpgid(0, 0)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(writing, 1)
    os.dup2(writing, 2)
    os.closerange(3, 256)
    sys.stdin, sys.stdout = open(0), open(1, "w", encoding="utf-8", errors="replace")  # noqa: SIM115
    sys.stderr = sys.stdout
    os.environ.clear()
    os.environ.update(setting.environment)
    # Without a user namespace the count of processes would include all of the user's.
    processes = setting.processes if alone else 0
    limit(int(setting.seconds) + 1, setting.memory_bytes, setting.file_bytes, processes)
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # a file too large is an error, not the end


def _finish(work: Callable[[], None]) -> None:
    code = 1
    try:
        work()
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException as error:  # noqa: BLE001  the agent's code may raise anything; it reads why
        # The first frames of a trace are ours and would only confuse.
        trace = error.__traceback__
        for _ in range(OWN_FRAMES):
            trace = trace.tb_next if trace is not None else None
        traceback.print_exception(type(error), error, trace, file=sys.stdout)
    finally:
        with suppress(OSError, ValueError):
            sys.stdout.flush()
        os._exit(code & 0xFF)


def _watched(child: int, reading: int, deadline: float) -> tuple[str, int | None]:
    """Output until the child ends, and its exit code; None once the deadline has passed.

    Children of the child may hold the pipe for longer; nobody waits for them.
    """
    kept = bytearray()
    ended = os.pidfd_open(child) if hasattr(os, "pidfd_open") else -1
    watched = [reading] if ended < 0 else [reading, ended]
    code: int | None = None
    while (left := deadline - time.monotonic()) > 0:
        ready = select.select(watched, [], [], left if ended in watched else min(left, 0.01))[0]
        if reading in ready:
            chunk = os.read(reading, 65536)
            kept += chunk[: MOST_OUTPUT_BYTES - len(kept)]
            if not chunk:
                watched.remove(reading)
            continue
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            code = os.waitstatus_to_exitcode(status)
            break
    if ended >= 0:
        os.close(ended)
    return kept.decode("utf-8", "replace"), code


def _clear(child: int, alone: bool) -> None:
    with suppress(OSError):
        os.killpg(child, signal.SIGKILL)
    if alone:
        with suppress(OSError):
            os.kill(-1, signal.SIGKILL)  # all in this namespace but its first process: us
    with suppress(ChildProcessError):
        while os.waitpid(-1, 0 if alone else os.WNOHANG)[0]:
            pass


def _shell(setting: WorkerSetting, command: str) -> None:
    os.execve("/bin/sh", ["sh", "-c", command], dict(setting.environment))


def _python(code: str) -> None:
    sys.path[:] = [os.getcwd(), *sys.path[1:]]  # noqa: PTH109
    sys.argv = ["-"]
    names = {"__name__": "__main__", "__builtins__": __builtins__}
    compiled = compile(code, "<stdin>", "exec")
    exec(compiled, names)  # noqa: S102  this is the python tool, and we are inside the sandbox
