"""What comes once: taken from a queue, said to be shown once, or on a page that changes.

Asked again it would be something else, so a record gets no second chance.  Three signs, all in the
run itself: what the call is named, what the answer says of itself, and another answer of the same
address.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from statecomp.history.interaction import Interaction
from statecomp.history.repeats import told
from statecomp.history.windows import matches_in

ONCE_TOKENS = 500
"""A longer answer is a page to look things up in, and most of it comes again."""
LEAST_CHARS = 12
"""A shorter answer says that there was nothing."""

_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_TAKES = frozenset({"pop", "dequeue", "receive", "consume"})
_THINGS = frozenset(
    {"message", "job", "item", "task", "ticket", "event", "order", "entry", "work", "case"}
)
_TAKING = re.compile(
    r"https?://[^\s\"'?]{1,300}/(?:next|pop|dequeue|receive|consume|take)(?=[?\"'\s]|\Z)|"
    r"\b(?:B?[LR]POP|SPOP|ZPOPMIN|ZPOPMAX|XREADGROUP|GETDEL)\b|"
    r"\bsqs receive-message\b|\bpubsub subscriptions pull\b|\bkafka-console-consumer\b"
)
_SAID = re.compile(
    r"\b(?:(?:shown|displayed|visible|available|revealed) (?:only |just )?once|"
    r"(?:will|can) ?not be (?:shown|displayed|retrieved|viewed|seen|recovered) again|"
    r"one[- ]time (?:code|password|pin|token|link|secret)|"
    r"(?:copy|save|store|note) (?:it|this|them) (?:now|down))\b",
    re.IGNORECASE,
)
_ADDRESS = re.compile(r"https?://(?!localhost|127\.|0\.0\.0\.0|\[::1\])\w")


def shown_once(interactions: Sequence[Interaction]) -> Iterator[str]:
    """The ids of short answers that would not be given again."""
    short = [i for i in interactions if i.tokens <= ONCE_TOKENS and _answers(i)]
    for interaction in short:
        if next(matches_in(_SAID, interaction.observed), None) or any(
            takes(call.name, call.arguments) for call in interaction.calls
        ):
            yield interaction.id
    yield from _changing(short)


@lru_cache(maxsize=4096)
def takes(tool: str, arguments: str) -> bool:
    """Whether a call takes something out: `receive_message`, `get_next_job`, `LPOP`.

    A next page is none: it can be turned back.
    """
    words = {word.lower() for word in _WORDS.findall(tool)}
    named = not _TAKES.isdisjoint(words) or ("next" in words and not _THINGS.isdisjoint(words))
    return named or _TAKING.search(arguments) is not None


def _answers(interaction: Interaction) -> bool:
    return sum(len(seen.text) for seen in interaction.observations) >= LEAST_CHARS


def _changing(interactions: Sequence[Interaction]) -> Iterator[str]:
    """Answers of an address that has answered otherwise too, moments and durations aside."""
    asked = [i for i in interactions if any(_ADDRESS.search(call.arguments) for call in i.calls)]
    answers: dict[tuple[str, str], dict[int, list[str]]] = {}
    for interaction, known in told(asked) if len(asked) > 1 else ():
        for one in known:
            if _ADDRESS.search(one.arguments):
                same = answers.setdefault((one.name, one.arguments), {})
                same.setdefault(one.answer, []).append(interaction.id)
    for several in answers.values():
        if len(several) > 1:
            yield from (name for names in several.values() for name in names)
