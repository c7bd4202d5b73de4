"""An app on a free loopback port, served by a thread for as long as a block runs."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Thread
from time import monotonic, sleep
from typing import Any

import uvicorn

PATIENCE_S = 30.0
GRACE_S = 3


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@contextmanager
def serving(app: Any, http: Any = "auto") -> Iterator[str]:
    """The app's address, `http://127.0.0.1:PORT`; the server ends with the block."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        # A client that never reads its answer must not keep us here.
        config = uvicorn.Config(
            app, http=http, log_level="critical", ws="none", timeout_graceful_shutdown=GRACE_S
        )
        server = uvicorn.Server(config)
        thread = Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
        thread.start()
        limit = monotonic() + PATIENCE_S
        while not server.started and thread.is_alive() and monotonic() < limit:
            sleep(0.01)
        if not server.started:
            raise RuntimeError("the server did not start")
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join(PATIENCE_S)
