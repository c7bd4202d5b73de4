"""Evidence that an interaction has served, read off the effective history before the next action.

How old and how large it is, what kind of step it was, how much of it was restated, used, shown
again or stands nowhere else, and what the agent is doing now.  Only what stands in the history is
used: neither its future nor any label.
"""

from __future__ import annotations

from collections.abc import Mapping
from threading import Lock
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from statecomp.features.evidence_look import LOOK_NAMES, Looks
from statecomp.features.evidence_state import HistoryState
from statecomp.features.overlap import Array, Overlap, share
from statecomp.history.history import History
from statecomp.history.kinds import KINDS
from statecomp.recent import Weighed

_KINDS_NOW = " ".join(f"now_{kind}" for kind in KINDS)
_BEFORE = " ".join(f"before_{kind}" for kind in KINDS)
_GROUPS = {
    "age": "age_log age_inverse position number_log checkpoint_log",
    "look": " ".join(LOOK_NAMES),
    "size": "size_share identifiers_log words_log",
    "task": "task_words task_identifiers action_task_words",
    "covered": "words_covered words_left identifiers_covered identifiers_left action_covered "
    "action_left words_gained words_drawn identifiers_gained",
    "used": "words_restated words_best words_recent words_late words_use_age identifiers_restated "
    "identifiers_best identifiers_recent identifiers_late identifiers_use_age",
    "sole": "words_fresh words_sole words_sole_share identifiers_sole",
    "again": "words_shown identifiers_shown shown_before same_request same_tool same_tool_share "
    "nothing_worked nothing_open nothing_passed target_age words_alike action_again target_again "
    "words_taken",
    "around": f"{_BEFORE} before_alike next_settled next_trouble next_plans next_nothing "
    "next_alike next_target second_prose",
    "near": "reply_words reply_identifiers words_now words_beside target_now",
    "since": "longest_action longest_prose next_action next_observed prose_since observed_since "
    "settled_since trouble_since edits_since nothings_since",
    "state": f"{_KINDS_NOW} now_nothing now_action now_prose "
    "task_done tools since_user batch size_log",
}
GROUPS: Mapping[str, tuple[str, ...]] = {
    group: tuple(names.split()) for group, names in _GROUPS.items()
}
"""The features by what they tell; a study leaves out one group at a time."""

NAMES: tuple[str, ...] = tuple(name for group in GROUPS.values() for name in group)
"""The columns of the matrix, in order; what is trained on them stores these names."""

REMEMBERED, HISTORIES = 4_096, 32
"""Interactions whose reading is kept, and histories that are followed at a time."""


class EvidenceReader:
    """Reads evidence; what it has read of a history it does not read again."""

    NAMES: ClassVar[tuple[str, ...]] = NAMES

    def __init__(self, remembered: int = REMEMBERED, histories: int = HISTORIES) -> None:
        self._looks = Looks(remembered)
        self._standing: Weighed[str, HistoryState] = Weighed(histories, HistoryState.weight)
        self._lock = Lock()

    def read(self, history: History) -> tuple[tuple[str, ...], NDArray[np.float32]]:
        """The ids of the surviving interactions, and a row of NAMES for each of them."""
        with self._lock:
            standing = self._followed(history)
            return tuple(standing.ids), _matrix(standing, history.checkpoint)

    def _followed(self, history: History) -> HistoryState:
        # Forks of one run share their first interaction: the last one read is the one continued.
        first = history.interactions[0].id if history.interactions else ""
        standing = self._standing.get(first)
        if standing is None or not standing.fits(history):
            # After a rewrite the counts start over, from readings that are remembered.
            standing = HistoryState(self._looks)
        standing.follow(history)
        return self._standing.put(first, standing)  # anew, because it has grown


def _matrix(standing: HistoryState, checkpoint: int) -> NDArray[np.float32]:
    count = standing.columns.count
    if not count:
        return np.zeros((0, len(NAMES)), np.float32)  # (0, features)
    age = np.maximum(1.0, checkpoint - standing.columns["number"])  # (n,)
    columns = (
        {name: standing.columns[name] for name in LOOK_NAMES}
        | _age(standing, age, checkpoint)
        | _history(standing, age)
        | _atoms("words", standing.words, checkpoint)
        | _atoms("identifiers", standing.identifiers, checkpoint)
        | _again(standing, age, checkpoint)
        | {name: np.full(count, value) for name, value in _state(standing).items()}
    )
    return np.stack([columns[name] for name in NAMES], axis=1).astype(np.float32)  # (n, features)


