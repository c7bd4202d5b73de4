"""An upstream that refuses rewrites is left alone for a while: nothing is lost, raw goes out."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from statecomp.proxy.backoff import LEAST_S, MOST_REQUESTS, SEVERAL, Backoff
from statecomp.testing.words import chat_of
from tests.proxy.small_upstream import REPLY, Answer, Got, Running, SmallUpstream, running

URL = "https://api.example.com/v1/messages"
RECORD = b"[Record of past"


@dataclass
class Clock:
    now_s: float = 0.0

    def __call__(self) -> float:
        return self.now_s


def refuses_records(got: Got) -> Answer:
    if RECORD in got.body:
        return Answer([b'{"error": {"message": "no"}}'], status=400)
    return Answer([json.dumps(REPLY).encode()])


def growing(proxy: Running, steps: int, task: str = "go") -> list[str]:
    """A run that grows by one step a request; what each request was noted with."""
    opening: list[dict[str, Any]] = [{"role": "user", "content": task}]
    for count in range(1, steps + 1):
        messages = [*opening, *chat_of("p" + "r" * count)[1:]]
        assert proxy.chat(messages).status_code == 200
    ledger = proxy.drain()
    named = [s for s in ledger.sessions() if s.title == task]
    return [r.note for s in named for r in ledger.requests(s.id)]


def test_few_requests_are_sent_twice_to_an_upstream_that_refuses_every_record() -> None:
    with running(SmallUpstream(refuses_records)) as proxy:
        notes = growing(proxy, 45)
        assert len(proxy.received) - 45 <= 6
        assert proxy.endpoint.metrics.value("statecomp_rests_total") > 20
    resting = [note for note in notes if note.startswith("rewrites rest: ")]
    assert len(resting) > 20
    assert "the upstream refused one in this session; 2 requests, this one counted, go out as" in (
        " ".join(resting)
    )


def test_while_rewrites_rest_what_came_goes_out_and_is_accounted_as_that() -> None:
    with running(SmallUpstream(refuses_records)) as proxy:
        growing(proxy, 12)
        (session,) = proxy.ledger.sessions()
        for request in proxy.ledger.requests(session.id):
            assert request.sent_tokens == request.raw_tokens
        accepted = [json.loads(got.body) for got in proxy.received if RECORD not in got.body]
        assert len(accepted) == 12


def test_another_session_is_tried_until_several_have_been_refused() -> None:
    with running(SmallUpstream(refuses_records)) as proxy:
        for number in range(SEVERAL + 2):
            growing(proxy, 4, f"task {number}")
        refused = sum(RECORD in got.body for got in proxy.received)
        assert refused == SEVERAL
        notes = growing(proxy, 4, "one more")
    assert notes[-1].startswith("rewrites rest: this upstream refused them in 3 sessions;")


def test_once_it_accepts_rewrites_they_go_out_again() -> None:
    refusing = [True]

    def sometimes(got: Got) -> Answer:
        return refuses_records(got) if refusing[0] else Answer([json.dumps(REPLY).encode()])

    with running(SmallUpstream(sometimes)) as proxy:
        proxy.chat(chat_of("prrrr"))
        refusing[0] = False
        for word in ("prrrrrr", "prrrrrrr", "prrrrrrrrr"):
            proxy.chat(chat_of(word))
        sent = [RECORD in got.body for got in proxy.received]
    assert sent[:3] == [True, False, False]
    assert sent[-1]


def test_an_upstream_that_refuses_what_came_too_is_not_at_fault_for_rewrites() -> None:
    with running(SmallUpstream(lambda got: Answer([b"{}"], status=400))) as proxy:
        for word in ("prrrr", "prrrrr"):
            proxy.chat(chat_of(word))
        assert proxy.endpoint.metrics.value("statecomp_rests_total") == 0


def test_each_refusal_doubles_the_rest_up_to_a_limit_and_an_accepted_rewrite_halves_it() -> None:
    backoff = Backoff(Clock())
    rests = []
    for _ in range(9):
        backoff.refused("s", URL)
        rests.append(drained(backoff))
    assert rests == [1, 2, 4, 8, 16, 32, 64, 64, 64]
    backoff.accepted("s", URL)
    assert not backoff.why("s", URL)
    backoff.refused("s", URL)
    assert drained(backoff) == MOST_REQUESTS
    for _ in range(20):
        backoff.accepted("s", URL)
    backoff.refused("s", URL)
    assert drained(backoff) == 1


def drained(backoff: Backoff, session: str = "s") -> int:
    count = 0
    while backoff.why(session, URL):
        backoff.rested(session, URL)
        count += 1
    return count


def test_an_upstream_that_refused_in_several_sessions_rests_by_the_clock() -> None:
    clock = Clock()
    backoff = Backoff(clock)
    for number in range(SEVERAL):
        assert not backoff.why("new", URL)
        backoff.refused(str(number), URL)
    assert backoff.why("new", URL + "/count_tokens")
    assert not backoff.why("new", "https://other.example.com/v1/messages")
    clock.now_s = LEAST_S + 1
    assert not backoff.why("new", URL)
    backoff.refused("new", URL)
    clock.now_s += LEAST_S + 1
    assert "tried again in 59 s" in backoff.why("another", URL)
    backoff.accepted("another", URL)
    assert not backoff.why("another", URL)


@given(st.lists(st.sampled_from(["refused", "accepted", "rested"]), max_size=60))
def test_a_session_never_rests_for_longer_than_the_limit(events: list[str]) -> None:
    backoff = Backoff(Clock())
    for event in events:
        getattr(backoff, event)("s", URL)
    assert drained(backoff) <= MOST_REQUESTS
