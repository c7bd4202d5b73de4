"""The one engine behind every door: library, proxy and framework adapters all call `checkpoint`."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

from statecomp.checkpoint import Checkpoint, Pins, as_it_came, first_change
from statecomp.controller.circumstances import JUST_AFTER, Circumstances
from statecomp.controller.controller import Controller, chain_to, decided_at, last_seen, tip
from statecomp.controller.holds import NO_HOLDS, holds_of
from statecomp.controller.judging import Judge, Judging
from statecomp.controller.prices import PriceBook
from statecomp.controller.replaying import Replayer, claimed_and_kept
from statecomp.controller.spans import Rule
from statecomp.errors import InvalidHistory, StateCompError
from statecomp.history.history import History
from statecomp.history.interaction import Interaction, JsonObject
from statecomp.history.referrals import pointed_to
from statecomp.ledger.commits import Commit, CommitLog, MemoryLog
from statecomp.llm.side import SideAccount
from statecomp.recent import LruCache, Weighed
from statecomp.recipes import DEFAULT, Recipe, recipe_named, shipped_scorer
from statecomp.strategy import Card, Refusal, Scorer, Strategy, Summarizer, View
from statecomp.tokens import ESTIMATE, TokenCounter
from statecomp.wire.incremental import ConversationCache, IncrementalReader
from statecomp.wire.placement import lead_in_tokens, rehome_markers, render
from statecomp.wire.protocol import Placement, Wire
from statecomp.wire.providers import wire_named

CARD = Card(
    name="statecomp",
    title="StateComp",
    trigger="a run of interactions scored safe to replace now, long and large enough",
    unit="span of whole interactions; each becomes a verified summary",
    calls="one summary a span; records=extract (the default) makes none",
    source="the StateComp paper, algorithm 1",
)
NOTHING = History(())
SECRET = "its summary would hold a secret"
OBJECTION_STEPS = 10
"""For so many steps nobody is asked again about what a record's writer wanted kept."""
KEPT = "the caller wants one of its messages kept"
Keep: TypeAlias = Callable[[JsonObject], object]
Secrets: TypeAlias = Callable[[Iterable[str]], Callable[[str], bool]]
"""From the texts of a conversation to whether a text holds one of its secrets."""


def _always() -> bool:
    return True


def _here(judge: Judge) -> Judge:
    return judge


def _none_secret(conversation: Iterable[str]) -> Callable[[str], bool]:
    return lambda text: False


