"""ACON-Core: compressed past a threshold, the last turn raw, five sections, texts accumulate."""

from __future__ import annotations

from statecomp.baselines.acon import SECTIONS
from statecomp.config import Settings, strategy_factory
from statecomp.history.history import History
from statecomp.history.trajectory import Trajectory
from statecomp.strategy import Strategy
from statecomp.testing.chat import ScriptedChat
from tests.baselines.steps import WIRE, growing, history, run_of, step


def acon(options: str, chat: ScriptedChat | None = None) -> Strategy:
    spec = f"acon:{options}" + (",chat=scripted" if chat else "")
    chats = {"scripted": chat} if chat else {}
    return strategy_factory(spec, Settings(chats=chats))(Trajectory("run", ()), WIRE)


def shapes(strategy: Strategy, requests: list[History]) -> list[str]:
    return [strategy.before_request(request).history.shape() for request in requests]


def test_nothing_happens_until_the_older_turns_exceed_the_threshold() -> None:
    one = history(run_of(1)).interactions[0].tokens
    # Two older turns stay below it, three exceed it; the last turn never counts.
    assert shapes(acon(f"t_hist={2 * one + one // 2}"), growing(5))[1:5] == [
        "pi",
        "pii",
        "piii",
        "psi",
    ]


def test_the_last_turns_stay_raw_and_a_text_replaces_the_one_before_unless_told_to_accumulate() -> (
    None
):
    added = "t_hist=-1,rule=accumulate"
    assert shapes(acon(added), growing(4)) == ["p", "pi", "psi", "pssi", "psssi"]
    assert shapes(acon("t_hist=-1"), growing(4)) == ["p", "pi", "psi", "psi", "psi"]
    assert shapes(acon(f"{added},keep=2"), growing(4))[-1] == "pssii"


def test_at_least_the_interval_lies_between_two_compressions() -> None:
    assert shapes(acon("t_hist=-1,rule=accumulate,interval=3"), growing(6)) == [
        "p",
        "pi",
        "psi",
        "psii",
        "psiii",
        "pssi",
        "pssii",
    ]


def test_a_budget_is_the_threshold_in_tokens_or_as_a_share_of_the_window() -> None:
    requests = growing(4)
    for same in ("budget=700", "t_hist=700", "budget=0.07,window=10000"):
        assert shapes(acon(same), requests) == shapes(acon("t_hist=700"), requests)


def test_the_extract_keeps_to_the_five_sections_of_the_guideline() -> None:
    text = acon("t_hist=-1").before_request(history(run_of(3))).history.summaries[0].text
    titles = [line[3:] for line in text.splitlines() if line.startswith("## ")]
    assert titles
    assert set(titles) <= set(SECTIONS)
    assert "item-1" in text


def test_the_compressor_reads_task_earlier_text_and_steps_once_each() -> None:
    chat = ScriptedChat(["## Completed\n- looked at item-1", "## Completed\n- looked at item-2"])
    strategy = acon("t_hist=-1", chat)
    views = [strategy.before_request(request) for request in growing(3)]
    first, second = (asked.prompt for asked in chat.asked)
    assert "Find out why the build fails." in first
    assert "item-1" in first
    assert "looked at item-1" in second
    assert "output-1" not in second
    assert [len(view.side_calls) for view in views] == [0, 0, 1, 1]
    assert {c.kind for view in views for c in view.side_calls} == {"compressor"}
    assert "looked at item-2" in views[-1].history.summaries[0].text


def test_observation_mode_refines_each_long_observation_once_and_no_short_one() -> None:
    chat = ScriptedChat(lambda asked: "refined")
    strategy = acon("mode=observation,t_obs=100", chat)
    long, short = run_of(1)[1:], step(2, "short")
    request = history([*run_of(0), *long, *short])
    for _ in range(2):
        seen = [i.observed for i in strategy.before_request(request).history.interactions]
        assert seen == ["refined", "short"]
    assert len(chat.asked) == 1


def test_a_refinement_that_is_longer_than_the_observation_is_not_used() -> None:
    chat = ScriptedChat(lambda asked: "x" * 100_000)
    request = history(run_of(1))
    view = acon("mode=observation,t_obs=100", chat).before_request(request)
    assert view.history.interactions[0].observed == request.interactions[0].observed
