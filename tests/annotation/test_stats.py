"""The supervision table, and the equations of the paper's appendix D.1 as properties."""

from __future__ import annotations

import json
from collections.abc import Mapping
from itertools import groupby
from pathlib import Path
from statistics import fmean, median
from typing import Any

import pytest
from click.testing import CliRunner, Result
from hypothesis import given
from hypothesis import strategies as st

from statecomp.annotation.labels import Label, read_labels
from statecomp.annotation.records import Reading
from statecomp.annotation.stats import (
    PROGRESS,
    LabelledRun,
    delay_cdf,
    eligible_regions,
    labelled_run,
    last_checkpoints,
    over_progress,
    percentiles,
    span_statistics,
    supervision,
)
from statecomp.cli.labels import labels as command
from statecomp.controller.circumstances import JUST_AFTER
from statecomp.controller.spans import Gates, selected_runs
from statecomp.errors import BadInput
from statecomp.history.trajectory import Trajectory
from statecomp.testing.words import chat_of, history_of
from tests.shared_data import LABELS, RUNS, needs_shared_data


def labels_of(boundaries: tuple[int | None, ...], run: str = "r") -> dict[str, dict[int, Label]]:
    return {run: {i: Label(run, i, boundary) for i, boundary in enumerate(boundaries, start=1)}}


@st.composite
def boundary_sets(draw: st.DrawFn, least: int = 1) -> tuple[int | None, ...]:
    """t_i* for every interaction of a run: after i, up to one past T, or never."""
    last = draw(st.integers(least, 14))
    return tuple(
        draw(st.none() | st.integers(number + 1, last + 1)) for number in range(1, last + 1)
    )


def drawn(boundaries: tuple[int | None, ...], domain: str = "Code") -> LabelledRun:
    return LabelledRun(domain, boundaries, (tuple(range(1, len(boundaries) + 1)),))


@given(boundary_sets())
def test_the_table_counts_every_pair_once(boundaries: tuple[int | None, ...]) -> None:
    last = len(boundaries)
    table = supervision(labels_of(boundaries), {"r": last})
    pairs = [(i, k) for i in range(1, last + 1) for k in range(i + 1, last + 1)]
    ready = [(i, k) for i, k in pairs if (t := boundaries[i - 1]) is not None and k >= t]
    delays = [t - i for i, t in enumerate(boundaries, start=1) if t is not None and t <= last]
    assert (table.pairs, table.ready) == (len(pairs), len(ready))
    assert table.keep + table.ready == table.pairs == last * (last - 1) // 2
    assert table.boundaries + table.without == table.interactions == table.states == last
    assert table.checkpoint_groups == last - 1
    assert table.settled_pairs == sum(k >= i + 2 for i, k in pairs)
    assert table.settled_ready == sum(k >= i + 2 for i, k in ready)
    assert table.median_delay == (median(delays) if delays else None)


@given(boundary_sets(least=3))
def test_readiness_moves_by_what_becomes_ready_less_what_there_was(
    boundaries: tuple[int | None, ...],
) -> None:
    run = drawn(boundaries)
    for k in range(2, len(boundaries)):
        newly = sum(run.ready(i, k + 1) and not run.ready(i, k) for i in range(1, k))
        own = run.ready(k, k + 1)
        moved = run.readiness(k + 1) - run.readiness(k)
        assert moved == pytest.approx((newly + own - run.readiness(k)) / k)


@given(st.lists(st.booleans(), min_size=1, max_size=40))
def test_span_statistics_are_those_of_maximal_runs(mask: list[bool]) -> None:
    lengths = [len(list(members)) for selected, members in groupby(mask) if selected]
    found = span_statistics([mask])
    assert found.spans == len(lengths)
    assert found.coverage == pytest.approx(sum(lengths) / len(mask))
    assert found.mean_length == (pytest.approx(fmean(lengths)) if lengths else None)


@given(st.text("prk", min_size=1, max_size=25))
def test_the_controller_selects_the_spans_that_the_formula_counts(word: str) -> None:
    history = history_of(word, bulk="seen")
    scores = {i.id: float(i.calls[0].name == "read") for i in history.interactions}
    mask = {i.number: scores[i.id] >= 0.5 for i in history.interactions}
    regions = [[mask[number] for number in region] for region in eligible_regions(history)]
    required = Gates(threshold=0.5).required(history, JUST_AFTER)
    spans = [len(span) for span in selected_runs(history, scores, required)]
    assert span_statistics(regions).spans == len(spans)
    assert span_statistics(regions).selected == sum(spans)


@given(st.lists(st.floats(0, 1, exclude_min=True), min_size=1), st.lists(st.floats(0, 1)))
def test_the_delay_distribution_rises_from_zero_to_one(
    delays: list[float], grid: list[float]
) -> None:
    shares = delay_cdf(delays, sorted([0.0, *grid, 1.0]))
    assert (shares[0], shares[-1]) == (0.0, 1.0)
    assert list(shares) == sorted(shares)


@given(boundary_sets(least=2))
def test_progress_ends_at_the_last_checkpoint_and_starts_with_a_history(
    boundaries: tuple[int | None, ...],
) -> None:
    last = len(boundaries)
    columns = over_progress([drawn(boundaries)], lambda _, checkpoint: checkpoint)
    checkpoints = [checkpoint for (checkpoint,) in columns]
    assert len(checkpoints) == len(PROGRESS)
    assert checkpoints[0] >= 2
    assert checkpoints[-1] == last
    assert checkpoints == sorted(checkpoints)


