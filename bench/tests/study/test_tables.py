"""The tables: every row of the paper and ours, on the same pairs, with test labels read last."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from statecomp.errors import BadInput
from statecomp.router.cross import Learner
from statecomp.router.folds import rotations
from statecomp.router.trees import TreeSettings
from statecomp.vectors.sample import Sample
from tests.router.test_cross import Seal, TestLabelsRead, sealed
from tests.vectors.made_up import labels_of, runs_of, vectors_of

LIBRARIES = "the study needs statecomp[encoder,learn]"
gru = pytest.importorskip("statecomp.router.hidden.gru", reason=LIBRARIES)
blocks = pytest.importorskip("statecomp.vectors.blocks", reason=LIBRARIES)
compress = pytest.importorskip("statecomp_bench.study.compress", reason=LIBRARIES)
kept = pytest.importorskip("statecomp_bench.study.kept", reason=LIBRARIES)
table = pytest.importorskip("statecomp_bench.study.table", reason=LIBRARIES)
tables = pytest.importorskip("statecomp_bench.study.tables", reason=LIBRARIES)
routers = pytest.importorskip("statecomp_bench.study.routers", reason=LIBRARIES)
shares = pytest.importorskip("statecomp_bench.study.shares", reason=LIBRARIES)
writing = pytest.importorskip("statecomp_bench.study.writing", reason=LIBRARIES)
representations = pytest.importorskip("statecomp_bench.study.representations", reason=LIBRARIES)

RUNS = runs_of()
LABELS = labels_of(RUNS)
VECTORS = vectors_of(RUNS, LABELS)
WIDTH = VECTORS.candidate.shape[1]
CONSTRUCTIONS = ("full", "cut-full", "recent2", "recent4", "local", "capped-recent4", "once")
STUDY = representations.Study(dict.fromkeys(CONSTRUCTIONS, VECTORS), LABELS)
PAIRS = STUDY.pairs(VECTORS.candidate, VECTORS.current)
FOLDS = rotations(PAIRS.catalogue())
GRU = gru.GruSettings(dims=WIDTH, memory=8, hidden=8, epochs=4, learning_rate=1e-2)
TREES = TreeSettings(trees=10, leaves=4)


def with_state() -> Any:
    return STUDY.pairs(blocks.state_column(VECTORS), VECTORS.candidate, VECTORS.current)


def test_the_paper_has_ten_rows_of_representations_and_eleven_of_routers() -> None:
    names = [entry.name for entry in STUDY.entries()]
    assert names[:10] == [name for name, *_ in representations.PAPER]
    assert len(representations.PAPER) == 10
    ours = {"Once", "Once + evidence", "Evidence", "Evidence + similarity, boosted trees"}
    cut = {representations.CUT[0], f"{representations.CUT[0]} + evidence"}
    assert ours | cut <= set(names[10:])
    assert len(routers.paper_rows(64, 0)) == 11


def test_every_row_of_the_paper_is_judged_with_evidence_beside_it_too() -> None:
    rows = {entry.name: entry for entry in STUDY.entries()}
    for name, *_ in representations.PAPER:
        alone, both = (rows[row].pairs().x for row in (name, f"{name} + evidence"))
        np.testing.assert_array_equal(both, np.hstack([alone, blocks.evidence_of(VECTORS)]))
        assert rows[name].learners == rows[f"{name} + evidence"].learners


def test_rows_beside_a_table_of_routers_are_judged_with_it_and_held_against() -> None:
    beside = table.StudyEntry("another", pairs_once, {"t": TREES})
    names = [entry.name for entry in routers.entries(routers.Inputs(pairs_once, pairs_once), 64)]
    with_it = routers.entries(routers.Inputs(pairs_once, pairs_once, [beside]), 64)
    assert [entry.name for entry in with_it] == [*names, "another"]


def test_the_shipped_recipe_learns_from_forecasts_where_there_are_any() -> None:
    said = {RUNS[0].id: {4: (0.25, 0.75)}}
    rows = {entry.name: entry for entry in replace(STUDY, forecasts=said).entries()}
    pairs = rows[representations.SHIPPED_ROW].pairs()
    rows_said = np.flatnonzero(~np.isnan(pairs.foreseen))
    assert [pairs.runs[place] for place in pairs.run[rows_said]] == [RUNS[0].id] * 2
    assert list(pairs.number[rows_said]) == [1, 2]
    assert set(pairs.checkpoint[rows_said]) == {4}
    assert list(pairs.foreseen[rows_said]) == [0.25, 0.75]
    assert rows["Evidence"].pairs().foreseen is None


def test_a_row_by_shares_of_data_and_length_says_each_with_its_spread() -> None:
    entry = table.StudyEntry("trees", pairs_once, {"t": TREES})
    (row,) = shares.judge_shares([entry], 0, table.quiet, (0.5, 1.0))
    assert [*row.notes] == [
        "50% of the runs", "100% of the runs", "short runs", "medium runs", "long runs"
    ]  # fmt: skip
    whole = table.judge_rows([entry], FOLDS)[0].numbers["auroc"]
    assert row.notes["100% of the runs"] == writing.cell(whole)


def test_without_their_vectors_rows_are_left_out() -> None:
    study = representations.Study({"once": VECTORS}, LABELS)
    assert not {e.name for e in study.entries()} & {name for name, *_ in representations.PAPER}


def test_test_labels_are_never_read_before_the_final_evaluation_of_any_row() -> None:
    seal, heard = Seal(FOLDS), []

    def hear(row: str, fold: int, stage: str) -> None:
        heard.append((row, stage))
        seal.hear(fold, stage)

    plain, recurrent = sealed(PAIRS, seal), sealed(with_state(), seal)
    learners: list[tuple[str, Any, Learner]] = [("trees", plain, TREES), ("gru", recurrent, GRU)]
    entries = [
        table.StudyEntry(name, lambda pairs=pairs: pairs, {name: learner})
        for name, pairs, learner in learners
    ]
    rows = table.judge_rows(entries, FOLDS, progress=hear)
    assert [row.name for row in rows] == ["trees", "gru"]
    assert seal.opened == 2 * len(FOLDS)
    assert [stage for _, stage in heard[:2]] == ["choose", "judge"]
    seal.hear(1, "choose")
    with pytest.raises(TestLabelsRead):
        GRU.fit(recurrent.of_runs(FOLDS[0].test), recurrent.of_runs(FOLDS[0].validation))


def test_one_configuration_under_two_names_is_judged_once() -> None:
    heard = []
    same = [table.StudyEntry(name, pairs_once, {"t": TREES}) for name in "ab"]
    rows = table.judge_rows(same, FOLDS, progress=lambda row, fold, stage: heard.append(row))
    assert set(heard) == {"a"}
    assert [row.name for row in rows] == ["a", "b"]
    assert rows[0].pooled == rows[1].pooled


def pairs_once() -> Any:
    return PAIRS


def test_rows_say_how_far_they_lie_from_others_on_the_same_pairs() -> None:
    noise = replace(PAIRS, x=np.random.default_rng(0).normal(size=PAIRS.x.shape).astype(np.float32))
    rows = table.judge_rows(
        [
            table.StudyEntry("knows", pairs_once, {"t": TREES}),
            table.StudyEntry("guesses", lambda: noise, {"t": TREES}),
        ],
        FOLDS,
        against=("knows", "absent"),
    )
    assert rows[0].notes == {"AUROC − knows": ""}
    told = rows[1].notes["AUROC − knows"]
    gap = rows[1].pooled["auroc"] - rows[0].pooled["auroc"]
    assert told.strip("*").startswith(f"{gap:+.3f} (")
    assert told.startswith("**-")  # beyond chance, so in bold


def test_a_stopped_study_goes_on_and_judges_no_row_twice(tmp_path: Path) -> None:
    heard: list[str] = []
    store = kept.Kept(tmp_path / "rows")
    entries = [table.StudyEntry("trees", pairs_once, {"t": TREES})]

    def judged(*more: Any) -> Any:
        return table.judge_rows(
            [*entries, *more],
            FOLDS,
            progress=lambda row, fold, stage: heard.append(row),
            kept=store,
        )

    first = judged()
    assert {*heard} == {"trees"}
    heard.clear()
    again = judged(table.StudyEntry("others", pairs_once, {"t": replace(TREES, trees=3)}))
    assert {*heard} == {"others"}
    assert again[0] == first[0]
    for file in (tmp_path / "rows").iterdir():
        file.write_bytes(b"cut off")
    judged()
    assert "trees" in heard


def test_a_row_of_other_labels_is_another_row() -> None:
    turned = replace(PAIRS, ready=~PAIRS.ready)
    names = {kept.name_of(pairs, FOLDS, {"t": TREES}) for pairs in (PAIRS, turned)}
    assert len(names) == 2


def test_features_do_not_depend_on_labels() -> None:
    turned = {
        run: {i: replace(label, boundary=None) for i, label in known.items()}
        for run, known in LABELS.items()
    }
    other = replace(STUDY, labels=turned)
    for one, two in zip(STUDY.entries()[:3], other.entries()[:3], strict=True):
        assert np.array_equal(one.pairs().x, two.pairs().x)
        assert not two.pairs().ready.any()


def test_a_gru_is_the_same_for_the_same_seed_and_beats_chance() -> None:
    pairs = with_state()
    fold = FOLDS[0]
    parts = pairs.of_runs(fold.train), pairs.of_runs(fold.validation)
    one, two = GRU.fit(*parts), GRU.fit(*parts)
    test = pairs.of_runs(fold.test)
    logit = one.router.logits(test.x)
    np.testing.assert_array_equal(logit, two.router.logits(test.x))
    assert logit[test.ready].mean() > logit[~test.ready].mean() + 0.3


def test_a_gru_scores_a_row_by_its_whole_history_whatever_the_order_of_states() -> None:
    pairs = with_state()
    router = GRU.fit(pairs.of_runs(FOLDS[0].train), pairs.of_runs(FOLDS[0].validation)).router
    logit = router.logits(pairs.x)
    order = np.argsort(-pairs.x[:, 0], kind="stable")
    np.testing.assert_allclose(router.logits(pairs.x[order]), logit[order], atol=1e-5)
    row = int(np.flatnonzero((pairs.checkpoint == 6) & (pairs.number == 5))[0])
    others = pairs.x.copy()
    others[row - 1, 1 : 1 + WIDTH] += 5.0  # its neighbour in the same state
    assert abs(router.logits(others)[row] - logit[row]) > 1e-4
    assert abs(router.logits(others)[row + 5] - logit[row + 5]) < 1e-5


def test_squeezed_vectors_are_fitted_on_training_pairs_and_keep_the_other_columns() -> None:
    projection = compress.fit_projection(PAIRS.x[:, :WIDTH], 2)
    squeezed = projection.apply(PAIRS.x)
    assert squeezed.shape == (len(PAIRS), 2 + WIDTH)
    np.testing.assert_array_equal(squeezed[:, 2:], PAIRS.x[:, WIDTH:])
    np.testing.assert_allclose(
        projection.components @ projection.components.T, np.eye(2), atol=1e-5
    )
    train, validation = PAIRS.of_runs(FOLDS[0].train), PAIRS.of_runs(FOLDS[0].validation)
    fitted = compress.CompressedSettings(TREES, WIDTH, 2).fit(train, validation)
    own = compress.fit_projection(train.x[:, :WIDTH], 2)
    np.testing.assert_array_equal(fitted.router.projection.components, own.components)
    assert fitted.router.logits(PAIRS.x).shape == (len(PAIRS),)


def test_the_top_mean_is_of_the_same_state() -> None:
    mean = blocks.top_mean(VECTORS, top=2)
    state = VECTORS.state
    rows = np.flatnonzero(state == 4)
    held = VECTORS.candidate[rows]
    now = VECTORS.current[rows[0]]
    cosine = held @ now / np.linalg.norm(held, axis=1)
    expected = held[np.argsort(-cosine, kind="stable")[:2]].mean(axis=0)
    np.testing.assert_allclose(mean[rows], np.broadcast_to(expected, (len(rows), WIDTH)), rtol=1e-5)


def test_evidence_stands_at_the_rows_of_its_pairs() -> None:
    some = vectors_of(RUNS[:2], LABELS, Sample(2, 2, seed=3))
    whole = vectors_of(RUNS[:2], LABELS)
    rows = {
        (int(r), int(i), int(k)): n
        for n, (r, i, k) in enumerate(zip(whole.run, whole.number, whole.checkpoint, strict=True))
    }
    asked = [
        rows[int(r), int(i), int(k)]
        for r, i, k in zip(some.run, some.number, some.checkpoint, strict=True)
    ]
    np.testing.assert_array_equal(blocks.evidence_of(some), blocks.evidence_of(whole)[asked])


def test_a_row_is_the_mean_of_its_folds_and_survives_json_markdown_and_latex() -> None:
    entry = table.StudyEntry("100 % & more", lambda: PAIRS, {"t": TREES})
    row = table.judge_rows([entry], FOLDS)[0]
    number = row.numbers["auroc"]
    assert number.folds == 5
    assert 0.7 < number.mean < 1.0
    made = table.StudyTable("A_title", "A caption with k ≥ i+2.", (row,))
    again = table.from_json(json.loads(json.dumps(made.as_json())))
    columns = tables.ROUTER_COLUMNS
    assert writing.markdown(again, columns) == writing.markdown(made, columns)
    assert f"{number.mean:.3f} ± {number.deviation:.3f}" in writing.markdown(made, columns)
    latex = writing.latex(made, columns)
    assert r"100 \% \& more" in latex
    assert "Too small to rank rows" in writing.markdown(made, columns)
    large = replace(row, pooled={**row.pooled, "pairs": 9_000, "ready": 8_000})
    assert writing.warning(table.StudyTable("t", "c", (large,))) == ""
    assert r"A\_title" in latex
    assert latex.count(r"\\") == 2


def test_unlike_pairs_and_foreign_labels_are_one_sentence_each() -> None:
    other = vectors_of(RUNS, LABELS, Sample(2, None))
    with pytest.raises(BadInput, match="once and local were not read at the same pairs"):
        representations.Study({"once": VECTORS, "local": other}, LABELS)
    with pytest.raises(BadInput, match="there are no features to compare"):
        representations.Study({}, LABELS)
    fewer = {run: known for run, known in LABELS.items() if run != "run-03"}
    with pytest.raises(BadInput, match="hold none for run 'run-03', whose features were given"):
        representations.Study({"once": VECTORS}, fewer).entries()[0].pairs()
    short = {run: {1: known[1]} for run, known in LABELS.items()}
    with pytest.raises(BadInput, match="hold none for interaction 2 of run"):
        representations.Study({"once": VECTORS}, short).entries()[0].pairs()
    with pytest.raises(BadInput, match="none of the runs has a label"):
        tables.evidence_router_table({run.id: run for run in RUNS}, {}, Sample(2))
