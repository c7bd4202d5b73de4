"""What the shipped router learned from, as numbers in a small file: no text, and no name of a run.

Each column of the features is cut at its quantiles into at most 256 levels, one byte a value: trees
look no closer, and networks hardly do.  Ten sessions of a user then do not forget three hundred.
"""

from __future__ import annotations

from functools import lru_cache
from importlib.resources import files
from io import BytesIO
from typing import Final
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from statecomp.errors import BadInput
from statecomp.features.evidence import NAMES
from statecomp.router.pairs import Features, Pairs

FILE: Final = "supervision.npz"
LEVELS: Final = 256
UNSAID: Final = 255
"""In the byte of a forecast: nobody said anything of this pair."""
PERCENT: Final = 250
"""Steps of a forecast between 0 and 1."""
TRUSTED: Final = "expert"
"""The part of the runs whose labels calibrate; those of the others are learned from alone."""


def packed(pairs: Pairs, trusted: frozenset[str], names: tuple[str, ...] = NAMES) -> bytes:
    """The pairs as a file; runs and tasks become numbers."""
    levels = np.stack([_levels(column) for column in pairs.x.T])  # (width, LEVELS)
    places = {name: place for place, name in enumerate(dict.fromkeys(pairs.groups))}
    foreseen = pairs.foreseen if pairs.foreseen is not None else np.full(len(pairs), np.nan)
    said = np.where(np.isnan(foreseen), UNSAID, np.rint(np.nan_to_num(foreseen) * PERCENT))
    out = BytesIO()
    np.savez_compressed(
        out,
        names=np.array(names),
        levels=levels.astype(np.float32),
        # By column, so that like stands beside like and packs well.
        codes=np.stack([_code(c, w) for c, w in zip(pairs.x.T, levels, strict=True)]),
        ready=np.packbits(pairs.ready),
        foreseen=said.astype(np.uint8),
        run=pairs.run.astype(np.uint16),
        number=pairs.number.astype(np.uint16),
        checkpoint=pairs.checkpoint.astype(np.uint16),
        group=np.array([places[name] for name in pairs.groups], np.uint16),
        domain=np.array(pairs.domains),
        length=np.array(pairs.lengths, np.uint16),
        trusted=np.array([name in trusted for name in pairs.runs]),
    )
    return out.getvalue()


def _levels(column: Features) -> NDArray[np.float64]:
    """Values that stand for all of a column: each distinct one where they are few."""
    found = np.unique(column).astype(np.float64)  # (distinct,)
    if len(found) > LEVELS:
        found = np.unique(np.quantile(column, np.linspace(0.0, 1.0, LEVELS)))
    return np.pad(found, (0, LEVELS - len(found)), mode="edge")  # (LEVELS,)


def _code(column: Features, levels: NDArray[np.float64]) -> NDArray[np.uint8]:
    """For each value the nearest level."""
    above = np.clip(np.searchsorted(levels, column), 1, LEVELS - 1)  # (pairs,)
    nearer = np.abs(column - levels[above - 1]) <= np.abs(column - levels[above])
    return np.where(nearer, above - 1, above).astype(np.uint8)


def unpacked(data: bytes) -> tuple[Pairs, frozenset[str]]:
    """The pairs, and which of their runs are trusted; BadInput where the file is another."""
    try:
        with np.load(BytesIO(data), allow_pickle=False) as found:
            kept = {name: found[name] for name in found.files}
        if tuple(kept["names"]) != NAMES:
            problem = "holds other features than this version reads; run benchmarks/supervision.py"
            raise BadInput(problem, file=FILE)
        return _pairs(kept)
    except (OSError, ValueError, KeyError, EOFError, BadZipFile) as error:
        raise BadInput("is cut off, or holds no supervision", file=FILE) from error


def _pairs(kept: dict[str, NDArray[np.generic]]) -> tuple[Pairs, frozenset[str]]:
    levels, codes = kept["levels"], kept["codes"]  # (width, LEVELS), (width, pairs)
    x = np.stack([level[code] for level, code in zip(levels, codes, strict=True)], axis=1)
    count = len(kept["run"])
    foreseen = kept["foreseen"].astype(np.float64)  # (pairs,)
    runs = tuple(f"{TRUSTED if own else 'more'}-{n:03}" for n, own in enumerate(kept["trusted"]))
    pairs = Pairs(
        x=np.ascontiguousarray(x, np.float32),  # (pairs, width)
        ready=np.unpackbits(kept["ready"].astype(np.uint8))[:count].astype(np.bool_),
        run=kept["run"].astype(np.int32),
        number=kept["number"].astype(np.int32),
        checkpoint=kept["checkpoint"].astype(np.int32),
        runs=runs,
        groups=tuple(f"shipped-{place}" for place in kept["group"]),
        domains=tuple(map(str, kept["domain"])),
        lengths=tuple(int(length) for length in kept["length"].astype(np.int64)),
        foreseen=np.where(foreseen == UNSAID, np.nan, foreseen / PERCENT),
    )
    return pairs, frozenset(name for name in runs if name.startswith(TRUSTED))


@lru_cache(maxsize=1)
def shipped() -> tuple[Pairs, frozenset[str]]:
    path = files("statecomp").joinpath("bundles", "default", FILE)
    try:
        return unpacked(path.read_bytes())
    except OSError as error:
        raise BadInput("is not there; install statecomp again", file=FILE) from error
