"""Replay: what is counted, what is cached, and which steps are broken."""

from __future__ import annotations

import json
from typing import Any

import pytest

from statecomp.baselines.mask import ObservationMasking
from statecomp.baselines.periodic import PeriodicSummary
from statecomp.baselines.window import SlidingWindow
from statecomp.config import Settings, strategy_factory
from statecomp.controller.prices import parse_prices, shipped_prices
from statecomp.errors import BadInput
from statecomp.history.history import History
from statecomp.history.trajectory import Trajectory
from statecomp.llm.chat import ChatUsage, Completion
from statecomp.llm.side import SideAccount
from statecomp.records.writing.summarize import ChatSummarizer
from statecomp.replays.accounting import Bill, common_prefix, dollars_of
from statecomp.replays.run import RunReplay, replay_run
from statecomp.replays.safety import Dependencies, bootstrap_interval, common_identifiers
from statecomp.replays.sessions import session_of
from statecomp.replays.table import StrategyRow, hindsight_share, rows, steps_table
from statecomp.strategy import Strategy
from statecomp.testing.chat import ScriptedChat
from statecomp.testing.words import BULK
from statecomp.wire.assemble import parse
from statecomp.wire.openai_chat.wire import OpenAIChat
from statecomp.wire.protocol import Wire


def step(number: int, command: str, output: str) -> list[dict[str, Any]]:
    call = {"name": "sh", "arguments": json.dumps({"command": command})}
    return [
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": f"c{number}", "type": "function", "function": call}],
        },
        {"role": "tool", "tool_call_id": f"c{number}", "content": output},
    ]


def run_of(*steps: tuple[str, str]) -> Trajectory:
    messages: list[dict[str, Any]] = [{"role": "user", "content": "find the ticket"}]
    for number, (command, output) in enumerate(steps):
        messages += step(number, command, output)
    return Trajectory("run", tuple(messages), domain="Code", group="g")


def replayed(run: Trajectory, *specs: str, **options: Any) -> RunReplay:
    factories = {spec: strategy_factory(spec, Settings()) for spec in specs}
    return replay_run(run, factories, frozenset(), **options)


LEARNED = run_of(
    ("ls", "ticket TCK-4711 is open"),
    ("date", BULK),
    ("uptime", BULK),
    ("close TCK-4711", "closed"),
)


def test_a_checkpoint_stands_before_every_assistant_message_but_the_first() -> None:
    (replay,) = replayed(LEARNED, "none").replays
    assert [(s.checkpoint, s.message) for s in replay.steps] == [(2, 3), (3, 5), (4, 7)]


def test_a_step_is_broken_when_what_it_uses_was_learned_and_is_gone() -> None:
    window, kept = replayed(LEARNED, "window:keep=2", "window:keep=3").replays
    assert [s.missing for s in window.steps] == [(), (), ("TCK-4711",)]
    assert kept.broken == ()


def test_the_agents_own_words_are_not_learned() -> None:
    invented = run_of(("touch NEW-1234", "ok"), ("a", "b"), ("c", "d"), ("cat NEW-1234", "hi"))
    (window,) = replayed(invented, "window:keep=1").replays
    assert window.broken == ()


def test_what_another_run_of_a_session_was_shown_nobody_learned() -> None:
    """The agent of each run wrote down what it did without having seen the others."""
    shown = run_of(("ls", "see TCK-4711"), ("date", BULK), ("uptime", BULK))
    writes = run_of(("date", BULK), ("touch TCK-4711", "ok"))
    (window,) = replayed(session_of([shown, writes]), "window:keep=1").replays
    assert window.broken == ()


def test_what_another_run_of_a_session_wrote_may_be_learned_all_the_same() -> None:
    writes = run_of(("date", BULK), ("touch TCK-4711", "ok"))
    (window,) = replayed(session_of([writes, LEARNED]), "window:keep=2").replays
    assert [s.missing for s in window.broken] == [("TCK-4711",)]


def test_a_masked_observation_breaks_what_depends_on_it_and_a_summary_may_carry_it() -> None:
    long = run_of(
        ("ls", f"ticket TCK-4711 is open\n{BULK}"),
        *[(f"step{n}", BULK) for n in range(5)],
        ("close TCK-4711", "closed"),
    )
    masked, summarised = replayed(
        long, "mask:keep=2", "statecomp:scorer=age:after=1,longer_than=1"
    ).replays
    assert masked.steps[-1].missing == ("TCK-4711",)
    assert any(step.commits for step in summarised.steps)


