"""Processes that judge say what would be said here, and nothing is lost where they end."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from statecomp.compressor import StateComp
from statecomp.controller.age import AgeScorer
from statecomp.controller.spans import Gates
from statecomp.errors import ScoringFailed
from statecomp.history.history import History
from statecomp.history.interaction import Segment
from statecomp.ledger.audit import LedgerFailed
from statecomp.ledger.commits import MemoryLog
from statecomp.method import Method
from statecomp.proxy.judging import processes
from statecomp.proxy.judging.asked import Opening
from statecomp.proxy.judging.processes import Judges, JudgingFailed
from statecomp.recipes import shipped_scorer
from statecomp.testing.words import OneLiner, chat_of, history_of

BULK = "the build passed and the report lies in out/report.txt, which nobody has read yet; " * 30
WORD = "prrrrrrrr"
KEY = b"a salt of this test"
ENGINE = ("tenant", "openai-chat")


class Broken:
    def score(self, history: History) -> Mapping[str, float]:
        raise ScoringFailed("there are no scores")


class Deadly:
    def score(self, history: History) -> Mapping[str, float]:
        os.kill(os.getpid(), signal.SIGKILL)
        return {}


class Endless:
    def score(self, history: History) -> Mapping[str, float]:
        signal.pause()
        return {}


def _of(scorer: type[object]) -> Method:
    return Method(scorer=scorer, rule=Gates(longer_than=1, min_source_tokens=50))  # type: ignore[arg-type]


EAGER = Method(scorer=lambda: AgeScorer(2), rule=Gates(longer_than=1, min_source_tokens=50))


def eager() -> Method:
    return EAGER


def broken() -> Method:
    return _of(Broken)


def deadly() -> Method:
    return _of(Deadly)


def endless() -> Method:
    return _of(Endless)


def slow() -> Method:
    signal.pause()
    return EAGER


def impossible() -> Method:
    raise RuntimeError("this method cannot be opened")


class Notes(OneLiner):
    """Writes down what it reads ahead, for another process to see."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def read_ahead(self, segment: Segment) -> None:
        with self.path.open("a") as file:
            file.write(f"{segment.id}\n")


def noting(path: Path) -> Method:
    return replace(EAGER, summarizer=lambda account: Notes(path))


@contextmanager
def judging_with(opens: Callable[[], Method], limit_s: float = 60.0) -> Iterator[Judges]:
    judging = Judges(Opening(opens, KEY), 1, limit_s=limit_s)
    try:
        assert judging.ready(60.0)
        yield judging
    finally:
        judging.close()


@pytest.fixture(scope="module")
def judges() -> Iterator[Judges]:
    with judging_with(eager) as judging:
        yield judging


def engine_of(judges: Judges | None, method: Method | None = None, **more: object) -> StateComp:
    by = {} if judges is None else {"judged_by": judges.judging(ENGINE)}
    return (method or eager()).engine("openai-chat", mark_key=KEY, **by, **more)  # type: ignore[arg-type]


def run(steps: int = 8) -> History:
    return history_of("p" + "r" * steps, bulk=BULK)


def test_what_is_judged_elsewhere_is_what_is_judged_here(judges: Judges) -> None:
    here, there = engine_of(None), engine_of(judges)
    for steps in (4, 8, 9, 14):
        mine, theirs = here.prepare(run(steps)), there.prepare(run(steps))
        assert theirs == mine
    assert theirs.commits
    assert judges.memory_bytes > 0
    assert judges.lost == 0


def test_the_shipped_method_judges_the_same_elsewhere() -> None:
    with judging_with(Method) as judging:
        here, there = engine_of(None, Method()), engine_of(judging, Method())
        for steps in (6, 12, 24):
            assert there.prepare(run(steps)) == here.prepare(run(steps))


def test_a_process_that_judges_reads_ahead_once_it_has_answered(tmp_path: Path) -> None:
    path = tmp_path / "read"
    with judging_with(partial(noting, path)) as judging:
        there = engine_of(judging)
        first = there.prepare(run(1))
        # It answers one question after the other: what comes next was asked behind the reading.
        there.prepare(run(2))
    names = [segment.id for segment in reversed(first.history.segments)]
    assert path.read_text().split()[: len(names)] == names


def test_scores_alone_come_from_elsewhere_where_a_model_writes(judges: Judges) -> None:
    scorer = judges.scorer(ENGINE, Broken())
    assert scorer.score(run()) == AgeScorer(2).score(run())


