"""A chat on a port of this machine, and runs to ask it about."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from statecomp.testing.words import BULK, chat_of


class ChatHandler(BaseHTTPRequestHandler):
    """Reads a question of chat completions, answers it, and says nothing to the terminal."""

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.asked_about(body["messages"][-1]["content"])

    def asked_about(self, prompt: str) -> None:
        raise NotImplementedError

    def answer(self, content: str, status: int = 200) -> None:
        choice = {"finish_reason": "stop", "message": {"role": "assistant", "content": content}}
        usage = {"prompt_tokens": 10, "completion_tokens": 2}
        reply = json.dumps({"choices": [choice], "usage": usage}).encode()
        self.send_response(status)
        self.send_header("content-length", str(len(reply)))
        self.end_headers()
        self.wfile.write(reply)

    def log_message(self, *args: object) -> None:
        pass


@contextmanager
def served(handler: type[ChatHandler]) -> Iterator[str]:
    """What to write after `--chat` to ask it."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"openai:tiny@http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def two_runs(folder: Path) -> Path:
    path = folder / "runs.jsonl"
    records = [
        {"id": f"run{n}", "style": "tool-calls", "messages": chat_of("prrrrrr", BULK + str(n))}
        for n in range(2)
    ]
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path
