"""What does the proxy add to a request, and how do others compare?

One worker each, a local upstream with a constant reply, an 86 KB chat body of 40 tool interactions
(about 20K tokens) sent again and again, a conversation to a connection, with and without streaming
over 1, 16 and 64 connections; `off` is the proxy that only passes on.  Prints median and p99, what
they add to talking to the upstream directly, requests a second and processor time; then a history
that grows by one interaction a request, and the memory of the proxy over 10,000 requests.

    python benchmarks/proxy_overhead.py [--seconds 4] [--memory 10000] [--connections 1 16 64]
        [--peers FOLDER]

`--peers` installs LiteLLM's proxy and headroom into environments of their own in FOLDER (or uses
the ones there) and runs them in the same way, or says why they do not run.

Aim: at most twice the processor time of `off`, 800 requests/s at 16 connections, p99 at one
connection under 5 ms, streamed as fast as whole, at least 5 times the others' throughput.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import secrets
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import uvicorn

from statecomp.testing.provider.serving import free_port

INTERACTIONS = 40
CONNECTIONS = (1, 16, 64)
WARM = 5
REST_S, IDLE = 0.5, 0.1
PATIENCE_S = 120.0
LINE = "2026-03-01 12:00:{n:02d} worker-{n} INFO handled /api/orders/{m} in {n} ms, status 200\n"
KEY = f"sk-{secrets.token_hex(24)}"  # made for this run; the others want a strong one


def body(conversation: int, interactions: int, *, stream: bool) -> bytes:
    """A request in the middle of a run of its own."""
    messages: list[dict[str, Any]] = [
        {"role": "system", "content": "You audit services."},
        {"role": "user", "content": f"Audit the order service, part {conversation}."},
    ]
    for n in range(interactions):
        arguments = json.dumps({"path": f"/var/log/orders/{conversation}/{n}.log"})
        call = {"id": f"call_{n}", "type": "function"}
        call |= {"function": {"name": "read_log", "arguments": arguments}}  # type: ignore[dict-item]
        messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
        text = "".join(LINE.format(n=k, m=n * 31 + k) for k in range(23))
        messages.append({"role": "tool", "tool_call_id": f"call_{n}", "content": text})
    request: dict[str, Any] = {"model": "gpt-5", "messages": messages}
    return json.dumps({**request, "stream": True} if stream else request).encode()


# The upstream: as little as possible, in a process of its own.

_HEAD = {"id": "c1", "created": 1, "model": "gpt-5"}
_USAGE = {"prompt_tokens": 20_000, "completion_tokens": 20, "total_tokens": 20_020}
_TEXT = "The next log is clean. "
_MESSAGE = {"role": "assistant", "content": _TEXT * 20}
WHOLE = json.dumps(
    {
        **_HEAD,
        "object": "chat.completion",
        "choices": [{"index": 0, "message": _MESSAGE, "finish_reason": "stop"}],
        "usage": _USAGE,
    }
).encode()


def _chunk(delta: Mapping[str, str], reason: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": reason}
    data = {**_HEAD, "object": "chat.completion.chunk", "choices": [choice]}
    return b"data: " + json.dumps(data).encode() + b"\n\n"


CHUNKS = [*[_chunk({"content": _TEXT})] * 20, _chunk({}, "stop"), b"data: [DONE]\n\n"]


async def constant(scope: Any, receive: Callable[[], Any], send: Callable[[Any], Any]) -> None:
    if scope["type"] != "http":
        return
    parts, more = [], True
    while more:
        message = await receive()
        parts.append(message.get("body", b""))
        more = message.get("more_body", False)
    streams = b'"stream": true' in parts[-1] or b'"stream":true' in b"".join(parts)
    kind = b"text/event-stream" if streams else b"application/json"
    headers = [(b"content-type", kind)]
    if not streams:
        headers.append((b"content-length", str(len(WHOLE)).encode()))
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    for chunk in CHUNKS if streams else ():
        await send({"type": "http.response.body", "body": chunk, "more_body": True})
    await send({"type": "http.response.body", "body": b"" if streams else WHOLE})


# The client: bytes over a socket, so that what is measured is not the client.


@dataclass(frozen=True)
class Measured:
    """Seconds of each request, in the order they ended, and of the whole."""

    each: Sequence[float]
    whole: float
    failed: int
    cpu_ms: float = 0.0  # of the server, a request: this one does not feel who else is at work

    def at(self, share: float) -> float:
        return sorted(self.each)[min(len(self.each) - 1, int(share * len(self.each)))] * 1000

    @property
    def rate(self) -> float:
        return len(self.each) / self.whole


def payload(port: int, content: bytes) -> bytes:
    head = (
        f"POST /v1/chat/completions HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\n"
        f"authorization: Bearer {KEY}\r\ncontent-type: application/json\r\n"
        f"content-length: {len(content)}\r\n\r\n"
    )
    return head.encode() + content


async def answered(reader: asyncio.StreamReader) -> bool:
    """Read one answer to its end; whether it was a good one."""
    head = (await reader.readuntil(b"\r\n\r\n")).lower()
    good = head.startswith(b"http/1.1 200")
    if b"transfer-encoding: chunked" in head:
        while size := int((await reader.readline()).strip() or b"0", 16):
            await reader.readexactly(size + 2)
        await reader.readline()
        return good
    for line in head.split(b"\r\n"):
        if line.startswith(b"content-length:"):
            await reader.readexactly(int(line.split(b":")[1]))
    return good


async def talk(
    port: int, requests: Iterator[bytes], until: float, times: list[float], rest_s: float = 0.0
) -> int:
    """One connection, which rests after each answer; the number of answers that were not good."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1 << 24)
    failed = 0
    for content in requests:
        sent = payload(port, content)
        start = time.perf_counter()
        writer.write(sent)
        await writer.drain()
        failed += not await answered(reader)
        times.append(time.perf_counter() - start)
        if time.perf_counter() > until:
            break
        if rest_s:
            await asyncio.sleep(rest_s)
    writer.close()
    return failed


