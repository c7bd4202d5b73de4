"""What is decided at one state of a history, committed, and remembered for later decisions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple, TypeAlias

from statecomp.controller.chapters import with_originals
from statecomp.controller.circumstances import Circumstances
from statecomp.controller.holds import NO_HOLDS, holds_of, locked
from statecomp.controller.judging import Judge
from statecomp.controller.replaying import Replayer, claimed_and_kept
from statecomp.controller.states import chain_to, decided_at, last_seen, tip
from statecomp.history.history import History
from statecomp.ledger.commits import Commit, CommitLog
from statecomp.recent import LruCache, Weighed
from statecomp.strategy import Refusal, Summarizer, View

NOTHING = History(())
SECRET = "its summary would hold a secret"
MOST_STEPS = 10_000
TOO_LONG = f"nothing is decided about more than {MOST_STEPS:,} steps"
"""No model reads that many, and looking back from each of them at all others takes minutes."""
MOST_TOKENS = 2_000_000
TOO_LARGE = f"nothing is decided about more than {MOST_TOKENS:,} tokens"
"""No model reads as much at once, and writing a record of one such step takes minutes."""
OBJECTION_STEPS = 10
"""For so many steps nobody is asked again about what a record's writer wanted kept."""
Secrets: TypeAlias = Callable[[Iterable[str]], Callable[[str], bool]]
"""From the texts of a conversation to whether a text holds one of its secrets."""


def always() -> bool:
    return True


def none_secret(conversation: Iterable[str]) -> Callable[[str], bool]:
    return lambda text: False


class Decided(NamedTuple):
    """What a history goes out as: a view and the commits in it; `sent` where it did before."""

    view: View
    applied: tuple[Commit, ...]
    sent: bool = False


