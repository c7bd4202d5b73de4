"""What stays whatever the scores say, because a summary gets no second chance there.

Scores are learned from finished runs.  Five things they cannot know stand in the run itself: which
documents the user told the agent to go by, what the user answered when the agent asked, what a
service confirmed that would do a thing twice if it were asked twice, what comes once (`once`), and
what the agent has come back for.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

from statecomp.controller.once import shown_once
from statecomp.history.documents import readings
from statecomp.history.history import History
from statecomp.history.interaction import Interaction, Pinned
from statecomp.history.kinds import failed
from statecomp.history.repeats import ToldCall, told
from statecomp.ledger.commits import Commit

_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
TELLING_CHARS = 200
"""A shorter answer says no more than that a call went through."""
CONFIRMED_TOKENS = 500
"""A longer answer is the thing itself, and can be read where it was made."""
NAMED = "the user names this document"
CAME_BACK = "the agent came back for it"
ANSWERED = "the user answered here"
ONCE = "it would not be shown again, or not the same"
CONFIRMED = "a service confirmed here what it would do again if it were asked again"


@dataclass(frozen=True, slots=True)
class Holds:
    """Why interactions must stay, by id, and how often the agent came back for something."""

    reasons: Mapping[str, str] = field(default_factory=dict)
    returns: int = 0


NO_HOLDS = Holds()


def holds_of(raw: History, applied: Sequence[Commit]) -> Holds:
    """What must stay of a raw history in which these commits stand."""
    back = returns(raw, applied)
    reasons = {
        **dict.fromkeys(_documents(raw), NAMED),
        **dict.fromkeys(_answers(raw), ANSWERED),
        **dict.fromkeys(shown_once(raw.interactions), ONCE),
        **dict.fromkeys(_confirmations(raw), CONFIRMED),
        **dict.fromkeys(back, CAME_BACK),
    }
    return Holds(reasons, len(back))


def returns(raw: History, applied: Sequence[Commit]) -> list[str]:
    """Interactions that repeat a replaced one and were told the same: its summary did not do.

    Another answer to the same call is news (`history.repeats`).  A repetition from before the
    commit, or of what still stood elsewhere, is no return: it may be why the first could go.
    """
    places = {segment.id: place for place, segment in enumerate(raw.segments)}
    decided = {source: places.get(commit.at, 0) for commit in applied for source in commit.sources}
    gone: dict[ToldCall, int] = {}  # with the place from which on it stood nowhere in full
    back = []
    for interaction, known in told(raw.interactions, TELLING_CHARS) if decided else ():
        if interaction.id in decided:
            gone.update(dict.fromkeys(known, decided[interaction.id]))
            continue
        here = places[interaction.id]
        if any(gone.get(one, here) < here for one in known):
            back.append(interaction.id)
        for one in known:
            gone.pop(one, None)
    return back


def _answers(raw: History) -> Iterator[str]:
    """Where a tool asked a person: these are the user's words, and they are said once."""
    for interaction in raw.interactions:
        if any(asks_a_person(call.name) for call in interaction.calls):
            yield interaction.id


def _confirmations(raw: History) -> Iterator[str]:
    """Where a service did something and said what came of it: asked again it would do it again."""
    for interaction in raw.interactions:
        if (
            interaction.tokens <= CONFIRMED_TOKENS
            and sum(len(seen.text) for seen in interaction.observations) >= TELLING_CHARS
            and any(orders(call.name, call.arguments) for call in interaction.calls)
            and not failed(interaction)
        ):
            yield interaction.id


_METHOD = re.compile(r'"(?:http_)?method" *: *"(?:POST|PUT|PATCH|DELETE)"', re.IGNORECASE)
_CURL = re.compile(
    r"\bcurl\b[^\n|;]*\s(?:-X *(?:POST|PUT|PATCH|DELETE)|-d|-F|--data[a-z-]*|--form|--json)\b"
)
_ORDERS = frozenset(
    {"book", "reserve", "order", "pay", "purchase", "buy", "checkout", "transfer", "withdraw",
     "deposit", "refund", "exchange", "cancel", "register", "enroll", "subscribe", "redeem",
     "claim"}
)  # fmt: skip
_ASKS = frozenset(
    {"get", "list", "read", "search", "find", "query", "view", "show", "check", "fetch",
     "describe", "lookup"}
)  # fmt: skip


@lru_cache(maxsize=4096)
def orders(tool: str, arguments: str) -> bool:
    """Whether a call has a service do something: `POST`, `book_flight`, `curl -d`.

    A tool that looks an order or an issue up, such as `get_order`, has nothing done.
    """
    words = [word.lower() for word in _WORDS.findall(tool)]
    if not _ASKS.isdisjoint(words):
        return False
    done = not _ORDERS.isdisjoint(words)
    return done or bool(_METHOD.search(arguments) or _CURL.search(arguments))


@lru_cache(maxsize=1024)
def asks_a_person(tool: str) -> bool:
    """`ask_user`, `AskUserQuestion`, `ask_followup_question`, `request_user_input`, `human_input`.

    A tool that looks a user up, such as `get_user_details`, asks nobody.
    """
    words = {word.lower() for word in _WORDS.findall(tool)}
    person = words & {"user", "human", "person", "customer"}
    asks = bool(words & {"ask", "asks"} and (person or words & {"followup", "question"}))
    return asks or bool(person and words & {"input", "answer", "reply", "clarification"})


def _documents(raw: History) -> Iterator[str]:
    """The newest reading of every document that a message of the user names."""
    asked = (s.text for s in raw.segments if isinstance(s, Pinned) and s.role == "user")
    return (step.id for step in readings(asked, raw.interactions).values())


def locked(history: History, held: Mapping[str, str]) -> History:
    """The history with these interactions locked, each for its reason; earlier locks stay."""
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