def measure(
    port: int, conversations: Sequence[Iterator[bytes]], seconds: float, pid: int = 0
) -> Measured:
    times: list[float] = []
    worked = cpu_s(pid)

    async def together() -> int:
        until = time.perf_counter() + seconds
        talks = (talk(port, requests, until, times) for requests in conversations)
        return sum(await asyncio.gather(*talks))

    start = time.perf_counter()
    failed = asyncio.run(together())
    took = time.perf_counter() - start
    return Measured(times, took, failed, (cpu_s(pid) - worked) * 1000 / max(1, len(times)))


def cpu_s(pid: int) -> float:
    """Processor time of a process so far, where the system tells."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def same(conversation: int, *, stream: bool) -> Iterator[bytes]:
    content = body(conversation, INTERACTIONS, stream=stream)
    while True:
        yield content


def growing(conversation: int) -> Iterator[bytes]:
    for interactions in range(INTERACTIONS // 2, INTERACTIONS * 2):
        yield body(conversation, interactions, stream=False)


# The servers.


@contextmanager
def server(name: str, command: Sequence[str], port: int, **env: str) -> Iterator[int]:
    """A server process that answers a small request; its port."""
    everything = {**os.environ, "OMP_NUM_THREADS": "1", **env}
    with tempfile.TemporaryFile() as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, env=everything)
        try:
            if not _answers(process, port):
                log.seek(0)
                lines = log.read().decode(errors="replace").strip().splitlines()
                raise RuntimeError(f"{name} does not answer: {' | '.join(lines[-3:])}")
            PIDS[name] = process.pid
            yield port
        finally:
            process.terminate()
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


PIDS: dict[str, int] = {}


def _answers(process: subprocess.Popen[bytes], port: int) -> bool:
    small = body(0, 1, stream=False)
    limit = time.monotonic() + PATIENCE_S
    while time.monotonic() < limit and process.poll() is None:
        try:
            if measure(port, [iter([small])], 5.0).failed == 0:
                return True
        except (OSError, asyncio.IncompleteReadError):
            pass
        time.sleep(0.3)
    return False


def statecomp_command(upstream: int, port: int, folder: Path, *extra: str) -> list[str]:
    target = f"http://127.0.0.1:{upstream}"
    command = [sys.executable, "-m", "statecomp", "serve", "--upstream", target]
    return [*command, "--port", str(port), "--store", str(folder / "ledger.sqlite"), *extra]


def litellm_command(upstream: int, port: int, folder: Path, peers: Path) -> list[str]:
    config = folder / "litellm.yaml"
    params = {"model": "openai/gpt-5", "api_base": f"http://127.0.0.1:{upstream}/v1"}
    entry = {"model_name": "gpt-5", "litellm_params": {**params, "api_key": KEY}}
    settings = {"model_list": [entry], "general_settings": {"master_key": KEY}}
    config.write_text(json.dumps(settings))  # JSON is YAML
    program = environment(peers, "litellm", "litellm[proxy]") / "bin" / "litellm"
    where = ["--host", "127.0.0.1", "--port", str(port)]
    return [str(program), "--config", str(config), *where, "--telemetry", "False"]


def headroom_command(upstream: int, port: int, folder: Path, peers: Path) -> list[str]:
    program = environment(peers, "headroom", "headroom-ai[proxy]") / "bin" / "headroom"
    target = f"http://127.0.0.1:{upstream}"
    where = ["--host", "127.0.0.1", "--port", str(port)]
    # Its cache would answer the repeated request by itself.
    plain = ["--no-cache", "--no-rate-limit", "--no-telemetry"]
    return [str(program), "proxy", *where, *plain, "--openai-api-url", target]


PEERS: Mapping[str, Callable[[int, int, Path, Path], list[str]]] = {
    "litellm": litellm_command,
    "headroom": headroom_command,
}


def environment(peers: Path, name: str, requirement: str) -> Path:
    """A virtual environment with one requirement in it; it stays for the next time."""
    place = peers / name
    if not (place / "bin" / name).exists():
        print(f"installing {requirement} into {place} ...", flush=True)
        subprocess.run([sys.executable, "-m", "venv", str(place)], check=True)
        install = [str(place / "bin" / "python"), "-m", "pip", "install", "--quiet", requirement]
        subprocess.run(install, check=True, timeout=600)
    return place


# The tables.


def cells(connections: Sequence[int]) -> list[tuple[bool, int]]:
    return [(stream, count) for stream in (False, True) for count in connections]


def warm_up(port: int, connections: int, pid: int, *, stream: bool) -> None:
    """Until every conversation is known and the server has nothing left to do behind its back.

    A history of 40 interactions that comes out of nowhere is much to decide about at once; agents
    grow theirs step by step, which `growing` measures.
    """
    limit = time.monotonic() + PATIENCE_S
    at_rest = False
    while not at_rest and time.monotonic() < limit:
        measure(
            port, [islice(same(n, stream=stream), WARM) for n in range(connections)], PATIENCE_S
        )
        at_rest = True
        while time.monotonic() < limit:
            before = cpu_s(pid)
            time.sleep(REST_S)
            if cpu_s(pid) - before <= REST_S * IDLE:
                break
            at_rest = False


def table(
    name: str, port: int, options: argparse.Namespace, direct: dict[Any, Measured]
) -> dict[Any, Measured]:
    """One row a cell; what is added is against the direct run of the same cell."""
    rows, pid = {}, PIDS["upstream" if name == "direct" else name]
    seconds = options.seconds
    for stream, connections in cells(options.connections):
        warm_up(port, connections, pid, stream=stream)
        talks = [same(n, stream=stream) for n in range(connections)]
        found = measure(port, talks, seconds, pid)
        rows[stream, connections] = found
        base = direct.get((stream, connections), found)
        print(
            f"{name:10} {'streamed' if stream else 'whole':8} {connections:3} connections: "
            f"median {found.at(0.5):7.1f} ms (+{found.at(0.5) - base.at(0.5):6.1f}), "
            f"p99 {found.at(0.99):7.1f} ms (+{found.at(0.99) - base.at(0.99):6.1f}), "
            f"{found.rate:6.0f} requests/s, {found.cpu_ms:5.1f} ms of processor"
            + (f", {found.failed} FAILED" if found.failed else ""),
            flush=True,
        )
    return rows


def growth(name: str, port: int, direct: int) -> None:
    """A run as agents make it: each request one interaction longer than the last."""
    for label, where in (("direct", direct), (name, port)):
        found = measure(where, [growing(1000)], PATIENCE_S)
        print(f"growing    {label:10} median {found.at(0.5):6.1f} ms, p99 {found.at(0.99):6.1f} ms")


def resident_mb(pid: int) -> float:
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    return 0.0


def memory(port: int, requests: int) -> None:
    """Resident memory while ever new conversations come and go, ten requests to each."""
    seen = []
    conversation, done, part = 5000, 0, max(1, requests // 10)
    while done < requests:
        stop = done + part
        while done < stop:
            content = body(conversation, INTERACTIONS, stream=False)
            found = measure(port, [iter([content] * 10)], PATIENCE_S)
            done, conversation = done + len(found.each), conversation + 1
        seen.append(resident_mb(PIDS["statecomp"]))
        print(f"memory     {done:6} requests: {seen[-1]:6.0f} MB", flush=True)
    print(f"memory     last over first: {seen[-1] / seen[0]:.2f}")


def compare(name: str, ours: dict[Any, Measured], theirs: dict[Any, Measured], base: Any) -> None:
    for (stream, connections), mine in ours.items():
        other = theirs[stream, connections]
        if other.failed:
            print(f"{name:10} not compared: {other.failed} of {len(other.each)} requests failed")
            continue
        floor = base[stream, connections].at(0.5)
        added = (other.at(0.5) - floor) / max(0.1, mine.at(0.5) - floor)
        print(
            f"{name:10} {'streamed' if stream else 'whole':8} {connections:3} connections: "
            f"adds {added:5.1f} x what statecomp adds; "
            f"statecomp serves {mine.rate / other.rate:5.1f} x its requests/s"
        )


def run(options: argparse.Namespace, folder: Path, stack: ExitStack) -> None:
    me = [sys.executable, __file__]
    upstream = free_port()
    stack.enter_context(server("upstream", [*me, "--upstream", str(upstream)], upstream))
    size = len(body(1, INTERACTIONS, stream=False))
    print(f"{size / 1000:.0f} KB a request, {INTERACTIONS} interactions, {os.cpu_count()} cores")
    direct = table("direct", upstream, options, {})
    home, port = str(folder), free_port()
    # The same proxy that reads nothing: what remains is the price of one more hop.
    command = statecomp_command(upstream, port, folder, "--mode", "off")
    with server("off", command, port, XDG_DATA_HOME=home):
        passing = table("off", port, options, direct)
    port = free_port()
    command = statecomp_command(upstream, port, folder, *options.serve)
    with server("statecomp", command, port, XDG_DATA_HOME=home):
        ours = table("statecomp", port, options, direct)
        for cell, mine in ours.items():
            times = mine.cpu_ms / max(0.01, passing[cell].cpu_ms)
            how = "streamed" if cell[0] else "whole"
            print(f"processor  {how:8} {cell[1]:3} connections: {times:.1f} x off")
        growth("statecomp", port, upstream)
        if options.memory:
            memory(port, options.memory)
    for name, command_of in PEERS.items() if options.peers else ():
        port = free_port()
        try:
            command = command_of(upstream, port, folder, options.peers)
            with server(name, command, port, HF_HUB_OFFLINE="1", DO_NOT_TRACK="1"):
                compare(name, ours, table(name, port, options, direct), direct)
        except (OSError, RuntimeError, subprocess.SubprocessError) as error:
            print(f"{name:10} not compared: {error}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=4.0, help="for each cell of the table")
    parser.add_argument("--memory", type=int, default=10_000, help="requests of the memory part")
    parser.add_argument("--peers", type=Path, help="folder for the environments of the others")
    parser.add_argument("--connections", type=int, nargs="*", default=CONNECTIONS)
    parser.add_argument("--serve", nargs="*", default=[], help="further options of the proxy")
    parser.add_argument("--upstream", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.upstream:
        uvicorn.run(constant, port=options.upstream, log_level="critical", access_log=False)
        return
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        run(options, Path(folder), stack)


if __name__ == "__main__":
    main()
