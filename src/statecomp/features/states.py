"""The vectors of a checkpoint: one for each surviving interaction, one for the current state.

`StateReader` reads every token of a growing run once.  A causal model never changes the vector of a
token when others follow (appendix B.1 of the paper, causal prefix invariance), so h_i is read when
S_i arrives and kept while it survives, and q_k is read by extending what was read before.

`read_views` makes the paper's own constructions, which read much more.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import takewhile
from threading import Lock
from typing import Literal, TypeAlias

import numpy as np

from statecomp.errors import BadInput
from statecomp.features import view
from statecomp.features.encoder import Floats, FrozenEncoder, read_out
from statecomp.history.history import History
from statecomp.history.interaction import Interaction, Segment
from statecomp.recent import Weighed

Construction: TypeAlias = Literal["full", "local", "recent2", "recent4", "capped-recent4"]


@dataclass(frozen=True, slots=True)
class StateVectors:
    """`ids` names the rows of `candidates`, in the order of the history."""

    ids: tuple[str, ...]
    candidates: Floats  # (n, d): h_i
    current: Floats  # (d,): q_k
    tokens_read: int


@dataclass(frozen=True, slots=True)
class ReaderSettings:
    """`window` is how far back the model sees, `overlap` what it reads again to start anew.

    A full window costs `overlap` tokens for each `window - overlap` new ones: one in sixteen here.
    """

    window: int = 4_096
    overlap: int = 240
    remember: int = 8_192


@dataclass(frozen=True, slots=True)
class _Mark:
    """A segment whose last token is on the tape: where it ends there, and the vector at it."""

    id: str
    end: int
    last: Floats  # (d,)


class StateReader:
    """Reads one growing run; several runs may take turns, at an overlap for each turn.

    `restarts` counts how often the tape began anew: the window was full, or a commit or an edit
    changed what stands on it.
    """

    def __init__(
        self,
        encoder: FrozenEncoder,
        settings: ReaderSettings = ReaderSettings(),
    ) -> None:
        self._encoder = encoder
        self._window = min(settings.window, encoder.context)
        self._overlap = settings.overlap
        if not 0 < self._overlap < self._window:
            raise BadInput(f"an overlap of {self._overlap} does not fit into {self._window} tokens")
        self._tape = encoder.tape()
        self._marks: list[_Mark] = []
        self._vectors: Weighed[str, Floats] = Weighed(
            settings.remember, lambda vector: vector.nbytes
        )
        self._lock = Lock()
        self.tokens_read = 0
        self.restarts = 0

    def read(self, history: History, may_go_on: Callable[[], bool] = lambda: True) -> StateVectors:
        """The vectors at this state; read are only tokens never read, and a bounded rest.

        Raises TimeoutError where it may not go on; what was read by then stays known.
        """
        with self._lock:
            before = self.tokens_read
            try:
                known = self._read_new(history, may_go_on)
            except BaseException:
                # The tape may hold half a segment; what was finished stays known.
                self._clear()
                raise
            candidates = np.array([*known.values()], np.float32)  # (n, d)
            empty = np.zeros(self._encoder.width, np.float32)  # (d,)
            return StateVectors(
                tuple(known),
                candidates.reshape(-1, self._encoder.readings * self._encoder.width),  # (n, d)
                self._marks[-1].last if self._marks else empty,  # (d,)
                self.tokens_read - before,
            )

    def _read_new(self, history: History, may_go_on: Callable[[], bool]) -> dict[str, Floats]:
        """Brings the tape to the end of the history; the vector of each interaction, in order."""
        segments = history.segments
        # Held here, so that a small memory cannot forget midway what this history needs.
        known = {s.id: self._vectors.get(s.id) for s in history.interactions}
        unread = [n for n, s in enumerate(segments) if s.id in known and known[s.id] is None]
        place = self._keep(segments, unread)
        for stop in unread:
            if not may_go_on():
                raise TimeoutError
            self._approach(segments, place, stop)
            known[segments[stop].id] = self._feed(segments[stop])
            place = stop + 1
        self._approach(segments, place, len(segments))
        return {name: vector for name, vector in known.items() if vector is not None}

    def _keep(self, segments: Sequence[Segment], unread: Sequence[int]) -> int:
        """Crops the tape to what still holds; the place in the history behind its end."""
        starts = [n for n, s in enumerate(segments) if self._marks and s.id == self._marks[0].id]
        if starts:
            here = zip(self._marks, segments[starts[0] :], strict=False)
            same = sum(1 for _ in takewhile(lambda pair: pair[0].id == pair[1].id, here))
            place = starts[0] + same
            if place <= min(unread, default=place) and self._tape.crop(self._marks[same - 1].end):
                del self._marks[same:]
                return place
        self._clear()
        return 0

    def _approach(self, segments: Sequence[Segment], place: int, stop: int) -> None:
        """Puts what stands before `stop` on the tape: all of it, or only the recent part.

        What a commit leaves behind a new summary was read before; reading it all again at every
        commit would cost more than it tells.
        """
        again = 0
        for segment in segments[place:stop]:
            if self._vectors.get(segment.id) is not None:
                again += len(self._tokens(segment))
            if again > self._overlap:
                return self._jump(segments[:stop])
        for segment in segments[place:stop]:
            self._feed(segment)
        return None

    def _jump(self, segments: Sequence[Segment]) -> None:
        """A new tape that holds the last `overlap` tokens before the place."""
        pieces: list[tuple[str, list[int]]] = []
        room = self._overlap
        for segment in reversed(segments):
            pieces.insert(0, (segment.id, self._tokens(segment)[-room:]))
            room -= len(pieces[0][1])
            if not room:
                break
        self._clear()
        self.restarts += 1
        states = self._extend([token for _, ids in pieces for token in ids])  # (t, d)
        end = 0
        for name, ids in pieces:
            end += len(ids)
            self._marks.append(_Mark(name, end, states[end - 1].copy()))

    def _feed(self, segment: Segment) -> Floats:
        """Reads a segment at the end of the tape, in as many windows as it needs."""
        ids, states = self._tokens(segment), []
        while ids:
            if len(self._tape) == self._window:
                self._slide()
            room = self._window - len(self._tape)
            states.append(self._extend(ids[:room]))  # (t, d)
            ids = ids[room:]
        read = np.concatenate(states)  # (t, d)
        self._marks.append(_Mark(segment.id, len(self._tape), read[-1].copy()))
        known = self._vectors.get(segment.id)
        # A vector once given is kept: scores must not change because a window moved.
        vector = read_out(read, self._encoder.readout).copy()  # (d,)
        return known if known is not None else self._vectors.put(segment.id, vector)

    def _slide(self) -> None:
        """The window is full: its last tokens begin a new one."""
        tail = self._tape.ids[-self._overlap :]
        cut = len(self._tape) - len(tail)
        marks = [_Mark(m.id, m.end - cut, m.last) for m in self._marks if m.end > cut]
        self._clear()
        self.restarts += 1
        self._extend(tail)
        self._marks = marks

    def _extend(self, ids: Sequence[int]) -> Floats:
        self.tokens_read += len(ids)
        return self._tape.extend(ids)  # (t, d)

    def _clear(self) -> None:
        self._tape.clear()
        self._marks = []

    def _tokens(self, segment: Segment) -> list[int]:
        return self._encoder.tokenize(view.serialize(segment))


def read_views(
    encoder: FrozenEncoder, history: History, construction: Construction, share: bool = True
) -> StateVectors:
    """The paper's constructions, read anew at this checkpoint.

    `share` reads what all views of the checkpoint begin with once, and the targets in batches
    behind it; the vectors are the same.
    """
    before = encoder.tokens_read
    ids = tuple(interaction.id for interaction in history.interactions)
    tokenize = cache(encoder.tokenize)
    if construction == "full":
        whole = view.full(history, tokenize)
        states = encoder.hidden(whole.ids)  # (t, d)
        candidates, current = states[[whole.ends[name] for name in ids]], states[-1]
    else:
        views = views_of(history, construction, tokenize, encoder.context)
        candidates, current = _read(encoder, views, share)
    return StateVectors(ids, candidates, current, encoder.tokens_read - before)  # (n, d), (d,)


def views_of(
    history: History, construction: Construction, tokenize: view.Tokenize, context: int
) -> list[view.TokenView]:
    """The view of each surviving interaction, in order."""
    build: dict[str, Callable[[Interaction], view.TokenView]] = {
        "local": lambda target: view.local(target, tokenize, context),
        "recent2": lambda target: view.recent(target, history, tokenize, 2),
        "recent4": lambda target: view.recent(target, history, tokenize, 4),
        "capped-recent4": lambda target: view.capped_recent(target, history, tokenize, 4),
    }
    if construction not in build:
        raise BadInput(f"there is no construction {construction!r} with a view for each target")
    return [build[construction](target) for target in history.interactions]


def _read(
    encoder: FrozenEncoder, views: Sequence[view.TokenView], share: bool
) -> tuple[Floats, Floats]:
    """Candidates (n, d) and current (d,)."""
    if not views:
        empty = np.zeros((1, encoder.width), np.float32)  # (1, d)
        return empty[:0], empty[0]
    base = views[0].ids[: views[0].shared]
    if not base:
        # Nothing but targets was read: the latest of them says where the agent is.
        candidates = encoder.encode([v.ids for v in views])  # (n, d)
        return candidates, candidates[-1]
    if share:
        return encoder.encode_behind(base, [v.ids[v.shared :] for v in views])
    vectors = encoder.encode([*(v.ids for v in views), base])  # (n + 1, d)
    return vectors[:-1], vectors[-1]
