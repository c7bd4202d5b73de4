"""What every adapter promises, with the real framework in an environment of its own.

Thirty steps, one with two calls at once; a second turn on the stored history; a third by a new
agent with a new adapter over what the framework stored.  `make adapters` runs all of them, and
`make test` those that are installed in a minute.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from benchmarks.clients.installing import NotInstalled
from statecomp.adapters.catalogue import FRAMEWORKS
from statecomp.ledger.open import open_ledger
from tests.adapters.drivers.drill import TURNS
from tests.adapters.frameworks import PROOFS, Proof
from tests.adapters.provider import PARALLEL, STEPS, records, report
from tests.adapters.running import BROKEN, Outcome, Run, run

ALL = os.environ.get("STATECOMP_ADAPTERS", "")
"""`all`, or names joined by commas; without it the quick ones."""
PROVED = os.environ.get("STATECOMP_PROVED", "")
"""Where to write down what was proved; `make adapters` sets it."""


def chosen() -> list[Proof]:
    if ALL == "all":
        return list(PROOFS)
    if ALL:
        return [proof for proof in PROOFS if proof.name in ALL.split(",")]
    return [
        replace(proof, variants=proof.quick, untouched=(), doubled=())
        for proof in PROOFS
        if proof.quick
    ]


@pytest.fixture(scope="module", params=chosen(), ids=lambda proof: proof.name)
def outcome(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Outcome]:
    before = request.session.testsfailed
    try:
        found = run(request.param, tmp_path_factory.mktemp(request.param.name))
    except NotInstalled as error:
        pytest.skip(str(error))
    yield found
    newest = found.proof.name in FRAMEWORKS
    if PROVED and newest and request.session.testsfailed == before:
        write_down(found, Path(PROVED))


def write_down(found: Outcome, path: Path) -> None:
    """The versions, and what was saved in the first variant's run."""
    known = json.loads(path.read_text("utf-8"))
    first = found.proof.variants[0]
    raw, adapted = found.raw(first).sent.tokens, found.adapted(first).sent.tokens
    known[found.proof.name] = {
        "day": datetime.now(UTC).date().isoformat(),
        "versions": found.proof.environment.versions(),
        "variants": list(found.proof.variants),
        "untouched": list(found.proof.untouched),
        "tokens": round(adapted / raw - 1, 3),
    }
    path.write_text(json.dumps(dict(sorted(known.items())), indent=2) + "\n", "utf-8")


def pairs(outcome: Outcome) -> Iterator[tuple[str, Run, Run]]:
    for variant in outcome.proof.variants:
        yield variant, outcome.raw(variant), outcome.adapted(variant)


def test_the_agent_gives_the_same_answers(outcome: Outcome) -> None:
    for variant, raw, adapted in pairs(outcome):
        assert adapted.told["finals"] == raw.told["finals"], variant
        assert adapted.told["finals"] == [report(n) for n in range(len(TURNS))], variant


def test_the_agent_makes_the_same_calls(outcome: Outcome) -> None:
    for variant, raw, adapted in pairs(outcome):
        assert sorted(adapted.told["calls"]) == sorted(raw.told["calls"]), variant
        # Where the report is a call too, it takes the number of a step.
        assert len(adapted.told["calls"]) >= STEPS[-1] - len(TURNS) + 1, variant
        # Two at the same time, where the agent has tools.
        if variant not in outcome.proof.in_words:
            assert [PARALLEL, 1] in adapted.told["calls"], variant


def test_a_strict_provider_refuses_nothing(outcome: Outcome) -> None:
    for variant, raw, adapted in pairs(outcome):
        assert (raw.sent.refusals, adapted.sent.refusals) == ([], []), variant
        requests = len(raw.sent.requests)
        assert len(adapted.sent.requests) == requests > STEPS[-1], variant


def test_a_quarter_of_the_tokens_or_more_is_saved(outcome: Outcome) -> None:
    for variant, raw, adapted in pairs(outcome):
        assert adapted.sent.tokens < 0.75 * raw.sent.tokens, variant


def test_the_stored_history_is_as_it_would_be_without_us(outcome: Outcome) -> None:
    for variant, raw, adapted in pairs(outcome):
        assert len(adapted.told["stored"]) > STEPS[-1], variant
        assert adapted.told["stored"] == raw.told["stored"], variant


