"""PACE: every step is stored at four levels of detail, and each request shows each at one of them.

Wei et al. (ACL 2026 long.1252).  All interactions stay in a store; on each request those before the
last 2 are scored against the task and those 2, and shown full, detailed, brief or as a placeholder,
the thresholds rising with pressure.  Nothing is destroyed: a later request may show more again.

The paper and its code differ: `pressure=paper` and `pressure=code` are their two formulas.  As in
the code, keys are embedded from the brief text, negative cosines count as 0, and levels are lowered
one by one while the shown history exceeds 60 % of the budget.

Inferred: a chunk is a whole interaction, the last 2 go out as the messages they are (the code
flattens them, which breaks tool protocols), the longest run is taken as 100 steps, and the user's
later messages keep their place.  Without a chat the levels are extracts.  `embedder=lexical` and
`smollm2` stand in for BGE-M3.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from statecomp.baselines.embedding import (
    EMBEDDERS,
    Embedder,
    LexicalEmbedder,
    Vector,
    cosine,
    open_embedder,
)
from statecomp.baselines.pace_levels import (
    ChatLevels,
    ExtractLevels,
    Level,
    Levels,
    LevelWriter,
    by_rules,
    sentences,
)
from statecomp.baselines.rewriting import (
    WINDOW,
    Marks,
    budget_of,
    collapsed,
    older,
    sound,
    task_of,
    text_for,
)
from statecomp.baselines.tools import Use
from statecomp.baselines.writing import tool
from statecomp.errors import BadInput, SummaryFailed
from statecomp.history.given import argument_object
from statecomp.history.history import History
from statecomp.history.interaction import Call, Interaction, JsonObject
from statecomp.history.kinds import kind_of
from statecomp.history.trajectory import Trajectory
from statecomp.llm.side import SideAccount, SideChannel
from statecomp.options import Options, Settings, chat_of
from statecomp.strategy import Card, Strategy, StrategyFactory, View
from statecomp.tokens import ESTIMATE, TokenCounter
from statecomp.wire.protocol import Wire

CARD = Card(
    name="pace",
    title="PACE",
    trigger="every request",
    unit="interaction, at four levels of detail",
    calls="one small-model call for each interaction of 200 tokens or more, used from the next "
    "step on; without a chat, extracts; embedder=bge-m3, or its substitutes lexical (the "
    "default) and smollm2",
    tools=("glimpse",),
    source="ACL 2026 long.1252, ChihayaAine/PACE (Apache-2.0)",
    inferred="chunks are interactions; recent ones stay messages; longest run 100 steps; "
    "glimpse is off unless asked for, as in the released agent",
)
RECENT = 2
SHORT_TOKENS = 200
TEMPERATURE = 0.3
BASE, PRESSED = (0.4, 0.8, 1.5), (0.8, 1.2, 2.5)
LAMBDA = 0.5
LONGEST_RUN = 100
CODE_TOKENS = 110_000
GUARD = 0.60
TOOL = "glimpse"
POLICY = (Use(TOOL, "missing", {"keyword": "$need"}),)


def weights(cosines: Sequence[float]) -> list[float]:
    """Softmax weights relative to an equal share; negative cosines count as 0."""
    if not cosines:
        return []
    powers = [math.exp(max(0.0, value) / TEMPERATURE) for value in cosines]
    return [len(powers) * power / sum(powers) for power in powers]


def thresholds(formula: str, step: int, shown: int, budget: int) -> tuple[float, ...]:
    """Alpha, beta, gamma under the pressure of steps taken and tokens shown."""
    if formula == "paper":
        pressure = max(step / LONGEST_RUN, shown / budget)
        return tuple(value * (1 + LAMBDA * pressure) for value in BASE)
    filled = max(step / LONGEST_RUN, shown / min(budget, CODE_TOKENS))
    pressure = min(1.0, max(0.0, 2 * filled - 1))
    return tuple(low + (high - low) * pressure for low, high in zip(BASE, PRESSED, strict=True))


@dataclass(frozen=True, slots=True)
class Forms:
    """A chunk as each level shows it, what each costs, and the vector it is ranked by."""

    texts: tuple[str, ...]
    sizes: tuple[int, ...]
    key: Vector


def lowered(
    chosen: list[Level], forms: Sequence[Forms], relative: Sequence[float], room: float
) -> None:
    """Lower levels in place, one by one and the least relevant first, until the history fits."""
    total = sum(form.sizes[level] for form, level in zip(forms, chosen, strict=True))
    order = sorted(range(len(chosen)), key=lambda place: relative[place])
    while total > room and any(chosen):
        for place in order:
            if chosen[place] and total > room:
                lower = Level(chosen[place] - 1)
                total += forms[place].sizes[lower] - forms[place].sizes[chosen[place]]
                chosen[place] = lower


@dataclass(frozen=True)
class Pace(Strategy):
    wire: Wire
    writer: LevelWriter
    embedder: Embedder = field(default_factory=LexicalEmbedder)
    pressure: str = "paper"
    budget: int = 128_000
    glimpse: bool = False
    count: TokenCounter = ESTIMATE
    account: SideAccount = field(default_factory=SideAccount)
    _store: dict[str, Interaction] = field(default_factory=dict, repr=False, compare=False)
    _levels: dict[str, tuple[Levels, int]] = field(default_factory=dict, repr=False, compare=False)
    _forms: dict[tuple[str, str], Forms] = field(default_factory=dict, repr=False, compare=False)
    _shown: Marks[int] = field(default_factory=Marks, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.pressure not in ("paper", "code"):
            raise BadInput(f"is {self.pressure!r}; known are paper and code", field="pressure")

    def before_request(self, history: History) -> View:
        self._written(history)
        old = older(history, RECENT)
        shown = sound(self._rendered(history, old) if old else history, history, self.wire)
        self._shown.put(history, shown.tokens)
        return View(shown, side_calls=self.account.drain())

    def _written(self, history: History) -> None:
        """Levels for every new chunk; they are written in the background, for later requests."""
        for chunk in history.interactions:
            if chunk.locked or chunk.id in self._levels:
                continue
            self._store[chunk.id] = chunk
            try:
                levels = self._levels_of(history, chunk)
            except SummaryFailed:
                levels = by_rules(chunk.text)
            # Written in the background: the request that brought the chunk does not see them.
            self._levels[chunk.id] = levels, history.checkpoint + 1

    def _levels_of(self, history: History, chunk: Interaction) -> Levels:
        if chunk.tokens < SHORT_TOKENS:
            return Levels(chunk.text, " ".join(sentences(chunk.text, 1)))
        return self.writer.write(task_of(history), chunk)

    def _at(self, chunk: Interaction, checkpoint: int) -> Levels:
        levels, visible_from = self._levels[chunk.id]
        return levels if checkpoint >= visible_from else by_rules(chunk.text)

    def _rendered(self, history: History, old: Sequence[Interaction]) -> History:
        recent = [i.text for i in history.interactions[-RECENT:]]
        query = self.embedder.embed("\n".join((task_of(history), *recent)))
        forms = [self._form(chunk, self._at(chunk, history.checkpoint)) for chunk in old]
        relative = weights([cosine(query, form.key) for form in forms])
        # Not what this very state was shown before: a request sent again must look the same.
        past = History(history.segments[:-1])
        before = self._shown.latest(past) or history.tokens
        limits = thresholds(self.pressure, history.checkpoint, before, self.budget)
        chosen = [Level(sum(weight > limit for limit in limits)) for weight in relative]
        lowered(chosen, forms, relative, GUARD * self.budget)
        body = "\n".join(form.texts[level] for form, level in zip(forms, chosen, strict=True))
        first, last = old[0].number, old[-1].number
        block = (
            f"[History of steps {first}-{last}, shown in part; a machine wrote it, it requests "
            f"nothing]\n{body}\n[End of history]"
        )
        summary = text_for(block, old, self.wire, self.count)
        return collapsed(history, {chunk.id for chunk in old}, (summary,))

    def _form(self, chunk: Interaction, levels: Levels) -> Forms:
        key = (chunk.id, levels.brief)
        if key not in self._forms:
            step = f"step {chunk.number}"
            shown = (levels.brief, levels.detailed, chunk.text)
            texts = (f"[{step}: {kind_of(chunk)}]", *(f"[{step}] {text}" for text in shown))
            sizes = tuple(map(self.count, texts))
            self._forms[key] = Forms(texts, sizes, self.embedder.embed(levels.brief))
        return self._forms[key]

    @property
    def policy(self) -> Sequence[Use]:
        """How an agent without judgement of its own uses the tool."""
        return POLICY if self.glimpse else ()

    def extra_tools(self) -> Sequence[JsonObject]:
        if not self.glimpse:
            return ()
        says = "The full text of one earlier step by its number, or the steps that hold a keyword."
        step, keyword = {"type": "integer"}, {"type": "string"}
        return (tool(TOOL, says, (), step=step, keyword=keyword),)

    def handle_tool(self, call: Call) -> str:
        if not self.glimpse or call.name != TOOL:
            return super().handle_tool(call)
        given = argument_object(call.arguments)
        word = str(given.get("keyword", "")).casefold()
        found = {
            chunk.number: chunk.text
            for chunk in self._store.values()
            if chunk.number == given.get("step") or (word and word in chunk.text.casefold())
        }
        if not found:
            return "No earlier step fits."
        if given.get("step") in found:
            return found[given["step"]]
        lines = (f"step {number}: {' '.join(text.split())[:200]}" for number, text in found.items())
        return "\n".join(lines)


def build(options: Options, settings: Settings) -> StrategyFactory:
    chat = chat_of(options, settings)
    embedder = options.one_of("embedder", *EMBEDDERS)
    model = options.text("model", "")
    pressure = options.one_of("pressure", "paper", "code")
    glimpse = options.one_of("glimpse", "off", "on") == "on"
    budget = budget_of(options, 128_000).of(options.whole("window", WINDOW))

    def made(run: Trajectory, wire: Wire) -> Strategy:
        account = SideAccount()
        writer: LevelWriter = ExtractLevels(settings.count)
        if chat is not None:
            writer = ChatLevels(SideChannel(chat, account))
        opened = open_embedder(embedder, model)
        return Pace(wire, writer, opened, pressure, budget, glimpse, settings.count, account)

    return made
