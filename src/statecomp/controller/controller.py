"""Algorithm 1: one checkpoint of StateComp."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from statecomp.controller.chapters import chapters_of
from statecomp.controller.circumstances import JUST_AFTER, Circumstances
from statecomp.controller.spans import Gates, Rule, eligible_spans
from statecomp.controller.states import commit_name, last_seen, tip
from statecomp.errors import ScoringFailed, SummaryFailed
from statecomp.history.facts import FactIndex
from statecomp.history.history import History, Span
from statecomp.history.identity import digest
from statecomp.history.interaction import Interaction, Summary
from statecomp.history.situation import Situation
from statecomp.ledger.commits import Commit
from statecomp.records.record import Objection, Record, frame, mark_of
from statecomp.records.verify import verify
from statecomp.strategy import Refusal, Ruling, Scorer, Summarizer, View
from statecomp.tokens import ESTIMATE, TokenCounter, count_message
from statecomp.wire.placement import lead_in_tokens, render
from statecomp.wire.protocol import Wire


@dataclass(frozen=True)
class Controller:
    """Decides what is replaced at a checkpoint.  Nothing is mutated; it keeps no state.

    The `rule` says what a score is worth: the paper's gates, or what pays.
    """

    scorer: Scorer
    summarizer: Summarizer
    wire: Wire
    rule: Rule = Gates()
    count: TokenCounter = ESTIMATE
    mark_key: bytes = b""

    def rewrite(self, history: History, now: Circumstances = JUST_AFTER) -> View:
        """A valid history no longer than the one given, or that very history (Algorithm 1)."""
        try:
            scores = self._scores(history)
        except ScoringFailed as error:
            return View(history, note=f"no scores: {error}")

        required = self.rule.required(history, now)
        spans, refusals = eligible_spans(history, scores, required, self.rule)
        spans = sorted((*spans, *chapters_of(history)))
        view = View(history, scores, required, scored_by=getattr(self.scorer, "name", ""))
        spans, ruling = self._worthwhile(view, spans, now, refusals)
        if not spans:
            return replace(view, refusals=tuple(refusals), ruling=ruling)
        summaries = self._proposals(history, spans, refusals)
        spans, ruling = self._worthwhile(view, list(summaries), now, refusals, summaries)
        rewritten = history
        # Last span first, so the positions of earlier spans stay true.
        for span in reversed(spans):
            rewritten = rewritten.replace(span, summaries[span])

        view = replace(view, refusals=tuple(refusals))
        if spans and self._violations(rewritten) > self._violations(history):
            return replace(view, note="the whole became invalid")
        commits = tuple(_commit(history, history.members(s), summaries[s]) for s in spans)
        return replace(view, history=rewritten, commits=commits, ruling=ruling)

    def _scores(self, history: History) -> Mapping[str, float]:
        scores = self.scorer.score(history)
        for place, score in scores.items():
            if not 0.0 <= score <= 1.0:  # also false for NaN
                raise ScoringFailed(f"the score of interaction {place} is {score}")
        return scores

    def _worthwhile(
        self,
        view: View,
        spans: list[Span],
        now: Circumstances,
        refusals: list[Refusal],
        summaries: Mapping[Span, Summary] | None = None,
    ) -> tuple[list[Span], Ruling | None]:
        """The spans that are replaced now; those that wait are refused.

        Asked twice: with the expected length of the summaries, so that none is written that cannot
        pay, and with the summaries themselves.
        """
        if not spans:
            return spans, None
        verdict = self.rule.judge(view.history, spans, view.scores, now, summaries)
        for place, reason in verdict.waits.items():
            members = view.history.members(spans[place])
            refusals.append(Refusal(members[0].number, members[-1].number, reason, "economics"))
        return [spans[place] for place in verdict.taken], verdict.ruling

    def _proposals(
        self, history: History, spans: Sequence[Span], refusals: list[Refusal]
    ) -> dict[Span, Summary]:
        """An acceptable summary for each span that has one, in history order.

        `facts` indexes the history without the span at hand.  Spans decided earlier at this
        checkpoint are gone from it already, so the last copy of a fact is seen as the last copy.
        """
        trial, summaries = history, dict[Span, Summary]()
        facts = FactIndex(history.segments)
        waiting = list(spans)
        while waiting:
            span = waiting.pop()
            members = history.members(span)
            first, last = members[0].number, members[-1].number
            standing = history.segments[span.start : span.stop]
            try:
                for segment in standing:
                    facts.remove(segment)
                situation = Situation.around(span, trial, facts, waiting)
                summary = self._propose(members, situation)
                replaced = trial.replace(span, summary)
                self._accept(replaced, trial, span)
            except SummaryFailed as error:
                refusals.append(Refusal(first, last, str(error), "summary"))
                for segment in standing:
                    facts.add(segment)
                if isinstance(error, Objection) and not history.is_chapter(span):
                    waiting += self._without(span, members, error.keep)
                continue
            trial = replaced
            facts.add(summary)
            summaries[span] = summary
        return dict(reversed(summaries.items()))

    def _without(
        self, span: Span, members: Sequence[Interaction], keep: Mapping[int, str]
    ) -> list[Span]:
        """The runs of a span that are left where its writer wants some steps kept."""
        kept = [place for place, member in enumerate(members, span.start) if member.number in keep]
        ends = pairwise((span.start - 1, *kept, span.stop))
        runs = [Span(before + 1, after) for before, after in ends if after - before > 1]
        inside = (members[run.start - span.start : run.stop - span.start] for run in runs)
        small = [bool(self.rule.too_small(run)) for run in inside]
        return [run for run, is_small in zip(runs, small, strict=True) if not is_small and kept]

    def _propose(self, members: Sequence[Interaction], situation: Situation) -> Summary:
        """One proposal, held to the fact ledger whoever wrote it."""
        proposed = self.summarizer.summarize(members, situation)
        record = verify(proposed, members, situation)
        if not record:
            raise SummaryFailed("the summary is empty")
        return write_summary(record, members, self.wire, self.count, self.mark_key)

    def _accept(self, trial: History, current: History, span: Span) -> None:
        """Shorter, and no rule newly broken where the summary meets its neighbours.

        Token counts add up over segments and interactions are whole, so looking at the span and
        its two neighbours says the same as looking at everything; the whole is checked once, at
        the end.
        """
        source = sum(segment.tokens for segment in current.segments[span.start : span.stop])
        there = _window(trial, span.start, span.start + 1)
        written = trial.segments[span.start].tokens + lead_in_tokens(there, self.wire, self.count)
        if written >= source:
            raise SummaryFailed(f"{written} tokens would replace {source}")
        opening = not any(s.messages for s in current.segments[: max(0, span.start - 1)])
        before = self._violations(_window(current, span.start, span.stop), opening)
        if self._violations(there, opening) > before:
            raise SummaryFailed("the replacement would break a protocol rule")

    def _violations(self, history: History, opening: bool = True) -> int:
        return len(self.wire.check(render(history, self.wire), opening=opening))


def write_summary(
    record: Record,
    members: Sequence[Interaction],
    wire: Wire,
    count: TokenCounter,
    mark_key: bytes = b"",
) -> Summary:
    first, last = members[0].number, members[-1].number
    sources = tuple(member.id for member in members)
    text = frame(record.body, first, last, mark_of(sources, mark_key))
    return replace(summary_of(text, sources, first, last, wire, count), by=record.by)


def summary_of(
    text: str, sources: tuple[str, ...], first: int, last: int, wire: Wire, count: TokenCounter
) -> Summary:
    messages = wire.write_summary(text)
    tokens = sum(count_message(message, count) for message in messages)
    return Summary(digest(text, *sources), messages, tokens, text, sources, first, last)


def _window(history: History, start: int, stop: int) -> History:
    return History(history.segments[max(0, start - 1) : stop + 1])


def _commit(history: History, members: Sequence[Interaction], summary: Summary) -> Commit:
    return Commit(
        id=commit_name(last_seen(history), summary.id),
        at=tip(history),
        sources=summary.sources,
        first=summary.first,
        last=summary.last,
        text=summary.text,
        source_tokens=sum(member.tokens for member in members),
        summary_tokens=summary.tokens,
        by=summary.by,
    )
