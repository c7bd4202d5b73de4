"""ACON-Core: what is older than the last turn becomes a structured text when it grows too long.

The run-time half of ACON (Kang et al., arXiv 2510.00615): threshold-gated compression of the
history, of single observations, or of both, by one fixed guideline in five sections.

Where a text is due again, `rule=reset` (the released configurations) lets one text replace the one
before it, `rule=accumulate` (what the code falls back to) adds another behind it.

Inferred: "Core" is defined nowhere; taken as this half without guideline optimisation and without
a distilled compressor.  The user's later messages stay as they are, and the text stands as a
message behind them rather than inside the first one.  Observations are refined when they are first
sent, which is the same as on arrival and works on recordings too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from statecomp.baselines.rewriting import (
    WINDOW,
    Budget,
    Compactor,
    at_least,
    changed,
    edited,
    older,
    task_of,
)
from statecomp.baselines.writing import ChatWriter, ExtractiveWriter, Writer, plain, prompt
from statecomp.errors import BadInput, SummaryFailed
from statecomp.history.facts import FactIndex
from statecomp.history.history import History
from statecomp.history.interaction import Interaction, Observation
from statecomp.history.trajectory import Trajectory
from statecomp.llm.chat import Chat
from statecomp.llm.side import SideAccount, SideChannel
from statecomp.options import Options, Settings, chat_of
from statecomp.records.record import Record
from statecomp.strategy import Card, Refusal, Strategy, StrategyFactory, View
from statecomp.wire.protocol import Wire

CARD = Card(
    name="acon",
    title="ACON-Core",
    trigger="older turns with the earlier text exceed t_hist (4,096) tokens; an observation t_obs",
    unit="all but the last turn; a single observation",
    calls="one compressor call a trigger; without a chat, extracts under the same five sections",
    source="arXiv 2510.00615 and its public code",
    inferred="what Core leaves out; later user messages stay; where the text stands",
)
MODES = ("history", "observation", "both")
SECTIONS = {
    "Reasoning and rationale": ("conclusions",),
    "Values to carry": ("locations",),
    "Pending": ("unresolved",),
    "Completed": ("facts",),
    "Guardrails": ("constraints", "failures"),
}


def five_sections(record: Record) -> str:
    """A record of six headings in the sections of the method's guideline."""
    blocks = []
    for title, headings in SECTIONS.items():
        entries = [entry for heading in headings for entry in getattr(record, heading)]
        if entries:
            blocks.append("\n".join((f"## {title}", *(f"- {entry}" for entry in entries))))
    return "\n".join(blocks)


@dataclass(frozen=True)
class Acon(Strategy):
    """`t_hist` below zero compresses at every request; `interval` steps lie between two times."""

    compactor: Compactor
    refiner: Writer
    mode: str = "history"
    t_hist: int = 4096
    t_obs: int = 1024
    keep: int = 1
    interval: int = 0
    account: SideAccount = field(default_factory=SideAccount)
    _refined: dict[str, Interaction] = field(default_factory=dict, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.mode not in MODES:
            raise BadInput(f"is {self.mode!r}; known are {', '.join(MODES)}", field="mode")
        at_least(0, keep=self.keep)

    def before_request(self, history: History) -> View:
        refusals: tuple[Refusal, ...] = ()
        if self.mode != "observation" and (span := self._due(history)):
            refusals = self.compactor.compact(history, span)
        shown = self.compactor.applied(history)
        if self.mode != "history":
            shown = changed(shown, lambda member: self._refine(member, history))
        return View(shown, refusals=refusals, side_calls=self.account.drain())

    def _due(self, history: History) -> Sequence[Interaction]:
        """What a compression would read now, where it is due."""
        before = self.compactor.latest(history)
        span = older(self.compactor.applied(history), self.keep)
        if before and history.checkpoint - before.checkpoint < self.interval:
            return ()
        # Of texts that accumulate only the latest counts; else every later turn would be due.
        carried = before.summaries[-1].tokens if before else 0
        return span if carried + sum(i.tokens for i in span) > self.t_hist else ()

    def _refine(self, member: Interaction, history: History) -> Interaction:
        if member.id not in self._refined:
            self._refined[member.id] = self._refined_now(member, history)
        return self._refined[member.id]

    def _refined_now(self, interaction: Interaction, history: History) -> Interaction:
        """The interaction with each long observation refined once, given what came before it."""
        count, wire = self.compactor.count, self.compactor.wire
        rest = FactIndex(s for s in history.segments if s.id != interaction.id)
        texts: dict[str, str] = {}
        for seen in interaction.observations:
            if count(seen.text) > self.t_obs:
                alone = replace(interaction, observations=(Observation("", seen.text),))
                try:
                    text = self.refiner.write(task_of(history), "", (alone,), rest)
                except SummaryFailed:
                    continue
                texts[seen.text] = text if len(text) < len(seen.text) else seen.text
        if not texts:
            return interaction
        return edited(interaction, lambda text: texts.get(text, text), wire, count, "refined")


def build(options: Options, settings: Settings) -> StrategyFactory:
    chat = chat_of(options, settings)
    t_hist = options.real("t_hist", 4_096)
    # Below zero means always, which is no budget.
    budget = Budget(t_hist) if t_hist > 0 else None
    given = options.real("budget", 0)
    window = options.whole("window", WINDOW)
    threshold = Budget(given).of(window) if given else budget.of(window) if budget else -1
    accumulate = options.one_of("rule", "reset", "accumulate") == "accumulate"
    make = partial(
        Acon,
        mode=options.one_of("mode", *MODES),
        t_hist=threshold,
        t_obs=options.whole("t_obs", 1_024),
        keep=options.whole("keep", 1),
        interval=options.whole("interval", 0),
    )

    def made(run: Trajectory, wire: Wire) -> Strategy:
        account = SideAccount()
        older, seen = (
            _guided(chat, account, settings, name, form, rereads=not accumulate)
            for name, form in (("history", five_sections), ("observation", plain))
        )
        compactor = Compactor(wire, older, settings.count, accumulate)
        return make(compactor, seen, account=account)

    return made


def _guided(
    chat: Chat | None,
    account: SideAccount,
    settings: Settings,
    name: str,
    form: Callable[[Record], str],
    *,
    rereads: bool,
) -> Writer:
    """What follows one of ACON's guidelines; an extract takes about a quarter of the threshold."""
    if chat is None:
        tokens = 1_024 if name == "history" else 256
        return ExtractiveWriter(tokens, settings.count, form, rereads)
    return ChatWriter(SideChannel(chat, account), "compressor", prompt(f"acon_{name}"), 2_048)
