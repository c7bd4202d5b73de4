"""The free cache breakpoint stands at the newest rewrite, then goes from record to record."""

from __future__ import annotations

from typing import Any

from statecomp.compressor import StateComp
from statecomp.controller.anchors import anchor_of
from statecomp.controller.replaying import Replayer
from statecomp.controller.spans import Gates
from statecomp.history.history import History
from statecomp.ledger.commits import Commit
from statecomp.testing.provider.marked import MarkedMeter
from statecomp.testing.words import OneLiner
from statecomp.tokens import ESTIMATE
from statecomp.wire.assemble import parse
from statecomp.wire.providers import wire_named

SHORT = {"type": "ephemeral"}
WIRE = wire_named("anthropic")


def conversation(steps: int) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = [{"role": "user", "content": "go"}]
    for n in range(steps):
        call = {"type": "tool_use", "id": f"c{n}", "name": "read", "input": {"n": n}}
        seen = {"type": "tool_result", "tool_use_id": f"c{n}", "content": f"row {n} " * 300}
        messages += [{"role": "assistant", "content": [call]}, {"role": "user", "content": [seen]}]
    return messages


def replaced(raw: History, first: int, last: int, decided: int) -> Commit:
    """A record of these steps, committed when `decided` had been taken."""
    by_number = {step.number: step.id for step in raw.interactions}
    sources = tuple(by_number[n] for n in range(first, last + 1))
    return Commit(f"{first}", by_number[decided], sources, first, last, f"{first}-{last}", 900, 9)


def anchors(commits: list[tuple[int, int, int]], *steps: int) -> list[str]:
    """The record that has the breakpoint once so many steps were taken."""
    found = []
    for taken in steps:
        raw = parse(conversation(taken), WIRE)
        known = [replaced(raw, *commit) for commit in commits if commit[2] <= taken]
        effective, applied = Replayer(WIRE, ESTIMATE).replay(raw, known)
        record = anchor_of(effective, raw, applied)
        found.append(record.text if record else "")
    return found


def test_it_stands_where_the_newest_rewrite_begins_when_that_goes_out() -> None:
    commits = [(1, 2, 4), (9, 10, 12), (5, 6, 12)]
    assert anchors(commits, 3, 4, 12) == ["", "1-2", "5-6"]


def test_then_it_goes_from_record_to_record_and_begins_anew() -> None:
    commits = [(1, 2, 4), (5, 6, 12), (9, 10, 12)]
    # What was decided behind a request goes out with the next one.
    assert anchors(commits, 13, 14, 15, 16, 17) == ["5-6", "9-10", "1-2", "5-6", "9-10"]


def test_where_nothing_is_found_so_far_in_front_it_stands_at_the_record_before() -> None:
    far, near = (35, 36, 45), (25, 26, 45)
    # Steps 22 to 39 were never the end of a request that held this record.
    assert anchors([(20, 21, 40), far], 45, 46, 47) == ["20-21", "20-21", "20-21"]
    assert anchors([(20, 21, 40), near], 45) == ["25-26"]
    # Requests have ended in front of it since.
    assert anchors([(20, 21, 24), far], 45) == ["35-36"]


def test_without_a_record_nowhere() -> None:
    assert anchors([], 5) == [""]


class Sure:
    """Of some steps, each once so many were taken."""

    def __init__(self, since: dict[int, int]) -> None:
        self.since = since

    def score(self, history: History) -> dict[str, float]:
        never = len(history.interactions) + 10_000
        taken = history.checkpoint - 1
        return {i.id: float(self.since.get(i.number, never) <= taken) for i in history.interactions}


def test_a_rewrite_behind_another_finds_in_the_cache_what_stands_before_it() -> None:
    """Its place was sent with other records before the one in the middle was made."""
    sure = Sure({1: 5, 16: 40, 20: 50})
    rule = Gates(threshold=0.5, longer_than=0, min_source_tokens=1)
    comp = StateComp(sure, rule=rule, summarizer=OneLiner(), protocol="anthropic")
    meter, read = MarkedMeter(), dict[int, int]()
    for steps in range(1, 51):
        messages = conversation(steps)
        messages[-1]["content"][0]["cache_control"] = SHORT
        checkpoint = comp.checkpoint({"messages": messages})
        cached = meter.read(checkpoint.body).cached
        if checkpoint.commits:
            read[steps] = cached
    step = parse(conversation(2), WIRE).interactions[1].tokens
    assert list(read) == [5, 40, 50]
    assert read[40] > 14 * step  # of steps 2 to 15
    assert read[50] > 14 * step