def test_what_is_kept_goes_out_as_the_very_object_that_came(outcome: Outcome) -> None:
    for variant, _, adapted in pairs(outcome):
        assert adapted.told["strange"] == 0, variant
        assert records(adapted.sent.requests[-1]), variant


def test_the_provider_s_cache_breaks_only_where_we_commit(outcome: Outcome) -> None:
    for variant, raw, adapted in pairs(outcome):
        assert adapted.sent.breaks - raw.sent.breaks <= adapted.told["commits"], variant
        assert 0 < adapted.told["commits"] < STEPS[-1] / 2, variant


def test_a_run_resumed_from_storage_sends_the_same_records(outcome: Outcome) -> None:
    for variant, _, adapted in pairs(outcome):
        before = records(adapted.sent.turn(1)[-1])
        after = records(adapted.sent.turn(2)[0])
        assert before, variant
        assert after[: len(before)] == before, variant


def test_a_history_that_is_not_ours_to_change_goes_out_as_it_came(outcome: Outcome) -> None:
    for variant in outcome.proof.untouched:
        raw, adapted = outcome.raw(variant), outcome.adapted(variant)
        assert adapted.told["finals"] == raw.told["finals"], variant
        assert adapted.told["stored"] == raw.told["stored"], variant
        assert adapted.sent.tokens == raw.sent.tokens, variant
        assert (adapted.sent.refusals, adapted.told["commits"]) == ([], 0), variant


def test_of_two_adapters_on_one_loop_one_acts_and_the_other_says_so(outcome: Outcome) -> None:
    for variant in outcome.proof.doubled:
        raw, adapted = outcome.raw(variant), outcome.adapted(variant)
        assert adapted.told["finals"] == raw.told["finals"], variant
        assert adapted.sent.tokens < 0.75 * raw.sent.tokens, variant
        assert (adapted.sent.refusals, adapted.told["strange"]) == ([], 0), variant
        # One of them counted every request; the third turn's two are others.
        assert adapted.told["requests"] == len(adapted.sent.requests), variant
        assert len(adapted.told["warnings"]) == 2, variant
        assert all("another adapter acts" in said for said in adapted.told["warnings"]), variant


@pytest.mark.parametrize("part", BROKEN)
def test_a_broken_part_changes_nothing_but_the_saving(outcome: Outcome, part: str) -> None:
    raw, broken = outcome.raw(outcome.proof.variants[0]), outcome.broken(part)
    assert broken.told["finals"] == raw.told["finals"]
    assert broken.told["stored"] == raw.told["stored"]
    assert broken.told["saved_tokens"] == 0
    assert broken.sent.tokens == raw.sent.tokens
    assert broken.sent.refusals == []


def test_a_broken_converter_is_told_once(outcome: Outcome) -> None:
    warnings = outcome.broken("converter").told["warnings"]
    # The third turn's adapter is another one.
    assert len(warnings) == 2
    assert all("goes out as it came" in warning for warning in warnings)


def test_a_run_that_works_warns_of_nothing(outcome: Outcome) -> None:
    for variant, _, adapted in pairs(outcome):
        assert adapted.told["warnings"] == [], variant


def test_the_account_tells_what_the_provider_counted(outcome: Outcome) -> None:
    for variant, raw, adapted in pairs(outcome):
        counted = raw.sent.tokens - adapted.sent.tokens
        # Some frameworks send another protocol than the one that is read.
        assert adapted.told["saved_tokens"] == pytest.approx(counted, rel=0.25), variant
        assert adapted.told["requests"] == len(adapted.sent.requests), variant


def test_others_can_open_the_ledger_that_an_adapter_wrote(outcome: Outcome) -> None:
    for variant, _, adapted in pairs(outcome):
        ledger = open_ledger(str(adapted.ledger), mask=lambda message, known: message)
        try:
            # A framework that words the task anew each turn has a session each turn.
            sessions = ledger.sessions()
            assert TURNS[0] in sessions[-1].title, variant
            totals, commits = ledger.totals(), adapted.told["commits"]
            assert totals.saved_tokens == adapted.told["saved_tokens"], variant
            assert sum(len(ledger.entries(s.id)) for s in sessions) == commits, variant
        finally:
            ledger.close()
