"""The scripted model of a session: the plan of the newest request, carried out on what it sees."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from statecomp.baselines.tools import Use
from statecomp.history.interaction import JsonObject
from statecomp.wire.content import text_of
from statecomp.wire.openai_chat.wire import calls_of
from statecomp_bench.acting import ScriptedModel
from statecomp_bench.habits import Habits
from statecomp_bench.models import ModelFailed, Reply
from statecomp_bench.sessions.session import Errand, WorkSession

# It looks at several things at once, and at less of each than the bench's own habits would; the
# day that is recorded was held by one who looks at some things twice, as agents in recordings do.
HABITS = Habits(reread=0.05, parallel=0.9, lines=(20, 50))
CALL = "call_"


class SessionModel:
    """A pure function of the messages, as `ScriptedModel` is.

    It reads from the newest request on, and the whole conversation where that request looks back.
    Where its last words are about another errand, because a strategy dropped the request, it goes
    on with that one.
    """

    def __init__(
        self, session: WorkSession, seed: int, habits: Habits = HABITS, policy: Sequence[Use] = ()
    ) -> None:
        self._models = [
            (errand, ScriptedModel(errand.case.plan, habits, seed, policy))
            for errand in session.errands
        ]
        titles = [step.title for errand in session.errands for step in errand.case.plan.steps]
        # Steps that two errands share say nothing about which of them it is at.
        self._own = [
            tuple(s.title for s in errand.case.plan.steps if titles.count(s.title) == 1)
            for errand in session.errands
        ]

    def reply(self, messages: Sequence[JsonObject], tools: Sequence[JsonObject]) -> Reply:
        place, errand, model = self._current(messages)
        if errand.looks_back:
            reply = model.reply(messages, tools, since=place, known=self._recalled(messages))
        else:
            reply = model.reply(messages[place:], tools)
        return Reply(_numbered(reply.message, _last_call(messages)), reply.usage)

    def _recalled(self, messages: Sequence[JsonObject]) -> dict[str, str]:
        """What it filled into calls for earlier requests it still knows where they are in sight."""
        found: dict[str, str] = {}
        for _, model in self._models:
            found.update(model.recalled(messages))
        return found

    def _current(self, messages: Sequence[JsonObject]) -> tuple[int, Errand, ScriptedModel]:
        busy: int | None = None
        for place in range(len(messages) - 1, -1, -1):
            said = text_of(messages[place].get("content"))
            role = messages[place].get("role")
            if role == "assistant" and busy is None:
                busy = self._busy_with(said)
            elif role == "user":
                for number, (errand, model) in enumerate(self._models):
                    if errand.words in said and busy in (None, number):
                        return place, errand, model
        if busy is None:
            raise ModelFailed("no request of the session is in sight")
        return 0, *self._models[busy]

    def _busy_with(self, said: str) -> int | None:
        """The errand of the longest title it names: "read the policy" is part of others."""
        named = [
            (len(title), number)
            for number, titles in enumerate(self._own)
            for title in titles
            if title in said
        ]
        return max(named)[1] if named else None


def _last_call(messages: Sequence[JsonObject]) -> int:
    calls = (call for m in messages if m.get("role") == "assistant" for call in calls_of(m))
    numbers = (call.id.removeprefix(CALL) for call in calls)
    return max((int(number) for number in numbers if number.isdecimal()), default=0)


def _numbered(message: JsonObject, last: int) -> JsonObject:
    """The same calls with ids that no earlier errand has."""
    calls: list[dict[str, Any]] = message.get("tool_calls") or []
    if not calls:
        return message
    named = [{**call, "id": f"{CALL}{n:04d}"} for n, call in enumerate(calls, last + 1)]
    return {**message, "tool_calls": named}
