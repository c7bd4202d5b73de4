"""How far is it from a request to the upstream?  Files and functions of the proxy on its way.

    python benchmarks/hops.py

One request through the whole application, in this process, with a history that was seen before.
Counted is what is entered in `statecomp.proxy` until the bytes go out, and until the answer ended:
not the time, but how many places somebody visits who follows one request with a finger.
"""

from __future__ import annotations

import asyncio
import json
import sys
import threading
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from types import FrameType
from typing import Any

import statecomp.proxy
from statecomp.ledger.open import open_ledger
from statecomp.proxy import app as service
from statecomp.proxy.client import Answer, Client
from statecomp.proxy.settings import ProxySettings
from statecomp.testing.words import chat_of

ROOM = Path(statecomp.proxy.__file__).parent


class Steps:
    """Every function of the proxy that is entered, in order, by file and name."""

    def __init__(self) -> None:
        self.entered: list[tuple[str, str]] = []
        self.out = 0

    def __call__(self, frame: FrameType, event: str, argument: Any) -> None:
        path = Path(frame.f_code.co_filename)
        if event == "call" and ROOM in path.parents and "<" not in frame.f_code.co_name:
            self.entered.append((str(path.relative_to(ROOM)), frame.f_code.co_qualname))

    def told(self, upto: int) -> str:
        way = self.entered[:upto]
        files, functions = {file for file, _ in way}, set(way)
        return f"{len(files)} files, {len(functions)} functions, entered {len(way)} times"


def answering(steps: Steps) -> Callable[..., Any]:
    async def send(self: Client, *given: Any, **named: Any) -> Answer:
        steps.out = len(steps.entered)

        async def pieces() -> AsyncIterator[bytes]:
            yield b'{"choices": []}'

        return Answer(200, [(b"content-type", b"application/json")], pieces(), lambda: None)

    return send


async def asked(app: Any, messages: list[Any]) -> None:
    body = json.dumps({"model": "small", "messages": messages}).encode()
    scope = {
        "type": "http",
        "http_version": "1.1",
        "method": "POST",
        "path": "/v1/chat/completions",
        "raw_path": b"/v1/chat/completions",
        "query_string": b"",
        "headers": [(b"host", b"127.0.0.1:8484"), (b"authorization", b"Bearer none")],
    }
    given = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive() -> Any:
        return given.pop() if given else await asyncio.Event().wait()

    async def send(message: Any) -> None:
        assert message.get("status", 200) == 200, message

    await app(scope, receive, send)


async def main() -> None:
    steps = Steps()
    Client.send = answering(steps)  # type: ignore[method-assign]
    ledger = open_ledger(":memory:")
    app = service.build_app(ProxySettings(salt=b"salt"), ledger)
    messages = chat_of("prrrrrr")
    await asked(app, messages)
    steps.entered.clear()
    threading.setprofile(steps)
    sys.setprofile(steps)
    await asked(app, messages)
    sys.setprofile(None)
    threading.setprofile(None)
    print("until its bytes go out:", steps.told(steps.out))
    print("until it is answered:  ", steps.told(len(steps.entered)))
    if "--list" in sys.argv:
        print(*(f"  {file}: {name}" for file, name in steps.entered[: steps.out]), sep="\n")


if __name__ == "__main__":
    asyncio.run(main())
