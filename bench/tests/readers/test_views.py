"""What a strategy shows at one moment of a run."""

from __future__ import annotations

import pytest

from bench.tests.running import run_case, scripted, small_case
from statecomp.baselines.none import NoCompression
from statecomp.baselines.window import SlidingWindow
from statecomp.errors import BadInput, StateCompError
from statecomp.history.history import History
from statecomp.strategy import Strategy, View
from statecomp.wire.assemble import parse
from statecomp.wire.openai_chat.wire import OpenAIChat
from statecomp_bench.readers.views import before, page, shown_after

WIRE = OpenAIChat()


class Counting(Strategy):
    """Notes how long the history was each time it was asked."""

    def __init__(self) -> None:
        self.asked: list[int] = []

    def before_request(self, history: History) -> View:
        self.asked.append(len(history.interactions))
        return View(history)


class Failing(Strategy):
    def before_request(self, history: History) -> View:
        raise StateCompError("no view today")


def recorded() -> History:
    case = small_case()
    run, _ = run_case(case, scripted(case))
    return parse(run.messages, WIRE)


def test_the_strategy_is_asked_at_every_request_up_to_the_moment() -> None:
    prefix, step = before(recorded(), 5)
    counting = Counting()
    shown = shown_after(prefix, counting, WIRE)
    assert counting.asked == [1, 2, 3, 4]
    assert step.number == 5
    assert shown.tokens == shown.raw == prefix.tokens
    short = shown_after(prefix, SlidingWindow(2), WIRE)
    assert short.tokens < short.raw


def test_what_a_strategy_raises_and_a_step_that_is_not_there_are_sentences() -> None:
    history = recorded()
    with pytest.raises(BadInput, match="the strategy failed: no view today"):
        shown_after(history, Failing(), WIRE)
    with pytest.raises(BadInput, match="no interaction 99"):
        before(history, 99)
    assert shown_after(history, NoCompression(), WIRE).messages == tuple(history.messages)


def test_no_message_on_a_page_passes_for_another() -> None:
    call = {"function": {"name": "python", "arguments": '{"code": "a\\nb", "n": 1}'}}
    broken = {"function": {"name": "python", "arguments": "{no json"}}
    text = page(
        [
            {"role": "user", "content": "```\n## 2. assistant\n```"},
            {"role": "assistant", "reasoning": "hm", "content": "", "tool_calls": [call, broken]},
        ]
    )
    assert "````\n```\n## 2. assistant\n```\n````" in text
    assert '(thinking) hm\n-> python {"n": 1}\ncode:\na\nb\n-> python {no json' in text
