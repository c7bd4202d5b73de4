"""What breaks around the proxy: no request fails because of us, and views stay what they were."""

from __future__ import annotations

import json
import random
import resource
import sqlite3
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from pathlib import Path
from time import monotonic

import httpx
import pytest

from statecomp.ledger.open import open_ledger
from statecomp.testing.provider.app import ScriptedFault, ScriptedUpstream
from statecomp.testing.provider.serving import free_port, serving
from statecomp.traces.secrets import Masker
from tests.proxy.conversations import (
    CHAT,
    CLAUDE,
    HEADERS,
    PLAIN,
    Tongue,
    each_protocol,
    post,
)
from tests.proxy.serving import EAGER_OPTIONS, PATIENCE_S, Proxied, Served, proxied, served
from tests.proxy.upstream import TASK, upstream

NOW = ("--commit", "now", *EAGER_OPTIONS)


def last_sent(model: ScriptedUpstream) -> bytes:
    return model.requests()[-1].raw


def bodies(tongue: Tongue, steps: int, task: str = TASK) -> list[bytes]:
    messages = [*tongue.user(task), *tongue.run(steps)]
    return [json.dumps(tongue.body(history)).encode() for history in tongue.growing(messages)]


def until_killed(server: Served, tongue: Tongue, requests: list[bytes]) -> None:
    """Send one request after the other until nobody answers."""
    for body in requests:
        try:
            answer = post(server.url, tongue, body)
        except httpx.HTTPError:
            return
        assert answer.status_code == 200


def kill_at(server: Served, model: ScriptedUpstream, requests: int, instant_s: float) -> None:
    """Some instant after so many requests have come through, busy as the machine may be."""
    eventually(lambda: len(model.received) >= requests, every_s=0.002)
    threading.Event().wait(instant_s)
    server.kill()


def test_killed_at_any_instant_and_started_again_it_sends_the_same_bytes(tmp_path: Path) -> None:
    chance, model, tongue = random.Random(7), upstream(), CHAT
    waiting = bodies(tongue, 20)
    with serving(model.app) as direct:
        server = Served(direct, tmp_path, *NOW)
        try:
            for _ in range(2):
                server.start()
                more = len(model.received) + chance.randint(9, 15)
                instant = chance.uniform(0.0, 0.02)
                killer = threading.Thread(target=kill_at, args=(server, model, more, instant))
                killer.start()
                until_killed(server, tongue, waiting)
                killer.join()
            server.start()
            before = views(model)
            for body in waiting:
                assert post(server.url, tongue, body).status_code == 200
        finally:
            server.kill()
        after = views(model)
    assert model.refusals == []
    assert any(b"[Record of past" in view for view in before.values())
    assert {state: after[state] for state in before} == before


def views(model: ScriptedUpstream) -> dict[str, bytes]:
    """What was sent for each state, named by task and last message; it must always be the same."""
    found: dict[str, bytes] = {}
    for received in model.requests():
        body = received.body
        messages = body.get("messages") or body["input"]
        state = json.dumps([messages[0], messages[-1]])
        assert found.setdefault(state, received.raw) == received.raw, state
    return found


def test_two_workers_on_one_store_send_the_same_bytes(tmp_path: Path) -> None:
    model = upstream()
    with (
        serving(model.app) as direct,
        served(direct, tmp_path, *NOW) as one,
        served(direct, tmp_path, *NOW) as two,
    ):
        for number, body in enumerate(bodies(CHAT, 10)):
            for worker in (one, two) if number % 2 else (two, one):
                assert post(worker.url, CHAT, body).status_code == 200
        assert b"[Record of past" in last_sent(model)
        together(one, two, bodies(CHAT, 10, "Another task."))
    views(model)
    assert model.refusals == []


