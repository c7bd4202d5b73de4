"""The one engine behind every door: library, proxy and framework adapters all call `checkpoint`."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, TypeAlias, TypedDict

from statecomp.checkpoint import Checkpoint, Pins, as_it_came, first_change
from statecomp.controller.anchors import anchor_of
from statecomp.controller.circumstances import AFTER_A_BREAK, JUST_AFTER, Circumstances
from statecomp.controller.controller import Controller
from statecomp.controller.holds import locked
from statecomp.controller.judging import Judge, Judging
from statecomp.controller.prices import PriceBook
from statecomp.controller.replaying import Replayer
from statecomp.controller.spans import Gates, Rule
from statecomp.controller.states import decided_at, last_seen
from statecomp.decisions import Decided, Decisions, Secrets, always, none_secret
from statecomp.errors import InvalidHistory, StateCompError
from statecomp.history.history import History
from statecomp.history.interaction import JsonObject
from statecomp.ledger.commits import Commit, CommitLog, MemoryLog
from statecomp.llm.side import SideAccount
from statecomp.recipes import DEFAULT, Recipe, recipe_named, shipped_scorer
from statecomp.strategy import Card, Scorer, Strategy, Summarizer, View
from statecomp.tokens import ESTIMATE, TokenCounter
from statecomp.wire.conversations import ConversationCache
from statecomp.wire.incremental import IncrementalReader
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
KEPT = "the caller wants one of its messages kept"
Keep: TypeAlias = Callable[[JsonObject], object]


class EngineParts(TypedDict, total=False):
    """What a service shares between its engines, or knows of one; see `StateComp`."""

    log: CommitLog
    shelf: ConversationCache
    secrets: Secrets
    mark_key: bytes
    judged_by: Callable[[Judge], Judge] | None


class StateComp(Strategy):
    """Replaces what is safe to replace now; takes the raw history a client re-sends each time.

    Without arguments it is the product: the shipped router and the default recipe.  `recipe` is a
    name or a recipe of your own; `rule`, `summarizer`, `holds` and `chapters` overrule what it
    says.  `prices` are those of the models in use, `window` the tokens they take.

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
        chapters: bool | None = None,
        prices: PriceBook | None = None,
        window: int | None = None,
        pins: Pins = Pins(),
        protocol: str = "openai-chat",
        placement: Placement = Placement(),
        count: TokenCounter = ESTIMATE,
        log: CommitLog | None = None,
        account: SideAccount | None = None,
        shelf: ConversationCache | None = None,
        secrets: Secrets = none_secret,
        mark_key: bytes = b"",
        judged_by: Callable[[Judge], Judge] | None = None,
    ) -> None:
        chosen = recipe_named(recipe) if isinstance(recipe, str) else recipe
        self.wire: Wire = wire_named(protocol, placement)
        self._log = log if log is not None else MemoryLog()
        self._pins = pins
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
        here = Judging(controller)
        self.judge: Judge = judged_by(here) if judged_by else here
        self._decisions = Decisions(
            self._log,
            self._replayer,
            self.judge,
            holds=chosen.holds if holds is None else holds,
            # The paper's gates would take one whether it pays or not.
            chapters=(chosen.chapters if chapters is None else chapters)
            and not isinstance(controller.rule, Gates),
            window=window,
            secrets=secrets,
        )

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
                return self._rendered(body, raw, self._standing(raw))
            decided = self._decided(raw, now)
            self.read_ahead(decided.view.history)
            return self._rendered(body, raw, self._as_sent(raw, decided))
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

    def _decided(self, raw: History, now: Circumstances) -> Decided:
        """What is decided now; where that fails, what was committed before still stands."""
        try:
            decided = self._decisions.decide(raw, now)
        except Exception as error:  # noqa: BLE001  a broken scorer must not undo what was good
            before = self._standing(raw)
            decided = Decided(replace(before.view, note=_described(error)), before.applied)
        return decided._replace(view=self._with_side_calls(decided.view))

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
        out: Decided,
    ) -> Checkpoint:
        came, (view, applied, sent) = body[self.wire.key], out
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
            decided=known or self._decisions.idle_at(raw),
            sent=sent,
        )
        if not view.history.summaries:
            return checkpoint
        standing = rehome_markers(view.history, raw)
        messages = render(standing, self.wire)
        record = anchor_of(standing, raw, applied)
        anchor = record.messages[-1] if record else None
        adapted = self.wire.adapt(body, messages, first_change(came, messages), anchor)
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

    def after_break(self, history: History) -> View:
        """The same with an empty cache: all is written to it anew, so a rewrite breaks nothing."""
        return self.prepare(self._with_pins(history), AFTER_A_BREAK)

    def prepare(
        self,
        raw: History,
        now: Circumstances = JUST_AFTER,
        wanted: Callable[[], bool] = always,
        summarizer: Summarizer | None = None,
    ) -> View:
        """Decide at this state and commit; nothing is committed once it is no longer `wanted`.

        A `summarizer` stands in for the engine's own, for this one decision.

        The commits hold from the next request on whose history still contains this state.
        """
        return self._with_side_calls(self._decisions.decide(raw, now, wanted, summarizer).view)

    def read_ahead(self, history: History) -> None:
        """Read what is new of a history, so that a later decision about it is quicker.

        `checkpoint` that decides does this by itself; whoever calls `prepare` may do it when nobody
        waits.
        """
        with suppress(Exception):  # whatever is wrong, whoever asks for a record is told
            self.judge.read_ahead(history)

    def _with_side_calls(self, view: View) -> View:
        """The view with the model calls made for it, and the remarks of whoever made them."""
        return replace(view, side_calls=self.account.drain(), remarks=self.account.heard())

    def seal(self, checkpoint: Checkpoint) -> bool:
        """Write down what goes out for this history; false where something else did before.

        Then a new checkpoint has what did.  `checkpoint` that decides does this by itself.
        """
        if checkpoint.raw is None or checkpoint.view is None:
            return True
        names = [commit.id for commit in checkpoint.applied]
        return list(self._log.send(last_seen(checkpoint.raw), names)) == names

    def _as_sent(self, raw: History, out: Decided) -> Decided:
        """What goes out, as it went out before; only an answer is worth writing down."""
        seen, names = last_seen(raw), [commit.id for commit in out.applied]
        first = self._log.send(seen, names) if out.view.scores else self._log.sent(seen)
        if first is None or list(first) == names:
            return out
        before = self._standing(raw)
        return Decided(replace(out.view, history=before.view.history), before.applied)

    def replay(self, raw: History, commits: Sequence[Commit]) -> History:
        """Put every committed summary back where its sources stand, byte for byte."""
        return self._replayer.replay(raw, commits)[0]

    def _standing(self, raw: History) -> Decided:
        """What was committed before this history first went out; and whether it did."""
        # Asked for in this order: whoever wrote down what went out had committed all of it before.
        sent = self._log.sent(last_seen(raw))
        commits = self._log.find(raw.ids)
        if sent is not None:
            commits = [commit for commit in commits if commit.id in sent]
        effective, applied = self._replayer.replay(raw, commits)
        return Decided(View(effective), applied, sent is not None)

    def _with_pins(self, raw: History, keep: Keep | None = None) -> History:
        held = dict(raw.pointed_to)
        if keep is not None:
            held |= {i.id: KEPT for i in raw.interactions if any(map(keep, i.messages))}
        if self._pins != Pins():
            held |= {i.id: "pinned by the user" for i in raw.interactions if self._pins.hold(i)}
        return locked(raw, held)


def _described(error: Exception) -> str:
    """Our own errors say what is wrong; the class of others is named too."""
    if isinstance(error, InvalidHistory):
        return f"this history is left as it is: {error}"
    return str(error) if isinstance(error, StateCompError) else f"{type(error).__name__}: {error}"
