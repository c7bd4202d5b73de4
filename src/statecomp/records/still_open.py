"""What is left to do, as far as a machine can vouch for it: it is said with the step it held at."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import takewhile

from statecomp.history.given import argument_object
from statecomp.history.interaction import Interaction, Pinned, Summary
from statecomp.history.situation import Situation
from statecomp.records.extracting.pieces import one_line, shortened

FILES, ITEMS, ITEM_CHARS = 5, 3, 60
"""So many files and items of a list are named; of more is said how many."""
MESSAGE_CHARS = 20_000
"""Of each message of the user; what is longer holds a file."""

_KINDS = (
    "md|txt|rst|csv|tsv|json|jsonl|ya?ml|toml|xml|html?|css|svg|png|jpe?g|gif|pdf|docx?|xlsx?|"
    "pptx?|tex|ipynb|py|sh|sql|js|ts|tsx|jsx|java|go|rs|rb|php|c|h|cc|cpp|log|ini|cfg|conf|bib|"
    "patch|diff|ics|parquet|zip"
)
# Not one of two that will do, and not what is to become something else.
_FILE = (
    r"[\"'`*(\[]{0,3}(?P<file>[A-Za-z0-9_~./-][A-Za-z0-9_.~/-]{0,120}\."
    rf"(?:{_KINDS}))(?![\w/{{}}<*$-]|\.\w|[\"'`*)\]]{{0,3}} (?:or|and/or|if|to|as|into)\b)"
)
_FILLING = (
    r"(?:(?:(?:a|an|the|your|one|this|new|newly|created|single|final|file|files|script|report|"
    r"document|path|results?|named|called|to|into|in|as|at)\b:?|the following:?) {1,3}){0,7}"
)
_WHAT = r"(?:[^.;:!?\n]|\.\w){1,100}?"
_ASKED = re.compile(
    r"(?<![\w-])(?:"
    rf"(?:write|create|save|produce|export|generate|make|build) {_FILLING}|"
    rf"(?:write|save|export|store|put) {_WHAT} (?:to|into) {_FILLING}|"
    rf"(?:save|export|store) {_WHAT} as {_FILLING}|"
    rf"(?:save|store|put|place|fill) {_WHAT} in {_FILLING}"
    rf"){_FILE}",
    re.IGNORECASE,
)
_UNASKED = re.compile(
    r"(?:\b(?:will|would|may|might|can(?! you)|not|never|without|avoid|instead of|if|unless)|n't|"
    r"'ll)\b[^.!?;\n]*\Z|\b(?:that|which|used to) \Z",
    re.IGNORECASE,
)
"""What stands before a verb that says what another does, or is to be done at times, or never."""
_DONE = frozenset({"completed", "complete", "done", "finished", "cancelled", "canceled", "skipped"})
_CALLED = ("content", "step", "title", "task", "description", "text", "name")


def still_open(span: Sequence[Interaction], situation: Situation) -> tuple[str, ...]:
    """Lines of what is open, for a reader who has the span no more; none of a finished task."""
    return () if situation.finished else (*unwritten(span, situation), *_listed(span, situation))


def unwritten(span: Sequence[Interaction], situation: Situation) -> Iterator[str]:
    """A line of the files that the user asks for and that nothing so far has named."""
    words = _words(situation)
    asked = dict.fromkeys(name for text in words for name in _asked_for(text[:MESSAGE_CHARS]))
    steps = (*span, *situation.interactions)
    told = [text for step in steps for text in _told(step)] if asked else []
    told += [record.text for record in situation.records]
    left = [name for name in asked if not any(name.rpartition("/")[2] in text for text in told)]
    if left and steps:
        last = max(step.number for step in steps)
        yield f"asked for, not written up to step {last}: {_some(left, FILES, ', ')}"


def _words(situation: Situation) -> list[str]:
    """What the user asks for since the newest record, which may leave out what a step wrote."""
    segments = (*situation.before, *situation.after)
    since = takewhile(lambda segment: not isinstance(segment, Summary), reversed(segments))
    task = situation.asked[situation.preambles :]
    return [s.text for s in since if isinstance(s, Pinned) and s.text in task][::-1]


def _told(step: Interaction) -> Iterator[str]:
    """What was sent and answered: what the agent only speaks of is not done."""
    if not step.calls:
        yield step.said
    yield from (call.arguments for call in step.calls)
    yield from (seen.text for seen in step.observations)


@lru_cache(maxsize=64)
def _asked_for(text: str) -> tuple[str, ...]:
    return tuple(
        match["file"]
        for match in _ASKED.finditer(text)
        if not _UNASKED.search(text[max(0, match.start() - 80) : match.start()])
    )


def _listed(span: Sequence[Interaction], situation: Situation) -> Iterator[str]:
    """A line of the open items of the agent's newest list, where it goes with the span."""
    noted = situation.noted(span)
    if noted and any(step.number == noted.step for step in span):
        items = [shortened(one_line(item), ITEM_CHARS) for item in _open_items(noted.text)]
        if items:
            yield f"{noted.step}: open on the agent's list: {_some(items, ITEMS, '; ')}"


def _open_items(arguments: str) -> Iterator[str]:
    """What is not done of a list whose items each have a status; nothing of a mere change."""
    given = argument_object(arguments)
    lists = [value for value in given.values() if isinstance(value, list)]
    for item in lists[0] if len(lists) == 1 and not given.get("merge") else ():
        status = item.get("status") if isinstance(item, dict) else None
        if isinstance(status, str) and status.lower() not in _DONE:
            yield next((str(item[key]) for key in _CALLED if item.get(key)), "")


def _some(names: Sequence[str], most: int, between: str) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return f"{between.join(names[:most])}{more}"
