"""The one engine behind every door: library, proxy and framework adapters all call `checkpoint`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from statecomp.checkpoint import Checkpoint, Pins
from statecomp.controller.controller import Controller, summary_of, tip
from statecomp.controller.spans import Gates
from statecomp.errors import StateCompError
from statecomp.history.history import History
from statecomp.history.interaction import Interaction, JsonObject, Segment, Summary
from statecomp.ledger.commits import Commit, CommitLog, MemoryLog
from statecomp.llm.extract import ExtractiveSummarizer
from statecomp.llm.side import SideAccount
from statecomp.recent import Recent
from statecomp.strategy import Scorer, Strategy, Summarizer, View
from statecomp.tokens import ESTIMATE, TokenCounter
from statecomp.wire.detect import wire_named
from statecomp.wire.incremental import Reader
from statecomp.wire.placement import rehome_markers, render
from statecomp.wire.protocol import Placement, Wire

NOTHING = History(())


class StateComp(Strategy):
    """Replaces what is safe to replace now; takes the raw history a client re-sends each time.

    `log` holds what was committed; give several engines one log and they send the same bytes.
    `account` is the one the summariser charges its calls to.
    """

    def __init__(
        self,
        scorer: Scorer,
        *,
        summarizer: Summarizer | None = None,
        gates: Gates = Gates(),
        protocol: str = "openai-chat",
        placement: Placement = Placement(),
        count: TokenCounter = ESTIMATE,
        log: CommitLog | None = None,
        pins: Pins = Pins(),
        account: SideAccount | None = None,
    ) -> None:
        self.wire: Wire = wire_named(protocol, placement)
        self._log = log if log is not None else MemoryLog()
        self._pins = pins
        self._count = count
        self._account = account or SideAccount()
        self._reader = Reader(self.wire, count)
        self._controller = Controller(
            scorer, summarizer or ExtractiveSummarizer(), self.wire, gates, count
        )
        # States at which nothing was worth doing: the same request sent again decides nothing new.
        self._idle: Recent[str, View] = Recent(1024)
        self._summaries: Recent[str, Summary] = Recent(4096)

    def checkpoint(self, source: Mapping[str, Any] | Sequence[JsonObject]) -> Checkpoint:
        """A request body or message list in; what to send instead, and why, out.

        Never raises for what it was sent: whatever goes wrong inside, the history that came in
        goes out and the note says why.
        """
        body: Mapping[str, Any] = source if isinstance(source, Mapping) else {self.wire.key: source}
        try:
            return self._checkpoint(body)
        except StateCompError as error:
            return _as_it_came(body, self.wire, str(error))
        except Exception as error:  # noqa: BLE001  a broken scorer must not stop a user's agent
            return _as_it_came(body, self.wire, f"{type(error).__name__}: {error}")

    def _checkpoint(self, body: Mapping[str, Any]) -> Checkpoint:
        reason = self.wire.untouchable(body)
        if reason:
            return _as_it_came(body, self.wire, reason)
        raw = self._reader.read(body)
        view = self.before_request(raw)
        came = body[self.wire.key]
        messages = render(rehome_markers(view.history, raw), self.wire)
        adapted = self.wire.adapt(body, messages, first_change(came, messages))
        return Checkpoint(
            messages=messages,
            raw_tokens=raw.tokens,
            sent_tokens=view.history.tokens,
            view=view,
            threshold=self._controller.gates.threshold,
            note=view.note,
            body=adapted.body,
            headers=adapted.headers,
        )

    def before_request(self, history: History) -> View:
        """The effective history at this state, side calls settled."""
        view = self._decide(self._with_pins(history))
        return replace(view, side_calls=self._account.settle())

    def _decide(self, raw: History) -> View:
        """What was committed before, then Algorithm 1 on what that leaves."""
        here = tip(raw)
        commits = self._log.find([segment.id for segment in raw.segments])
        effective = self._replay(raw, commits)
        if any(commit.at == here for commit in commits):
            return View(effective, note="decided before at this state")
        if (idle := self._idle.get(here)) is not None:
            return replace(idle, history=effective)
        view = self._controller.rewrite(effective)
        if not view.commits:
            # A scorer that failed may work the next time; only an answer is worth remembering.
            if view.scores:
                self._idle.put(here, replace(view, history=NOTHING))
            return view
        accepted = tuple(self._log.append(here, view.commits))
        if accepted == view.commits:
            return view
        # Another worker decided here first: its word stands, so that both send the same bytes.
        return replace(view, history=self._replay(raw, [*commits, *accepted]), commits=())

    def _with_pins(self, raw: History) -> History:
        if self._pins == Pins():
            return raw
        return History(
            tuple(
                replace(segment, locked="pinned by the user")
                if isinstance(segment, Interaction) and self._pins.hold(segment)
                else segment
                for segment in raw.segments
            )
        )

    def _replay(self, raw: History, commits: Sequence[Commit]) -> History:
        """Put every committed summary back where its sources stand, byte for byte."""
        if not commits:
            return raw
        by_start = {commit.sources[0]: commit for commit in commits}
        segments: list[Segment] = []
        place = 0
        while place < len(raw.segments):
            commit = by_start.get(raw.segments[place].id)
            if commit is not None and _stand_free(raw, place, commit):
                segments.append(self._summary(commit))
                place += len(commit.sources)
            else:
                segments.append(raw.segments[place])
                place += 1
        return History(tuple(segments))

    def _summary(self, commit: Commit) -> Summary:
        return self._summaries.get(commit.id) or self._summaries.put(
            commit.id,
            summary_of(
                commit.text, commit.sources, commit.first, commit.last, self.wire, self._count
            ),
        )


def _stand_free(raw: History, place: int, commit: Commit) -> bool:
    """Whether the commit's sources stand here; a pin set since then takes them back."""
    sources = raw.segments[place : place + len(commit.sources)]
    return tuple(s.id for s in sources) == commit.sources and not any(
        isinstance(s, Interaction) and s.locked for s in sources
    )


def _as_it_came(body: Mapping[str, Any], wire: Wire, note: str) -> Checkpoint:
    messages = body.get(wire.key)
    return Checkpoint(
        messages=list(messages) if isinstance(messages, list | tuple) else [],
        raw_tokens=0,
        sent_tokens=0,
        note=note,
        body=body,
    )


def first_change(before: Sequence[JsonObject], after: Sequence[JsonObject]) -> int:
    """The position of the first message that is not the one that came in."""
    for place, (old, new) in enumerate(zip(before, after, strict=False)):
        if old is not new:
            return place
    return min(len(before), len(after))