def test_identifiers_common_to_many_tasks_do_not_count() -> None:
    used = [(f"group{n}", frozenset({"requirements.txt", f"only{n}"})) for n in range(6)]
    common = common_identifiers(used)
    assert "requirements.txt" in common
    assert "only1" not in common
    same_task = [("one", frozenset({"requirements.txt"}))] * 9
    assert "requirements.txt" not in common_identifiers(same_task)


def test_input_is_the_view_output_the_recorded_message_and_cache_the_unchanged_prefix() -> None:
    (replay,) = replayed(LEARNED, "none").replays
    first, second, third = (s.bill for s in replay.steps)
    assert (first.cached, second.cached, third.cached) == (0, first.input, second.input)
    assert replay.bill.total == replay.bill.input + replay.bill.output
    assert replay.bill.side == 0


def test_a_rewrite_ends_caching_at_the_first_changed_position() -> None:
    (window,) = replayed(LEARNED, "window:keep=1").replays
    history = parse(LEARNED.messages, OpenAIChat())
    task = history.segments[0].tokens
    assert window.steps[1].bill.cached == task
    assert window.steps[1].rewrote
    assert window.steps[1].first_change == 1


def test_replaying_nothing_costs_what_was_recorded() -> None:
    result = replayed(LEARNED, "none")
    (row,) = rows([result], shipped_prices().of())
    assert (row.bill, row.saved, row.broken, row.dollars_saved) == (result.raw, 0, 0, 0)


def test_hindsight_keeps_one_holder_of_everything_still_needed() -> None:
    history = parse(LEARNED.messages, OpenAIChat())
    dependencies = Dependencies.of(history, frozenset())
    tokens = [s.tokens for s in history.segments]
    assert dependencies.needs[4] == {"TCK-4711"}
    assert dependencies.hindsight(4) == tokens[2] + tokens[3]
    assert 0 < hindsight_share([replayed(LEARNED, "none")]) < 1


def test_hindsight_keeps_nothing_of_a_run_for_the_next_one_of_its_session() -> None:
    history = parse(session_of([LEARNED, LEARNED]).messages, OpenAIChat())
    dependencies = Dependencies.of(history, frozenset(), frozenset({5}))
    assert dependencies.hindsight(6) == sum(i.tokens for i in history.interactions[:4])


def test_dropping_by_hindsight_breaks_nothing() -> None:
    """The bound is one: keeping exactly what hindsight keeps leaves every step whole."""
    history = parse(LEARNED.messages, OpenAIChat())
    dependencies = Dependencies.of(history, frozenset())
    kept = History((history.segments[0], history.segments[1]))
    assert dependencies.missing(4, kept) == ()


