"""What Self-GC may act on, and who proposes an action for each: the acting model, or rules."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from statecomp.baselines.rewriting import older, task_of
from statecomp.baselines.writing import prompt, question_about
from statecomp.errors import SummaryFailed
from statecomp.history.facts import facts_of
from statecomp.history.history import History
from statecomp.history.interaction import Interaction, Pinned
from statecomp.history.kinds import failed, kind_of
from statecomp.llm.chat import ChatFailed
from statecomp.llm.side import SideChannel

PROTECTED = 2
"""The last interactions, which nobody acts on."""
PLAN_TOKENS = 1_500
LOG_LINES = 30
"""Fewer lines are no log."""
_ACTION = re.compile(r"<(fold|mask|prune)\b[^>]*?\bid\s*=\s*[\"']([^\"']+)[\"']", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Target:
    """An object the planner may act on: some interactions under one stable id."""

    id: str
    members: tuple[Interaction, ...]

    @property
    def tokens(self) -> int:
        return sum(member.tokens for member in self.members)


def targets(history: History, taken: Mapping[str, str]) -> tuple[Target, ...]:
    """The objects of a history, without what is protected or was acted on before."""
    free = {i.id for i in older(history, PROTECTED) if i.id not in taken and i.observations}
    found: list[Target] = []
    turn: list[Interaction] = []
    users = 0

    def close() -> None:
        if users and len(turn) > 1:
            found.append(Target(f"conversation:user:{users}", tuple(turn)))
        turn.clear()

    for segment in history.segments:
        if isinstance(segment, Pinned) and segment.role == "user":
            close()
            users += 1
        elif isinstance(segment, Interaction) and segment.id in free:
            found.append(Target(f"function:tool:{segment.number}", (segment,)))
            turn.append(segment)
    close()
    return tuple(found)


class Planner(Protocol):
    """Proposes an action for some of the objects; what it does not mention is kept."""

    def plan(self, history: History, found: Sequence[Target]) -> Mapping[str, str]:
        """Action by object id; raises SummaryFailed where there is no plan."""
        ...


@dataclass(frozen=True)
class ChatPlanner:
    """Asks the acting model over an index of the objects, or over the whole prefix."""

    channel: SideChannel
    whole_prefix: bool = False

    def plan(self, history: History, found: Sequence[Target]) -> Mapping[str, str]:
        lines = [_index_line(target, history.checkpoint) for target in found]
        index = "\n".join(("Objects:", *lines))
        shown = history.interactions if self.whole_prefix else ()
        question = f"{question_about(task_of(history), '', shown)}\n\n{index}"
        try:
            system = prompt("selfgc_plan")
            answer = self.channel.ask("planner", system, question, max_tokens=PLAN_TOKENS)
        except ChatFailed as error:
            raise SummaryFailed(f"the planner gave no answer: {error}") from error
        return {name: action.lower() for action, name in _ACTION.findall(answer)}


def _index_line(target: Target, checkpoint: int) -> str:
    newest = target.members[-1]
    head = " ".join(newest.action.split())[:80]
    first = newest.observed.strip().partition("\n")[0][:80]
    age = checkpoint - newest.number
    return f'<object id="{target.id}" age="{age}" tokens="{target.tokens}"/> {head} -> {first}'


class RulePlanner:
    """Prune what failed and was followed by the same kind of step that worked, mask logs, fold
    large payloads whose identifiers the last steps do not use."""

    LARGE = 400

    def plan(self, history: History, found: Sequence[Target]) -> Mapping[str, str]:
        recent = frozenset().union(*(facts_of(i).own for i in history.interactions[-PROTECTED:]))
        chosen: dict[str, str] = {}
        for target in found:
            step = target.members[0]
            if len(target.members) > 1:
                continue
            if failed(step) and _was_retried(step, history):
                chosen[target.id] = "prune"
            elif target.tokens >= self.LARGE and is_log(step.observed):
                chosen[target.id] = "mask"
            elif target.tokens >= self.LARGE and not facts_of(step).observed & recent:
                chosen[target.id] = "fold"
        return chosen


def _was_retried(step: Interaction, history: History) -> bool:
    later = (i for i in history.interactions if i.number > step.number and not failed(i))
    names = {call.name for call in step.calls}
    return any(kind_of(i) == kind_of(step) and names == {c.name for c in i.calls} for i in later)


def is_log(text: str) -> bool:
    """Many lines that look alike once their digits are taken away."""
    lines = [line for line in text.splitlines() if line.strip()]
    if len(lines) < LOG_LINES:
        return False
    shapes = {re.sub(r"[\d\W]+", " ", line)[:24] for line in lines}
    return len(shapes) <= len(lines) // 2
