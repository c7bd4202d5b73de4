"""The one engine behind every door: library, proxy and framework adapters all call `checkpoint`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from statecomp.baselines.card import Card
from statecomp.checkpoint import Checkpoint, Pins
from statecomp.controller.controller import Controller, summary_of, tip
from statecomp.controller.economics import JUST_AFTER, Circumstances, Economics
from statecomp.controller.holds import NO_HOLDS, holds_of
from statecomp.controller.spans import Gates
from statecomp.controller.sparing import Sparing
from statecomp.errors import StateCompError
from statecomp.history.history import History
from statecomp.history.interaction import Interaction, JsonObject, Segment, Summary
from statecomp.ledger.commits import Commit, CommitLog, MemoryLog
from statecomp.llm.extract import ExtractiveSummarizer
from statecomp.llm.record import Record
from statecomp.llm.side import SideAccount
from statecomp.recent import Recent
from statecomp.strategy import Refusal, Scorer, Strategy, Summarizer, View
from statecomp.tokens import ESTIMATE, TokenCounter
from statecomp.wire.detect import wire_named
from statecomp.wire.incremental import Reader, Shelf
from statecomp.wire.placement import rehome_markers, render
from statecomp.wire.protocol import Placement, Wire

CARD = Card(
    name="statecomp",
    title="StateComp",
    trigger="a run of interactions scored safe to replace now, long and large enough",
    unit="span of whole interactions; each becomes a verified summary",
    calls="one summary a span; summarizer=extractive (the default) makes none",
    source="the StateComp paper, algorithm 1",
)
NOTHING = History(())
SECRET = "its summary would hold a secret"


def _always() -> bool:
    return True


def _never(text: str) -> bool:
    return False


class StateComp(Strategy):
    """Replaces what is safe to replace now; takes the raw history a client re-sends each time.

    `log` holds what was committed; give several engines one log and they send the same bytes.
    `account` is the one the summariser charges its calls to.  With `economics` a commit must pay.
    Conversations are kept parsed on the `shelf`, which engines may share.  A summary that holds a
    `secret` is not committed: a log keeps it for good, and masked it would not be what the agent
    needs.  With `holds`, documents the user names and what the agent came back for stay.
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
        economics: Economics | None = None,
        shelf: Shelf | None = None,
        secret: Callable[[str], bool] = _never,
        holds: bool = True,
    ) -> None:
        self.wire: Wire = wire_named(protocol, placement)
        self._log = log if log is not None else MemoryLog()
        self._pins = pins
        self._secret = secret
        self._holds = holds
        self._count = count
        self._account = account or SideAccount()
        self._reader = Reader(self.wire, count, shelf=shelf)
        pays = economics.remembering() if economics is not None else None
        self._controller = Controller(
            scorer, summarizer or ExtractiveSummarizer(), self.wire, gates, count, pays
        )
        # States at which nothing was worth doing: the same request sent again decides nothing new.
        self._idle: Recent[str, View] = Recent(1024)
        self._summaries: Recent[str, Summary] = Recent(1024)
        # Interactions that put a secret into a summary: they stay, and those around them can go.
        self._telling: Recent[str, str] = Recent(4096)
        self._paused: Recent[tuple[str, ...], float] = Recent(1024)
        # What was written and is not committed: it did not pay yet, or came too late.
        self._written: Recent[tuple[str, ...], Record] = Recent(256)

    def checkpoint(
        self,
        source: Mapping[str, Any] | Sequence[JsonObject],
        *,
        decide: bool = True,
        now: Circumstances = JUST_AFTER,
    ) -> Checkpoint:
        """A request body or message list in; what to send instead, and why, out.

        Never raises for what it was sent: whatever goes wrong inside, the history that came in
        goes out and the note says why.  Without `decide` only what was committed before is put
        back; `prepare` then decides, for the requests that follow.
        """
        body: Mapping[str, Any] = source if isinstance(source, Mapping) else {self.wire.key: source}
        raw = None
        try:
            if reason := self.wire.untouchable(body):
                return _as_it_came(body, self.wire, reason, self._readable(body))
            raw = self._with_pins(self._reader.read(body))
            if not decide:
                return self._rendered(body, raw, *self._standing(raw))
            view, applied = self._decided(raw, now)
            view = replace(view, side_calls=self._account.settle())
            return self._rendered(body, raw, view, applied)
        except Exception as error:  # noqa: BLE001  nothing here may stop a user's agent
            return _as_it_came(body, self.wire, _told(error), raw)

    def _decided(self, raw: History, now: Circumstances) -> tuple[View, tuple[Commit, ...]]:
        """What is decided now; where that fails, what was committed before still stands."""
        try:
            return self._decide(raw, now, _always)
        except Exception as error:  # noqa: BLE001  a broken scorer must not undo what was good
            view, applied = self._standing(raw)
            return replace(view, note=_told(error)), applied

    def _readable(self, body: Mapping[str, Any]) -> History | None:
        """The history of a request that is not ours to touch, if it has one: for the account."""
        try:
            return self._reader.read(body)
        except StateCompError:
            return None

    def _rendered(
        self, body: Mapping[str, Any], raw: History, view: View, applied: tuple[Commit, ...]
    ) -> Checkpoint:
        came = body[self.wire.key]
        here = tip(raw)
        known = any(commit.at == here for commit in applied) or self._idle.get(here) is not None
        checkpoint = Checkpoint(
            messages=list(came),
            raw_tokens=raw.tokens,
            sent_tokens=view.history.tokens,
            view=view,
            gates=self._controller.gates,
            note=view.note,
            body=body,
            raw=raw,
            applied=applied,
            settled=known,
        )
        if not view.history.summaries:
            return checkpoint
        messages = render(rehome_markers(view.history, raw), self.wire)
        adapted = self.wire.adapt(body, messages, first_change(came, messages))
        return replace(
            checkpoint,
            messages=messages,
            body=adapted.body,
            headers=adapted.headers,
            rewritten=True,
        )

    def before_request(self, history: History) -> View:
        """The effective history at this state, side calls settled."""
        return self.prepare(self._with_pins(history))

    def prepare(
        self,
        raw: History,
        now: Circumstances = JUST_AFTER,
        wanted: Callable[[], bool] = _always,
    ) -> View:
        """Decide at this state and commit; nothing is committed once it is no longer `wanted`.

        The commits hold from the next request on whose history still contains this state.
        """
        view, _ = self._decide(raw, now, wanted)
        return replace(view, side_calls=self._account.settle())

    def replay(self, raw: History, commits: Sequence[Commit]) -> History:
        """Put every committed summary back where its sources stand, byte for byte."""
        return self._replay(raw, commits)[0]

    def _standing(self, raw: History) -> tuple[View, tuple[Commit, ...]]:
        """What was committed before, and nothing else."""
        effective, applied = self._replay(raw, self._log.find([s.id for s in raw.segments]))
        return View(effective), applied

    def _decide(
        self, raw: History, now: Circumstances, wanted: Callable[[], bool]
    ) -> tuple[View, tuple[Commit, ...]]:
        """What was committed before, then Algorithm 1 on what that leaves."""
        here = tip(raw)
        ids = [segment.id for segment in raw.segments]
        commits = self._log.find(ids)
        effective, applied = self._replay(raw, commits)
        if any(commit.at == here for commit in commits):
            return View(effective, note="decided before at this state"), applied
        if (idle := self._idle.get(here)) is not None:
            return replace(idle, history=effective), applied
        holds = holds_of(raw, applied) if self._holds else NO_HOLDS
        stays = {**holds.reasons, **self._held(ids)}
        view = self._judged(_locked(effective, stays), now, holds.returns)
        if not view.commits:
            # A scorer that failed may work the next time; only an answer is worth remembering.
            if view.scores:
                self._idle.put(here, replace(view, history=NOTHING))
            return view, applied
        if not wanted():
            return View(effective, note="decided too late: nothing was committed"), applied
        accepted = tuple(self._log.append(here, view.commits))
        if accepted == view.commits:
            return view, (*applied, *accepted)
        # Another worker decided here first: its word stands, so that both send the same bytes.
        theirs, applied = self._replay(raw, [*commits, *accepted])
        return replace(view, history=theirs, commits=()), applied

    def _held(self, ids: Sequence[str]) -> Mapping[str, str]:
        held = self._log.held(ids)
        told = {name: reason for name in ids if (reason := self._telling.get(name))}
        return {**told, **held} if told else held

    def _judged(self, effective: History, now: Circumstances, returns: int) -> View:
        """Algorithm 1, asking for no summary that is known to fail."""
        asked = Sparing(self._controller.summarizer, self._log, self._paused, self._written)
        gates = self._controller.gates.warier(returns)
        view = replace(self._controller, summarizer=asked, gates=gates).rewrite(effective, now)
        taken = {commit.sources for commit in view.commits}
        for sources, first, last in asked.answered:
            refused = [r for r in view.refusals if (r.first, r.last) == (first, last)]
            # A summary that was good but did not pay yet may pay later.
            if sources not in taken and all(r.kind != "economics" for r in refused):
                self._log.refuse(sources, refused[0].reason if refused else view.note)
        return self._without_secrets(view, effective)

    def _without_secrets(self, view: View, effective: History) -> View:
        fit = tuple(commit for commit in view.commits if not self._secret(commit.text))
        if fit == view.commits:
            return view
        refusals = list(view.refusals)
        for commit in (commit for commit in view.commits if commit not in fit):
            refusals.append(Refusal(commit.first, commit.last, SECRET, "summary"))
            self._log.refuse(commit.sources, SECRET)
            for interaction in effective.interactions:
                if interaction.id in commit.sources and self._secret(interaction.text):
                    self._telling.put(interaction.id, SECRET)
        history = self._replay(effective, fit)[0]
        return replace(view, history=history, commits=fit, refusals=tuple(refusals))

    def _with_pins(self, raw: History) -> History:
        if self._pins == Pins():
            return raw
        held = {i.id: "pinned by the user" for i in raw.interactions if self._pins.hold(i)}
        return _locked(raw, held)

    def _replay(
        self, raw: History, commits: Sequence[Commit]
    ) -> tuple[History, tuple[Commit, ...]]:
        if not commits:
            return raw, ()
        by_start = {commit.sources[0]: commit for commit in commits}
        segments: list[Segment] = []
        applied: list[Commit] = []
        place = 0
        while place < len(raw.segments):
            commit = by_start.get(raw.segments[place].id)
            if commit is not None and _stand_free(raw, place, commit):
                segments.append(self._summary(commit))
                applied.append(commit)
                place += len(commit.sources)
            else:
                segments.append(raw.segments[place])
                place += 1
        return History(tuple(segments)), tuple(applied)

    def _summary(self, commit: Commit) -> Summary:
        return self._summaries.get(commit.id) or self._summaries.put(
            commit.id,
            summary_of(
                commit.text, commit.sources, commit.first, commit.last, self.wire, self._count
            ),
        )


