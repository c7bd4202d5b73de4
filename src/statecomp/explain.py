"""One sentence on why no more was saved at a checkpoint.

What stands before the colon is the kind of the reason, so that a page can count reasons; what
stands behind it are the numbers of this one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from statecomp.controller.holds import CAME_BACK
from statecomp.history.history import History
from statecomp.history.interaction import Interaction
from statecomp.strategy import Refusal, View

FEWEST_OLD = 2
UNTOUCHABLE = "left as it came"
UNDECIDED = "not decided"
ALL_REPLACED = "all replaced"
TOO_SHORT = "too short"
LOCKED = "all locked"
NOT_READY = "nothing ready"
SMALL = "too small a span"
NO_SUMMARY = "no summary"
NOT_YET = "would not pay yet"
COMMITTED = "committed"
TOO_LATE = "decided too late"
BEFORE = "decided before"


def explain(view: View, raw: History) -> str:
    """What stood in the way of sending less, or what was done."""
    if view.commits:
        return "; ".join((_committed(view), *view.remarks, *_stayed(view)))
    if view.note:
        return view.note
    old = max(0, len(raw.interactions) - 1)
    if old < FEWEST_OLD and not _stayed(view):
        steps = "step" if old == 1 else "steps"
        return f"{TOO_SHORT}: {old} old {steps} so far, and at least {FEWEST_OLD} are needed"
    newest = raw.interactions[-1].id
    standing = [i for i in view.history.interactions if i.id != newest]
    free = [interaction for interaction in standing if not interaction.locked]
    if not standing:
        return f"{ALL_REPLACED}: every old step stands in a summary"
    if not free:
        return f"{LOCKED}: {_locks(standing)}"
    if not view.scores and not view.refusals:
        return f"{UNDECIDED}: no step was scored"
    for kind, words in (("economics", _not_yet), ("summary", _no_summary), ("size", _too_small)):
        found = [refusal for refusal in view.refusals if refusal.kind == kind]
        if found:
            return words(found, view)
    return _not_ready(view, free, standing)


def kind_of(note: str) -> str:
    """The part of a note that many requests share."""
    return note.partition(":")[0].strip()


def _committed(view: View) -> str:
    source = sum(commit.source_tokens for commit in view.commits)
    summary = sum(commit.summary_tokens for commit in view.commits)
    spans = ", ".join(_numbers(commit.first, commit.last) for commit in view.commits)
    return f"{COMMITTED}: steps {spans} ({source:,} tokens) became {summary:,} tokens"


def _stayed(view: View) -> list[str]:
    """The spans that no record was had of, beside those that were replaced."""
    refused = (refusal for refusal in view.refusals if refusal.kind == "summary")
    return [f"{_span(one.first, one.last)} not replaced, {one.reason}" for one in refused]


def _not_yet(refusals: Sequence[Refusal], view: View) -> str:
    ruling = view.ruling
    told = ruling.text if ruling is not None and not ruling.commit else refusals[0].reason
    return f"{NOT_YET}: {told.removeprefix('does not pay yet: ')}"


def _no_summary(refusals: Sequence[Refusal], view: View) -> str:
    first = refusals[0]
    return f"{NO_SUMMARY}: {_span(first.first, first.last)}, {first.reason}"


def _too_small(refusals: Sequence[Refusal], view: View) -> str:
    nearest = max(refusals, key=lambda refusal: refusal.last - refusal.first)
    locked = [i for i in view.history.interactions if i.locked]
    between = f"; {_locks(locked)}" if locked else ""
    return f"{SMALL}: {_span(nearest.first, nearest.last)}, {nearest.reason}{between}"


def _not_ready(view: View, free: Sequence[Interaction], standing: Sequence[Interaction]) -> str:
    def lacking(interaction: Interaction) -> float:
        return view.required.get(interaction.id, 1.0) - view.scores.get(interaction.id, 0.0)

    nearest = min(free, key=lacking)
    score, needed = view.scores.get(nearest.id, 0.0), view.required.get(nearest.id)
    of = f"{len(free)} old step{'s' if len(free) > 1 else ''}"
    told = f"the best of {of} is step {nearest.number} with a score of {score:.2f}"
    if needed is not None:
        told += f", and {needed:.2f} is needed"
    back = sum(i.locked == CAME_BACK for i in view.history.interactions)
    if back:
        told += f" (more than at first: the agent came back {_times(back)} for what was replaced)"
    locked = [i for i in standing if i.locked]
    return f"{NOT_READY}: {told}" + (f"; {_locks(locked)}" if locked else "")


def _locks(locked: Sequence[Interaction]) -> str:
    """How many are locked, and mostly why."""
    reasons = Counter(_without_names(i.locked) for i in locked)
    (reason, count), *rest = reasons.most_common()
    first = reason if not rest else f"{count} because {reason}"
    return f"{_steps(len(locked))} locked ({first})"


def _without_names(reason: str) -> str:
    """A reason that many share, without the call it names."""
    head, quote, rest = reason.partition("'")
    return f"{head}…{rest.partition(quote)[2]}" if quote and quote in rest else reason


def _span(first: int, last: int) -> str:
    return f"step {first}" if first == last else f"steps {first}-{last}"


def _numbers(first: int, last: int) -> str:
    return str(first) if first == last else f"{first}-{last}"


def _steps(count: int) -> str:
    return f"{count} step" if count == 1 else f"{count} steps"


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"
