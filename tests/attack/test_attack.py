"""A short slice of the attacks that `make chaos` and `make soak` run for as long as one likes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

import httpx

from tests.attack import chaos, fuzz, parts, soak
from tests.attack.traffic import Conversation, mangled, named
from tests.attack.watch import NAME, Watch
from tests.proxy.conversations import CHAT, CLAUDE, HEADERS, post
from tests.proxy.serving import proxied
from tests.proxy.upstream import upstream


def test_a_killed_worker_loses_nothing_and_changes_nothing(tmp_path: Path) -> None:
    ran, faults = chaos.attack(chaos.Plan(kills=1, repeats=30), tmp_path)
    assert faults == []
    assert ran["kills"] == 1
    assert ran["sent again"] > 10


def test_mangled_bodies_are_never_made_invalid() -> None:
    ran, faults = fuzz.attack(120, seed=3)
    assert faults == []
    assert ran["valid as they came"] > 30
    assert ran["rewritten"] > 10


def test_the_watch_sees_what_it_is_there_for() -> None:
    """A check that cannot fail checks nothing."""
    with proxied(mode="off") as proxy:
        watch = Watch(proxy.upstream)
        body = CHAT.body([*CHAT.user("hello")])
        post(proxy.url, CHAT, body, **{NAME: "one"})
        post(proxy.url, CHAT, {**body, "temperature": 1}, **{NAME: "one"})
        post(proxy.url, CHAT, {**body, "messages": CHAT.turn(1)[1:]}, **{NAME: "two"})
        watch.look()
    assert [fault.partition(":")[0] for fault in watch.faults] == ["changed", "invalid"]
    assert watch.counts["sent again"] == 1


def test_growth_is_of_the_last_third_over_the_first() -> None:
    assert soak.growth([900, 900, *[100] * 10]) == 0.0
    assert soak.growth([0, 0, 100, 100, 100, 100, 100, 100, 100, 130, 130, 130]) == 0.3


def test_a_long_run_in_which_memory_or_latency_grew_has_failed() -> None:
    flat, rising = [100.0] * 12, [100.0 + 10 * n for n in range(12)]

    def run(memory: list[float], p99: list[float], beside: list[float] = flat) -> soak.Soaked:
        return soak.Soaked(memory, p99, beside, flat)

    assert soak.grown(60, run(flat, flat)) == []
    assert soak.grown(60, run(rising, flat)) == ["grew: memory by 53.8%"]
    assert soak.grown(60, run(flat, rising)) == ["grew: p99 over that without us by 53.8%"]
    assert soak.grown(60, run(flat, rising, beside=rising)) == []  # the machine was busier
    assert soak.grown(1, run(rising, rising)) == []


def test_parts_of_one_state_of_the_code_add_up_and_a_seed_counts_once() -> None:
    def line(code: str, seed: int, faults: Sequence[str] = ()) -> dict[str, Any]:
        ran = {"store": "SQLite", "workers": 4, "kills": 10, "minutes": 1.5}
        return {"attack": "kills", "code": code, "seed": seed, "ran": ran, "faults": [*faults]}

    found = parts.added_up([line("a", 1), line("a", 2, ["changed"]), line("a", 2), line("b", 1)])
    assert found["kills SQLite a"] == ({"parts": 2, "kills": 20, "minutes": 3.0}, ["changed"])
    assert found["kills SQLite b"][0]["kills"] == 10


def test_an_upstream_fails_in_every_way_there_is() -> None:
    """None ever broke off: no answer was streamed."""
    model, body = upstream(3), Conversation(1, seed=1).grown()
    told: list[int] = []
    with proxied(model, mode="off") as proxy:
        for fault in chaos.FAULTS:
            model.faults.append(fault())
            try:
                answer = httpx.post(f"{proxy.url}{CLAUDE.path}", content=body, headers=HEADERS)
                told.append(answer.status_code)
            except httpx.RemoteProtocolError:
                told.append(0)
    assert told == [529, 502, 200, 0]


def test_conversations_and_their_damage_come_again_from_their_seed() -> None:
    bodies = [[Conversation(4, 2).grown() for _ in range(3)] for _ in range(2)]
    assert bodies[0] == bodies[1]
    whole = CHAT.body([*CHAT.user("hello"), *CHAT.run(4)])
    odd = [mangled(whole, "messages", Random(seed)) for seed in range(60)]
    assert odd == [mangled(whole, "messages", Random(seed)) for seed in range(60)]
    assert sum(one != whole for one in odd) > 40
    assert named(b"a") != named(b"b")
