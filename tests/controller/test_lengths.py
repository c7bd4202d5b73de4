"""A summary that turned out too long to pay is not written again with every step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hypothesis import given
from hypothesis import strategies as st

from statecomp.compressor import StateComp
from statecomp.controller.circumstances import Circumstances
from statecomp.controller.lengths import Lengths
from statecomp.history.interaction import Interaction
from statecomp.history.situation import Situation
from statecomp.records.record import Record
from statecomp.testing.words import WordScorer, chat_of, history_of
from tests.rules import paying

BEHIND = Circumstances(now_s=1.0, last_s=0.0, model="gpt-5", deferred=True)
COLD = Circumstances(now_s=90_000.0, last_s=0.0, model="gpt-5")


@dataclass
class Wordy:
    """Its summaries take about nine tenths of their source."""

    calls: int = 0

    def summarize(self, span: Sequence[Interaction], situation: Situation) -> Record:
        self.calls += 1
        return Record(facts=tuple(" ".join(m.observed.split()[:240]) for m in span))


def engine(summarizer: Wordy) -> StateComp:
    rule = paying(ratio=0.1, ahead=0.0, least_tokens=100)
    return StateComp(WordScorer(), summarizer=summarizer, rule=rule)


def test_a_span_that_grows_and_does_not_pay_is_not_written_with_each_step() -> None:
    wordy = Wordy()
    comp = engine(wordy)
    for steps in range(2, 30):
        view = comp.prepare(history_of("p" + "r" * steps + "kk"), BEHIND)
        assert not view.commits
    assert 0 < wordy.calls <= 3


def test_what_did_not_pay_is_written_when_the_cache_has_run_out() -> None:
    comp = engine(Wordy())
    for steps in range(2, 10):
        comp.prepare(history_of("p" + "r" * steps + "kk"), BEHIND)
    checkpoint = comp.checkpoint(chat_of("p" + "r" * 10 + "kk"), now=COLD)
    assert len(checkpoint.commits) == 1


@given(st.integers(1, 8), st.integers(0, 4), st.integers(0, 5000))
def test_a_longer_span_is_expected_to_take_what_was_seen_and_a_share_of_the_rest(
    known: int, more: int, length: int
) -> None:
    segments = history_of("r" * (known + more)).segments
    lengths = Lengths()
    assert lengths.expected(segments, 0.5, 100) == 100 + round(
        sum(s.tokens for s in segments) * 0.5
    )
    lengths.learn(segments[:known], length)
    new = sum(segment.tokens for segment in segments[known:])
    assert lengths.expected(segments, 0.5, 100) == length + round(new * 0.5)


def test_what_was_seen_of_other_steps_says_nothing() -> None:
    lengths = Lengths()
    lengths.learn(history_of("rrrr").segments, 7)
    for word in ("krrr", "rk", "rrrk"):
        segments = history_of(word).segments
        source = sum(segment.tokens for segment in segments)
        assert lengths.expected(segments, 0.5, 100) == 100 + round(source * 0.5)
