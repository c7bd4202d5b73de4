"""Self-GC: under token pressure a planner says of each old object: fold, mask, prune, or keep.

Hao et al. (arXiv 2607.00692).  History is indexed into objects with stable ids.  *Fold* moves the
exact payload into a sidecar and leaves a pointer, *mask* keeps head and tail of log-like output,
*prune* removes for good.  The harness checks the plan and commits it only where it is worth it.

Inferred: the trigger (half the window, or 16,000 tokens more than after the last collection), what
is protected (system, task, user messages, the last 2 interactions, open calls), a planner answer of
at most 1,500 tokens over an index of the objects (`index=prefix` shows it the whole transcript), a
commit from 30 % of the eligible tokens on, the wording of pointers, and the `recover` tool.  A
conversation object acts on the steps below a user message, never on the message.  Recordings hold
no skill state, so there are no such objects.  Without a chat, rules stand in for the planner.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from statecomp.baselines.rewriting import WINDOW, Marks, budget_of, edited, no_worse
from statecomp.baselines.selfgc_plan import ChatPlanner, Planner, RulePlanner, Target, targets
from statecomp.baselines.tools import Use
from statecomp.baselines.writing import tool
from statecomp.errors import SummaryFailed
from statecomp.history.given import argument_object
from statecomp.history.history import History
from statecomp.history.interaction import Call, Interaction, JsonObject, Segment
from statecomp.history.trajectory import Trajectory
from statecomp.llm.side import SideAccount, SideChannel
from statecomp.llm.transcript import cut
from statecomp.options import Options, Settings, chat_of
from statecomp.strategy import Card, Strategy, StrategyFactory, View
from statecomp.tokens import ESTIMATE, TokenCounter
from statecomp.wire.protocol import Wire

CARD = Card(
    name="selfgc",
    title="Self-GC",
    trigger="visible tokens past half the window, or 16,000 more than after the last collection",
    unit="tool span of an interaction; the steps below a user message",
    calls="one planner call a collection, by the acting model; without a chat, rules plan",
    tools=("recover",),
    source="arXiv 2607.00692 (no code found)",
    inferred="trigger, planner limits, 30 % commit gate, pointer wording, recovery by a tool",
)
TOOL = "recover"
POLICY = (Use(TOOL, "missing", {"object_id": "$found"}, r"\[folded (function:tool:\d+):"),)
WORTH = 0.30
"""Of the eligible tokens; a plan that removes less is not committed."""
GROWTH = 16_000
EDGE_LINES = 10
EDGE_CHARS = 1_500


def pointer(name: str, text: str) -> str:
    """What stands where a folded payload stood; a shorter payload stays."""
    head = " ".join(text.split())[:60]
    lines = text.count("\n") + 1
    note = f'[folded {name}: {lines} lines, begins "{head}"; {TOOL} returns it exactly]'
    return note if len(note) < len(text) else text


def masked(text: str) -> str:
    """Head and tail of long output, with what was left out said between them."""
    lines = text.splitlines()
    gap = len(lines) - 2 * EDGE_LINES
    if gap > 1:
        note = f"[... {gap} lines masked ...]"
        text = "\n".join((*lines[:EDGE_LINES], note, *lines[-EDGE_LINES:]))
    return cut(text, 2 * EDGE_CHARS)


@dataclass(frozen=True, slots=True)
class _Collection:
    """One collection, committed or not: actions by interaction id, and what was visible then."""

    actions: Mapping[str, str]
    visible: int
    note: str = ""


@dataclass(frozen=True)
class SelfGC(Strategy):
    wire: Wire
    planner: Planner
    growth: int = GROWTH
    window: int = WINDOW
    count: TokenCounter = ESTIMATE
    account: SideAccount = field(default_factory=SideAccount)
    policy: Sequence[Use] = POLICY
    _collections: Marks[_Collection] = field(default_factory=Marks, repr=False, compare=False)
    _acted: dict[tuple[str, str], Interaction] = field(
        default_factory=dict, repr=False, compare=False
    )
    _sidecar: dict[str, str] = field(default_factory=dict, repr=False, compare=False)

    def before_request(self, history: History) -> View:
        visible = self._visible(history, self._taken(history))
        note = ""
        if self._collections.here(history) is None and self._pressed(history, visible.tokens):
            note = self._collect(history, visible.tokens).note
            visible = self._visible(history, self._taken(history))
        return View(visible, side_calls=self.account.drain(), note=note)

    def _taken(self, history: History) -> dict[str, str]:
        taken: dict[str, str] = {}
        for collection in self._collections.along(history):
            taken.update(collection.actions)
        return taken

    def _pressed(self, history: History, tokens: int) -> bool:
        last = self._collections.latest(history)
        grown = tokens - (last.visible if last else 0)
        # Past half the window a plan that was refused should not be asked for again at each step.
        return grown >= self.growth or (tokens * 2 >= self.window and grown >= self.growth // 8)

    def _collect(self, history: History, tokens: int) -> _Collection:
        """Ask for a plan; commit it whole, or not at all."""
        taken = self._taken(history)
        found = targets(history, taken)
        try:
            actions = self._checked(self.planner.plan(history, found) if found else {}, found)
        except SummaryFailed as error:
            return self._collections.put(history, _Collection({}, tokens, str(error)))
        after = self._visible(history, taken | actions)
        spans = {i.id: i.tokens for target in found for i in target.members}
        removed, eligible = tokens - after.tokens, sum(spans.values())
        if removed < WORTH * max(1, eligible) or not no_worse(after, history, self.wire):
            note = f"the plan would remove {removed:,} of {eligible:,} tokens"
            return self._collections.put(history, _Collection({}, tokens, note))
        for interaction in history.interactions:
            if actions.get(interaction.id) == "fold":
                self._sidecar[f"function:tool:{interaction.number}"] = interaction.observed
        return self._collections.put(history, _Collection(actions, after.tokens))

    def _checked(self, plan: Mapping[str, str], found: Sequence[Target]) -> dict[str, str]:
        """The plan by interaction: unknown ids fall out, the narrower object has the last word."""
        actions: dict[str, str] = {}
        for target in sorted(found, key=lambda target: -len(target.members)):
            if target.id in plan:
                actions.update((member.id, plan[target.id]) for member in target.members)
        return actions

    def _visible(self, history: History, actions: Mapping[str, str]) -> History:
        if not actions:
            return history
        segments: list[Segment] = []
        for segment in history.segments:
            action = actions.get(segment.id)
            if action is None or not isinstance(segment, Interaction) or segment.locked:
                segments.append(segment)
            elif action != "prune":
                segments.append(self._edited(segment, action))
        return History(tuple(segments))

    def _edited(self, interaction: Interaction, action: str) -> Interaction:
        key = (interaction.id, action)
        if key not in self._acted:
            name = f"function:tool:{interaction.number}"
            edit = masked if action == "mask" else lambda text: pointer(name, text)
            self._acted[key] = edited(interaction, edit, self.wire, self.count, action)
        return self._acted[key]

    def extra_tools(self) -> Sequence[JsonObject]:
        says = "Get back, exactly, a tool result that was folded away; give the id in its pointer."
        return (tool(TOOL, says, ("object_id",), object_id={"type": "string"}),)

    def handle_tool(self, call: Call) -> str:
        if call.name != TOOL:
            return super().handle_tool(call)
        name = str(argument_object(call.arguments).get("object_id", ""))
        if name in self._sidecar:
            return self._sidecar[name]
        return f"Nothing is folded under {name!r}. Known: {', '.join(self._sidecar) or 'none'}."

    def extra_system_text(self) -> str:
        return (
            "Old tool results may be folded: a pointer such as [folded function:tool:7: ...] "
            f"stands in their place, and {TOOL}(object_id) returns the exact text. Ask only for "
            "what the next step needs."
        )


def build(options: Options, settings: Settings) -> StrategyFactory:
    chat = chat_of(options, settings)
    window = options.whole("window", WINDOW)
    growth = budget_of(options, GROWTH).of(window)
    whole_prefix = options.one_of("index", "objects", "prefix") == "prefix"

    def made(run: Trajectory, wire: Wire) -> Strategy:
        account = SideAccount()
        planner: Planner = RulePlanner()
        if chat is not None:
            planner = ChatPlanner(SideChannel(chat, account), whole_prefix)
        return SelfGC(wire, planner, growth, window, settings.count, account)

    return made
