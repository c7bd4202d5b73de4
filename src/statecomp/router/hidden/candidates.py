"""The vectors of a checkpoint online: h_i of each surviving interaction, and q_k.

Where a vector does not depend on the state it is read once, and kept while its interaction is in
use.  Where it does (the target behind the current state), the state is read first, extended where
it only grew, and the targets in batches behind it; those that were not refreshed for longest come
first, so that a time limit starves none.  What is kept counts against the memory of the process.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import takewhile
from typing import Final, Protocol, TypeAlias

import numpy as np

from statecomp.features import view
from statecomp.features.constructions import GROWING, ViewBudget
from statecomp.features.encoder import Floats, FrozenEncoder
from statecomp.features.states import ReaderSettings, StateReader
from statecomp.history.history import History
from statecomp.history.interaction import Interaction
from statecomp.recent import Weighed

MayGoOn: TypeAlias = Callable[[], bool]
REMEMBERED: Final = 4_096
STATES: Final = 1_024
TEXTS: Final = 256
"""Texts kept as tokens."""
TOKEN_BYTES: Final = 40
"""A number, its place in a list, and the letters it stands for."""
AT_ONCE: Final = 4
"""Targets between two looks at the clock."""
NEVER: Final[tuple[int, Floats]] = (0, np.zeros(0, np.float32))
"""What is known of an interaction that was never read."""


@dataclass(frozen=True, slots=True)
class CandidateVectors:
    """The rows are in the order of the history; those of `stale` ids are of an earlier state.

    An interaction that there was no time for at all has no row.
    """

    ids: tuple[str, ...]
    candidates: Floats  # (n, d)
    current: Floats  # (d,)
    stale: frozenset[str] = frozenset()


class Candidates(Protocol):
    def read(self, history: History, may_go_on: MayGoOn) -> CandidateVectors:
        """Raises TimeoutError where there was no time to learn what the current state is."""
        ...


def candidates_of(encoder: FrozenEncoder, construction: str, budget: ViewBudget) -> Candidates:
    if construction in GROWING:
        return Growing(encoder, budget)
    return Behind(encoder, budget) if budget.recent else Alone(encoder, budget)


class Growing:
    """`once` and `full`: the run is read as it grows."""

    def __init__(self, encoder: FrozenEncoder, budget: ViewBudget) -> None:
        settings = ReaderSettings(budget.window, budget.overlap, REMEMBERED)
        self._reader = StateReader(encoder, settings)

    def read(self, history: History, may_go_on: MayGoOn) -> CandidateVectors:
        found = self._reader.read(history, may_go_on)
        return CandidateVectors(found.ids, found.candidates, found.current)


class Alone:
    """`local`: each target by itself; the latest says where the agent is, and is read first."""

    def __init__(self, encoder: FrozenEncoder, budget: ViewBudget) -> None:
        self._encoder, self._limit = encoder, budget.target
        self._vectors: Weighed[str, Floats] = Weighed(REMEMBERED, lambda vector: vector.nbytes)

    def read(self, history: History, may_go_on: MayGoOn) -> CandidateVectors:
        known = {i.id: self._vectors.get(i.id) for i in history.interactions}
        unread = [i for i in reversed(history.interactions) if known[i.id] is None]
        for some in _chunks(unread):
            if not may_go_on():
                break
            views = [view.local(i, self._encoder.tokenize, self._limit).ids for i in some]
            for target, vector in zip(some, self._encoder.encode(views), strict=True):
                known[target.id] = self._vectors.put(target.id, vector.copy())
        current = known[history.interactions[-1].id]
        if current is None:
            raise TimeoutError
        rows = {name: vector for name, vector in known.items() if vector is not None}
        return CandidateVectors(tuple(rows), np.stack([*rows.values()]), current)


class Behind:
    """`recent2`, `recent4` and `capped-recent4`: each target behind the current state."""

    def __init__(self, encoder: FrozenEncoder, budget: ViewBudget) -> None:
        self._encoder, self._budget = encoder, budget
        # Some texts hold tens of thousands of tokens.
        self._texts: Weighed[str, view.Ids] = Weighed(TEXTS, lambda ids: TOKEN_BYTES * len(ids))
        self._tape = encoder.tape()
        self._read_last: Floats = NEVER[1]
        self._met = 0
        # States are numbered as they are met; each with its q_k.
        self._states: Weighed[bytes, tuple[int, Floats]] = Weighed(STATES, _bytes_of)
        # Each vector with the state behind which it was read: it is fresh only there.
        self._vectors: Weighed[str, tuple[int, Floats]] = Weighed(REMEMBERED, _bytes_of)

    def read(self, history: History, may_go_on: MayGoOn) -> CandidateVectors:
        base = view.state(history, self._tokens, self._budget.recent, self._budget.base).ids
        state, current = self._state(base, may_go_on)
        known = {i.id: self._vectors.get(i.id) or NEVER for i in history.interactions}
        late = [i for i in history.interactions if known[i.id][0] != state]
        for some in _chunks(sorted(late, key=lambda target: known[target.id][0])):
            if not may_go_on():
                break
            self._approach(base)
            targets = [view.local(i, self._tokens, self._budget.target).ids for i in some]
            vectors = self._encoder.encode_after(self._tape, targets)  # (some, d)
            for target, vector in zip(some, vectors, strict=True):
                known[target.id] = self._vectors.put(target.id, (state, vector.copy()))
        rows = {name: vector for name, (_, vector) in known.items() if len(vector)}
        stale = frozenset(name for name in rows if known[name][0] != state)
        candidates = np.array([*rows.values()], np.float32).reshape(-1, len(current))  # (n, d)
        return CandidateVectors(tuple(rows), candidates, current, stale)

    def _state(self, base: Sequence[int], may_go_on: MayGoOn) -> tuple[int, Floats]:
        key = sha256(np.array(base, np.int64).tobytes()).digest()
        known = self._states.get(key)
        if known is None:
            if not may_go_on():
                raise TimeoutError
            self._met += 1
            known = self._states.put(key, (self._met, self._approach(base)))
        return known

    def _tokens(self, text: str) -> view.Ids:
        known = self._texts.get(text)
        return self._texts.put(text, self._encoder.tokenize(text)) if known is None else known

    def _approach(self, base: Sequence[int]) -> Floats:
        """Brings the tape to this state, and reads its last token; what begins alike is kept."""
        here = zip(self._tape.ids, base[:-1], strict=False)
        same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], here))
        if same == len(base) - 1 and self._tape.ids == [*base]:
            return self._read_last
        try:
            self._tape.crop(same)
            new = base[len(self._tape) :]
            self._read_last = self._tape.extend(new, only_last=True)[0].copy()  # (d,)
        except BaseException:
            # The tape may hold half a state.
            self._tape.clear()
            raise
        return self._read_last


def _chunks(targets: Sequence[Interaction]) -> Iterator[Sequence[Interaction]]:
    for start in range(0, len(targets), AT_ONCE):
        yield targets[start : start + AT_ONCE]


def _bytes_of(read: tuple[int, Floats]) -> int:
    return read[1].nbytes