def test_percentiles_are_the_tenth_the_median_and_the_ninetieth() -> None:
    assert percentiles([x / 10 for x in range(11)]) == pytest.approx((0.1, 0.5, 0.9))
    assert percentiles([0.4]) == (0.4, 0.4, 0.4)


def test_pinned_messages_and_open_calls_part_eligible_regions() -> None:
    assert eligible_regions(history_of("prkprr")) == ((1, 2), (3, 4))
    assert eligible_regions(history_of("prro")) == ((1, 2),)


def test_a_run_with_an_unlabelled_interaction_is_not_drawn() -> None:
    reading = Reading.of(Trajectory("r", tuple(chat_of("prrr", bulk="seen"))))
    labels = labels_of((2, 3, None))["r"]
    whole = labelled_run(reading, labels)
    assert whole is not None
    assert (whole.domain, whole.boundaries) == ("unknown", (2, 3, None))
    positions, delays = zip(*whole.delays(), strict=True)
    assert positions == pytest.approx((1 / 3, 2 / 3))
    assert delays == pytest.approx((1 / 3, 1 / 3))
    del labels[2]
    assert labelled_run(reading, labels) is None


def test_a_run_is_as_long_as_recorded_or_as_its_largest_label() -> None:
    reading = Reading.of(Trajectory("r", tuple(chat_of("prrrr", bulk="seen"))))
    labels = {**labels_of((2, 3)), **labels_of((None,), run="other")}
    assert last_checkpoints(labels, readings={}) == {"r": 2, "other": 1}
    assert last_checkpoints(labels, readings={"r": reading}) == {"r": 4, "other": 1}
    with pytest.raises(BadInput, match="i: is 5 in run 'r', which holds 4 interactions"):
        last_checkpoints(labels_of((2,) * 5), readings={"r": reading})
    with pytest.raises(BadInput, match="i: is 0 in run 'r'; interactions count from one"):
        last_checkpoints({"r": {0: Label("r", 0, 1)}}, readings={})


def invoke(*arguments: object) -> Result:
    return CliRunner().invoke(command, [str(argument) for argument in arguments])


def write(path: Path, *records: Mapping[str, Any]) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def test_stats_prints_the_table_and_writes_the_numbers(tmp_path: Path) -> None:
    files = write(
        tmp_path / "labels.jsonl",
        *({"id": "one", "i": i, "boundary": t} for i, t in ((1, 2), (2, None), (3, None))),
    )
    runs = write(
        tmp_path / "runs.jsonl",
        {"id": "one", "domain": "Web", "style": "tool-calls", "messages": chat_of("prrrr")},
        {"id": "two", "domain": "Web", "style": "tool-calls", "messages": chat_of("prr")},
    )
    done = invoke("stats", files, "--runs", runs, "--json", tmp_path / "n.json")
    assert done.exit_code == 0, done.output
    assert "runs given that have no label: 1" in done.stderr
    lines = {line.rsplit(None, 2)[0]: line.split()[-2:] for line in done.stdout.splitlines()[2:]}
    assert lines["recorded states"] == ["4", "4"]
    assert lines["interaction-state pairs"] == ["6", "6"]
    assert lines["READY pairs"] == ["3", "3"]
    assert lines["without a boundary"] == ["2", "2"]
    numbers = json.loads((tmp_path / "n.json").read_text())
    assert numbers["Web"]["prevalence"] == 0.5


@pytest.mark.parametrize(
    ("lines", "sentence"),
    [
        ("", "holds no label"),
        ('{"id": "r", "i": 1}', "line 1, boundary: is missing"),
        ('{"id": "r", "i": 3, "boundary": 3}', "line 1, boundary: is 3, not after"),
        ('{"id": "r", "i": 0, "boundary": 3}', "i: is 0 in run 'r'"),
    ],
)
def test_labels_that_cannot_be_used_are_named(lines: str, sentence: str, tmp_path: Path) -> None:
    path = tmp_path / "labels.jsonl"
    path.write_text(lines)
    problem = invoke("stats", path).exception
    assert isinstance(problem, BadInput)
    assert str(problem).startswith(str(path))
    assert sentence in str(problem)


def test_runs_without_any_labelled_one_and_runs_given_twice_are_refused(tmp_path: Path) -> None:
    files = write(tmp_path / "labels.jsonl", {"id": "one", "i": 1, "boundary": 2})
    run = {"id": "one", "style": "tool-calls", "messages": chat_of("prr")}
    other = write(tmp_path / "other.jsonl", {**run, "id": "two"})
    twice = write(tmp_path / "twice.jsonl", run, run)
    assert "other.jsonl: holds no labelled run" in str(
        invoke("stats", files, "--runs", other).exception
    )
    assert "the run 'one' occurs twice" in str(invoke("stats", files, "--runs", twice).exception)


@needs_shared_data
def test_the_expert_labels_hold_what_their_table_says() -> None:
    labels = read_labels(LABELS)
    table = supervision(labels, last_checkpoints(labels, readings={}))
    assert (table.trajectories, table.interactions, table.boundaries) == (100, 2410, 2153)
    assert table.pairs == 30_709
    assert table.prevalence == pytest.approx(0.817, abs=5e-4)
    assert table.settled_prevalence == pytest.approx(0.882, abs=5e-4)
    assert table.median_delay == 2
    assert table.mean_delay == pytest.approx(3.35, abs=5e-3)
    assert invoke("stats", LABELS, "--runs", RUNS).exit_code == 0
