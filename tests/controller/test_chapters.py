"""Records of a finished task become one, once, where that pays; what was sent stays as it was."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from statecomp.checkpoint import Checkpoint
from statecomp.compressor import StateComp
from statecomp.controller.age import AgeScorer
from statecomp.controller.circumstances import Circumstances
from statecomp.controller.spans import Gates
from statecomp.history.interaction import Interaction, Summary
from statecomp.history.situation import Situation
from statecomp.ledger.commits import CommitLog, MemoryLog
from statecomp.ledger.open import open_ledger
from statecomp.records.record import Record
from statecomp.testing.words import step
from tests.ledger.samples import masked

UNCACHED = Circumstances(caching=False)
BULK = "an unremarkable line of output that says nothing in particular\n" * 12
STEPS, OTHERS = 9, 6
Messages = list[dict[str, Any]]


@dataclass
class Writer:
    """Says which steps it saw, at length; of a finished task in one line."""

    asked: list[tuple[tuple[int, ...], bool]] = field(default_factory=list)

    def summarize(self, span: Sequence[Interaction], situation: Situation) -> Record:
        self.asked.append((tuple(member.number for member in span), situation.finished))
        line = f"steps {span[0].number} to {span[-1].number} were done"
        return Record(facts=(line,) if situation.finished else (f"{line}, at great length " * 9,))


def session(folder: str, then: str) -> Messages:
    """One task, the user's next words, and some steps after them."""
    messages: Messages = [{"role": "user", "content": "Look through the first folder."}]
    for place in range(STEPS + OTHERS):
        if place == STEPS:
            messages.append({"role": "user", "content": "Now do the other thing."})
        where = folder if place < STEPS else then
        path = f"{where}/module_{place}.py" if where != folder else f"{folder}/module_1.py"
        arguments = json.dumps({"path": path})
        messages += step("read", arguments, f"{path}\n{BULK}", call_id=f"c{place}")
    return messages


def prefixes(messages: Messages) -> Iterator[Messages]:
    """What the client sends, request by request."""
    for end, message in enumerate(messages):
        if message["role"] == "assistant" and end > 1:
            yield messages[:end]
    yield messages


def engine(log: CommitLog | None = None, **settings: Any) -> StateComp:
    given: dict[str, Any] = {"summarizer": Writer(), **settings}
    return StateComp(AgeScorer(after=2), log=log, **given)


def played(comp: StateComp, messages: Messages) -> list[Checkpoint]:
    return [comp.checkpoint(given, now=UNCACHED) for given in prefixes(messages)]


def records(checkpoint: Checkpoint) -> tuple[Summary, ...]:
    """Those of the first task."""
    assert checkpoint.view is not None
    return tuple(s for s in checkpoint.view.history.summaries if s.last <= STEPS)


def sent(checkpoints: Sequence[Checkpoint]) -> list[str]:
    return [json.dumps(checkpoint.messages) for checkpoint in checkpoints]


MOVED_ON = session("/srv/alpha", "/opt/beta")


def test_records_of_a_finished_task_become_one_written_from_the_originals() -> None:
    writer = Writer()
    checkpoints = played(engine(summarizer=writer), MOVED_ON)
    before, after = (records(checkpoints[place]) for place in (STEPS, -1))
    assert len(before) > 1
    assert len(after) == 1
    assert after[0].sources[: len(before[0].sources)] == before[0].sources
    ((steps, _),) = [asked for asked in writer.asked if asked[1]]
    assert steps == tuple(range(after[0].first, after[0].last + 1))
    assert after[0].tokens < sum(record.tokens for record in before)


def test_a_task_that_goes_on_has_no_chapter() -> None:
    """The user has spoken, and the agent still names what it named before."""
    checkpoints = played(engine(), session("/srv/alpha", "/srv/alpha"))
    assert len(records(checkpoints[-1])) > 1
    assert not any(commit.over for one in checkpoints for commit in one.commits)


