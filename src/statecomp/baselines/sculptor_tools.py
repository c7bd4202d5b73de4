"""Sculptor's six tools as the agent sees them, and the pieces of text that they name."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from statecomp.baselines.tools import Use, text, whole
from statecomp.baselines.writing import tool
from statecomp.history.history import History
from statecomp.history.identity import digest
from statecomp.history.interaction import Interaction, Observation, Segment, Summary

ROLES = ("user", "assistant", "tool", "all")
FRAGMENTS = (1, 20, 5)  # least, most, unless given
RESULTS = (1, 50, 10)
CONTEXT = (50, 1_000, 200)
EXTENDED = (100, 2_000, 500)

TOOLS = (
    tool(
        "fragment_context",
        "Cut tool output in your context into fragments that can be folded or summarised. With "
        "markers: the newest output that holds them, from the one to the other. Without: the "
        "longest outputs, each as one fragment. Answers with the fragments' ids.",
        start_marker=text("Exact text the stretch begins with."),
        end_marker=text("Exact text the stretch ends with."),
        num_fragments=whole("How many fragments", *FRAGMENTS),
    ),
    tool(
        "fold_fragment",
        "Hide a fragment; a short line stays in its place, and it can be restored.",
        ("fragment_id",),
        fragment_id=text("The fragment's id."),
    ),
    tool(
        "summarize_fragment",
        "Show a short summary in a fragment's place; the fragment can be restored.",
        ("fragment_id",),
        fragment_id=text("The fragment's id."),
        focus=text("What the summary should keep."),
    ),
    tool(
        "restore_fragment",
        "Show a folded or summarised fragment again as it was.",
        ("fragment_id",),
        fragment_id=text("The fragment's id."),
    ),
    tool(
        "search_context",
        "Find an exact text in the whole conversation, folded parts included.",
        ("query",),
        query=text("The exact text to find."),
        role={
            "type": "string",
            "enum": list(ROLES),
            "description": "Whose words to search (all unless given).",
        },
        max_results=whole("How many places", *RESULTS),
        context_size=whole("Characters to show around each", *CONTEXT),
    ),
    tool(
        "get_search_detail",
        "Show more of what stands around one place that search_context found.",
        ("search_id",),
        search_id=text("The id search_context gave the place."),
        extended_context=whole("Characters to show around it", *EXTENDED),
    ),
)
NAMES = tuple(str(definition["function"]["name"]) for definition in TOOLS)

GUIDANCE = (
    "You can shape your own context. Once a long tool output has served its purpose, fold it, or "
    "summarise it with a focus if you will need its gist. A long output carries its id below it; "
    "fragment_context cuts others, or parts of one, into fragments with ids. fold_fragment and "
    "summarize_fragment hide what they name, restore_fragment brings it back unchanged. "
    "search_context finds an exact text also in what is hidden. Nothing is ever lost. Try this "
    "once early on, then only where it helps: at most 20 such calls before you go on with the task."
)

LABELLED = 2_000
"""Characters from which on an output carries its own id, so that it can be folded at once."""
LABEL = r"\[fragment ([0-9a-f]{6})\]"

POLICY = (
    Use("fold_fragment", "bulky", {"fragment_id": "$found"}, LABEL, LABELLED),
    Use("restore_fragment", "missing", {"fragment_id": "$found"}, r"\[folded ([0-9a-f]{6}):"),
    Use("search_context", "missing", {"query": "$need"}),
)


@dataclass(frozen=True, slots=True)
class Fragment:
    """A stretch of one observation, by the interaction it stands in and its original text."""

    id: str
    interaction: str
    number: int
    source: str
    start: int
    stop: int

    @property
    def text(self) -> str:
        return self.source[self.start : self.stop]


@dataclass(frozen=True, slots=True)
class Occurrence:
    source: str
    place: int
    length: int

    def around(self, context: int) -> str:
        start, stop = max(0, self.place - context), self.place + self.length + context
        return self.source[start:stop]


def is_own(member: Interaction) -> bool:
    return bool(member.calls) and all(call.name in NAMES for call in member.calls)


def outputs(history: History) -> Iterator[tuple[Interaction, str]]:
    """Tool outputs that may be edited; what our own tools answered is no material for them."""
    for member in history.interactions:
        if not member.locked and not is_own(member):
            yield from ((member, seen.text) for seen in member.observations)


def piece_of(member: Interaction, source: str, start: int, stop: int) -> Fragment:
    name = digest(member.id, source, str(start), str(stop))[:6]
    return Fragment(name, member.id, member.number, source, start, stop)


def cut_up(
    member: Interaction, source: str, start: int, stop: int, many: int
) -> Iterator[Fragment]:
    """The stretch in parts of about one length, each but the last ending with a line."""
    width = -(-(stop - start) // many)
    while start < stop:
        end = min(stop, start + width)
        line = source.find("\n", end - 1, stop)
        end = line + 1 if 0 <= line < stop else stop if end + width // 2 >= stop else end
        yield piece_of(member, source, start, end)
        start = end


def apart(pieces: Sequence[Fragment]) -> Iterator[Fragment]:
    """Pieces that do not overlap, in order of their text; the longer of two that do."""
    taken: list[Fragment] = []
    for piece in sorted(pieces, key=lambda piece: (piece.start - piece.stop, piece.start)):
        if all(
            piece.source != other.source or piece.stop <= other.start or other.stop <= piece.start
            for other in taken
        ):
            taken.append(piece)
    yield from sorted(taken, key=lambda piece: piece.start)


def listed(piece: Fragment) -> str:
    return f"{piece.id}: step {piece.number}, {len(piece.text):,} characters: {head_of(piece)}"


def head_of(piece: Fragment) -> str:
    return next((line.strip() for line in piece.text.splitlines() if line.strip()), "")[:60]


def as_step(piece: Fragment) -> Interaction:
    seen = (Observation("", piece.text),)
    return Interaction(piece.id, piece.number, (), 0, observations=seen)


def occurrences(history: History, query: str, role: str) -> Iterator[tuple[str, str, int]]:
    for segment in history.segments:
        for whose, where, source in _texts(segment):
            place = source.find(query) if role in ("all", whose) else -1
            while place >= 0:
                yield where, source, place
                place = source.find(query, place + len(query))


def _texts(segment: Segment) -> Iterator[tuple[str, str, str]]:
    """(role, where, text) of all that can be searched in a segment."""
    if isinstance(segment, Interaction):
        if not is_own(segment):
            yield "assistant", f"assistant, step {segment.number}", segment.action
            for seen in segment.observations:
                yield "tool", f"tool, step {segment.number}", seen.text
    elif isinstance(segment, Summary) or segment.role == "user":
        yield "user", "user", segment.text
