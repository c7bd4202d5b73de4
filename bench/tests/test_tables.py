"""The numbers of the tables: pairs, intervals, two effects apart, budgets, the paper's own."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from statistics import fmean

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from statecomp.config import Settings, strategy_factory
from statecomp.errors import BadInput
from statecomp_bench.cli.labels import label
from statecomp_bench.cli.sheets import short_sheet
from statecomp_bench.figures import spread
from statecomp_bench.matched import (
    MEANINGS,
    BudgetMeaning,
    budget_in,
    expected_tokens,
    matched_specs,
    without_budget,
)
from statecomp_bench.results import Result, append_result
from statecomp_bench.tables import estimate, paired, published, read_bench, rows, rows_by_model


def result(strategy: str, task: str = "code-a", seed: int = 0, **changes: object) -> Result:
    """A run of four requests that grows by a thousand tokens a step."""
    raw = (1_000, 2_000, 3_000, 4_000)
    plain = Result(
        task=task,
        domain=task.partition("-")[0].capitalize(),
        strategy=strategy,
        seed=seed,
        model="scripted",
        level=1,
        reward=1.0,
        parts={},
        steps=4,
        input=sum(raw),
        cached=6_000,
        output=400,
        raw_input=sum(raw),
        dollars=0.1,
        simulated=True,
        tokens=raw,
        raw_tokens=raw,
        first_changes=(None,) * 4,
    )
    return replace(plain, **changes)  # type: ignore[arg-type]  # fields by name, in tests only


def test_a_row_counts_failures_as_nothing_and_tells_them_apart_from_the_step_limit() -> None:
    lines = rows(
        [
            result("none"),
            result("lre", reward=0.0, failed=True, reason="the strategy failed: no"),
            result("lre", seed=1, reward=0.5, reason="the step limit was reached"),
        ],
        "none",
    )
    (base, lre) = lines
    assert (base.change, base.failed) == (None, 0)
    assert (lre.runs, lre.failed, lre.limited, lre.reward) == (2, 1, 1, 0.25)
    assert lre.change is not None
    assert (lre.change.pairs, lre.change.reward.value) == (1, -1.0)


def test_direct_saving_and_path_multiply_to_the_change_of_input() -> None:
    shorter = result("window:keep=5", input=5_000, raw_input=16_000, steps=6)
    (_, row) = rows([result("none"), shorter], "none")
    assert row.change is not None
    assert row.direct_saving == pytest.approx(1 - 5 / 16)
    assert row.change.path == pytest.approx(0.6)
    assert row.change.steps == 2
    assert 1 + row.change.input == pytest.approx((1 - row.direct_saving) * (1 + row.change.path))


def test_first_rewrites_and_damage_are_means_over_what_happened() -> None:
    changed = result("mask", first_changes=(None, None, 0.25, 0.75), damage=2_000, rewrites=2)
    (_, row) = rows([result("none"), changed], "none")
    assert (row.first_change, row.damage, row.rewrites) == (0.5, 2_000, 2)
    assert row.damage_share == pytest.approx(0.2)


def test_only_the_same_task_seed_and_level_make_a_pair() -> None:
    base = [result("none", "code-a", 0), result("none", "web-b", 0), result("none", "web-b", 1)]
    other = [result("lre", "web-b", 1), result("lre", "web-b", 2), result("lre", level=2)]
    assert [(run.task, run.seed, base.seed) for run, base in paired(other, base)] == [
        ("web-b", 1, 1)
    ]


def test_the_baseline_comes_first_and_statecomp_last_for_each_model() -> None:
    specs = ("statecomp", "lre", "none", "window:keep=5")
    bench = [result(s, model=m) for m in ("scripted", "openai:x") for s in specs]
    assert [row.strategy for row in rows(bench[:4], "none")] == [
        *("none", "lre", "window:keep=5", "statecomp")
    ]
    with pytest.raises(BadInput, match="was not run"):
        rows(bench[:2], "none")


def test_a_row_of_records_by_a_model_says_so_without_an_address_and_on_how_many_answers(
    tmp_path: Path,
) -> None:
    spec = "statecomp:records=chat:openai:small@http://127.0.0.1:8485/v1,records_wait=7200"
    for made in (
        result("none"),
        result("none", "code-b"),
        result(spec, side_calls=4),
        result(spec, "code-b", side_calls=3),
    ):
        append_result(tmp_path, made)
    bench = read_bench([tmp_path])
    sheet = short_sheet(rows(bench.results, "none"), bench, "Sessions")
    assert [row[0].text for row in sheet.rows] == [
        *("No compression", "StateComp (a model's records)")
    ]
    assert any("records): 7 answers by large language models" in note for note in sheet.notes)
    assert label("statecomp:recipe=bold,records=extract") == (
        "StateComp (recipe=bold,records=extract)"
    )


@settings(max_examples=15)  # each draws thousands of samples
@given(st.lists(st.floats(-1, 1), min_size=1, max_size=8), st.integers(1, 3))
def test_the_interval_holds_the_mean_of_equal_tasks_and_stays_within_the_data(
    differences: list[float], seeds: int
) -> None:
    pairs = [
        (result("lre", f"code-{n}", s, reward=d), result("none", f"code-{n}", s, reward=0.0))
        for n, d in enumerate(differences)
        for s in range(seeds)
    ]
    found = estimate(pairs, lambda run, base: (run.reward - base.reward, 1.0))
    assert found.value == pytest.approx(fmean(differences), abs=1e-9)
    slack = 1e-9
    assert min(differences) - slack <= found.low <= found.high <= max(differences) + slack
    if max(differences) - min(differences) < 1e-6:
        assert found.low == pytest.approx(found.high, abs=1e-5)


def test_seeds_of_one_task_are_no_independent_tasks() -> None:
    """Twenty seeds of two tasks that differ say little more than two tasks."""
    generator = random.Random(1)
    noise = [generator.uniform(-0.05, 0.05) for _ in range(40)]
    two = [
        (result("lre", f"code-{n % 2}", n, reward=n % 2 + e), result("none", f"code-{n % 2}", n))
        for n, e in enumerate(noise)
    ]
    many = [
        (replace(run, task=f"code-{n}"), replace(base, task=f"code-{n}"))
        for n, (run, base) in enumerate(two)
    ]
    narrow, wide = (
        estimate(pairs, lambda run, base: (run.reward - base.reward, 1.0)) for pairs in (many, two)
    )
    assert wide.high - wide.low > 2 * (narrow.high - narrow.low)


def test_results_are_read_from_folders_and_files_and_later_places_win(tmp_path: Path) -> None:
    first, second = tmp_path / "a", tmp_path / "b"
    append_result(first, result("none"))
    append_result(first, result("lre"))
    append_result(second, result("lre", reward=0.5))
    with (first / "results.jsonl").open("a") as file:
        file.write('{"task": "half a li')
    bench = read_bench([first, second / "results.jsonl"])
    assert [r.reward for r in bench.results] == [1.0, 0.5]
    assert (bench.unreadable, bench.repeated) == (1, 1)
    assert list(rows_by_model(bench, "none")) == ["scripted"]
    with pytest.raises(BadInput, match="holds no results"):
        read_bench([tmp_path / "nowhere"])
    with pytest.raises(BadInput, match="they hold scripted"):
        bench.of(["openai:x"])


def test_every_matched_spec_is_one_a_bench_can_run() -> None:
    lengths = tuple(range(1_000, 41_000, 1_000))
    base = result("none", raw_tokens=lengths, input=sum(lengths), steps=len(lengths))
    ours = result("statecomp", input=12_000 * 40, steps=40)
    tried = result("acon:keep=2,budget=9000", input=7_000 * 40, steps=40)
    found = matched_specs([base, ours, result("acon:keep=2"), tried])
    assert [m.spec.partition(":")[0] for m in found] == list(MEANINGS)
    for matched in found:
        strategy_factory(matched.spec, Settings())
        assert matched.target == 12_000
        assert matched.reached, matched
    (acon,) = [m for m in found if m.spec.startswith("acon")]
    assert acon.measured
    assert without_budget(acon.spec) == "acon:keep=2"
    assert budget_in(acon.spec) > 0


def test_a_run_that_showed_too_much_is_given_less_room() -> None:
    lengths = tuple(range(1_000, 41_000, 1_000))
    base = result("none", raw_tokens=lengths, input=sum(lengths), steps=len(lengths))
    ours = result("statecomp", input=12_000 * 40, steps=40)

    def lre_budget(*more: Result) -> float:
        specs = [m.spec for m in matched_specs([base, ours, *more])]
        return budget_in(next(spec for spec in specs if spec.startswith("lre")))

    first = lre_budget()
    greedy = result(f"lre:budget={first:.0f}", input=15_000 * 40, steps=40)
    modest = result(f"lre:budget={first:.0f}", input=9_000 * 40, steps=40)
    assert lre_budget(greedy) < first < lre_budget(modest)


@given(
    st.lists(st.integers(1, 5_000), min_size=1, max_size=40),
    st.floats(1, 50_000),
    st.sampled_from(sorted(MEANINGS)),
)
def test_a_budget_never_lengthens_a_run_and_more_room_never_shortens_a_cut(
    growth: list[int], budget: float, name: str
) -> None:
    lengths = [1_000]
    for tokens in growth:
        lengths.append(lengths[-1] + tokens)
    meaning: BudgetMeaning = MEANINGS[name]
    shown = expected_tokens(meaning, budget, [lengths])
    assert 1_000 - 1e-6 <= shown <= fmean(lengths) + 1e-6
    if meaning.cut:
        assert shown <= expected_tokens(meaning, 2 * budget, [lengths]) + 1e-6
    assert expected_tokens(meaning, 10**9, [lengths]) == pytest.approx(fmean(lengths))


def test_the_published_tables_agree_with_one_another() -> None:
    tables = published()
    main, rewards = tables["tab:method_comparison"], tables["tab:app_eval40_domains"]
    for row in (*main.rows, *tables["tab:cross_model"].rows):
        assert row.values[4] == pytest.approx(fmean(row.values[:4]), abs=0.011), row.method
    for name in ("Code", "Office", "Security", "Web"):
        for strategy, value in rewards.column(name).items():
            assert 100 * value == pytest.approx(main.column(name)[strategy], abs=0.006)
    for strategy, value in tables["tab:eval40_aux"].column("Total tokens (M)").items():
        assert value == main.column("Tokens (M)")[strategy]
    for row in tables["tab:full260_tokens"].rows:
        baseline, agent, summary, combined, reduction = row.values
        assert agent + summary == combined
        assert 100 * (1 - combined / baseline) == pytest.approx(reduction, abs=1e-4)
    both = zip(tables["tab:cross_model_domains"].rows, tables["tab:cross_model"].rows, strict=True)
    for reward, score in both:
        assert (reward.model, reward.strategy) == (score.model, score.strategy)
        assert [100 * v for v in reward.values] == pytest.approx(score.values[:5], abs=0.006)


def test_every_published_method_is_one_of_ours() -> None:
    specs = [row.strategy for row in published()["tab:method_comparison"].rows]
    assert len(specs) == len(set(specs)) == 18
    for spec in specs:
        strategy_factory(spec, Settings())


@given(st.lists(st.floats(0, 1), max_size=30).map(sorted))
def test_names_beside_a_plot_keep_their_order_and_distance(wanted: list[float]) -> None:
    places = spread(wanted, 0.05)
    gap = min(0.05, 1 / max(1, len(wanted) - 1))
    assert all(after - before >= gap - 1e-9 for before, after in pairwise(places))
    assert all(-1e-9 <= place <= 1 + 1e-9 for place in places)
