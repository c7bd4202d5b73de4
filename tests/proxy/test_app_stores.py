"""`statecomp serve` with a shared database, and with a model that writes the summaries."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from statecomp.ledger.open import open_ledger
from statecomp.testing.provider.app import ScriptedUpstream
from statecomp.testing.provider.serving import serving
from statecomp.testing.provider.turns import Turn
from statecomp.testing.words import chat_of
from tests.postgres import Cluster, running_cluster
from tests.proxy.small_upstream import KEY, SmallUpstream
from tests.proxy.test_app_serve import EAGER, served

NOW = (*EAGER, "--commit", "now")
SAID = "Nothing new was seen by the fox or the dog."


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with running_cluster() as cluster:
        yield cluster


def ask(url: str, word: str) -> None:
    body = {"model": "small", "messages": chat_of(word)}
    answer = httpx.post(f"{url}/v1/chat/completions", json=body, headers=KEY, timeout=60)
    assert answer.status_code == 200


def test_workers_that_share_a_database_send_the_same_bytes(
    cluster: Cluster, tmp_path: Path
) -> None:
    upstream, store = SmallUpstream(), cluster.database()
    with serving(upstream) as direct:
        for name in ("one", "two"):
            options = ("--upstream", direct, "--store", store, *NOW)
            with served(tmp_path / name, *options) as (url, process):
                ask(url, "prrrrr")
                process.terminate()
                process.communicate(timeout=60)
                assert process.returncode == 0
    first, second = upstream.received
    assert b"[Record of past steps 1-3" in first.body
    assert first.body == second.body
    ledger = open_ledger(store, mask=lambda message, known: message)
    assert (ledger.totals().requests, ledger.totals().commits) == (2, 1)
    ledger.close()


def test_a_model_writes_the_summaries_and_is_asked_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-the-summariser")
    upstream, writer = SmallUpstream(), ScriptedUpstream([Turn(json.dumps({"facts": [SAID]}))])
    with serving(upstream) as direct, serving(writer.app) as other:
        options = ("--records", f"chat:openai:writer@{other}/v1")
        with served(tmp_path, "--upstream", direct, *NOW, *options) as (url, _):
            for word in ("prrrr", "prrrr", "prrrrr"):
                ask(url, word)
            metrics = httpx.get(f"{url}/metrics").text
    assert SAID.encode() in upstream.received[0].body
    assert upstream.received[0].body == upstream.received[1].body
    assert writer.refusals == []
    keys = [received.headers["authorization"] for received in writer.received]
    assert keys == ["Bearer sk-of-the-summariser"]
    assert len(writer.requests()) == 1  # one span, asked for once
    assert 'statecomp_decisions_total{outcome="committed"} 1' in metrics
