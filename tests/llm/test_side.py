"""Side calls are charged for what they were billed, whatever became of the answer."""

from __future__ import annotations

import pytest

from statecomp.llm.chat import ChatFailed, ChatUsage
from statecomp.llm.side import SideAccount, SideCall, SideChannel
from statecomp.testing.chat import Reply, ScriptedChat


def channel(*replies: Reply) -> SideChannel:
    return SideChannel(ScriptedChat(replies), SideAccount())


def test_an_answer_is_charged_under_its_kind_and_settled_once() -> None:
    side = channel("fine", "fine too")
    assert side.ask("probe", "system", "prompt", max_tokens=5) == "fine"
    side.ask("plan", "system", "prompt", max_tokens=5)
    assert [call.kind for call in side.account.drain()] == ["probe", "plan"]
    assert side.account.drain() == ()


def test_a_useless_answer_is_charged_where_its_cost_is_known() -> None:
    side = channel(ChatFailed("cut off at its token limit", usage=ChatUsage(900, 40)))
    with pytest.raises(ChatFailed, match="cut off"):
        side.ask("probe", "system", "prompt", max_tokens=40)
    assert side.account.drain() == (SideCall("probe", 900, 40),)


def test_a_call_that_never_arrived_is_no_call() -> None:
    side = channel(ChatFailed("could not be reached", retryable=True))
    with pytest.raises(ChatFailed):
        side.ask("probe", "system", "prompt", max_tokens=40)
    assert side.account.drain() == ()