def _locked(history: History, held: Mapping[str, str]) -> History:
    if not held:
        return history
    return History(
        tuple(
            replace(segment, locked=held[segment.id])
            if isinstance(segment, Interaction) and segment.id in held
            else segment
            for segment in history.segments
        )
    )


def _stand_free(raw: History, place: int, commit: Commit) -> bool:
    """Whether the commit's sources stand here; a pin set since then takes them back."""
    sources = raw.segments[place : place + len(commit.sources)]
    return tuple(s.id for s in sources) == commit.sources and not any(
        isinstance(s, Interaction) and s.locked for s in sources
    )


def _told(error: Exception) -> str:
    """Ours say what is wrong; of others the kind must be told too."""
    return str(error) if isinstance(error, StateCompError) else f"{type(error).__name__}: {error}"


def _as_it_came(
    body: Mapping[str, Any], wire: Wire, note: str, raw: History | None = None
) -> Checkpoint:
    messages = body.get(wire.key)
    tokens = raw.tokens if raw is not None else 0
    return Checkpoint(
        messages=list(messages) if isinstance(messages, list | tuple) else [],
        raw_tokens=tokens,
        sent_tokens=tokens,
        note=note,
        body=body,
        raw=raw,
    )


def first_change(before: Sequence[JsonObject], after: Sequence[JsonObject]) -> int:
    """The position of the first message that is not the one that came in."""
    for place, (old, new) in enumerate(zip(before, after, strict=False)):
        if old is not new:
            return place
    return min(len(before), len(after))
