"""SelfCompact: the acting model itself says when all that happened becomes one summary.

Training-free (Li et al., arXiv 2606.23525).  In `probe` form a short rubric is put to the model at
probe points, and removed again whatever it answers; in `tool` form the model may call
`compact_context`, with the rubric in its system prompt.  Either way the context is reset to the
task and a summary, nothing can be recovered, and a backstop compacts past 0.30 of the window.

Inferred: when to probe (after 5 interactions, or 8,000 more tokens); the wording of the rubric,
generalised from searching to acting; answers that contradict the verdict mean CONTINUE; the user's
later messages stay; a scripted agent calls the tool when it is done with a large observation.
Without a chat the rubric is answered by rules over identifiers, which is a substitute for the
model's judgement and no part of the method.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol

from statecomp.baselines.rewriting import (
    WINDOW,
    Compactor,
    Marks,
    at_least,
    budget_of,
    older,
    task_of,
)
from statecomp.baselines.tools import Use
from statecomp.baselines.writing import (
    ChatWriter,
    ExtractiveWriter,
    Writer,
    prompt,
    question_about,
    tool,
)
from statecomp.errors import BadInput
from statecomp.history.facts import facts_of
from statecomp.history.history import History
from statecomp.history.interaction import Call, Interaction, JsonObject, Pinned
from statecomp.history.kinds import failed
from statecomp.history.trajectory import Trajectory
from statecomp.llm.answer import json_object
from statecomp.llm.chat import Chat, ChatFailed
from statecomp.llm.side import SideAccount, SideChannel
from statecomp.options import Options, Settings, chat_of
from statecomp.records.writing.answer import SCHEMA as RECORD_SCHEMA
from statecomp.records.writing.answer import parse_record
from statecomp.strategy import Card, Refusal, Strategy, StrategyFactory, View
from statecomp.wire.protocol import Wire

CARD = Card(
    name="selfcompact",
    title="SelfCompact",
    trigger="the model's verdict at probes (mode=probe), its call (mode=tool); 0.30 of the window",
    unit="everything behind the task",
    calls="a probe every 5 interactions and a summary when it fires, by the acting model; "
    "without a chat, rules answer the rubric and an extract is the summary",
    tools=("compact_context",),
    source="arXiv 2606.23525 (no code found)",
    inferred="probe interval, rubric wording, what contradictory answers mean",
)
TOOL = "compact_context"
BACKSTOP = round(0.30 * WINDOW)
PROBE_TOKENS = 400
POLICY = (Use(TOOL, "bulky", least=8_000),)
_ANSWER = {
    "type": "object",
    "properties": {
        "answer": {"type": "string", "enum": ["Y", "N"]},
        "evidence": {"type": "string"},
    },
    "required": ["answer", "evidence"],
    "additionalProperties": False,
}
QUESTIONS = ("C1", "C2", "C3", "N1")
SUMMARY_TOKENS = 2_000
"""What an extract may take where the method lets its model write one to three thousand."""
SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        **dict.fromkeys(QUESTIONS, _ANSWER),
        "verdict": {"type": "string", "enum": ["COMPRESS", "CONTINUE"]},
    },
    "required": [*QUESTIONS, "verdict"],
    "additionalProperties": False,
}


@dataclass(frozen=True, slots=True)
class ProbeVerdict:
    """The rubric answered: closed unit, summarisable, progress, stuck."""

    closed: bool = False
    summarisable: bool = False
    progress: bool = False
    stuck: bool = False
    note: str = ""

    @property
    def fires(self) -> bool:
        return self.closed and self.summarisable and self.progress and not self.stuck


class Prober(Protocol):
    """Answers the rubric about what the agent sees now."""

    def judge(self, task: str, before: str, since: Sequence[Interaction]) -> ProbeVerdict: ...


@dataclass(frozen=True)
class ChatJudge:
    """The acting model answers; no usable answer means CONTINUE."""

    channel: SideChannel

    def judge(self, task: str, before: str, since: Sequence[Interaction]) -> ProbeVerdict:
        question = question_about(task, before, since)
        system = prompt("selfcompact_probe")
        try:
            answer = self.channel.ask(
                "probe", system, question, max_tokens=PROBE_TOKENS, schema=SCHEMA
            )
            said = json_object(answer)
            yes = {name: _is_yes(said.get(name)) for name in QUESTIONS}
        except (ChatFailed, ValueError) as error:
            return ProbeVerdict(note=f"the probe gave no verdict: {error}")
        if said.get("verdict") != "COMPRESS":
            return ProbeVerdict(note="CONTINUE")
        return ProbeVerdict(yes["C1"], yes["C2"], yes["C3"], yes["N1"])


def _is_yes(value: object) -> bool:
    answer = value.get("answer") if isinstance(value, dict) else value
    return str(answer).strip().upper().startswith("Y")


class RuleJudge:
    """The rubric by rules: what was learned, used and repeated, told by identifiers."""

    def judge(self, task: str, before: str, since: Sequence[Interaction]) -> ProbeVerdict:
        if not since:
            return ProbeVerdict()
        known: set[str] = set()
        news, own, observed = [], set[str](), set[str]()
        for interaction in since:
            facts = facts_of(interaction)
            news.append(bool(facts.observed - known) and not failed(interaction))
            known |= facts.observed | facts.own
            own |= facts.own
            observed |= facts.observed
        last = since[-1]
        return ProbeVerdict(
            closed=not last.locked and bool(last.observations) and not failed(last),
            summarisable=len(own & observed) >= 3,
            progress=any(news),
            stuck=len(news) >= 4 and sum(news[-4:]) <= 1,
        )


@dataclass(frozen=True, slots=True)
class _Probe:
    """Where the last probe or compaction was, and what was visible behind it."""

    checkpoint: int
    tokens: int


@dataclass(frozen=True)
class SelfCompact(Strategy):
    compactor: Compactor
    judge: Prober
    mode: str = "probe"
    every: int = 5
    growth: int = 8_000
    limit: int = BACKSTOP
    account: SideAccount = field(default_factory=SideAccount)
    _probes: Marks[_Probe] = field(default_factory=Marks, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.mode not in ("probe", "tool"):
            raise BadInput(f"is {self.mode!r}; known are probe and tool", field="mode")
        at_least(1, every=self.every)

    def before_request(self, history: History) -> View:
        visible = self.compactor.applied(history)
        refusals: tuple[Refusal, ...] = ()
        note = ""
        if not self.compactor.tried(history):
            span, note = self._due(history, visible)
            refusals = self.compactor.compact(history, span)
            if span:
                visible = self.compactor.applied(history)
                self._probes.put(history, _Probe(history.checkpoint, visible.tokens))
        return View(visible, refusals=refusals, side_calls=self.account.drain(), note=note)

    def _due(self, history: History, visible: History) -> tuple[Sequence[Interaction], str]:
        """What is to be compacted now, and what spoke for or against it."""
        whole = older(visible, 0)
        if visible.tokens > self.limit:
            return whole, f"the backstop: {visible.tokens:,} tokens"
        if self.mode == "tool":
            asked = [p for p, i in enumerate(whole) if any(c.name == TOOL for c in i.calls)]
            return (whole[: asked[-1] + 1], "the agent asked for it") if asked else ((), "")
        if not whole or not self._probing(history, visible):
            return (), ""
        before = self.compactor.latest(history)
        verdict = self.judge.judge(task_of(history), before.text if before else "", whole)
        return (whole, "COMPRESS") if verdict.fires else ((), verdict.note)

    def _probing(self, history: History, visible: History) -> bool:
        """Whether a probe is due; it leaves a mark, so that one state is probed once."""
        if self._probes.here(history):
            return False
        begun = sum(s.tokens for s in history.segments if isinstance(s, Pinned))
        probe = self._probes.latest(history) or _Probe(1, begun)
        steps = history.checkpoint - probe.checkpoint
        if steps < self.every and visible.tokens - probe.tokens < self.growth:
            return False
        self._probes.put(history, _Probe(history.checkpoint, visible.tokens))
        return True

    @property
    def policy(self) -> Sequence[Use]:
        """How an agent without judgement of its own uses the tool."""
        return POLICY if self.mode == "tool" else ()

    def extra_tools(self) -> Sequence[JsonObject]:
        if self.mode != "tool":
            return ()
        says = "Replace all that has happened so far, except the task, by a summary of it."
        return (tool(TOOL, says),)

    def handle_tool(self, call: Call) -> str:
        if self.mode != "tool" or call.name != TOOL:
            return super().handle_tool(call)
        return "The context up to here is replaced by a summary. Go on with the task."

    def extra_system_text(self) -> str:
        return prompt("selfcompact_tool") if self.mode == "tool" else ""


def build(options: Options, settings: Settings) -> StrategyFactory:
    chat = chat_of(options, settings)
    limit = budget_of(options, 0.30).of(options.whole("window", WINDOW))
    make = partial(
        SelfCompact,
        mode=options.one_of("mode", "probe", "tool"),
        every=options.whole("every", 5),
        growth=options.whole("growth", 8_000),
        limit=limit,
    )

    def made(run: Trajectory, wire: Wire) -> Strategy:
        account = SideAccount()
        writer = _writer(chat, account, settings)
        judge: Prober = RuleJudge()
        if chat is not None:
            judge = ChatJudge(SideChannel(chat, account))
        return make(Compactor(wire, writer, settings.count), judge, account=account)

    return made


def _writer(chat: Chat | None, account: SideAccount, settings: Settings) -> Writer:
    """A summary of the six headings, by the chat or extracted."""
    if chat is None:
        return ExtractiveWriter(SUMMARY_TOKENS, settings.count)
    system = prompt("selfcompact_summary")
    channel = SideChannel(chat, account)
    body = lambda answer: parse_record(answer).body  # noqa: E731
    return ChatWriter(channel, "summary", system, 3_000, body, RECORD_SCHEMA)