def test_what_was_refused_before_is_known_there(judges: Judges) -> None:
    class Refusing(MemoryLog):
        def refused(self, sources: Sequence[str]) -> bool:
            return True

    view = engine_of(judges, log=Refusing()).prepare(run(9))
    assert [refusal.reason for refusal in view.refusals] == ["its summary was refused before"]


def test_a_store_that_is_away_fails_the_decision_and_not_the_process(judges: Judges) -> None:
    class Away(MemoryLog):
        def refused(self, sources: Sequence[str]) -> bool:
            raise LedgerFailed("away")

    with pytest.raises(JudgingFailed, match="the ledger does not say"):
        engine_of(judges, log=Away()).prepare(run(10))
    assert engine_of(judges).prepare(run(10)).commits
    assert judges.lost == 0


def test_a_process_that_was_killed_is_started_again_and_nothing_is_lost() -> None:
    with judging_with(eager) as judging:
        engine = engine_of(judging)
        first = engine.prepare(run(8))
        pid = killed(judging)
        later = engine.prepare(run(12))  # here, until it is there again
        assert judging.ready(60.0)
        assert judging.processes[0].pid != pid
        assert [later, engine.prepare(run(16))] == [*engine_of_both(first)]


def killed(judging: Judges) -> int:
    running = judging.processes[0]._running
    assert running is not None
    pid = running[0].pid
    assert pid
    os.kill(pid, signal.SIGKILL)
    running[0].join()
    return pid


def engine_of_both(first: object) -> Iterator[object]:
    """What an engine of this process says after the same states."""
    here = engine_of(None)
    assert here.prepare(run(8)) == first
    yield here.prepare(run(12))
    yield here.prepare(run(16))


def test_a_state_that_kills_its_judge_is_left_as_it_is() -> None:
    with judging_with(deadly) as judging:
        for steps in range(4, 4 + processes.FAILURES):
            assert judging.ready(60.0)
            checkpoint = engine_of(judging).checkpoint(chat_of("p" + "r" * steps, bulk=BULK))
            assert "did not answer" in checkpoint.note
            assert not checkpoint.rewritten
        # None is started for a while: a thread of this process judges.
        assert engine_of(judging).prepare(run(9)).commits
        assert judging.lost == processes.FAILURES


def test_while_another_one_starts_what_may_have_ended_the_first_is_not_tried_here() -> None:
    with judging_with(deadly) as judging:
        with pytest.raises(JudgingFailed, match="did not answer"):
            engine_of(judging).prepare(run(9))
        with pytest.raises(JudgingFailed, match="is being started again"):
            engine_of(judging).prepare(run(9))


@pytest.mark.skipif(sys.platform == "win32", reason="processes have no niceness there")
def test_where_cores_are_few_the_process_that_judges_lets_the_one_that_serves_go_first(
    judges: Judges,
) -> None:
    judging = judges.processes[0].pid
    assert judging is not None
    assert os.getpriority(os.PRIO_PROCESS, judging) > os.getpriority(os.PRIO_PROCESS, 0)


def test_until_the_first_one_is_there_a_thread_judges() -> None:
    judging = Judges(Opening(slow, KEY), 1, limit_s=60)
    try:
        assert engine_of(judging).prepare(run(9)).commits
        assert judging.lost == 0
    finally:
        judging.close()


def test_a_method_that_cannot_be_opened_there_is_used_here(
    capfd: pytest.CaptureFixture[str],
) -> None:
    judging = Judges(Opening(impossible, KEY), 1, limit_s=60)
    try:
        for _ in range(processes.FAILURES):
            with pytest.raises(EOFError):
                judging.ready(60.0)
            with pytest.raises(JudgingFailed):
                engine_of(judging).prepare(run(9))
        assert engine_of(judging).prepare(run(9)).commits
    finally:
        judging.close()
    assert "this method cannot be opened" in capfd.readouterr().err


def test_a_process_that_does_not_answer_in_time_is_ended() -> None:
    with judging_with(endless, limit_s=0.0) as judging:
        with pytest.raises(JudgingFailed):
            engine_of(judging).prepare(run(9))
        assert judging.processes[0].pid is None


def test_scores_that_fail_there_fail_here() -> None:
    with judging_with(broken) as judging:
        with pytest.raises(ScoringFailed, match="there are no scores"):
            judging.scorer(ENGINE, shipped_scorer()).score(run())
        assert "there are no scores" in engine_of(judging).prepare(run(9)).note
