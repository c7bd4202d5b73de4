"""ACM: the agent folds its work at boundaries, watches a gauge, and may ask the raw past."""

from __future__ import annotations

import re
from typing import Any

import pytest

from statecomp.baselines.acm import CARD, POLICY, AgenticContextManagement
from statecomp.errors import BadInput
from statecomp.history.history import History
from statecomp.llm.chat import ChatFailed, ChatUsage
from statecomp.testing.chat import Asked, Reply, ScriptedChat
from tests.baselines.steps import (
    TASK,
    WIRE,
    built,
    bulky,
    call,
    growing,
    history,
    run_of,
    step,
)

BLOCK = (
    "<memory>\nKnowledge state:\n- the port is 8123\nThoughts:\nlook at the config next\n</memory>"
)
FOLD = call("manage_context")


def opened(
    messages: list[dict[str, Any]], chat: ScriptedChat | None = None, spec: str = "acm"
) -> AgenticContextManagement:
    strategy = built(spec, chat)
    assert isinstance(strategy, AgenticContextManagement)
    strategy.before_request(history(messages))
    return strategy


def folded(
    strategy: AgenticContextManagement, messages: list[dict[str, Any]]
) -> list[dict[str, Any]]:
    """The run with a manage_context call behind it, as a client would re-send it."""
    number = sum(1 for message in messages if message["role"] == "assistant") + 1
    strategy.before_request(history(messages))
    return [*messages, *step(number, strategy.handle_tool(FOLD), "manage_context", now=True)]


def test_until_the_agent_acts_nothing_changes() -> None:
    strategy = built("acm")
    for prefix in growing(20):
        assert strategy.before_request(prefix).history is prefix


def test_folding_leaves_the_task_the_call_and_what_came_after_it() -> None:
    messages = run_of(5)
    strategy = opened(messages)
    after = [*folded(strategy, messages), *step(7, bulky(7))]
    view = strategy.before_request(history(after)).history
    assert view.shape() == "pii"
    assert [i.number for i in view.interactions] == [6, 7]
    assert view.messages == [TASK, *after[11:]]
    assert WIRE.check(view.messages) == []


def test_the_boundary_moves_and_a_memory_is_never_summarised_again() -> None:
    chat = ScriptedChat(lambda asked: BLOCK)
    strategy = built("acm", chat)
    assert isinstance(strategy, AgenticContextManagement)
    once = folded(strategy, run_of(4))
    more = [*once, *step(6, bulky(6)), *step(7, bulky(7))]
    twice = folded(strategy, more)
    second = chat.asked[1].prompt
    assert "output-6:" in second
    assert "output-7:" in second
    assert "output-1:" not in second
    assert "the port is 8123" not in second
    view = strategy.before_request(history(twice)).history
    assert [i.number for i in view.interactions] == [5, 8]
    shown = [m["content"] for m in view.messages if m["role"] == "tool"]
    assert shown[0].startswith("[memory 1 of steps 1-4,")
    assert shown[1].startswith("[memory 2 of steps 6-7,")


def test_the_summariser_reads_the_question_and_the_range_and_nothing_else() -> None:
    chat = ScriptedChat([BLOCK])
    strategy = opened(run_of(3), chat)
    answer = strategy.handle_tool(FOLD)
    assert answer.startswith("[memory 1 of steps 1-3,")
    assert "- the port is 8123" in answer
    assert "<memory>" not in answer
    (asked,) = chat.asked
    assert "Find out why the build fails." in asked.prompt
    assert all(f"output-{n}:" in asked.prompt for n in (1, 2, 3))
    assert asked.max_tokens == 4096
    assert [c.kind for c in strategy.before_request(history(run_of(3))).side_calls] == ["memory"]


@pytest.mark.parametrize(
    ("replies", "told"),
    [
        (["no block at all", BLOCK], "the port is 8123"),
        (["<memory>short</memory>", BLOCK], "the port is 8123"),
        ([f"<memory>{BLOCK}</memory>", BLOCK], "the port is 8123"),
        (["no block at all", "still no block"], "still no block"),
    ],
)
def test_a_malformed_block_is_asked_for_once_more_and_then_taken_as_it_is(
    replies: list[str], told: str
) -> None:
    chat = ScriptedChat(replies)
    assert told in opened(run_of(3), chat).handle_tool(FOLD)
    chat.assert_exhausted()


def test_an_empty_range_and_a_failing_model_change_nothing() -> None:
    assert "no work since the last boundary" in opened([TASK]).handle_tool(FOLD)
    chat = ScriptedChat([ChatFailed("away", usage=ChatUsage(7, 0))])
    strategy = opened(run_of(3), chat)
    answer = strategy.handle_tool(FOLD)
    assert "Nothing was done" in answer
    assert "away" in answer
    after = [*run_of(3), *step(4, answer, "manage_context", now=True)]
    view = strategy.before_request(history(after))
    assert view.history == history(after)
    assert view.side_calls[0].input_tokens == 7


def test_a_fork_that_never_folded_is_whole() -> None:
    strategy = opened(run_of(5))
    folded(strategy, run_of(5))
    assert strategy.before_request(history(run_of(6))).history == history(run_of(6))


def test_what_only_looks_like_a_memory_folds_nothing() -> None:
    strategy = opened(run_of(5))
    folded(strategy, run_of(5))
    forged = [*run_of(5), *step(6, "[memory 1 of steps 1-5, forged]", "manage_context", now=True)]
    assert strategy.before_request(history(forged)).history == history(forged)
    printed = [*run_of(5), *step(6, strategy._saved[1].text)]
    assert strategy.before_request(history(printed)).history == history(printed)


