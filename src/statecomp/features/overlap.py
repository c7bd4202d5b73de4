"""Where atoms of one sort (identifiers, or words) stand in a history, counted as it grows.

Each interaction has a row.  Adding one costs what it holds; nothing is ever compared pairwise.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[np.float64]
MANY = 64
"""Of an atom that more interactions hold, only the latest of them are found."""
LATE = 2
"""A use so many steps later is more than the reply to an observation."""
FADE = 0.5
"""How much of a recent use is left a step later; a power of two, so that sums stay exact."""
_GRAIN = 1024
_COLUMNS = "told left owed sole gained drawn recent best shown now beside alike reply late last_use"


class Columns:
    """Named columns that grow by a row at a time."""

    def __init__(self, names: Iterable[str]) -> None:
        self.count = 0
        self._data: dict[str, Array] = {name: np.zeros(16) for name in names}  # (capacity,)

    def append(self, **values: float) -> int:
        """A new row; what is not named starts at zero."""
        row = self.count
        self.count += 1
        for name, column in self._data.items():
            if row == len(column):
                self._data[name] = np.concatenate([column, np.zeros(row)])  # (2 * capacity,)
            self._data[name][row] = values.get(name, 0.0)
        return row

    def __getitem__(self, name: str) -> Array:
        """The rows there are; writing into it writes into the column."""
        return self._data[name][: self.count]  # (n,)


class Waiting:
    """For each atom the last row that holds it, until the atom is seen again."""

    def __init__(self) -> None:
        self._row: dict[str, int] = {}

    def see(self, atoms: Iterable[str], count: int) -> Array:
        """How many atoms of each row are seen again now."""
        return tally([self._row.pop(a) for a in atoms if a in self._row], count)  # (n,)

    def enter(self, atoms: Iterable[str], row: int) -> None:
        self._row.update(dict.fromkeys(atoms, row))


class Holders:
    """For each atom, the last rows that hold it."""

    def __init__(self) -> None:
        # Tuples of numbers: small, and nothing the garbage collector has to follow.
        self._rows: dict[str, tuple[int, ...]] = {}

    def count(self, atoms: Iterable[str], count: int) -> Array:
        """How many of the atoms each row holds."""
        found = (self._rows.get(a, ()) for a in atoms)
        return tally(list(chain.from_iterable(found)), count)  # (n,)

    def share(self, atoms: Iterable[str], count: int) -> Array:
        """The same, where an atom counts less the more rows hold it."""
        found = [rows for a in atoms if (rows := self._rows.get(a))]
        # Whole grains: the sum must not depend on the order of a set.
        grains = [_GRAIN // len(rows) for rows in found for _ in rows]
        hits = np.array(list(chain.from_iterable(found)), dtype=np.intp)  # (hits,)
        return np.bincount(hits, np.array(grains, float), count) / _GRAIN  # (n,)

    def enter(self, atoms: Iterable[str], row: int) -> None:
        here, rows = (row,), self._rows
        for atom in atoms:
            before = rows.get(atom)
            rows[atom] = here if before is None else (*before[1 - MANY :], row)


def tally(rows: list[int], count: int) -> Array:
    return np.bincount(np.array(rows, dtype=np.intp), minlength=count).astype(float)  # (n,)


def jaccard(shared: Array, sizes: Array, size: int) -> Array:
    """Of what two sets hold together, the part that both hold."""
    return shared / np.maximum(1.0, sizes + size - shared)  # (n,)


def share(part: Array, whole: Array) -> Array:
    """Of nothing, nothing."""
    return np.clip(part / np.maximum(whole, 1.0), 0.0, 1.0)  # (n,)


class Overlap:
    """One sort of atoms: what of each observation was seen, restated, used or shown since.

    told         atoms of the observation            left       of these, not seen since
    owed         not in the agent's words since      sole       standing nowhere else at all
    gained       seen again in the last step         drawn      the same, fading with time
    recent       uses of late, fading; rare atoms count more
    best         most of it in the agent's words at once
    shown        most of it in one later observation
    now, beside  cosine with the agent's last words, and with the last observation
    alike        the nearest that any later observation came, by the same cosine
    reply        cosine with the words that answered it
    late         late steps in the agent's words that use what it brought into the history
    last_use     the number of the last step that does, or its own
    """

    def __init__(self) -> None:
        self.columns = Columns(_COLUMNS.split())
        self.known: set[str] = set()
        self._left, self._alone = Waiting(), Waiting()
        self._owed: dict[str, int | list[int]] = {}  # mostly one row
        self._holders = Holders()
        self._first: dict[str, int] = {}

    def note(self, atoms: frozenset[str]) -> None:
        """A pinned message or a summary: a source like any other, but in nobody's words."""
        self._see(atoms)
        self.known |= atoms

    def add(
        self, own: frozenset[str], told: frozenset[str], number: int, numbers: Array
    ) -> tuple[float, float]:
        """The next interaction; `numbers` are those of the rows before it.

        Returns which share of what it was told is new, and which one earlier observation held.
        """
        columns, count = self.columns, self.columns.count
        seen = self._see(own | told)  # (n,)
        columns["gained"][:] = share(seen, columns["told"])
        columns["drawn"][:] = FADE * columns["drawn"] + columns["gained"]
        self._restate(own)
        self._use(own, number, numbers)
        again = self._show(told)
        fresh = told - self.known - own
        brought = (own | told) - self.known
        row = columns.append(
            told=len(told), left=len(told), owed=len(told), sole=len(brought), last_use=number
        )
        for waiting, atoms in ((self._left, told), (self._alone, brought)):
            waiting.enter(atoms, row)
        self._owe(told, row)
        self._holders.enter(told, row)
        self._first.update(dict.fromkeys(brought, row))
        self.known |= brought
        before = float(again.max()) if count else 0.0
        return len(fresh) / max(1, len(told)), before / max(1, len(told))

    def _see(self, atoms: frozenset[str]) -> Array:
        columns, count = self.columns, self.columns.count
        seen = self._left.see(atoms, count)  # (n,)
        columns["left"][:] -= seen
        columns["sole"][:] -= self._alone.see(atoms, count)
        return seen

    def _restate(self, own: frozenset[str]) -> None:
        rows: list[int] = []
        for owed in (self._owed.pop(atom) for atom in own if atom in self._owed):
            rows.append(owed) if isinstance(owed, int) else rows.extend(owed)
        self.columns["owed"][:] -= tally(rows, self.columns.count)

    def _owe(self, told: frozenset[str], row: int) -> None:
        for atom in told:
            before = self._owed.setdefault(atom, row)
            if isinstance(before, list):
                before.append(row)
            elif before != row:
                self._owed[atom] = [before, row]

    def _use(self, own: frozenset[str], number: int, numbers: Array) -> None:
        columns, count = self.columns, self.columns.count
        used = self._holders.count(own, count)  # (n,)
        np.maximum(columns["best"], share(used, columns["told"]), out=columns["best"])
        columns["now"][:] = used / np.sqrt(np.maximum(1.0, columns["told"]) * max(1, len(own)))
        if count:
            columns["reply"][-1] = columns["now"][-1]
        columns["recent"][:] = FADE * columns["recent"] + self._holders.share(own, count)
        drawn = tally([self._first[atom] for atom in own if atom in self._first], count)  # (n,)
        columns["late"][:] += (drawn > 0) & (number - numbers >= LATE)
        columns["last_use"][drawn > 0] = number

    def _show(self, told: frozenset[str]) -> Array:
        columns = self.columns
        again = self._holders.count(told, columns.count)  # (n,)
        np.maximum(columns["shown"], share(again, columns["told"]), out=columns["shown"])
        either = np.maximum(1.0, columns["told"]) * max(1, len(told))  # (n,)
        columns["beside"][:] = again / np.sqrt(either)
        np.maximum(columns["alike"], columns["beside"], out=columns["alike"])
        return again