def _age(standing: HistoryState, age: Array, checkpoint: int) -> dict[str, Array]:
    number, k = standing.columns["number"], max(2.0, float(checkpoint))
    return {
        "age_log": np.log(age),
        "age_inverse": 1.0 / age,
        "position": np.clip(number / k, 0.0, 1.0),
        "number_log": np.log1p(np.maximum(0.0, number)),
        "checkpoint_log": np.full(len(age), np.log(k)),
    }  # each (n,)


def _atoms(sort: str, overlap: Overlap, checkpoint: int) -> dict[str, Array]:
    held = overlap.columns
    told = held["told"]  # (n,)
    return {
        f"{sort}_log": np.log1p(told),
        f"{sort}_covered": share(told - held["left"], told),
        f"{sort}_left": np.log1p(held["left"]),
        f"{sort}_gained": held["gained"],
        f"{sort}_drawn": held["drawn"],
        f"{sort}_restated": share(told - held["owed"], told),
        f"{sort}_best": held["best"],
        f"{sort}_recent": np.log1p(held["recent"]),
        f"{sort}_late": np.log1p(held["late"]),
        f"{sort}_use_age": np.log(np.maximum(1.0, checkpoint - held["last_use"])),
        f"{sort}_sole": np.log1p(held["sole"]),
        f"{sort}_sole_share": share(held["sole"], told),
        f"{sort}_shown": held["shown"],
        f"{sort}_now": held["now"],
        f"{sort}_beside": held["beside"],
        f"{sort}_alike": held["alike"],
        f"reply_{sort}": held["reply"],
    }  # each (n,)


def _again(standing: HistoryState, age: Array, checkpoint: int) -> dict[str, Array]:
    held = standing.columns
    nothing = held["came_to_nothing"]  # (n,)
    passed = np.maximum(0.0, age - 1.0 - standing.since("nothings"))  # (n,)  steps that worked
    return {
        "same_request": held["same_request"],
        "same_tool": np.log1p(held["same_tool"]),
        "same_tool_share": share(held["same_tool"], age - 1.0),
        "nothing_worked": nothing * held["worked"],
        "nothing_open": nothing * (1.0 - held["worked"]),
        "nothing_passed": nothing * np.log1p(passed),
        "action_again": held["action_again"],
        "target_again": held["target_again"],
        "words_taken": np.log1p(held["words_taken"]),
        "target_age": np.log(np.maximum(1.0, checkpoint - held["target_last"])),
        "target_now": held["target_now"],
        "shown_before": np.clip(held["shown_before"], 0.0, 1.0),
        "words_fresh": held["fresh_words"],
    }  # each (n,)


def _history(standing: HistoryState, age: Array) -> dict[str, Array]:
    held = standing.columns
    plain = ("task_words", "task_identifiers", "action_task_words")
    sizes = (
        "action_left", "longest_action", "longest_prose", "next_action", "next_observed",
        "second_prose",
    )  # fmt: skip
    around = GROUPS["around"][:-1]
    sums = ("prose", "observed", "settled", "trouble", "edits", "nothings")
    return {
        "size_share": share(held["size"], np.full(len(age), held["size"].sum())),
        "action_covered": share(held["action_words"] - held["action_left"], held["action_words"]),
        **{name: held[name] for name in (*plain, *around)},
        **{name: np.log1p(held[name]) for name in sizes},
        **{f"{name}_since": np.log1p(standing.since(name)) for name in sums},
    }  # each (n,)


def _state(standing: HistoryState) -> dict[str, float]:
    """What holds for every row alike: what the agent is at, and how far it has come."""
    latest = standing.latest
    last, steps = latest[-1], len(latest)
    return {
        **{f"now_{kind}": sum(look.kind == kind for look in latest) / steps for kind in KINDS},
        "now_nothing": sum(look.nothing for look in latest) / steps,
        "now_action": float(np.log1p(last.action_chars)),
        "now_prose": float(np.log1p(last.prose_chars)),
        "task_done": len(standing.task_done) / max(1, len(standing.task_words)),
        "tools": float(np.log1p(len(standing.tools))),
        "since_user": float(np.log1p(standing.since_user)),
        "batch": float(np.log1p(standing.batch)),
        "size_log": float(np.log1p(standing.columns["size"].sum())),
    }
