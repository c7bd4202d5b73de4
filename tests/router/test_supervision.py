"""Labelled runs to pairs, and scores with reasons a person can argue with."""

from __future__ import annotations

import numpy as np
import pytest

from statecomp.annotation.labels import Label
from statecomp.errors import BadInput
from statecomp.features.evidence import EvidenceReader
from statecomp.router.scorer import reasons
from statecomp.router.shipped import open_bundle, open_scorer
from statecomp.router.supervision import features_of, prefixes, supervised_pairs
from tests.annotation.test_records import reading_of

RUN = reading_of("ls shows a.txt and b.txt", "a.txt holds 4711", "done", "bye")
LABELS = {"run": {n: Label("run", n, n + 2 if n < 3 else None) for n in range(1, 5)}}


def test_every_checkpoint_sees_what_stood_before_it_and_nothing_else() -> None:
    seen = [(k, prefix.checkpoint, len(prefix.interactions)) for k, prefix in prefixes(RUN)]
    assert seen == [(2, 2, 1), (3, 3, 2), (4, 4, 3)]


def test_a_run_of_t_interactions_has_a_row_for_every_pair() -> None:
    pairs = supervised_pairs([RUN], LABELS, EvidenceReader)
    rows = list(zip(pairs.number.tolist(), pairs.checkpoint.tolist(), strict=True))
    assert rows == [(1, 2), (1, 3), (2, 3), (1, 4), (2, 4), (3, 4)]
    assert pairs.ready.tolist() == [False, True, False, True, True, False]
    assert pairs.x.shape == (6, len(EvidenceReader.NAMES))
    assert pairs.lengths == (4,)


def test_reading_a_run_twice_gives_the_same_rows() -> None:
    first, _, _ = features_of(RUN, EvidenceReader())
    second, _, _ = features_of(RUN, EvidenceReader())
    assert np.array_equal(first, second)


def test_labels_of_other_runs_are_refused_in_one_sentence() -> None:
    with pytest.raises(BadInput, match="none of the runs has a label"):
        supervised_pairs([RUN], {"another": LABELS["run"]}, EvidenceReader)
    with pytest.raises(BadInput, match="hold none for interaction 2 of run 'run'"):
        supervised_pairs([RUN], {"run": {1: LABELS["run"][1]}}, EvidenceReader)


def test_the_shipped_router_scores_what_it_is_given() -> None:
    *_, (_, prefix) = prefixes(RUN)
    scores = open_scorer().score(prefix)
    assert list(scores) == [i.id for i in prefix.interactions]
    assert all(0.0 < score < 1.0 for score in scores.values())


def test_reasons_name_the_features_that_move_a_score() -> None:
    bundle = open_bundle()
    *_, (_, prefix) = prefixes(RUN)
    _, x = EvidenceReader().read(prefix)
    for row, found in zip(x, reasons(bundle, x, top=2), strict=True):
        assert len(found) <= 2
        for reason in found:
            column = bundle.features.index(reason.feature)
            assert reason.value == pytest.approx(float(row[column]))
            typical = x.copy()
            typical[:, column] = np.median(x, axis=0)[column]
            place = [np.array_equal(row, other) for other in x].index(True)
            moved = bundle.router.logits(x)[place] - bundle.router.logits(typical)[place]
            assert reason.push == pytest.approx(float(moved))