class StateComp(Strategy):
    """Replaces what is safe to replace now; takes the raw history a client re-sends each time.

    Without arguments it is the product: the shipped router and the default recipe.  `recipe` is a
    name or a recipe of your own; `rule`, `summarizer` and `holds` overrule what it says.  `prices`
    are those of the models in use, `window` the tokens they take.

    `log` holds what was committed; give several engines one log and they send the same bytes.
    `account` is the one the summariser charges its calls to.  Conversations are kept parsed on the
    `shelf`, which engines may share.  A summary that holds one of the `secrets` of its conversation
    is not committed: a log keeps it for good, and masked it would not be what the agent needs.
    With a `mark_key` only its holder can make the mark a record ends with; without one, whoever
    knows the whole history can try.  `judged_by` may put another judge before the engine's own.
    """

    def __init__(
        self,
        scorer: Scorer | None = None,
        *,
        recipe: str | Recipe = DEFAULT,
        rule: Rule | None = None,
        summarizer: Summarizer | None = None,
        holds: bool | None = None,
        prices: PriceBook | None = None,
        window: int | None = None,
        pins: Pins = Pins(),
        protocol: str = "openai-chat",
        placement: Placement = Placement(),
        count: TokenCounter = ESTIMATE,
        log: CommitLog | None = None,
        account: SideAccount | None = None,
        shelf: ConversationCache | None = None,
        secrets: Secrets = _none_secret,
        mark_key: bytes = b"",
        judged_by: Callable[[Judge], Judge] = _here,
    ) -> None:
        chosen = recipe_named(recipe) if isinstance(recipe, str) else recipe
        self.wire: Wire = wire_named(protocol, placement)
        self._log = log if log is not None else MemoryLog()
        self._pins = pins
        self._secrets = secrets
        self._holds = chosen.holds if holds is None else holds
        self._window = window
        self._count = count
        self.account = account or SideAccount()
        self._reader = IncrementalReader(self.wire, count, shelf=shelf)
        self._replayer = Replayer(self.wire, count)
        controller = Controller(
            scorer if scorer is not None else shipped_scorer(chosen.router),
            summarizer or chosen.extract,
            self.wire,
            (rule or chosen.rule(prices)).remembering(),
            count,
            mark_key,
        )
        self.judge = judged_by(Judging(controller))
        # States at which nothing was worth doing: the same request sent again decides nothing new.
        self._idle: Weighed[str, View] = Weighed(1024, lambda view: 1000 + 350 * len(view.scores))
        # Interactions that put a secret into a summary: they stay, and those around them can go.
        self._telling: LruCache[str, str] = LruCache(4096)
        # What a record's writer wants kept, and until which step: then it may be asked again.
        self._objected: LruCache[str, tuple[int, str]] = LruCache(4096)

    def checkpoint(
        self,
        source: Mapping[str, Any] | Sequence[JsonObject],
        *,
        decide: bool = True,
        now: Circumstances = JUST_AFTER,
        keep: Keep | None = None,
    ) -> Checkpoint:
        """A request body or message list in; what to send instead, and why, out.

        Never raises for what it was sent: whatever goes wrong inside, the history that came in
        goes out and the note says why.  Without `decide` only what was committed before is put
        back; `prepare` then decides, for the requests that follow.  A message for which `keep`
        answers true stays, and with it the interaction it is part of, whatever was committed.
        """
        body: Mapping[str, Any] = source if isinstance(source, Mapping) else {self.wire.key: source}
        raw = None
        try:
            if reason := self.wire.untouchable(body):
                return as_it_came(body, self.wire.key, reason, self._readable(body))
            raw = self._with_pins(self._reader.read(body), keep)
            if not decide:
                return self._rendered(body, raw, *self._standing(raw))
            view, applied = self._decided(raw, now)
            return self._rendered(
                body, raw, *self._as_sent(raw, self._with_side_calls(view), applied)
            )
        except Exception as error:  # noqa: BLE001  nothing here may stop a user's agent
            return as_it_came(body, self.wire.key, _described(error), raw)

    async def acheckpoint(
        self,
        source: Mapping[str, Any] | Sequence[JsonObject],
        *,
        decide: bool = True,
        now: Circumstances = JUST_AFTER,
        keep: Keep | None = None,
    ) -> Checkpoint:
        """`checkpoint` in a thread: a summariser far away then does not hold up the event loop."""
        return await asyncio.to_thread(self.checkpoint, source, decide=decide, now=now, keep=keep)

    def _decided(self, raw: History, now: Circumstances) -> tuple[View, tuple[Commit, ...]]:
        """What is decided now; where that fails, what was committed before still stands."""
        try:
            return self._decide(raw, now, _always)
        except Exception as error:  # noqa: BLE001  a broken scorer must not undo what was good
            view, applied, _ = self._standing(raw)
            return replace(view, note=_described(error)), applied

    def _readable(self, body: Mapping[str, Any]) -> History | None:
        """The history of a request that is not ours to touch, if it has one: for the account."""
        try:
            return self._reader.read(body)
        except StateCompError:
            return None

    def _rendered(
        self,
        body: Mapping[str, Any],
        raw: History,
        view: View,
        applied: tuple[Commit, ...],
        sent: bool = False,
    ) -> Checkpoint:
        came = body[self.wire.key]
        known = any(decided_at(commit, raw) for commit in applied)
        checkpoint = Checkpoint(
            messages=list(came),
            raw_tokens=raw.tokens,
            sent_tokens=view.history.tokens + lead_in_tokens(view.history, self.wire, self._count),
            view=view,
            note=view.note,
            body=body,
            raw=raw,
            applied=applied,
            decided=known or self._idle.get(last_seen(raw)) is not None,
            sent=sent,
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
        summarizer: Summarizer | None = None,
    ) -> View:
        """Decide at this state and commit; nothing is committed once it is no longer `wanted`.

        A `summarizer` stands in for the engine's own, for this one decision.

        The commits hold from the next request on whose history still contains this state.
        """
        view, _ = self._decide(raw, now, wanted, summarizer)
        return self._with_side_calls(view)

    def _with_side_calls(self, view: View) -> View:
        """With what was asked of models for it, and what is to be said of that."""
        return replace(view, side_calls=self.account.drain(), remarks=self.account.heard())

    def seal(self, checkpoint: Checkpoint) -> bool:
        """Write down what goes out for this history; false where something else did before.

        Then a new checkpoint has what did.  `checkpoint` that decides does this by itself.
        """
        if checkpoint.raw is None or checkpoint.view is None:
            return True
        names = [commit.id for commit in checkpoint.applied]
        return list(self._log.send(last_seen(checkpoint.raw), names)) == names

    def _as_sent(
        self, raw: History, view: View, applied: tuple[Commit, ...]
    ) -> tuple[View, tuple[Commit, ...]]:
        """What goes out, as it went out before; only an answer is worth writing down."""
        seen, names = last_seen(raw), [commit.id for commit in applied]
        first = self._log.send(seen, names) if view.scores else self._log.sent(seen)
        if first is None or list(first) == names:
            return view, applied
        standing, applied, _ = self._standing(raw)
        return replace(view, history=standing.history), applied

    def replay(self, raw: History, commits: Sequence[Commit]) -> History:
        """Put every committed summary back where its sources stand, byte for byte."""
        return self._replayer.replay(raw, commits)[0]

    def _standing(self, raw: History) -> tuple[View, tuple[Commit, ...], bool]:
        """What was committed before this history first went out; and whether it did."""
        commits = self._log.find([segment.id for segment in raw.segments])
        sent = self._log.sent(last_seen(raw))
        if sent is not None:
            commits = [commit for commit in commits if commit.id in sent]
        effective, applied = self._replayer.replay(raw, commits)
        return View(effective), applied, sent is not None

    def _decide(
        self,
        raw: History,
        now: Circumstances,
        wanted: Callable[[], bool],
        summarizer: Summarizer | None = None,
    ) -> tuple[View, tuple[Commit, ...]]:
        """What was committed before, then Algorithm 1 on what that leaves."""
        seen = last_seen(raw)
        ids = [segment.id for segment in raw.segments]
        commits = self._log.find(ids)
        effective, applied = self._replayer.replay(raw, commits)
        if any(decided_at(commit, raw) for commit in commits):
            return View(effective, note="decided before at this state"), applied
        if (idle := self._idle.get(seen)) is not None:
            return replace(idle, history=effective), applied
        holds = holds_of(raw, applied) if self._holds else NO_HOLDS
        stays = {**holds.reasons, **self._held(ids, effective.checkpoint)}
        stays |= claimed_and_kept(commits, applied)
        view = self._judged(_locked(effective, stays), now, holds.returns, summarizer)
        view = self._without_secrets(view, effective, raw)
        if not view.commits:
            # A scorer that failed may work the next time; only an answer is worth remembering.
            if view.scores:
                self._idle.put(seen, replace(view, history=NOTHING))
            return view, applied
        if not wanted():
            return View(effective, note="decided too late: nothing was committed"), applied
        at = tip(raw)
        if any(commit.at == at for commit in commits):
            # Decided there before the user spoke again: this holds from the user's words on.
            at = seen
            view = replace(view, commits=tuple(replace(c, at=at) for c in view.commits))
        accepted = tuple(self._log.append(at, view.commits, chain_to(at, raw)))
        if accepted == view.commits:
            return view, (*applied, *accepted)
        # Another worker was first, here or over a source: its word stands, so that both send the
        # same bytes.
        theirs, applied = self._replayer.replay(raw, self._log.find(ids))
        return replace(view, history=theirs, commits=()), applied

    def _held(self, ids: Sequence[str], checkpoint: int) -> Mapping[str, str]:
        held = self._log.held(ids)
        told = {name: reason for name in ids if (reason := self._telling.get(name))}
        for name in ids:
            until, reason = self._objected.get(name) or (0, "")
            if checkpoint < until:
                told[name] = reason
        return {**told, **held} if told else held

    def _judged(
        self,
        effective: History,
        now: Circumstances,
        refetches: int,
        summarizer: Summarizer | None = None,
    ) -> View:
        """Algorithm 1; what comes of it for later decisions is remembered."""
        if now.window_tokens is None:
            now = replace(now, window_tokens=self._window)
        found = self.judge.judged(effective, now, refetches, self._log.refused, summarizer)
        view, until = found.view, effective.checkpoint + OBJECTION_STEPS
        for name, reason in found.objections.items():
            self._objected.put(name, (until, reason))
        taken = {commit.sources for commit in view.commits}
        for sources, first, last in found.answered:
            refused = [r for r in view.refusals if (r.first, r.last) == (first, last)]
            # A summary that was good but did not pay yet may pay later.
            if sources not in taken and all(r.kind != "economics" for r in refused):
                self._log.refuse(sources, refused[0].reason if refused else view.note)
        return view

    def _without_secrets(self, view: View, effective: History, raw: History) -> View:
        if not view.commits:
            return view
        secret = self._secrets(s.text for s in raw.segments)
        fit = tuple(commit for commit in view.commits if not secret(commit.text))
        if fit == view.commits:
            return view
        refusals = list(view.refusals)
        for commit in (commit for commit in view.commits if commit not in fit):
            refusals.append(Refusal(commit.first, commit.last, SECRET, "summary"))
            self._log.refuse(commit.sources, SECRET)
            for interaction in effective.interactions:
                if interaction.id in commit.sources and secret(interaction.text):
                    self._telling.put(interaction.id, SECRET)
        history = self._replayer.replay(effective, fit)[0]
        return replace(view, history=history, commits=fit, refusals=tuple(refusals))

    def _with_pins(self, raw: History, keep: Keep | None = None) -> History:
        held = dict(pointed_to(raw.interactions))
        if keep is not None:
            held |= {i.id: KEPT for i in raw.interactions if any(map(keep, i.messages))}
        if self._pins != Pins():
            held |= {i.id: "pinned by the user" for i in raw.interactions if self._pins.hold(i)}
        return _locked(raw, held)


def _locked(history: History, held: Mapping[str, str]) -> History:
    if not held:
        return history
    return History(
        tuple(
            replace(segment, locked=segment.locked or held[segment.id])
            if isinstance(segment, Interaction) and segment.id in held
            else segment
            for segment in history.segments
        )
    )


def _described(error: Exception) -> str:
    """Ours say what is wrong; of others the kind must be told too."""
    if isinstance(error, InvalidHistory):
        return f"this history is left as it is: {error}"
    return str(error) if isinstance(error, StateCompError) else f"{type(error).__name__}: {error}"
