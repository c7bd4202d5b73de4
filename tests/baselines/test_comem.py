"""CoMem: every k steps, from the raw steps, one step late."""

from __future__ import annotations

import json

import pytest

from statecomp.baselines.comem import sifted
from statecomp.errors import BadInput
from statecomp.history.history import History
from statecomp.history.interaction import Pinned
from statecomp.llm.chat import ChatFailed, ChatUsage
from statecomp.testing.chat import Asked, Reply, ScriptedChat
from statecomp.testing.words import history_of
from tests.baselines.steps import built, bulky, growing, history, run_of, sent, step


def memory(asked: Asked) -> Reply:
    """Six headings, of which one names the last step that was read."""
    last = asked.prompt.rsplit(" observation]", 1)[0].rsplit("step ", 1)[1]
    return json.dumps({"facts": [f"read up to step {last}"]})


def test_the_agent_sees_a_memory_one_step_after_it_was_begun_and_one_to_k_steps_beside_it() -> None:
    strategy = built("comem:recent=raw")
    shapes = [strategy.before_request(prefix).history.shape() for prefix in growing(12)]
    raw = ["p", "pi", "pii", "piii"]
    cycle = ["psi", "psii", "psiii", "psiiii"]
    assert shapes == [*raw, *cycle, *cycle, "psi"]


def test_the_call_is_made_and_paid_one_request_before_its_result_is_shown() -> None:
    chat = ScriptedChat(memory)
    strategy = built("comem:recent=raw", chat)
    paid = [len(strategy.before_request(prefix).side_calls) for prefix in growing(8)]
    assert paid == [0, 0, 0, 1, 0, 0, 0, 1, 0]
    assert len(chat.asked) == 2


def test_every_memory_is_written_from_all_raw_steps_again() -> None:
    chat = ScriptedChat(memory)
    strategy = built("comem", chat)
    for prefix in growing(8):
        strategy.before_request(prefix)
    first, second = (asked.prompt for asked in chat.asked)
    assert all(f"output-{n}:" in first for n in (1, 2, 3))
    assert "output-4:" not in first
    assert all(f"output-{n}:" in second for n in range(1, 8))
    assert "read up to step" not in second
    assert all("Find out why the build fails." in asked.prompt for asked in chat.asked)
    assert {asked.max_tokens for asked in chat.asked} == {2048}


def test_recent_steps_are_plain_text_and_win_over_the_memory() -> None:
    strategy = built("comem", ScriptedChat(memory))
    views = [strategy.before_request(prefix).history for prefix in growing(5)]
    messages = views[-1].messages
    assert [message["role"] for message in messages] == ["user"] * 4
    assert "read up to step 3" in messages[1]["content"]
    assert "the recent step is right" in messages[1]["content"]
    assert "Thought: I look at item-4 now." in messages[2]["content"]
    assert "Action: shell" in messages[2]["content"]
    assert "Observation: row 0 of output-5" in messages[3]["content"]


def test_what_was_sent_stays_a_prefix_of_the_next_request_between_two_memories() -> None:
    strategy = built("comem")
    views = [strategy.before_request(prefix).history for prefix in growing(7)]
    assert [s.id for s in views[6].segments] == [s.id for s in views[7].segments][:-1]


def test_a_request_sent_twice_asks_once_and_shows_the_same() -> None:
    chat = ScriptedChat(memory)
    strategy = built("comem", chat)
    third = growing(3)[3]
    one, two = strategy.before_request(third), strategy.before_request(third)
    assert one.history == two.history == third
    assert (len(one.side_calls), len(two.side_calls), len(chat.asked)) == (1, 0, 1)


def test_a_fork_does_not_see_the_memory_of_the_other_branch() -> None:
    strategy = built("comem:recent=raw")
    for prefix in growing(4):
        strategy.before_request(prefix)
    other = [*run_of(2), *step(3, "something else"), *step(4, "still else")]
    assert strategy.before_request(history(other)).history.shape() == "piiii"


def test_a_memory_that_fails_leaves_the_one_before_it_in_place() -> None:
    bad = ChatFailed("the server is away", usage=ChatUsage(50, 0))
    chat = ScriptedChat(['{"facts": ["the first memory"]}', bad])
    strategy = built("comem:recent=raw", chat)
    views = [strategy.before_request(prefix) for prefix in growing(8)]
    assert views[8].history.shape() == "psiiiii"
    assert "the first memory" in views[8].history.summaries[0].text
    assert "the server is away" in views[7].refusals[0].reason
    assert views[7].side_calls[0].input_tokens == 50


def test_without_a_chat_nothing_is_paid_and_the_memory_is_short() -> None:
    strategy = built("comem")
    views = [strategy.before_request(prefix) for prefix in growing(40)]
    assert all(view.side_calls == () for view in views)
    assert views[40].history.summaries[0].tokens < 2_500
    assert views[40].history.tokens < growing(40)[40].tokens / 3


def test_sifting_keeps_the_action_and_whole_lines_of_the_output() -> None:
    member = history([*run_of(0), *step(1, f"{bulky(1)}\nError: the port 8123 is taken")])
    (before,) = member.interactions
    after = sifted(before, 12)
    assert after.action == before.action
    kept = after.observed.splitlines()
    assert len(kept) == 12
    assert set(kept) <= set(before.observed.splitlines())
    assert "Error: the port 8123 is taken" in kept
    assert sifted(after, 12) is after


def test_users_words_and_open_calls_stay() -> None:
    strategy = built("comem:every=2")
    whole = history_of("prrprro")
    for stop in range(1, len(whole.segments) + 1):
        view = strategy.before_request(History(whole.segments[:stop])).history
    assert [s.text for s in view.segments if isinstance(s, Pinned)] == ["request 0", "request 3"]
    assert view.segments[-1] is whole.segments[-1]


def test_steps_left_are_counted_only_if_there_is_a_limit() -> None:
    assert "Steps left" not in _seen_after("comem", 4)
    assert "[Steps left: 36]" in _seen_after("comem:steps=40", 4)


def _seen_after(spec: str, steps: int) -> str:
    strategy = built(spec)
    for prefix in growing(steps):
        strategy.before_request(prefix)
    return sent(strategy, run_of(steps))


@pytest.mark.parametrize("option", ["every=0", "delay=0", "steps=-1", "recent=none"])
def test_a_wrong_setting_is_one_clear_sentence(option: str) -> None:
    with pytest.raises(BadInput, match=option.partition("=")[0]):
        built(f"comem:{option}")