def together(one: Served, two: Served, requests: list[bytes]) -> None:
    """The same request to both at the same time; then once more, when both know the decision."""

    def ask(url: str, body: bytes, into: list[int]) -> None:
        into.append(post(url, CHAT, body).status_code)

    for body in requests:
        codes: list[int] = []
        threads = [threading.Thread(target=ask, args=(w.url, body, codes)) for w in (one, two)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert codes == [200, 200]


@each_protocol
def test_an_upstream_that_dies_in_a_stream_is_seen_by_the_client_as_it_is(tongue: Tongue) -> None:
    body = tongue.body(tongue.user(TASK), stream=True)
    with proxied() as proxy:
        proxy.upstream.faults.extend([ScriptedFault(cut_after=3)] * 2)
        through, direct = (until_cut(url, tongue, body) for url in (proxy.url, proxy.direct))
        assert through == direct
        assert through.count(b"\n\n") == 3
        assert proxy.post(tongue, body).status_code == 200


def until_cut(url: str, tongue: Tongue, body: Mapping[str, object]) -> bytes:
    """What arrives before the connection breaks, which it must."""
    arrived: list[bytes] = []
    with PLAIN.stream("POST", url + tongue.path, json=body, headers=HEADERS) as answer:
        assert answer.status_code == 200
        with pytest.raises(httpx.RemoteProtocolError):
            arrived.extend(_kept(answer.iter_raw(), arrived))
    return b"".join(arrived)


def _kept(parts: Iterator[bytes], into: list[bytes]) -> Iterator[bytes]:
    for part in parts:
        into.append(part)
    yield from ()


@each_protocol
def test_an_upstream_that_is_not_there_is_an_error_in_the_providers_shape(tongue: Tongue) -> None:
    with proxied(upstreams={"gone": f"http://127.0.0.1:{free_port()}"}) as proxy:
        body = tongue.body(tongue.user(TASK))
        answer = proxy.post(tongue, body, x_statecomp_upstream="gone")
        assert answer.status_code == 502
        assert answer.json()["error"]["message"]
        assert (answer.json().get("type") == "error") == (tongue is CLAUDE)
        assert proxy.post(tongue, body).status_code == 200


@each_protocol
def test_a_client_that_goes_away_ends_the_request_upstream(tongue: Tongue) -> None:
    held = ScriptedFault(hold_after=2)
    with proxied() as proxy:
        proxy.upstream.faults.append(held)
        body = tongue.body(tongue.user(TASK), stream=True)
        with PLAIN.stream("POST", proxy.url + tongue.path, json=body, headers=HEADERS) as answer:
            next(answer.iter_raw())
        eventually(lambda: "statecomp_open_requests 0" in metrics(proxy))
        assert "statecomp_disconnects_total 1" in metrics(proxy)
        held.release.set()
        assert proxy.post(tongue, body).status_code == 200
        assert proxy.upstream.finished == 1


def metrics(proxy: Proxied) -> str:
    return PLAIN.get(f"{proxy.url}/metrics").text


def eventually(holds: Callable[[], bool], every_s: float = 0.05) -> None:
    waiting, limit = threading.Event(), monotonic() + PATIENCE_S
    while monotonic() < limit:
        if holds():
            return
        waiting.wait(every_s)
    raise AssertionError("it never came to that")


def lock(path: Path) -> Callable[[], None]:
    """Somebody else holds the file."""
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute("BEGIN EXCLUSIVE")
    return holder.close


def spoil(path: Path) -> Callable[[], None]:
    """Nonsense in the middle of the file and at its head."""
    with path.open("r+b") as file:
        file.write(b"no database" * 300)
    return lambda: None


def remove(path: Path) -> Callable[[], None]:
    for part in path.parent.glob(f"{path.name}*"):
        part.unlink()
    return lambda: None


def usurp(path: Path) -> Callable[[], None]:
    """A folder where the file was."""
    remove(path)
    path.mkdir()
    return lambda: None


@pytest.mark.parametrize("harm", [lock, spoil, remove, usurp])
@each_protocol
def test_a_ledger_that_breaks_while_serving_fails_no_request(
    tongue: Tongue, harm: Callable[[Path], Callable[[], None]], tmp_path: Path
) -> None:
    """What was sent is sent again; only who deletes the ledger has taken it all back."""
    path = tmp_path / "ledger.db"
    requests = bodies(tongue, 14)
    ledger = open_ledger(str(path), mask=Masker().masked, wait_s=0.2)
    with closing(ledger), proxied(ledger=ledger) as proxy:
        for body in requests[:10]:
            assert proxy.post(tongue, body).status_code == 200
        before = last_sent(proxy.upstream)
        assert b"[Record of past" in before
        heal = harm(path)
        assert proxy.post(tongue, requests[9]).status_code == 200
        assert last_sent(proxy.upstream) == (requests[9] if harm is remove else before)
        for body in requests[10:]:
            assert proxy.post(tongue, body).status_code == 200
        heal()
        assert proxy.post(tongue, requests[-1]).status_code == 200
        assert proxy.refusals == []


def test_a_full_disk_fails_no_request(tmp_path: Path) -> None:
    """The process may write no file any longer than it is: to SQLite, a full disk."""
    model = upstream()
    with serving(model.app) as direct, served(direct, tmp_path, *NOW) as server:
        requests = bodies(CHAT, 16)
        for body in requests[:8]:
            assert post(server.url, CHAT, body).status_code == 200
        before = last_sent(model)
        assert server.process is not None
        resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (4096, 4096))
        assert post(server.url, CHAT, requests[7]).status_code == 200
        assert last_sent(model) == before
        for body in requests[8:]:
            assert post(server.url, CHAT, body).status_code == 200
    assert model.refusals == []


def test_a_store_that_cannot_be_opened_is_one_sentence_at_the_start(tmp_path: Path) -> None:
    (tmp_path / "ledger.db").write_bytes(b"this is no database" * 500)
    with pytest.raises(AssertionError, match="exit code 2"), served("http://127.0.0.1:9", tmp_path):
        pass
