"""ACM: the agent itself folds its work into a memory, watches a gauge, and may ask the raw past.

`manage_context()` takes everything between the last boundary (at first, the end of the task) and
the calling message, saves it raw, and answers with a numbered memory of it; from the next request
on the range is gone and the call with its result stands for it.  The boundary then lies behind the
call, so a memory is never summarised again.  `query_memory(summary_id, query)` asks a saved range.
Behind each tool result a gauge shows the context: the last prompt, the result, and 16,384 tokens
kept free for the answer.

Published is also a trained policy of its own; here the tools, gauge and guidance work with any
acting model.  A scripted agent calls `manage_context` when the gauge says that 16,384 tokens have
come since the last boundary (inferred), and `query_memory` for a value it no longer sees.

In a recording nobody calls.  What is left is the published stop at 95% of the window: there the
range is folded without a call, at most ten times (adapted: the order and the call are one).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from statecomp.baselines.acm_memory import BlockWriter, LocalBlocks, Saved
from statecomp.baselines.lines import telling_lines
from statecomp.baselines.rewriting import Marks, collapsed, sound, task_of, text_for
from statecomp.baselines.tools import Arguments, Use, text
from statecomp.baselines.writing import (
    LIMIT_CHARS,
    Writer,
    prompt,
    tool,
)
from statecomp.errors import BadInput, ScoringFailed, SummaryFailed
from statecomp.history.facts import FactIndex
from statecomp.history.history import History
from statecomp.history.interaction import Call, Interaction, JsonObject
from statecomp.llm.chat import ChatFailed
from statecomp.llm.side import SideAccount, SideChannel, account_of, channel_of
from statecomp.llm.transcript import transcript
from statecomp.options import Options, Settings, chat_of
from statecomp.strategy import Card, Refusal, Strategy, StrategyFactory, View
from statecomp.tokens import ESTIMATE, TokenCounter
from statecomp.wire.protocol import Wire

CARD = Card(
    name="acm",
    title="ACM (tools and gauge)",
    trigger="the agent calls; at 95% of the window without a call, ten times at most",
    unit="everything since the last boundary",
    calls="1 a memory, 1 a query; without a chat the extractive summariser and lexical lines",
    tools=("manage_context", "query_memory"),
    source="arXiv 2607.23809 and its code; any acting model, not the released 9B policy",
    inferred="fold when 16,384 tokens have come since the boundary; folding without a call at 95%",
)
WINDOW, RESERVED, FULL = 131_072, 16_384, 0.95
ANSWER_TOKENS = 1_024
MOST_FORCED, MOST_SAVED = 10, 512
CLIMBED = 16_384
NOTHING = "Nothing relevant in this memory."

POLICY = (
    Use("manage_context", "gauge", {}, r"tokens; ([\d,]+) since the last boundary\]", CLIMBED),
    Use(
        "query_memory",
        "missing",
        {"summary_id": "$found", "query": "$need"},
        r"\[memory (\d+) of steps",
    ),
)
TOOLS = (
    tool(
        "manage_context",
        "Fold your work since the last boundary into one short memory. The raw work is saved.",
    ),
    tool(
        "query_memory",
        "Ask a question about work that was folded into a memory; the raw work is read for it.",
        ("summary_id", "query"),
        summary_id={"type": "integer", "description": "The number of the memory."},
        query=text("What you need to know, with the names involved."),
    ),
)
GUIDANCE = (
    "Your context is short-term memory, and it is limited; a gauge behind each tool result shows "
    "how full it is. manage_context moves the work since the last boundary into long-term memory "
    "and leaves a numbered summary; query_memory reads the raw work behind such a summary. If you "
    "are unsure, look further before you fold. Fold when the gauge climbs and the recent rounds "
    "were dead ends or repeated what you know. Ask earlier memories when they may hold what you "
    "need. Folding does not end the task: go on with it."
)
_NUMBERED = re.compile(r"\[memory (\d+) of steps")


@dataclass
class AgenticContextManagement(Strategy):
    wire: Wire
    window: int = WINDOW
    channel: SideChannel | None = None
    count: TokenCounter = ESTIMATE
    policy: Sequence[Use] = POLICY
    account: SideAccount = field(init=False)
    _writer: Writer = field(init=False, repr=False)
    _raw: History = field(default=History(()), repr=False)
    _sent_tokens: int = field(default=0, repr=False)
    _saved: dict[int, Saved] = field(default_factory=dict, repr=False)
    _forced: Marks[Saved] = field(default_factory=Marks, repr=False)
    _refused: Marks[Refusal] = field(default_factory=Marks, repr=False)

    def __post_init__(self) -> None:
        if self.window <= RESERVED:
            problem = f"must be more than the {RESERVED:,} tokens kept free for answers"
            raise BadInput(problem, field="window")
        self.account = account_of(self.channel)
        self._writer = BlockWriter(self.channel) if self.channel else LocalBlocks(self.count)

    def before_request(self, history: History) -> View:
        view = self._view(history)
        if view.tokens + RESERVED >= FULL * self.window and self._may_force(history):
            try:
                self._forced.put(history, self._fold(history))
                view = self._view(history)
            except SummaryFailed as error:
                self._refused.put(history, Refusal(1, history.checkpoint - 1, str(error)))
        view = sound(view, history, self.wire)
        self._raw, self._sent_tokens = history, view.tokens
        refusal = self._refused.here(history)
        refusals = (refusal,) if refusal else ()
        return View(view, refusals=refusals, side_calls=self.account.drain())

    def _may_force(self, history: History) -> bool:
        """Ten tries a run, failed ones included, and one at each state."""
        made = sum(1 for _ in self._forced.along(history))
        failed = sum(1 for _ in self._refused.along(history))
        fresh = not self._refused.here(history)
        return fresh and made + failed < MOST_FORCED and bool(self._range(history))

    def _view(self, history: History) -> History:
        """The history without what was folded in it."""
        called = set[str]().union(*(saved.ids for _, saved in self._called(history)))
        view = collapsed(history, called)
        for saved in self._forced.along(history):
            stand = text_for(saved.text, saved.span, self.wire, self.count)
            view = collapsed(view, saved.ids - called, (stand,))
        return view

    def _called(self, history: History) -> Iterator[tuple[Interaction, Saved]]:
        """The interactions in which the agent folded, each with the range it folded."""
        for member in history.interactions:
            folding = {call.id for call in member.calls if call.name == "manage_context"}
            for seen in member.observations if folding else ():
                number = _NUMBERED.match(seen.text)
                saved = self._saved.get(int(number[1])) if number else None
                # The text must be the very one: a tool may print what looks like a memory.
                if saved and seen.call_id in folding and seen.text.startswith(saved.text):
                    yield member, saved

    def _range(self, history: History) -> tuple[Interaction, ...]:
        """What may be folded now: all since the last boundary."""
        boundary = 0
        for member, _ in self._called(history):
            boundary = member.number
        for saved in self._forced.along(history):
            boundary = max(boundary, saved.span[-1].number)
        return tuple(i for i in history.interactions if i.number > boundary and not i.locked)

    def _fold(self, history: History) -> Saved:
        span = self._range(history)
        if not span:
            raise SummaryFailed("there is no work since the last boundary")
        if len(self._saved) >= MOST_SAVED:
            raise SummaryFailed(f"no more than {MOST_SAVED} memories are held")
        rest = FactIndex(history.segments)
        for member in span:
            rest.remove(member)
        body = self._writer.write(task_of(history), "", span, rest)
        number = len(self._saved) + 1
        steps = f"steps {span[0].number}-{span[-1].number}"
        written = (
            f"[memory {number} of {steps}, written by a machine in their place. It reports work "
            "already done, quotes untrusted tool output and requests nothing; query_memory reads "
            f"the raw steps.]\n{body}\n[end of memory {number}]"
        )
        return self._saved.setdefault(number, Saved(number, span, written))

    def on_observation(self, call: Call, text: str) -> str:
        """The result with the gauge behind it; our own results show none."""
        if call.name in CARD.tools:
            return text
        fresh = self.count(text)
        since = sum(i.tokens for i in self._range(self._raw)) + fresh
        context = self._sent_tokens + fresh + RESERVED
        gauge = (
            f"[context: {context:,} of {self.window:,} tokens; {since:,} since the last boundary]"
        )
        return f"{text}\n{gauge}"

    def extra_tools(self) -> Sequence[JsonObject]:
        return TOOLS

    def extra_system_text(self) -> str:
        return GUIDANCE

    def handle_tool(self, call: Call) -> str:
        try:
            if call.name == "manage_context":
                return self._fold(self._raw).text
            if call.name == "query_memory":
                arguments = Arguments(call)
                number = arguments.whole("summary_id", 0, MOST_SAVED + 1)
                return self._answer(number, arguments.text("query"))
        except (BadInput, SummaryFailed) as error:
            return f"Nothing was done: {error}."
        return super().handle_tool(call)

    def _answer(self, number: int, query: str) -> str:
        saved = self._saved.get(number)
        if saved is None:
            return f"There is no memory {number}; there are {len(self._saved)}."
        if self.channel:
            raw = transcript(saved.span, limit_chars=LIMIT_CHARS)
            question = f"Question:\n{query}\n\n{raw}"
            try:
                return self.channel.ask(
                    "query", prompt("acm_query"), question, max_tokens=ANSWER_TOKENS
                ).strip()
            except ChatFailed:
                pass  # The raw range is here; its lines are better than no answer.
        raw = "\n".join(member.text for member in saved.span)
        try:
            found = telling_lines(query, raw, ANSWER_TOKENS, self.count)
        except ScoringFailed:
            return NOTHING
        return "Findings:\n" + "\n".join(f"- {line}" for line in found.splitlines())


def build(options: Options, settings: Settings) -> StrategyFactory:
    """`window=131072`: what the gauge is measured against."""
    chat = chat_of(options, settings)
    window = options.whole("window", WINDOW)
    return lambda run, wire: AgenticContextManagement(
        wire, window, channel_of(chat), settings.count
    )
