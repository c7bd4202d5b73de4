"""What stands in a history, counted as it grows: one row for each surviving interaction."""

from __future__ import annotations

from collections import deque

import numpy as np

from statecomp.features.evidence_look import LOOK_NAMES, Looks, SegmentLook
from statecomp.features.overlap import (
    Array,
    Columns,
    Holders,
    Overlap,
    Waiting,
    jaccard,
    share,
    tally,
)
from statecomp.history.facts import facts_of
from statecomp.history.history import History
from statecomp.history.interaction import Interaction, Pinned, Segment
from statecomp.history.kinds import KINDS

STATE_STEPS = 3
"""How many steps make up what the agent is doing now."""
ATOM_BYTES, ROW_BYTES = 450, 2_000
"""What a word or identifier takes in all the tables it stands in, and a row of all columns."""
_COLUMNS = (
    "number size action_words action_left target_last target_now fresh_words shown_before "
    "task_words task_identifiers action_task_words same_request same_tool worked "
    "longest_action longest_prose next_action next_observed next_settled next_trouble next_plans "
    "next_nothing next_alike next_target second_prose before_alike action_again targets "
    "target_again words_taken "
    "prose observed settled trouble edits nothings toolset"
)


_BEFORE = tuple(f"before_{kind}" for kind in KINDS)