def steps(*taken: tuple[str, str]) -> History:
    """A user's word, then steps of (argument, what came back)."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": "go"}]
    for number, (argument, told) in enumerate(taken):
        function = {"name": "use", "arguments": json.dumps({"at": argument})}
        call = {"id": f"c{number}", "type": "function", "function": function}
        messages += [
            {"role": "assistant", "content": "", "tool_calls": [call]},
            {"role": "tool", "tool_call_id": f"c{number}", "content": told},
        ]
    return parse(messages, OpenAIChat())


@pytest.mark.parametrize(
    ("stays", "missed"),
    [
        ("found lib/pydicom/dataelem.py there", ()),
        ("found xdataelem.pyc there", ("dataelem.py",)),
    ],
)
def test_a_name_that_ends_a_longer_one_in_what_stays_is_not_missed(
    stays: str, missed: tuple[str, ...]
) -> None:
    raw = steps(("a", "dataelem.py"), ("b", stays), ("dataelem.py", ""))
    view = History((raw.segments[0], raw.segments[2]))
    assert Dependencies.of(raw, frozenset()).missing(3, view) == missed


def test_the_ending_of_a_files_name_is_known_to_everybody() -> None:
    raw = steps(("a", "*.zip=01;31 .dockerenv"), ("find .zip .dockerenv", ""))
    assert Dependencies.of(raw, frozenset()).needs[2] == {".dockerenv"}


def test_views_hold_the_messages_that_would_have_been_sent() -> None:
    result = replayed(LEARNED, "window:keep=1", keep_messages=True)
    sent = result.replays[0].steps[-1].messages
    assert [m["role"] for m in sent] == ["user", "assistant", "tool"]
    assert sent[0] is LEARNED.messages[0]


def test_money_follows_the_price_book() -> None:
    book = parse_prices(
        "[models.m]\nas_of = 2026-01-01\ninput = 2\ncached = 0.2\nwrite = 3\noutput = 10\n"
        "ttl_s = 60"
    )
    bill = Bill(input=2_000_000, cached=1_000_000, output=100_000, side_input=500_000, side_calls=1)
    assert dollars_of([bill], book.of()) == pytest.approx(3 + 0.2 + 1 + 1)


def test_the_interval_holds_the_share_and_narrows_with_agreement() -> None:
    low, high = bootstrap_interval([(1, 10), (0, 10), (3, 10), (0, 10)])
    assert low <= 0.1 <= high
    assert bootstrap_interval([(1, 10)] * 20) == (0.1, 0.1)
    assert bootstrap_interval([]) == (0.0, 0.0)


def test_windows_keep_the_task_and_whole_interactions() -> None:
    history = parse(LEARNED.messages, OpenAIChat())
    assert SlidingWindow(2).before_request(history).history.shape() == "pii"
    assert SlidingWindow(9).before_request(history).history is history


def test_masking_keeps_every_call_and_only_shortens() -> None:
    history = parse(LEARNED.messages, OpenAIChat())
    view = ObservationMasking(OpenAIChat(), keep=1).before_request(history).history
    assert view.shape() == history.shape()
    assert view.tokens < history.tokens
    assert view.interactions[1].observed == "[old observation left out: 1 lines]"
    assert view.interactions[0].observed == "ticket TCK-4711 is open"  # shorter than the note


def test_two_requests_share_their_unchanged_beginning() -> None:
    history = parse(LEARNED.messages, OpenAIChat())
    shorter = History(history.segments[:3])
    assert common_prefix(shorter, history) == (3, shorter.tokens)
    assert common_prefix(History(()), history) == (0, 0)


def test_the_net_saving_is_what_each_request_saved_less_what_the_summaries_cost() -> None:
    """Proposition E.3: with the requests fixed, delta T = sum of delta_r - C_sum."""
    usage = ChatUsage(input_tokens=300, output_tokens=40)
    reply = Completion(json.dumps({"facts": ["five steps were taken"]}), usage)

    def build(run: Trajectory, wire: Wire) -> Strategy:
        account = SideAccount()
        chat = ScriptedChat(lambda asked: reply)
        summarizer = ChatSummarizer(chat, on_side_call=account.charge)
        return PeriodicSummary(wire, summarizer, every=3, account=account)

    long = run_of(*[(f"step{n}", BULK) for n in range(10)])
    result = replay_run(long, {"periodic": build}, frozenset())
    (replay,) = result.replays
    saved = [
        raw - step.bill.input for raw, step in zip(result.raw_tokens, replay.steps, strict=True)
    ]
    cost = replay.bill.side
    assert cost == replay.bill.side_calls * 340 > 0
    assert result.raw.total - replay.bill.total == sum(saved) - cost


WORTH = run_of(*[(f"step{n}", f"{n} {BULK}") for n in range(6)])
LONG = run_of(*[(f"step{n}", f"{n} {BULK * 3}") for n in range(40)])
AGE = "statecomp:scorer=age:after=3"
OFF = f"{AGE},longer_than=0,min_source_tokens=300"
ON = {model: f"{AGE},prices={model}" for model in ("claude-sonnet", "gpt-5", "uncached")}


@pytest.fixture(scope="module")
def long_run() -> RunReplay:
    return replayed(LONG, "window:keep=10", OFF, *ON.values())


def row_of(result: RunReplay, spec: str, model: str = "claude-sonnet") -> StrategyRow:
    return next(r for r in rows([result], shipped_prices().of(model)) if r.strategy == spec)


class TestMoney:
    """Dollars under caching, where a rewrite must pay and where gates alone decide."""

    def test_cache_rules_hold_for_each_request_and_not_for_their_sum(self) -> None:
        short = Bill(input=900, cached=600)
        prices = shipped_prices().of("claude-sonnet")
        fresh = 900 * prices.input / 1e6
        assert dollars_of([short, short], prices) == pytest.approx(2 * fresh)

    def test_a_prefix_is_read_in_the_blocks_of_the_provider(self) -> None:
        prices = shipped_prices().of("gpt-5")
        dollars = dollars_of([Bill(input=3000, cached=1300)], prices)
        assert dollars == pytest.approx((1280 * 0.125 + 1720 * 1.25) / 1e6)

    def test_rewriting_at_every_step_is_billed_as_the_cache_damage_it_is(
        self, long_run: RunReplay
    ) -> None:
        row = row_of(long_run, "window:keep=10")
        assert row.saved > 0.3
        assert row.dollars > row.raw_dollars
        assert row.damage >= 15
        assert row.first_change is not None
        assert row.first_change < 0.1
        assert (row.dearer, row.runs) == (1, 1)
        assert row.worst == pytest.approx(row.dollars / row.raw_dollars - 1)
        assert row.lost_dollars == pytest.approx(row.dollars - row.raw_dollars)

    @pytest.mark.parametrize("model", list(ON))
    def test_with_the_gate_a_long_run_is_cheaper_than_uncompressed(
        self, long_run: RunReplay, model: str
    ) -> None:
        row = row_of(long_run, ON[model], model)
        assert row.commits > 0
        assert row.dollars < row.raw_dollars
        assert row.dearer == 0

    def test_the_gate_breaks_the_cache_less_often_and_costs_less(self, long_run: RunReplay) -> None:
        off, on = row_of(long_run, OFF), row_of(long_run, ON["claude-sonnet"])
        assert on.damage < off.damage / 2
        assert on.dollars < off.dollars

    def test_without_caching_the_gate_holds_nothing_back(self, long_run: RunReplay) -> None:
        off, on = row_of(long_run, OFF), row_of(long_run, ON["uncached"])
        assert (on.bill, on.commits) == (off.bill, off.commits)

    @pytest.mark.parametrize(
        ("more", "weighed"),
        [
            ("", True),
            (",recipe=bold", True),
            (",wariness=9", True),
            (",recipe=paper", False),
            (",threshold=0.5", False),
            (",longer_than=0", False),
            (",min_source_tokens=0", False),
        ],
    )
    def test_a_rewrite_must_pay_unless_the_gates_of_the_paper_are_named(
        self, more: str, weighed: bool
    ) -> None:
        (replay,) = replayed(WORTH, f"statecomp:scorer=age:after=1{more}").replays
        assert any(step.ruling for step in replay.steps) == weighed

    @pytest.mark.parametrize(
        ("options", "problem"),
        [
            ("economics=on", "has unknown options: economics"),
            ("recipe=rash", "known are paper, careful, balanced, bold"),
            ("wariness=-1", "wariness: must not be negative"),
            ("ahead=-2", "ahead: is a number of requests"),
            ("prices=nobody", "has no prices"),
        ],
    )
    def test_what_no_rule_knows_is_refused(self, options: str, problem: str) -> None:
        with pytest.raises(BadInput, match=problem):
            strategy_factory(f"statecomp:{options}", Settings())

    def test_the_prices_of_the_command_are_those_of_the_gate(self) -> None:
        settings = Settings(prices=shipped_prices().of("uncached"))
        factory = strategy_factory("statecomp:scorer=age:after=1", settings)
        (replay,) = replay_run(WORTH, {"on": factory}, frozenset()).replays
        rulings = [step.ruling for step in replay.steps if step.ruling]
        assert {(ruling.prices, ruling.cache) for ruling in rulings} == {("uncached", "none")}

    def test_every_decision_stands_in_the_table_of_steps(self, long_run: RunReplay) -> None:
        gated = next(r for r in long_run.replays if r.strategy == ON["claude-sonnet"])
        table = steps_table(gated.steps)
        decided = [line for line in table if line["commits"]]
        waiting = [line for line in table if line["refusals"]]
        assert decided
        assert all(line["ruling"]["commit"] for line in decided)
        assert any("does not pay yet" in line["refusals"][-1]["reason"] for line in waiting)