@pytest.mark.parametrize("off", [{"chapters": False}, {"recipe": "paper"}, {"rule": Gates()}])
def test_it_can_be_switched_off_and_the_paper_knows_none(off: dict[str, Any]) -> None:
    checkpoints = played(engine(**off), MOVED_ON)
    assert not any(commit.over for one in checkpoints for commit in one.commits)


def test_it_waits_where_the_cache_would_be_broken_for_little() -> None:
    cached = [engine().checkpoint(given) for given in prefixes(MOVED_ON)]
    assert not any(commit.over for one in cached for commit in one.commits)


@pytest.fixture(params=["memory", "sqlite"])
def doors(request: pytest.FixtureRequest, tmp_path: Any) -> Iterator[list[CommitLog]]:
    """Two workers' doors to one log."""
    if request.param == "memory":
        log = MemoryLog()
        yield [log, log]
        return
    ledgers = [open_ledger(str(tmp_path / "ledger.sqlite"), mask=masked) for _ in range(2)]
    yield [ledger.commits("t") for ledger in ledgers]
    for ledger in ledgers:
        ledger.close()


def test_retries_and_other_workers_send_what_was_sent(doors: list[CommitLog]) -> None:
    first = played(engine(doors[0]), MOVED_ON)
    assert len(records(first[-1])) == 1
    again = played(engine(doors[1]), MOVED_ON)
    assert sent(again) == sent(first)
    undecided = [
        engine(doors[1]).checkpoint(given, decide=False, now=UNCACHED)
        for given in prefixes(MOVED_ON)
    ]
    assert sent(undecided) == sent(first)


def test_two_workers_write_one_chapter(doors: list[CommitLog]) -> None:
    ours, theirs = engine(doors[0]), engine(doors[1])
    for place, given in enumerate(prefixes(MOVED_ON)):
        one = (ours, theirs)[place % 2].checkpoint(given, now=UNCACHED)
        other = (theirs, ours)[place % 2].checkpoint(given, now=UNCACHED)
        assert json.dumps(one.messages) == json.dumps(other.messages)
    assert len(records(one)) == 1
    names = [segment.id for segment in one.raw.segments] if one.raw else []
    over = [name for commit in doors[0].find(names) for name in commit.over]
    assert len(over) == len(set(over)) > 1


def test_a_fork_from_before_the_chapter_has_the_records_again() -> None:
    comp = engine()
    played(comp, MOVED_ON)
    fork = [*list(prefixes(MOVED_ON))[STEPS], {"role": "user", "content": "Or rather this."}]
    assert len(records(comp.checkpoint(fork, now=UNCACHED))) > 1


def test_a_pin_set_since_then_takes_the_chapter_back_and_the_records_stand() -> None:
    comp = engine()
    (chapter,) = records(played(comp, MOVED_ON)[-1])
    kept = next(m for m in MOVED_ON if m.get("tool_call_id") == f"c{chapter.first - 1}")
    more = [*MOVED_ON, {"role": "user", "content": "And now?"}]
    checkpoint = comp.checkpoint(more, now=UNCACHED, keep=lambda message: message == kept)
    assert kept in checkpoint.messages
    assert records(checkpoint)
    assert all(record.first > chapter.first for record in records(checkpoint))


def test_undoing_a_chapter_brings_the_originals_back_and_undoing_a_record_the_others() -> None:
    for undone in ("chapter", "record"):
        ledger = open_ledger(":memory:")
        comp = engine(ledger.commits("t"))
        checkpoints = played(comp, MOVED_ON)
        (chapter,) = [c for one in checkpoints for c in one.commits if c.over]
        name = chapter.id if undone == "chapter" else chapter.over[0]
        assert ledger.undo(name, tenant="t")
        more = [*MOVED_ON, {"role": "user", "content": "And now?"}]
        left = records(engine(ledger.commits("t")).checkpoint(more, now=UNCACHED))
        gone = {source for record in left for source in record.sources}
        if undone == "chapter":
            assert gone.isdisjoint(chapter.sources)
        else:
            assert left
            assert not gone.issuperset(chapter.sources)
        ledger.close()
