"""Sculptor: six tools with which the agent shapes its own context; every edit can be undone.

The agent cuts tool output into fragments, folds or summarises them in place, restores them, and
searches.  Originals stay in the history that the client re-sends, so an edit is a view: the number
and order of messages never change, searching always reads the original text, and folding needs no
model.  Only `summarize_fragment` asks one; without a chat it picks lines by the focus.

The agent alone acts.  In a recording nobody does, so replay shows the raw history.  A scripted
agent folds an output that carries its id once its values are used (`fold_fragment`); for a value it
no longer sees it restores the folded fragment that seems to be about it, or searches for its name.

Adapted: only tool output can be cut, because system, user and assistant messages and calls are
locked here; markers are fragile in tool output, so whole outputs have ids too, which those of 2,000
characters or more carry below them, and `fragment_context` without markers lists the longest.
Inferred: no call is forced, the guidance asks for one early; the limit of 20 calls holds between
two steps of the task; a stub quotes the first line of what it hides.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

from statecomp.baselines.lines import telling_lines
from statecomp.baselines.rewriting import changed, edited, sound
from statecomp.baselines.sculptor_tools import (
    CONTEXT,
    EXTENDED,
    FRAGMENTS,
    GUIDANCE,
    LABELLED,
    NAMES,
    POLICY,
    RESULTS,
    ROLES,
    TOOLS,
    Fragment,
    Occurrence,
    apart,
    as_step,
    cut_up,
    head_of,
    is_own,
    listed,
    occurrences,
    outputs,
    piece_of,
)
from statecomp.baselines.tools import Arguments, Use
from statecomp.baselines.writing import ExtractiveWriter, prompt
from statecomp.errors import BadInput, ScoringFailed, SummaryFailed
from statecomp.history.facts import FactIndex
from statecomp.history.history import History
from statecomp.history.identity import digest
from statecomp.history.interaction import Call, Interaction, JsonObject
from statecomp.llm.chat import ChatFailed
from statecomp.llm.side import SideAccount, SideChannel, account_of, channel_of
from statecomp.llm.transcript import transcript
from statecomp.options import Options, Settings, chat_of
from statecomp.recent import LruCache
from statecomp.strategy import Card, Strategy, StrategyFactory, View
from statecomp.tokens import ESTIMATE, TokenCounter
from statecomp.wire.protocol import Wire

CARD = Card(
    name="sculptor",
    title="Sculptor",
    trigger="the agent calls",
    unit="fragment of a tool output",
    calls="1 a summarised fragment; without a chat the lines that share the focus's words",
    tools=NAMES,
    source="arXiv 2508.04664",
    inferred="only tool output can be cut; ids for whole outputs; no call is forced",
)
MOST_CALLS = 20
SUMMARY_TOKENS = 1_024
MOST_FRAGMENTS, MOST_FOUND, REMEMBERED = 2_000, 500, 2_048
SHORTEST_WHOLE = 400
"""Characters an output needs to be listed as a fragment of its own."""


@dataclass
class Sculptor(Strategy):
    wire: Wire
    channel: SideChannel | None = None
    count: TokenCounter = ESTIMATE
    policy: Sequence[Use] = POLICY
    account: SideAccount = field(init=False)
    _raw: History = field(default=History(()), repr=False)
    _calls: int = field(default=0, repr=False)
    _pieces: dict[str, Fragment] = field(default_factory=dict, repr=False)
    _stubs: dict[str, str] = field(default_factory=dict, repr=False)
    _found: LruCache[str, Occurrence] = field(
        default_factory=lambda: LruCache(MOST_FOUND), repr=False
    )
    _edited: LruCache[str, Interaction] = field(
        default_factory=lambda: LruCache(REMEMBERED), repr=False
    )

    def __post_init__(self) -> None:
        self.account = account_of(self.channel)

    def before_request(self, history: History) -> View:
        self._raw = history
        if history.interactions and not is_own(history.interactions[-1]):
            self._calls = 0
        view = history
        if hidden := self._hidden():
            view = changed(history, lambda member: self._seen(member, hidden))
        return View(sound(view, history, self.wire), side_calls=self.account.drain())

    def _hidden(self) -> dict[str, list[Fragment]]:
        """What is folded or summarised, by interaction; of overlapping pieces the longest."""
        by_interaction: dict[str, list[Fragment]] = {}
        for name in self._stubs:
            piece = self._pieces[name]
            by_interaction.setdefault(piece.interaction, []).append(piece)
        return {owner: list(apart(pieces)) for owner, pieces in by_interaction.items()}

    def _seen(self, member: Interaction, hidden: dict[str, list[Fragment]]) -> Interaction:
        if member.id not in hidden:
            return member
        pieces = hidden[member.id]
        mark = digest(*(self._stubs[piece.id] for piece in pieces))
        key = digest(member.id, mark)
        edit = self._edit(pieces)
        return self._edited.get(key) or self._edited.put(
            key, edited(member, edit, self.wire, self.count, mark)
        )

    def _edit(self, pieces: Sequence[Fragment]) -> Callable[[str], str]:
        def edit(text: str) -> str:
            parts, start = list[str](), 0
            for piece in (piece for piece in pieces if piece.source == text):
                parts += (text[start : piece.start], self._stubs[piece.id])
                start = piece.stop
            return "".join((*parts, text[start:]))

        return edit

    def on_observation(self, call: Call, text: str) -> str:
        """A long output with its id below it; our own answers get none."""
        if len(text) < LABELLED or call.name in NAMES:
            return text
        return f"{text}\n[fragment {digest(call.id, text)[:6]}]"

    def extra_tools(self) -> Sequence[JsonObject]:
        return TOOLS

    def extra_system_text(self) -> str:
        return GUIDANCE

    def handle_tool(self, call: Call) -> str:
        handlers = dict(
            zip(
                NAMES,
                (
                    self._fragment,
                    self._fold,
                    self._summarize,
                    self._restore,
                    self._search,
                    self._detail,
                ),
                strict=True,
            )
        )
        if call.name not in handlers:
            return super().handle_tool(call)
        if self._calls >= MOST_CALLS:
            return f"No more than {MOST_CALLS} context calls in a row: go on with the task."
        self._calls += 1
        try:
            return handlers[call.name](Arguments(call))
        except BadInput as error:
            return f"Nothing was done: {error}."

    def _fragment(self, arguments: Arguments) -> str:
        start, end = arguments.text("start_marker", ""), arguments.text("end_marker", "")
        many = arguments.whole("num_fragments", *FRAGMENTS)
        if len(self._pieces) + many > MOST_FRAGMENTS:
            raise BadInput("there are too many fragments already")
        pieces = list(self._marked(start, end, many) if start or end else self._longest(many))
        if not pieces:
            what = "holds these markers in this order" if start or end else "is long enough"
            return f"No tool output {what}."
        for piece in pieces:
            self._pieces.setdefault(piece.id, piece)
        return "\n".join(map(listed, pieces))

    def _marked(self, start: str, end: str, many: int) -> Iterator[Fragment]:
        for member, source in reversed(list(outputs(self._raw))):
            first = source.find(start)
            last = source.find(end, first + len(start)) if end else len(source)
            if first >= 0 and last >= 0:
                yield from cut_up(member, source, first, last + len(end), many)
                return

    def _longest(self, many: int) -> Iterator[Fragment]:
        long = [(m, s) for m, s in outputs(self._raw) if len(s) >= SHORTEST_WHOLE]
        visible = (
            (member, source)
            for member, source in sorted(long, key=lambda pair: -len(pair[1]))
            if piece_of(member, source, 0, len(source)).id not in self._stubs
        )
        for member, source in islice(visible, many):
            yield piece_of(member, source, 0, len(source))

    def _named(self, arguments: Arguments) -> Fragment:
        name = arguments.text("fragment_id").strip()
        if name not in self._pieces:
            self._label(name)
        return self._pieces[name]

    def _label(self, name: str) -> None:
        """Know the output that carries this id by it; an id is a name, whoever gave it."""
        for member, source in outputs(self._raw):
            if source.endswith(f"\n[fragment {name}]") and len(self._pieces) < MOST_FRAGMENTS:
                whole = piece_of(member, source, 0, len(source))
                self._pieces[name] = replace(whole, id=name)
                return
        raise BadInput(f"there is no fragment {name!r}; fragment_context gives ids")

    def _fold(self, arguments: Arguments) -> str:
        piece = self._named(arguments)
        lines = piece.text.count("\n") + 1
        about = f"{lines} lines, the first: {head_of(piece)}"
        return self._hide(piece, f"[folded {piece.id}: {about}; restore_fragment brings them back]")

    def _summarize(self, arguments: Arguments) -> str:
        piece = self._named(arguments)
        written = self._summary(piece, arguments.text("focus", ""))
        return self._hide(
            piece, f"[summary of {piece.id}; restore_fragment brings it back]\n{written}\n[end]"
        )

    def _hide(self, piece: Fragment, stub: str) -> str:
        if len(stub) >= len(piece.text):
            return f"The fragment {piece.id} is too short: nothing would be saved."
        self._stubs[piece.id] = stub
        return f"Done: {stub}"

    def _restore(self, arguments: Arguments) -> str:
        piece = self._named(arguments)
        if self._stubs.pop(piece.id, None) is None:
            return f"The fragment {piece.id} is shown already."
        return f"Done: the fragment {piece.id} of step {piece.number} is shown again."

    def _summary(self, piece: Fragment, focus: str) -> str:
        """By the model; without one, or where it fails, the lines that share the focus's words."""
        member = as_step(piece)
        if self.channel:
            question = f"Focus:\n{focus or '(none given)'}\n\n{transcript((member,))}"
            try:
                return self.channel.ask(
                    "fragment",
                    prompt("sculptor_summary"),
                    question,
                    max_tokens=SUMMARY_TOKENS,
                ).strip()
            except ChatFailed:
                pass  # Folding must not depend on a model: lines will do.
        room = max(32, min(SUMMARY_TOKENS, self.count(piece.text) // 4))
        try:
            return telling_lines(focus, piece.text, room, self.count)
        except ScoringFailed:
            pass  # No focus, or none of its words: what seems likeliest to be needed.
        try:
            return ExtractiveWriter(room, self.count).write("", "", (member,), FactIndex())
        except SummaryFailed as error:
            raise BadInput(str(error)) from error

    def _search(self, arguments: Arguments) -> str:
        query = arguments.text("query")
        role = arguments.choice("role", ROLES, "all")
        most = arguments.whole("max_results", *RESULTS)
        context = arguments.whole("context_size", *CONTEXT)
        lines = []
        for where, source, place in islice(occurrences(self._raw, query, role), most):
            found = Occurrence(source, place, len(query))
            name = digest(where, source, str(place), query)[:6]
            self._found.put(name, found)
            lines.append(f"{name} ({where}):\n{found.around(context // 2)}")
        return "\n\n".join(lines) or f"{query!r} occurs nowhere."

    def _detail(self, arguments: Arguments) -> str:
        name = arguments.text("search_id").strip()
        context = arguments.whole("extended_context", *EXTENDED)
        found = self._found.get(name)
        return found.around(context // 2) if found else f"There is no search result {name!r}."


def build(options: Options, settings: Settings) -> StrategyFactory:
    chat = chat_of(options, settings)
    return lambda run, wire: Sculptor(wire, channel_of(chat), settings.count)