def test_a_query_is_answered_from_the_raw_range() -> None:
    messages = [TASK, *step(1, f"{bulky(1)}\nthe licence key is KX-4471-QZ\n{bulky(2)}")]
    strategy = opened(messages)
    after = folded(strategy, messages)
    strategy.before_request(history(after))
    answer = strategy.handle_tool(call("query_memory", summary_id=1, query="the licence key"))
    assert answer.startswith("Findings:\n- ")
    assert "KX-4471-QZ" in answer
    nothing = strategy.handle_tool(call("query_memory", summary_id=1, query="zebra quagga"))
    assert nothing == "Nothing relevant in this memory."


def answers(asked: Asked) -> Reply:
    return "Findings:\n- row 3" if asked.prompt.startswith("Question:") else BLOCK


def test_a_query_is_one_call_over_the_raw_range() -> None:
    chat = ScriptedChat(answers)
    strategy = opened(run_of(3), chat)
    strategy.handle_tool(FOLD)
    told = strategy.handle_tool(call("query_memory", summary_id=1, query="what is in row 3?"))
    assert told == "Findings:\n- row 3"
    assert "what is in row 3?" in chat.asked[1].prompt
    assert "row 3 of output-2: value 2003" in chat.asked[1].prompt
    view = strategy.before_request(history(run_of(3)))
    assert [charged.kind for charged in view.side_calls] == ["memory", "query"]


def test_a_query_survives_a_failing_model() -> None:
    chat = ScriptedChat(lambda q: ChatFailed("away") if q.prompt.startswith("Question:") else BLOCK)
    strategy = opened(run_of(3), chat)
    strategy.handle_tool(FOLD)
    told = strategy.handle_tool(call("query_memory", summary_id=1, query="row 3 of output-2"))
    assert "row 3 of output-2: value 2003" in told


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({"summary_id": 9, "query": "x"}, "There is no memory 9; there are 0"),
        ({"query": "x"}, "summary_id: must be a whole number"),
        ({"summary_id": 1}, "query: must be a text"),
    ],
)
def test_a_wrong_query_is_answered_with_what_to_do(
    arguments: dict[str, object], problem: str
) -> None:
    assert problem in opened(run_of(2)).handle_tool(call("query_memory", **arguments))


def gauge(strategy: AgenticContextManagement, text: str) -> tuple[int, int]:
    told = strategy.on_observation(call("shell", command="ls"), text)
    assert told.startswith(f"{text}\n[context: ")
    found = re.search(r"context: ([\d,]+) of 131,072 tokens; ([\d,]+) since the last", told)
    assert found
    context, since = (int(number.replace(",", "")) for number in found.groups())
    return context, since


def test_the_gauge_shows_the_prompt_the_result_and_the_reservation() -> None:
    messages = run_of(4)
    strategy = opened(messages)
    context, since = gauge(strategy, bulky(9))
    fresh = strategy.count(bulky(9))
    assert context == history(messages).tokens + fresh + 16_384
    assert since == sum(i.tokens for i in history(messages).interactions) + fresh
    after = folded(strategy, messages)
    strategy.before_request(history(after))
    lower, restarted = gauge(strategy, bulky(9))
    assert lower < context
    assert restarted == fresh
    assert strategy.on_observation(FOLD, "own result") == "own result"


def test_the_stated_policy_reads_the_gauge_and_the_memories_that_are_shown() -> None:
    fold, query = POLICY
    strategy = opened(run_of(4))
    told = strategy.on_observation(call("shell"), "x")
    number = re.search(fold.pattern, told)
    assert number
    assert int(number[1].replace(",", "")) < fold.least == 16_384
    assert re.search(query.pattern, strategy.handle_tool(FOLD))
    assert tuple(use.tool for use in POLICY) == CARD.tools
    assert tuple(t["function"]["name"] for t in strategy.extra_tools()) == CARD.tools
    assert all(name in strategy.extra_system_text() for name in CARD.tools)


def test_at_95_percent_of_the_window_the_range_is_folded_without_a_call() -> None:
    strategy = opened([TASK], spec="acm:window=20000")
    views = [strategy.before_request(prefix).history for prefix in growing(16)]
    full = next(n for n, view in enumerate(views) if view.summaries)
    tokens = [prefix.tokens + 16_384 for prefix in growing(16)]
    assert tokens[full] >= 0.95 * 20_000 > tokens[full - 1]
    assert views[full].shape() == "ps"
    assert views[full + 1].shape() == "psi"
    assert views[full].summaries[0].text.startswith(f"[memory 1 of steps 1-{full},")


def test_forced_folds_are_ten_at_most_failed_ones_included() -> None:
    strategy = opened([TASK], spec="acm:window=16600")
    for prefix in growing(40):
        view = strategy.before_request(prefix).history
    assert len(view.summaries) == 10
    chat = ScriptedChat(lambda asked: ChatFailed("away", usage=ChatUsage(1, 0)))
    failing = built("acm:window=16600", chat)
    whole = growing(40)
    assert [failing.before_request(prefix).history for prefix in whole] == whole
    assert len(chat.asked) == 10


def test_forced_and_called_folds_stand_side_by_side() -> None:
    strategy = opened([TASK], spec="acm:window=20000")
    whole = run_of(8)
    for prefix in (History(history(whole).segments[: n + 1]) for n in range(9)):
        strategy.before_request(prefix)
    after = folded(strategy, whole)
    view = strategy.before_request(history(after)).history
    assert view.shape() == "psi"
    assert view.summaries[0].text.startswith("[memory 1 of steps 1-")
    assert view.interactions[0].observed.startswith("[memory 2 of steps ")
    assert WIRE.check(view.messages) == []


def test_a_window_smaller_than_the_reservation_is_refused() -> None:
    with pytest.raises(BadInput, match="window: must be more than the 16,384 tokens"):
        built("acm:window=16000")
