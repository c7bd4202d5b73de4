"""PACE: four levels a step, chosen anew for each request; nothing is destroyed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from statecomp.baselines.embedding import LexicalEmbedder, cosine, open_embedder
from statecomp.baselines.pace import Forms as PaceForms
from statecomp.baselines.pace import lowered, thresholds, weights
from statecomp.baselines.pace_levels import Level, by_rules
from statecomp.config import Settings, strategy_factory
from statecomp.errors import BadInput
from statecomp.history.interaction import Call
from statecomp.history.trajectory import Trajectory
from statecomp.llm.chat import ChatFailed, ChatUsage
from statecomp.strategy import Strategy
from statecomp.testing.chat import ScriptedChat
from tests.baselines.steps import WIRE, bulky, growing, history, run_of, step
from tests.baselines.tiny_models import tiny_xlm_r
from tests.features.small_model import folder, needs_model


def pace(options: str = "", chat: ScriptedChat | None = None) -> Strategy:
    given_options = ",".join(filter(None, (options, "chat=scripted" if chat else "")))
    chats = {"scripted": chat} if chat else {}
    factory = strategy_factory(f"pace:{given_options}", Settings(chats=chats))
    return factory(Trajectory("run", ()), WIRE)


def levels(brief: str) -> str:
    return json.dumps({"detailed": f"in detail: {brief}", "brief": brief, "keywords": ["k"]})


def test_all_but_the_last_two_steps_become_one_block_in_time_order() -> None:
    sent = pace().before_request(history(run_of(6))).history
    assert sent.shape() == "psii"
    text = sent.summaries[0].text
    places = [text.index(f"step {number}") for number in range(1, 5)]
    assert places == sorted(places)


def test_two_steps_or_fewer_are_left_alone() -> None:
    for request in growing(2):
        assert pace().before_request(request).history is request


def test_each_large_step_costs_one_call_when_it_appears_and_small_ones_none() -> None:
    chat = ScriptedChat(lambda asked: levels("it was read"))
    strategy = pace("", chat)
    views = [strategy.before_request(request) for request in growing(5)]
    assert [[c.kind for c in view.side_calls] for view in views] == [[], *[["levels"]] * 5]
    assert "it was read" in views[-1].history.summaries[0].text
    assert "Find out why the build fails." in chat.asked[0].prompt
    assert chat.asked[0].max_tokens == 3000
    silent = ScriptedChat([])
    pace("", silent).before_request(history(run_of(4, lambda n: "ok")))


def test_where_no_levels_were_written_rules_stand_in() -> None:
    chat = ScriptedChat(lambda asked: ChatFailed("busy", usage=ChatUsage(5, 0)))
    view = pace("", chat).before_request(history(run_of(4)))
    assert len(view.side_calls) == 4
    assert view.history.shape() == "psii"
    assert "row 0 of output-1" in view.history.summaries[0].text or "step 1:" in (
        view.history.summaries[0].text
    )


def test_the_rules_keep_head_tail_and_telling_lines() -> None:
    lines = [f"word{'s' * (n % 3)}" for n in range(100)]
    lines[60] = "see https://example.org"
    found = by_rules("\n".join(lines))
    assert "https://example.org" in found.detailed
    assert len(found.detailed.splitlines()) == 51
    assert len(by_rules("x" * 9000).detailed) == 2000


def test_what_the_task_and_the_last_steps_ask_for_is_shown_in_more_detail() -> None:
    def about(word: str) -> str:
        return "\n".join(f"{word} {word}s and {word}ing, noted" for _ in range(60))

    topics = ["granite", "violin", "harbour", "granite", "granite"]
    steps = [m for n, t in enumerate(topics) for m in step(n, about(t), command=f"find {t}")]
    text = pace().before_request(history([*run_of(0), *steps])).history.summaries[0].text
    shown = {topic: text.count(topic) for topic in topics}
    assert shown["granite"] > shown["violin"]
    assert shown["granite"] > shown["harbour"]


def test_pressure_raises_the_thresholds_by_the_paper_or_by_the_code() -> None:
    assert thresholds("paper", 0, 0, 128_000) == (0.4, 0.8, 1.5)
    assert thresholds("paper", 100, 0, 128_000) == pytest.approx((0.6, 1.2, 2.25))
    assert thresholds("paper", 0, 128_000, 128_000) == pytest.approx((0.6, 1.2, 2.25))
    assert thresholds("code", 50, 55_000, 128_000) == (0.4, 0.8, 1.5)
    assert thresholds("code", 75, 0, 128_000) == pytest.approx((0.6, 1.0, 2.0))
    assert thresholds("code", 0, 110_000, 128_000) == pytest.approx((0.8, 1.2, 2.5))


@given(st.lists(st.floats(-1, 1), min_size=1, max_size=30))
def test_weights_are_relative_to_an_equal_share(cosines: list[float]) -> None:
    found = weights(cosines)
    assert sum(found) == pytest.approx(len(cosines))
    negative = [w for w, c in zip(found, cosines, strict=True) if c <= 0]
    assert max(negative, default=0.0) - min(negative, default=0.0) < 1e-9


@given(
    st.lists(st.tuples(st.integers(0, 3), st.floats(0, 3)), min_size=1, max_size=12),
    st.integers(0, 4000),
)
def test_the_guard_lowers_the_least_relevant_until_it_fits(
    chunks: list[tuple[int, float]], room: int
) -> None:
    forms = [PaceForms(("", "", "", ""), (5, 30, 100, 400), {})] * len(chunks)
    before = [Level(level) for level, _ in chunks]
    chosen = list(before)
    lowered(chosen, forms, [weight for _, weight in chunks], room)
    total = sum(form.sizes[level] for form, level in zip(forms, chosen, strict=True))
    assert total <= room or not any(chosen)
    assert all(after <= level for after, level in zip(chosen, before, strict=True))


def test_a_small_budget_turns_everything_into_placeholders() -> None:
    sent = pace("budget=20").before_request(history(run_of(6))).history
    assert "[step 1: " in sent.summaries[0].text
    assert "output-1" not in sent.summaries[0].text


def test_glimpse_is_off_unless_asked_for_and_then_returns_a_step_in_full() -> None:
    assert pace().extra_tools() == ()
    strategy = pace("glimpse=on,budget=20")
    strategy.before_request(history(run_of(6)))
    whole = strategy.handle_tool(Call("g", "glimpse", '{"step": 1}'))
    assert bulky(1) in whole
    found = strategy.handle_tool(Call("g", "glimpse", '{"keyword": "OUTPUT-2"}'))
    assert found.startswith("step 2:")
    assert strategy.handle_tool(Call("g", "glimpse", "{}")) == "No earlier step fits."


def test_cosines_of_words_are_one_for_the_same_and_zero_for_the_strange() -> None:
    embed = LexicalEmbedder().embed
    assert cosine(embed("a red boat"), embed("boat: RED!")) == pytest.approx(1.0)
    assert cosine(embed("a red boat"), embed("green hill")) == 0.0
    assert cosine(embed(""), embed("boat")) == 0.0


@needs_model
def test_the_embedded_model_finds_like_closer_than_unlike() -> None:
    embed = open_embedder("smollm2", str(folder())).embed
    query = embed("the test suite failed with an assertion error")
    like, unlike = embed("a failing unit test, AssertionError"), embed("bake bread at 220 degrees")
    assert cosine(query, like) > cosine(query, unlike)


def test_the_published_form_of_embedder_reads_the_first_token(tmp_path: Path) -> None:
    """A tiny untrained XLM-R: the loading code is the real one."""
    tiny_xlm_r(tmp_path, "XLMRobertaModel")
    embed = open_embedder("bge-m3", str(tmp_path)).embed
    vector = embed("the river \ud800 " * 400)
    assert len(vector) == 8
    assert cosine(vector, vector) == pytest.approx(1.0)
    with pytest.raises(BadInput, match="the embedder cannot be loaded"):
        open_embedder("bge-m3", str(tmp_path / "nowhere"))