@dataclass(frozen=True)
class Decisions:
    """Asks the judge at a state that is new, and commits what comes of it to the log."""

    log: CommitLog
    replayer: Replayer
    judge: Judge
    holds: bool
    chapters: bool
    window: int | None
    secrets: Secrets
    # States at which nothing was worth doing: the same request sent again decides nothing new.
    _idle: Weighed[str, View] = field(
        default_factory=lambda: Weighed(1024, lambda view: 1000 + 350 * len(view.scores))
    )
    # Interactions that put a secret into a summary: they stay, and those around them can go.
    _telling: LruCache[str, str] = field(default_factory=lambda: LruCache(4096))
    # What a record's writer wants kept, and until which step: then it may be asked again.
    _objected: LruCache[str, tuple[int, str]] = field(default_factory=lambda: LruCache(4096))

    def idle_at(self, raw: History) -> bool:
        """Whether nothing was worth doing at this state."""
        return self._idle.get(last_seen(raw)) is not None

    def decide(
        self,
        raw: History,
        now: Circumstances,
        wanted: Callable[[], bool] = always,
        summarizer: Summarizer | None = None,
    ) -> Decided:
        """What was committed before, then Algorithm 1 on what that leaves."""
        commits = self.log.find(raw.ids)
        effective, applied = self.replayer.replay(raw, commits)
        if (settled := self._settled(raw, effective, commits)) is not None:
            return Decided(settled, applied)
        view = self._proposed(raw, effective, commits, applied, now, summarizer)
        if not view.commits:
            # A scorer that failed may work the next time; only an answer is worth remembering.
            if view.scores:
                self._idle.put(last_seen(raw), replace(view, history=NOTHING))
            return Decided(view, applied)
        if not wanted():
            late = View(effective, note="decided too late: nothing was committed")
            return Decided(late, applied)
        return self._committed(raw, view, commits, applied)

    def _settled(self, raw: History, effective: History, commits: Sequence[Commit]) -> View | None:
        """The view where nothing is to be decided: it was decided before, or nobody could."""
        if any(decided_at(commit, raw) for commit in commits):
            return View(effective, note="decided before at this state")
        if len(raw.interactions) > MOST_STEPS:
            return View(effective, note=TOO_LONG)
        if effective.tokens > MOST_TOKENS:
            return View(effective, note=TOO_LARGE)
        idle = self._idle.get(last_seen(raw))
        return replace(idle, history=effective) if idle is not None else None

    def _proposed(
        self,
        raw: History,
        effective: History,
        commits: Sequence[Commit],
        applied: Sequence[Commit],
        now: Circumstances,
        summarizer: Summarizer | None,
    ) -> View:
        """Algorithm 1 on what is neither held nor claimed, without what would tell a secret."""
        holds = holds_of(raw, applied) if self.holds else NO_HOLDS
        stays = {**holds.reasons, **self._held(raw.ids, effective.checkpoint)}
        stays |= claimed_and_kept(commits, applied)
        judged = with_originals(effective, raw, applied) if self.chapters else effective
        view = self._judged(locked(judged, stays), now, holds.returns, summarizer)
        view = replace(view, commits=tuple(_over(commit, applied) for commit in view.commits))
        return self._without_secrets(view, raw, applied)

    def _committed(
        self, raw: History, view: View, commits: Sequence[Commit], applied: Sequence[Commit]
    ) -> Decided:
        """What goes out once the log was asked: the view, or what another worker committed."""
        at = tip(raw)
        if any(commit.at == at for commit in commits):
            # Decided there before the user spoke again: this holds from the user's words on.
            at = last_seen(raw)
            view = replace(view, commits=tuple(replace(c, at=at) for c in view.commits))
        accepted = tuple(self.log.append(at, view.commits, chain_to(at, raw)))
        if accepted == view.commits:
            gone = {name for commit in accepted for name in commit.over}
            return Decided(view, (*(c for c in applied if c.id not in gone), *accepted))
        # Another worker was first, here or over a source: its word stands, so that both send the
        # same bytes.
        theirs, applied = self.replayer.replay(raw, self.log.find(raw.ids))
        return Decided(replace(view, history=theirs, commits=()), applied)

    def _held(self, ids: Sequence[str], checkpoint: int) -> Mapping[str, str]:
        held = self.log.held(ids)
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
            now = replace(now, window_tokens=self.window)
        found = self.judge.judged(effective, now, refetches, self.log.refused, summarizer)
        view, until = found.view, effective.checkpoint + OBJECTION_STEPS
        for name, reason in found.objections.items():
            self._objected.put(name, (until, reason))
        taken = {commit.sources for commit in view.commits}
        for sources, first, last in found.answered:
            refused = [r for r in view.refusals if (r.first, r.last) == (first, last)]
            # A summary that was good but did not pay yet may pay later.
            if sources not in taken and all(r.kind != "economics" for r in refused):
                self.log.refuse(sources, refused[0].reason if refused else view.note)
        return view

    def _without_secrets(self, view: View, raw: History, applied: Sequence[Commit]) -> View:
        if not view.commits:
            return view
        secret = self.secrets(s.text for s in raw.segments)
        fit = tuple(commit for commit in view.commits if not secret(commit.text))
        if fit == view.commits:
            return view
        refusals = list(view.refusals)
        for commit in (commit for commit in view.commits if commit not in fit):
            refusals.append(Refusal(commit.first, commit.last, SECRET, "summary"))
            self.log.refuse(commit.sources, SECRET)
            for interaction in raw.interactions:
                if interaction.id in commit.sources and secret(interaction.text):
                    self._telling.put(interaction.id, SECRET)
        history = self.replayer.replay(raw, (*applied, *fit))[0]
        return replace(view, history=history, commits=fit, refusals=tuple(refusals))


def _over(commit: Commit, applied: Sequence[Commit]) -> Commit:
    """A commit with the names of those that stood where it stands now."""
    sources = set(commit.sources)
    return replace(commit, over=tuple(c.id for c in applied if sources.issuperset(c.sources)))
