"""The shipped supervision: numbers only, small, and what was packed comes back."""

from __future__ import annotations

from importlib.resources import files

import numpy as np
import pytest

from statecomp.errors import BadInput
from statecomp.features.evidence import NAMES
from statecomp.learning.supervision import FILE, packed, shipped, unpacked
from statecomp.router.pairs import Pairs


def pairs_of(rows: int = 400) -> Pairs:
    random = np.random.default_rng(0)
    number = random.integers(1, 9, rows).astype(np.int32)
    foreseen = random.random(rows)
    foreseen[::7] = np.nan
    return Pairs(
        x=random.normal(size=(rows, len(NAMES))).astype(np.float32),
        ready=random.random(rows) < 0.7,
        run=np.repeat(np.arange(4, dtype=np.int32), rows // 4),
        number=number,
        checkpoint=number + 2,
        runs=("alpha", "beta", "gamma", "delta"),
        groups=("one", "one", "two", "three"),
        domains=("Code", "Code", "Web", "Web"),
        lengths=(9, 9, 12, 12),
        foreseen=foreseen,
    )


def test_what_was_packed_comes_back_nearly_and_no_name_does() -> None:
    pairs = pairs_of()
    data = packed(pairs, frozenset({"alpha", "gamma"}))
    again, trusted = unpacked(data)
    assert np.abs(again.x - pairs.x).max() < 1.0  # in the thin tails of a few values
    assert np.abs(again.x - pairs.x).mean() < 0.01
    for column in ("ready", "run", "number", "checkpoint"):
        assert np.array_equal(getattr(again, column), getattr(pairs, column))
    assert again.foreseen is not None
    assert pairs.foreseen is not None
    assert np.array_equal(np.isnan(again.foreseen), np.isnan(pairs.foreseen))
    assert np.nanmax(np.abs(again.foreseen - pairs.foreseen)) <= 0.002 + 1e-9
    assert again.groups[0] == again.groups[1]
    assert len({*again.groups}) == 3
    assert len(trusted) == 2
    assert b"alpha" not in data


def test_the_shipped_file_is_small_and_whole() -> None:
    pairs, trusted = shipped()
    assert files("statecomp").joinpath("bundles", "default", FILE).is_file()
    assert len(files("statecomp").joinpath("bundles", "default", FILE).read_bytes()) < 3_000_000
    assert len(pairs.runs) == 300
    assert len(trusted) == 100
    assert len(pairs.checked("the shipped pairs")) > 30_000
    assert pairs.foreseen is not None
    assert np.isnan(pairs.foreseen[pairs.age == 1]).all()


@pytest.mark.parametrize(
    "data", [b"", b"PK\x03\x04 cut off", packed(pairs_of(), frozenset())[:900]]
)
def test_a_damaged_file_is_one_sentence(data: bytes) -> None:
    with pytest.raises(BadInput, match="is cut off, or holds no supervision"):
        unpacked(data)


def test_a_file_of_other_features_is_refused() -> None:
    pairs = pairs_of()
    data = packed(pairs, frozenset(), tuple(f"other {n}" for n in range(len(NAMES))))
    with pytest.raises(BadInput, match="holds other features than this version reads"):
        unpacked(data)
