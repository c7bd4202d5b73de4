"""SAM: the window is flushed into pages, cues stay, pages can be read again."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from statecomp.baselines.sam import CARD, StateAdaptiveMemory, chunks, paged
from statecomp.errors import BadInput
from statecomp.history.interaction import Interaction, Observation
from statecomp.llm.chat import ChatFailed, ChatUsage
from statecomp.testing.chat import Asked, Reply, ScriptedChat
from statecomp.tokens import ESTIMATE
from tests.baselines.steps import built, bulky, call, growing, history, run_of, sent, step

SPEC = "sam:budget=3000,page=1500"


def answers(asked: Asked) -> Reply:
    if asked.prompt.startswith("Goal:"):
        return f"extract {asked.prompt.count('extract')}"
    return "Facts: a cue"


def played(spec: str, steps: int, chat: ScriptedChat | None = None) -> StateAdaptiveMemory:
    strategy = built(spec, chat)
    assert isinstance(strategy, StateAdaptiveMemory)
    for prefix in growing(steps):
        strategy.before_request(prefix)
    return strategy


def test_nothing_happens_below_the_budget_and_everything_goes_above_it() -> None:
    strategy = built(SPEC)
    views = [strategy.before_request(prefix).history for prefix in growing(12)]
    shapes = [view.shape() for view in views]
    first = next(n for n, shape in enumerate(shapes) if "s" in shape)
    assert growing(12)[first].tokens > 3000 >= growing(12)[first - 1].tokens
    assert shapes[:first] == ["p" + "i" * n for n in range(first)]
    assert shapes[first] == "ps"
    assert shapes[first + 1] == "psi"


def test_one_call_a_page_and_each_page_is_read_once() -> None:
    chat = ScriptedChat(answers)
    strategy = built(SPEC, chat)
    views = [strategy.before_request(prefix) for prefix in growing(20)]
    kinds = [charged.kind for view in views for charged in view.side_calls]
    pages = views[-1].history.summaries[0].text.count("\nPage ")
    assert kinds == ["cue"] * len(chat.asked)
    assert len(chat.asked) == pages > 2
    for number in range(1, 15):
        assert sum(f"row 0 of output-{number}:" in asked.prompt for asked in chat.asked) <= 1


def test_cues_accumulate_in_order_and_are_not_rewritten() -> None:
    strategy = built(SPEC)
    texts = [
        view.summaries[0].text.removesuffix("[End of memory]").rstrip()
        for prefix in growing(20)
        if (view := strategy.before_request(prefix).history).summaries
    ]
    assert all(later.startswith(earlier) for earlier, later in pairwise(texts))


def test_the_tool_gives_back_what_only_the_raw_page_holds() -> None:
    strategy = built(SPEC)
    hidden = f"{bulky(1)}\nthe licence key of the vault is KX-4471-QZ\n{bulky(2)}"
    messages = [*run_of(0), *step(1, hidden), *(m for n in (2, 3, 4, 5) for m in step(n, bulky(n)))]
    strategy.before_request(history(messages))
    answer = strategy.handle_tool(call("memory", pages=[1, 2], goal="licence key of the vault"))
    assert "KX-4471-QZ" in answer
    assert "Page 1 (steps 1-1)" in sent(strategy, messages)


def test_recall_folds_one_page_after_the_other_into_one_extract() -> None:
    chat = ScriptedChat(answers)
    strategy = played(SPEC, 12, chat)
    before = len(chat.asked)
    answer = strategy.handle_tool(call("memory", pages=[1, 2, 3], goal="the value of row 3"))
    first, second, third = chat.asked[before:]
    assert "Found so far:\n(nothing)" in first.prompt
    assert "Found so far:\nextract 0" in second.prompt
    assert "Found so far:\nextract 1" in third.prompt
    assert answer == "extract 1"
    assert "row 0 of output-1:" in first.prompt
    assert [c.kind for c in strategy.before_request(growing(12)[12]).side_calls] == ["recall"] * 3


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({"pages": [99], "goal": "x"}, "There is no page 99; known pages: 1 to"),
        ({"pages": [1, 2, 3, 4, 5, 6], "goal": "x"}, "takes at most 5 numbers"),
        ({"pages": ["one"], "goal": "x"}, "must be a list of whole numbers"),
        ({"pages": [1]}, "goal: must be a text"),
        ({}, "pages: must be a list"),
    ],
)
def test_a_wrong_call_is_answered_with_what_to_do(
    arguments: dict[str, object], problem: str
) -> None:
    assert problem in played(SPEC, 12).handle_tool(call("memory", **arguments))


def test_a_goal_that_no_line_speaks_of_is_answered_so() -> None:
    answer = played(SPEC, 12).handle_tool(call("memory", pages=[1], goal="zebra quagga"))
    assert "nothing: no word of the question occurs in the text" in answer


def test_a_page_stays_readable_where_the_recalling_model_fails() -> None:
    chat = ScriptedChat(lambda q: ChatFailed("away") if q.prompt.startswith("Goal:") else "cue")
    answer = played(SPEC, 12, chat).handle_tool(call("memory", pages=[1], goal="output-1 row 3"))
    assert "row 3 of output-1: value 1003" in answer


def test_a_flush_without_cues_does_not_happen_and_is_tried_seven_times() -> None:
    chat = ScriptedChat(lambda asked: ChatFailed("away", usage=ChatUsage(9, 0)))
    strategy = built(SPEC, chat)
    views = [strategy.before_request(prefix) for prefix in growing(30)]
    assert [view.history for view in views] == growing(30)
    assert len(chat.asked) == 7 == sum(len(view.side_calls) for view in views)
    assert sum("away" in r.reason for view in views for r in view.refusals) == 7


def test_a_fork_sees_only_pages_of_its_own_past() -> None:
    strategy = played(SPEC, 12)
    other = [*run_of(1), *step(2, "short")]
    assert strategy.before_request(history(other)).history.shape() == "pii"


def test_a_budget_up_to_one_is_a_share_of_the_window() -> None:
    assert played("sam:budget=0.08", 0).budget == 16_000
    assert played("sam", 0).budget == 64_000


def test_a_page_must_have_a_size() -> None:
    with pytest.raises(BadInput, match="page: must be at least 1"):
        built("sam:page=0")


def test_less_than_256_tokens_are_never_flushed() -> None:
    strategy = built("sam:budget=2")
    shapes = [strategy.before_request(prefix).history.shape() for prefix in growing(3)]
    fewest = next(n for n, prefix in enumerate(growing(3)) if prefix.tokens > 300)
    assert shapes[:fewest] == ["p" + "i" * n for n in range(fewest)]
    assert shapes[fewest] == "ps"


def test_the_tool_is_offered_as_the_card_says() -> None:
    offered = built("sam").extra_tools()
    assert tuple(tool["function"]["name"] for tool in offered) == CARD.tools == ("memory",)
    assert "memory" in built("sam").extra_system_text()


@given(st.lists(st.integers(1, 900), min_size=1, max_size=12), st.integers(256, 900))
def test_pages_hold_every_line_in_order_and_none_is_too_long(sizes: list[int], most: int) -> None:
    live = [
        Interaction(str(n), n, (), size * 4, observations=(Observation("", "word one\n" * size),))
        for n, size in enumerate(sizes, start=1)
    ]
    pages = list(paged(live, most, ESTIMATE))
    seen = "".join(o.text for page in pages for member in page for o in member.observations)
    assert seen == "".join(member.observed for member in live)
    numbers = [member.number for page in pages for member in page]
    assert numbers == sorted(numbers)
    for page in pages:
        assert sum(member.tokens for member in page) <= most


@given(st.text(), st.integers(1, 50))
def test_chunks_lose_nothing(text: str, room: int) -> None:
    assert "".join(chunks(text, room, ESTIMATE)) == text
