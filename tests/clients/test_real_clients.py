"""Claude Code, its Agent SDK, Codex and the Vercel AI SDK, unmodified, through `statecomp serve`.

A short session each, rewritten as early as the eager options allow, so that much is rewritten in
few steps.  `STATECOMP_CLIENT_STEPS=110` makes the sessions longer, and holds those without thinking
and with older tools too.  The clients are fetched into the user's cache where npm is there, and the
tests skip where neither is.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from benchmarks.clients.installing import NotInstalled
from benchmarks.clients.running import Outcome, Wish, run
from tests.proxy.serving import EAGER_OPTIONS

LONG = os.environ.get("STATECOMP_CLIENT_STEPS", "")
STEPS = int(LONG or "12")
SERVE = " ".join((*EAGER_OPTIONS, "--commit", "now"))
WISHES = {
    "claude": Wish("claude", STEPS),
    "claude, no thinking": Wish("claude", STEPS, thinking=False),
    "codex": Wish("codex", STEPS),
    "codex, no thinking": Wish("codex", STEPS, thinking=False),
    "codex, its older tools": Wish("codex", STEPS, model="gpt-5.5"),
    "vercel": Wish("vercel", STEPS),
    "claude agent sdk": Wish("claude-agent-sdk", STEPS),
}
# One session of each client is part of `make test`.
QUICK = ("claude", "codex", "vercel")
GONE = "the client went away"
"""Codex hangs up once the answer says that it is complete, a moment before its bytes end."""


@pytest.fixture(scope="module", params=WISHES if LONG else QUICK)
def outcome(request: pytest.FixtureRequest) -> Iterator[Outcome]:
    try:
        yield run(WISHES[request.param], SERVE)
    except NotInstalled as error:
        pytest.skip(str(error))


def test_every_request_is_answered_and_none_is_refused(outcome: Outcome) -> None:
    assert outcome.failed == []
    assert outcome.provider.refusals == []
    assert outcome.retried == 0
    assert len(outcome.requests) == STEPS + 1


def test_the_client_ends_with_what_the_model_said_last(outcome: Outcome) -> None:
    assert outcome.ended, outcome.errors[-2000:] or outcome.output[-2000:]


def test_the_client_is_given_the_bytes_that_the_provider_sent(outcome: Outcome) -> None:
    assert len(outcome.given) == STEPS + 1
    assert outcome.identical


def test_what_the_client_repeats_is_read_from_the_cache(outcome: Outcome) -> None:
    # Whatever is rewritten, the system prompt and the tools stand in front of it unchanged.
    head = min(spent.input for spent in outcome.spent) // 2
    assert all(spent.cached > head for spent in outcome.spent[1:])


def test_no_request_passes_unread(outcome: Outcome) -> None:
    assert len(outcome.log) == STEPS + 1
    assert set(outcome.notes) <= {GONE}


def test_the_session_goes_on_over_records_of_its_past(outcome: Outcome) -> None:
    assert "[Record of past" in outcome.requests[-1].raw.decode()
