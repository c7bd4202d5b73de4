"""What must work wherever the two wheels are installed: library, commands, proxy and bench.

    python -I .ci/smoke.py RUN

RUN is a recorded run.  Everything is started from an empty folder, so that nothing of a checkout
can stand in for something that is missing from a wheel.
"""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

import statecomp
from statecomp import StateComp

BIN = Path(sys.executable).parent
PATIENCE_S = 300


def main() -> None:
    run = Path(sys.argv[1]).resolve()
    assert Path(sys.prefix) in Path(statecomp.__file__).parents, "this is not the installed package"
    with tempfile.TemporaryDirectory() as folder:
        library(run)
        command(folder, "statecomp", "--version")
        command(folder, "statecomp", "replay", str(run), "--strategy", "statecomp")
        command(folder, "statecomp", "annotate", str(run), "-o", "labels.jsonl")
        command(folder, "statecomp-bench", "tasks")
        proxy(folder)
    say(f"statecomp {statecomp.__version__}: library, commands, proxy and bench work")


def library(run: Path) -> None:
    """The shipped router, prices and wire rules are in the wheel."""
    messages = json.loads(run.read_text("utf-8").splitlines()[0])["messages"]
    comp = StateComp()
    saved = 0
    for place, message in enumerate(messages):
        if message["role"] == "assistant":
            checkpoint = comp.checkpoint(messages[:place])
            assert not checkpoint.note, checkpoint.note
            saved += checkpoint.saved_tokens
    assert saved > 0, "nothing was saved"


def command(folder: str, *words: str) -> None:
    done = subprocess.run([BIN / words[0], *words[1:]], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, f"{' '.join(words)}\n{done.stdout}{done.stderr}"


def proxy(folder: str) -> None:
    """It starts, and its pages are in the wheel."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    words = [str(BIN / "statecomp"), "serve", "--port", str(port), "--store", "ledger.sqlite"]
    server = subprocess.Popen(words, cwd=folder, stderr=subprocess.DEVNULL)
    try:
        assert read(port, "/healthz") == b'{"status":"ok","mode":"compress"}'
        assert b"<html" in read(port, "/statecomp/")
        assert b"statecomp_overhead_ms" in read(port, "/metrics")
    finally:
        server.terminate()
        server.wait(PATIENCE_S)


def read(port: int, path: str) -> bytes:
    until = time.monotonic() + PATIENCE_S
    while True:
        try:
            with urllib.request.urlopen(
                f"http://127.0.0.1:{port}{path}", timeout=PATIENCE_S
            ) as page:
                return bytes(page.read())
        except OSError:
            if time.monotonic() > until:
                raise
            time.sleep(0.2)


def say(words: str) -> None:
    sys.stdout.write(words + "\n")


if __name__ == "__main__":
    main()
