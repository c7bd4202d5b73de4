"""The agent: a plain tool-calling loop with a strategy before every request.

At each step the strategy is handed the raw history, and its view is what the model is given.  The
raw history is kept whole; what the strategy gains or loses shows in what the model does next.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TypeVar

from statecomp.errors import StateCompError
from statecomp.history.history import History
from statecomp.history.interaction import Call, Interaction, JsonObject
from statecomp.replays.accounting import Bill, common_prefix
from statecomp.strategy import Strategy, View
from statecomp.tokens import ESTIMATE, TokenCounter, count_message
from statecomp.wire.incremental import IncrementalReader
from statecomp.wire.openai_chat.wire import calls_of
from statecomp.wire.placement import render
from statecomp.wire.protocol import Wire
from statecomp_bench.environment import NAMES, Environment
from statecomp_bench.models import Model, ModelFailed, Reply, usable
from statecomp_bench.plan import WRITERS

SYSTEM = (
    "You are a careful assistant that works on files in /workspace with the tools you are given. "
    "Work step by step, say briefly what you found and what you do next, follow every rule of the "
    "task and of the documents it names, and answer without a tool call when all is done."
)
STEP_LIMIT = "the step limit was reached"

T = TypeVar("T")


class RunFailed(StateCompError):
    """A run that cannot go on; it is scored 0, and this is the reason."""


@dataclass(frozen=True, slots=True)
class AgentRequest:
    """One request to the acting model, and what the strategy had made of the history.

    `standing` has one letter for each interaction so far: `k` kept, `e` edited, `s` in a summary,
    `-` gone.  `first_change` is the share of raw segments in front of the first changed one.
    """

    bill: Bill
    raw: int
    first_change: float | None
    damage: int
    commits: int
    refusals: int
    standing: str


@dataclass
class AgentRun:
    """A run in progress; everything that happened so far."""

    messages: list[JsonObject]
    requests: list[AgentRequest] = field(default_factory=list)
    ended: str = STEP_LIMIT
    pruned: int = 0  # tokens a strategy took from fresh observations

    @property
    def bill(self) -> Bill:
        return sum((request.bill for request in self.requests), Bill())


class Agent:
    """One run of one task: a model, a strategy, an environment."""

    def __init__(
        self,
        model: Model,
        strategy: Strategy,
        environment: Environment,
        wire: Wire,
        count: TokenCounter = ESTIMATE,
        system: str = SYSTEM,
    ) -> None:
        self._model = model
        self._strategy = strategy
        self._environment = environment
        self._wire = wire
        self._count = count
        self._system = system
        self._reader = IncrementalReader(wire, count)
        self._previous = History(())

    def run(self, instruction: str, max_steps: int, run: AgentRun | None = None) -> AgentRun:
        """Until the model ends it or the steps are used up; raises RunFailed.

        A `run` handed in is filled, so that a failed one can still be looked at.
        """
        run = run or AgentRun([])
        self.begin(run)
        return self.go_on(run, instruction, max_steps)

    def begin(self, run: AgentRun) -> None:
        """An empty conversation with the system's words."""
        run.messages[:] = [{"role": "system", "content": self._system}]

    def go_on(self, run: AgentRun, words: str, max_steps: int) -> AgentRun:
        """The user says something; until the model answers without a call, or steps are used up."""
        run.messages.append({"role": "user", "content": words})
        return self.carry_on(run, max_steps)

    def carry_on(self, run: AgentRun, max_steps: int) -> AgentRun:
        """From the messages as they stand, whoever wrote them."""
        run.ended = STEP_LIMIT
        for _ in range(max_steps):
            message = self._step(run)
            run.messages.append(message)
            calls = calls_of(message)
            if not calls:
                run.ended = ""
                break
            for call in calls:
                run.messages.append(self._observed(run, call))
        return run

    def _step(self, run: AgentRun) -> JsonObject:
        """One request: the strategy's view goes out, an assistant message comes back."""
        tools = self._tools()
        extra = _guarded("strategy", self._strategy.extra_system_text)
        content = f"{self._system}\n\n{extra}" if extra else self._system
        if run.messages[0]["content"] != content:
            run.messages[0] = {"role": "system", "content": content}
        history = self._reader.read({self._wire.key: run.messages})
        view = _guarded("strategy", lambda: self._strategy.before_request(history))
        sent = _guarded("strategy", lambda: render(view.history, self._wire))
        wrong = self._wire.check(sent)
        if wrong:
            raise RunFailed(f"the strategy sent an invalid request: {wrong[0]}")
        reply = _guarded("model", lambda: self._model.reply(sent, tools))
        message = usable(reply.message)
        own = count_message({"role": "system", "content": extra}, self._count) if extra else 0
        run.requests.append(self._request(run, history, view, message, reply, tools, own))
        self._previous = view.history
        return message

    def _tools(self) -> list[JsonObject]:
        """The environment's tools, those that read with the strategy's arguments, and its own."""
        adapt = self._strategy.adapt_tool
        own = [
            t if _name(t) in WRITERS else _guarded("strategy", partial(adapt, t))
            for t in self._environment.tools
        ]
        extra = {_name(t): t for t in _guarded("strategy", self._strategy.extra_tools)}
        return [*(extra.pop(_name(tool), tool) for tool in own), *extra.values()]

    def _observed(self, run: AgentRun, call: Call) -> JsonObject:
        if call.name in NAMES:
            text = self._environment.call(call)
            seen = _guarded("strategy", lambda: self._strategy.on_observation(call, text))
            if seen is not text:
                run.pruned += self._count(text) - self._count(seen)
        else:
            seen = _guarded("strategy", lambda: self._strategy.handle_tool(call))
        return {"role": "tool", "tool_call_id": call.id, "content": seen}

    def _request(
        self,
        run: AgentRun,
        history: History,
        view: View,
        message: JsonObject,
        reply: Reply,
        tools: Sequence[JsonObject],
        own: int,
    ) -> AgentRequest:
        """The account of one request: the server's numbers where it gave any, else ours."""
        same, cached = common_prefix(self._previous, view.history)
        changed, _ = common_prefix(history, view.history)
        whole = changed == len(history.segments) == len(view.history.segments)
        schemas, plain = self._schema_tokens(tools), self._schema_tokens(self._environment.tools)
        usage = reply.usage
        first = not self._previous.segments
        return AgentRequest(
            bill=Bill(
                input=usage.input_tokens or view.history.tokens + schemas,
                cached=usage.cached_tokens
                if usage.input_tokens
                else cached + (0 if first else schemas),
                output=usage.output_tokens or count_message(message, self._count),
            ).with_side(view.side_calls),
            raw=history.tokens + run.pruned + plain - own,
            first_change=None if whole else changed / len(history.segments),
            damage=self._previous.tokens - cached if same < len(self._previous.segments) else 0,
            commits=len(view.commits),
            refusals=len(view.refusals),
            standing=_standing(view.history, history),
        )

    def _schema_tokens(self, tools: Sequence[JsonObject]) -> int:
        return self._count(json.dumps(list(tools)))


def _name(tool: JsonObject) -> str:
    return str(tool["function"]["name"])


def _guarded(who: str, work: Callable[[], T]) -> T:
    """A strategy or model that raises costs its run, not the others."""
    try:
        return work()
    except (RunFailed, ModelFailed):
        raise
    except StateCompError as error:
        raise RunFailed(f"the {who} failed: {error}") from error
    except Exception as error:  # other people's code stands behind both
        raise RunFailed(f"the {who} raised {type(error).__name__}: {error}") from error


def _standing(view: History, raw: History) -> str:
    """What became of each interaction, one letter each; see `AgentRequest`."""
    letters = {i.number: "-" for i in raw.interactions}
    originals = {i.id for i in raw.interactions}
    for segment in view.segments:
        if isinstance(segment, Interaction):
            letters[segment.number] = "k" if segment.id in originals else "e"
    for summary in view.summaries:
        letters.update(dict.fromkeys(range(summary.first, summary.last + 1), "s"))
    return "".join(letters[number] for number in sorted(letters))
