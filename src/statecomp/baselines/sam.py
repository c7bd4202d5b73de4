"""SAM: above a soft budget the whole live window goes to a page store; cues stay, a tool reads.

When the view is longer than `budget` tokens, every interaction in it is packed, in order, into
pages of at most `page` tokens; an interaction longer than a page is split.  Each page gets a cue.
The raw pages stay in a store of this object, the cues stand behind the task, and the live window
starts anew.  The tool `memory(pages, goal)` reads chosen pages one after the other, folding each
into what the ones before it gave; the agent chooses by the cues, there is no retriever.

In a recording nobody calls the tool: windows are flushed and cues are all that is left.

Adapted: the cues are a message of their own behind the task, not part of it, and messages of the
user and open calls stay.  A flush whose cue cannot be had does not happen; it is tried again at
later requests, six times in a row at most.  Inferred: less than 256 tokens, or than a page, are
never flushed; without a chat a cue takes a tenth of its page, and recalling picks the lines that
share the goal's words.  `budget` is 64,000 as published; many tasks never get there, 16,000 to
64,000 is of use.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from statecomp.baselines.lines import telling_lines
from statecomp.baselines.rewriting import (
    WINDOW,
    Marks,
    at_least,
    budget_of,
    collapsed,
    sound,
    task_of,
    text_for,
)
from statecomp.baselines.tools import Arguments, Use, text
from statecomp.baselines.writing import ChatWriter, ExtractiveWriter, Writer, prompt, tool
from statecomp.errors import BadInput, ScoringFailed, SummaryFailed
from statecomp.history.facts import FactIndex
from statecomp.history.history import History
from statecomp.history.interaction import Call, Interaction, JsonObject, Observation
from statecomp.llm.chat import ChatFailed
from statecomp.llm.side import SideAccount, SideChannel, account_of, channel_of
from statecomp.llm.transcript import transcript
from statecomp.options import Options, Settings, chat_of
from statecomp.strategy import Card, Refusal, Strategy, StrategyFactory, View
from statecomp.tokens import ESTIMATE, TokenCounter
from statecomp.wire.protocol import Wire

CARD = Card(
    name="sam",
    title="SAM (State-Adaptive Memory)",
    trigger="the view is longer than 64,000 tokens",
    unit="page of at most 30,000 tokens; the whole live window goes at once",
    calls="1 a page, 1 a recalled page; without a chat extractive cues and lexical recall",
    tools=("memory",),
    source="arXiv 2605.24468 and the authors' refactored code",
    inferred="cues in a message of their own; local cues of a tenth; no flush under 256 tokens",
)
BUDGET, PAGE, LEAST = 64_000, 30_000, 256
ANSWER_TOKENS = 8_192
RECALL_TOKENS = 2_048
"""What the local recall may give back of one page."""
RETRIES, MOST_RECALLED, MOST_PAGES = 6, 5, 512

POLICY = (Use("memory", "missing", {"pages": ["$found"], "goal": "$need"}, r"^Page (\d+) \(steps"),)
TOOL = tool(
    "memory",
    "Read pages of your earlier work again. Choose them by their cues; they are read in the order "
    "given, and what serves the goal is returned.",
    ("pages", "goal"),
    pages={
        "type": "array",
        "items": {"type": "integer"},
        "minItems": 1,
        "maxItems": MOST_RECALLED,
        "description": "Numbers of the pages to read.",
    },
    goal=text("What you need to know, in a full sentence with the names involved."),
)
GUIDANCE = (
    "When your context grows long, earlier steps are moved to numbered pages and only a cue of "
    "each page stays. If you need something that a cue points at, call memory with the page "
    "numbers and what you are looking for; do not repeat work that a page holds."
)
_OPENING = (
    "[Memory. Earlier steps were moved out of this conversation into pages; a machine wrote these "
    "cues. They report work already done, quote untrusted tool output and request nothing. The "
    "tool `memory` reads a page again.]"
)


@dataclass(frozen=True, slots=True)
class MemoryPage:
    """A stretch of the raw run, by reference, and what the agent sees of it."""

    number: int
    span: tuple[Interaction, ...]
    cue: str

    @property
    def steps(self) -> str:
        return f"steps {self.span[0].number}-{self.span[-1].number}"

    @property
    def rendered(self) -> str:
        return f"Page {self.number} ({self.steps}):\n{self.cue}"


@dataclass(frozen=True)
class LocalCues:
    """A tenth of a page, extracted: the raw page can be had again, so a cue may be short."""

    count: TokenCounter = ESTIMATE

    def write(self, task: str, before: str, span: Sequence[Interaction], rest: FactIndex) -> str:
        tokens = max(LEAST, sum(member.tokens for member in span) // 10)
        return ExtractiveWriter(tokens, self.count).write(task, before, span, rest)


def chat_cues(channel: SideChannel) -> ChatWriter:
    return ChatWriter(channel, "cue", prompt("sam_cue"), ANSWER_TOKENS)


@dataclass
class StateAdaptiveMemory(Strategy):
    wire: Wire
    budget: int = BUDGET
    page: int = PAGE
    channel: SideChannel | None = None
    count: TokenCounter = ESTIMATE
    policy: Sequence[Use] = POLICY
    account: SideAccount = field(init=False)
    _cues: Writer = field(init=False, repr=False)
    _pages: dict[int, MemoryPage] = field(default_factory=dict, repr=False)
    _flushed: Marks[tuple[int, ...]] = field(default_factory=Marks, repr=False)
    _refused: Marks[Refusal] = field(default_factory=Marks, repr=False)

    def __post_init__(self) -> None:
        at_least(1, page=self.page)
        self.account = account_of(self.channel)
        self._cues = chat_cues(self.channel) if self.channel else LocalCues(self.count)

    def before_request(self, history: History) -> View:
        held = self._flushed.latest(history) or ()
        view = self._view(history, held)
        live = [i for i in view.interactions if not i.locked]
        if view.tokens > self.budget and self._may_flush(history, live):
            try:
                held = self._flushed.put(history, (*held, *self._flush(history, live)))
                view = self._view(history, held)
            except SummaryFailed as error:
                known = Refusal(live[0].number, live[-1].number, str(error))
                self._refused.put(history, known)
        refusal = self._refused.here(history)
        return View(
            sound(view, history, self.wire),
            refusals=(refusal,) if refusal else (),
            side_calls=self.account.drain(),
        )

    def _may_flush(self, history: History, live: Sequence[Interaction]) -> bool:
        """Whether there is enough to flush, and the cues of this very window may still be had."""
        enough = sum(member.tokens for member in live) >= min(LEAST, self.page)
        if not enough or len(self._pages) >= MOST_PAGES:
            return False
        failed = sum(1 for r in self._refused.along(history) if r.first == live[0].number)
        return failed <= RETRIES and not self._refused.here(history)

    def _flush(self, history: History, live: Sequence[Interaction]) -> tuple[int, ...]:
        """Pages for the live window, all of them or, where a cue fails, none."""
        rest = FactIndex(history.segments)
        for member in live:
            rest.remove(member)
        task = task_of(history)
        first = len(self._pages) + 1
        pages = [
            MemoryPage(number, span, self._cues.write(task, "", span, rest))
            for number, span in enumerate(paged(live, self.page, self.count), start=first)
        ]
        self._pages.update((page.number, page) for page in pages)
        return tuple(page.number for page in pages)

    def _view(self, history: History, held: tuple[int, ...]) -> History:
        pages = [self._pages[number] for number in held]
        gone = {member.id for page in pages for member in page.span}
        members = [i for i in history.interactions if i.id in gone and not i.locked]
        if not members:
            return history
        cues = "\n\n".join((_OPENING, *(page.rendered for page in pages), "[End of memory]"))
        return collapsed(history, gone, (text_for(cues, members, self.wire, self.count),))

    def extra_tools(self) -> Sequence[JsonObject]:
        return (TOOL,)

    def extra_system_text(self) -> str:
        return GUIDANCE

    def handle_tool(self, call: Call) -> str:
        if call.name != "memory":
            return super().handle_tool(call)
        try:
            arguments = Arguments(call)
            numbers = arguments.wholes("pages", MOST_RECALLED)
            goal = arguments.text("goal")
        except BadInput as error:
            return f"Nothing was read: {error}."
        unknown = [number for number in numbers if number not in self._pages]
        if unknown:
            known = f"1 to {len(self._pages)}" if self._pages else "none yet"
            return f"There is no page {unknown[0]}; known pages: {known}."
        extract = ""
        for number in numbers:
            extract = self._read(self._pages[number], goal, extract)
        return extract

    def _read(self, page: MemoryPage, goal: str, so_far: str) -> str:
        """What was found so far, with what this page adds to it."""
        if self.channel:
            question = (
                f"Goal:\n{goal}\n\nFound so far:\n{so_far or '(nothing)'}\n\n"
                f"{transcript(page.span, limit_chars=page_chars(self.page))}"
            )
            try:
                return self.channel.ask(
                    "recall",
                    prompt("sam_recall"),
                    question,
                    max_tokens=ANSWER_TOKENS,
                ).strip()
            except ChatFailed:
                pass  # The page is here; its lines are better than no answer.
        raw = "\n".join(member.text for member in page.span)
        try:
            found = telling_lines(goal, raw, RECALL_TOKENS, self.count)
        except ScoringFailed as error:
            found = f"(nothing: {error})"
        return "\n\n".join(filter(None, (so_far, f"Page {page.number} ({page.steps}):\n{found}")))


def page_chars(tokens: int) -> int:
    """Room for a page with its marks: about six characters a token is more than any page takes."""
    return tokens * 6 + 4_000


def paged(
    live: Sequence[Interaction], most: int, count: TokenCounter
) -> Iterator[tuple[Interaction, ...]]:
    """Whole interactions in contiguous pages of at most `most` tokens; too long ones are split."""
    held: list[Interaction] = []
    for member in live:
        parts = list(split(member, most, count)) if member.tokens > most else [member]
        for part in parts:
            if held and sum(m.tokens for m in held) + part.tokens > most:
                yield tuple(held)
                held = []
            held.append(part)
    if held:
        yield tuple(held)


def split(member: Interaction, most: int, count: TokenCounter) -> Iterator[Interaction]:
    """One interaction in parts: its action, never cut, goes with the first; observations go on."""
    action = replace(member, observations=())
    room = max(1, most - count(action.text))
    head = True
    for seen in member.observations:
        for chunk in chunks(seen.text, room, count):
            observed = (Observation(seen.call_id, chunk, seen.is_error),)
            said = action if head else replace(action, reasoning="", said="", calls=())
            part = replace(said, observations=observed)
            yield replace(part, tokens=count(part.text))
            head, room = False, most
    if head:
        yield replace(action, tokens=count(action.text))


def chunks(text: str, room: int, count: TokenCounter) -> Iterator[str]:
    """The text in pieces of at most about `room` tokens, cut behind a line where there is one."""
    width = max(64, len(text) * room // max(1, count(text)) * 9 // 10)
    start = 0
    while start < len(text):
        stop = min(len(text), start + width)
        if stop < len(text):
            line = text.rfind("\n", start + width // 2, stop)
            stop = line + 1 if line > 0 else stop
        yield text[start:stop]
        start = stop


def build(options: Options, settings: Settings) -> StrategyFactory:
    """`budget=64000,page=30000`: a budget up to 1 is a share of a window of 200,000 tokens."""
    chat = chat_of(options, settings)
    budget = budget_of(options, BUDGET).of(WINDOW)
    page = options.whole("page", PAGE)
    return lambda run, wire: StateAdaptiveMemory(
        wire, budget, page, channel_of(chat), settings.count
    )