class HistoryState:
    """Follows one history; `fits` says whether another one continues it."""

    def __init__(self, looks: Looks) -> None:
        self.segments: tuple[Segment, ...] = ()
        self.whole = True
        self.ids: list[str] = []
        self.columns = Columns((*_COLUMNS.split(), *_BEFORE, *LOOK_NAMES))
        self.latest: deque[SegmentLook] = deque(maxlen=STATE_STEPS)
        self.identifiers, self.words = Overlap(), Overlap()
        self.tools: set[str] = set()
        self.since_user, self.batch = 0, 0
        self.task_words, self.task_identifiers = set[str](), set[str]()
        self.task_done = set[str]()
        self._looks = looks
        self._actions, self._targets = Waiting(), Holders()
        self._phrased = Holders()
        self._news: dict[str, int] = {}
        self._requests: dict[tuple[object, ...], list[int]] = {}
        self._toolsets: dict[frozenset[str], int] = {}

    def weight(self) -> int:
        """Bytes it takes, about: counted once for a made-up history of many words."""
        atoms = len(self.words.known) + len(self.identifiers.known)
        return ATOM_BYTES * atoms + ROW_BYTES * (16 + self.columns.count)

    def fits(self, history: History) -> bool:
        """Whether this is a beginning of that history."""
        mine, theirs = self.segments, history.segments
        if not self.whole or len(mine) > len(theirs):
            return False
        return all(a is b or a == b for a, b in zip(mine, theirs, strict=False))

    def follow(self, history: History) -> None:
        """Read what is new; stopped halfway, it fits no history any more."""
        self.whole = False
        for segment in history.segments[len(self.segments) :]:
            if isinstance(segment, Interaction):
                self._add(segment)
            else:
                self._note(segment)
        self.segments, self.whole = history.segments, True

    def _note(self, segment: Segment) -> None:
        held, words = facts_of(segment).observed, self._looks.words_of(segment)
        self.identifiers.note(held)
        self.words.note(words)
        self.columns["action_left"][:] -= self._actions.see(words, self.columns.count)
        if isinstance(segment, Pinned):
            self.since_user = 0
            self.task_words |= words
            self.task_identifiers |= held

    def _add(self, interaction: Interaction) -> None:
        look, number = self._looks.of(interaction), interaction.number
        numbers = self.columns["number"]
        self._since(look, number)
        self._again(look)
        news = look.told_words - self.words.known - look.own_words
        self.identifiers.add(look.own, look.told, number, numbers)
        fresh, before = self.words.add(look.own_words, look.told_words, number, numbers)
        row = self.columns.append(
            number=number,
            size=look.chars,
            action_words=len(look.action_words),
            action_left=len(look.action_words),
            target_last=number,
            fresh_words=fresh,
            shown_before=before,
            task_words=_part(look.told_words, self.task_words),
            task_identifiers=_part(look.told, self.task_identifiers),
            action_task_words=_part(look.action_words, self.task_words),
            toolset=self._toolsets.setdefault(look.tools, len(self._toolsets)),
            targets=len(look.own),
            **self._before(),
            **self._totals(look),
            **dict(zip(LOOK_NAMES, look.values, strict=True)),
        )
        self._actions.enter(look.action_words, row)
        self._targets.enter(look.own, row)
        self._phrased.enter(look.action_words, row)
        self._news.update(dict.fromkeys(news, row))
        self._requests.setdefault(look.request, []).append(row)
        self.ids.append(interaction.id)
        self._now(look)

    def _since(self, look: SegmentLook, number: int) -> None:
        """What this step does to the rows before it."""
        columns, count = self.columns, self.columns.count
        columns["action_left"][:] -= self._actions.see(look.own_words | look.told_words, count)
        columns["same_request"][self._requests.pop(look.request, [])] = 1.0
        sharing = [code for tools, code in self._toolsets.items() if tools & look.tools]
        same = np.isin(columns["toolset"], sharing)  # (n,)
        columns["same_tool"][:] += same
        columns["worked"][same & (not look.nothing)] = 1.0
        for name, chars in (("action", look.action_chars), ("prose", look.prose_chars)):
            longest = columns[f"longest_{name}"]
            np.maximum(longest, chars, out=longest)
        if count:
            columns["next_action"][-1] = look.action_chars
            columns["next_observed"][-1] = look.observed_chars
        shared = self._targets.count(look.own, count)  # (n,)
        columns["target_now"][:] = share(shared, np.full(count, float(len(look.own))))
        columns["target_last"][shared > 0] = number

    def _again(self, look: SegmentLook) -> None:
        """How near this step comes to what the rows before it did, and what it takes from them."""
        columns, count = self.columns, self.columns.count
        if not count:
            return
        shared = self._phrased.count(look.action_words, count)  # (n,)
        alike = jaccard(shared, columns["action_words"], len(look.action_words))  # (n,)
        target = jaccard(self._targets.count(look.own, count), columns["targets"], len(look.own))
        taken = tally([self._news[w] for w in look.action_words if w in self._news], count)  # (n,)
        for name, value in (
            ("action_again", alike), ("target_again", target), ("words_taken", taken),
        ):  # fmt: skip
            np.maximum(columns[name], value, out=columns[name])
        for name, last in (
            ("settled", look.settled), ("trouble", look.trouble), ("plans", look.plans),
            ("nothing", look.nothing), ("alike", alike[-1]), ("target", target[-1]),
        ):  # fmt: skip
            columns[f"next_{name}"][-1] = last
        columns["second_prose"][-2:-1] = look.prose_chars

    def _before(self) -> dict[str, float]:
        """The step that led to a new row: its kind, and how alike the two actions are."""
        if not self.latest:
            return {}
        kinds = {f"before_{kind}": float(self.latest[-1].kind == kind) for kind in KINDS}
        return kinds | {"before_alike": float(self.columns["next_alike"][-1])}

    def _totals(self, look: SegmentLook) -> dict[str, float]:
        """Running sums: what happened since a row is the last sum less its own."""
        step: dict[str, float] = {
            "prose": look.prose_chars,
            "observed": look.observed_chars,
            "settled": look.settled,
            "trouble": look.trouble,
            "edits": look.kind == "edit",
            "nothings": look.nothing,
        }
        last = self.columns.count - 1
        return {
            name: value + (self.columns[name][last] if last >= 0 else 0.0)
            for name, value in step.items()
        }

    def _now(self, look: SegmentLook) -> None:
        same = bool(self.latest and look.tools & self.latest[-1].tools)
        self.batch = self.batch + 1 if same else 1
        self.latest.append(look)
        self.tools |= look.tools
        self.since_user += 1
        self.task_done |= look.action_words & self.task_words

    def since(self, name: str) -> Array:
        """How much of a running sum came after each row."""
        sums = self.columns[name]
        return sums[-1:] - sums  # (n,)


def _part(atoms: frozenset[str], known: set[str]) -> float:
    return len(atoms & known) / max(1, len(atoms))
