"""One deadline for a whole call, and how a call that is over is ended."""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from socket import SHUT_RDWR, socket
from threading import Lock
from typing import Any


@dataclass(frozen=True, slots=True)
class Clock:
    """One deadline for all that a call does: attempts, pauses, every byte read."""

    seconds: float
    ends: float

    @property
    def left_s(self) -> float:
        return max(0.0, self.ends - time.monotonic())


class Sockets:
    """The sockets of one call, to be cut from another thread.

    The timeout of a single read never ends a server that trickles; shutting its socket does.
    Duplicates are held because starting TLS takes the first descriptor away.
    """

    def __init__(self) -> None:
        self._held: list[socket] = []
        self._is_cut = False
        self._lock = Lock()

    def watch(self, event: str, info: Mapping[str, Any]) -> None:
        """The `trace` hook of httpx."""
        if event == "connection.connect_tcp.complete":
            with self._lock:
                self._held.append(info["return_value"].get_extra_info("socket").dup())
            if self._is_cut:
                self.cut()

    def cut(self) -> None:
        with self._lock:
            self._is_cut = True
            held, self._held = self._held, []
        for wire in held:
            with suppress(OSError):
                wire.shutdown(SHUT_RDWR)
            wire.close()
