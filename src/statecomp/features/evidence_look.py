"""One interaction read by itself: its size, shape, kind and the atoms it holds.

Everything here depends on the interaction alone, so it is read once, however often it comes back.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from statecomp.history.facts import facts_of
from statecomp.history.interaction import Interaction, Segment
from statecomp.history.kinds import KINDS, failed, kind_of
from statecomp.history.text import argument_text
from statecomp.history.windows import found
from statecomp.recent import Weighed

LOOK_NAMES = (
    "observed_log",
    "action_log",
    "prose_log",
    "lines_log",
    "line_log",
    "code_share",
    "table_share",
    "list_share",
    "digit_share",
    *(f"is_{kind}" for kind in KINDS),
    "came_to_nothing",
    "brief",
    "paths_log",
    "urls_log",
    "numbers_log",
    "points_log",
    "plans",
)
LINES, HEAD, BRIEF, SHORT, ENDS = 400, 4_000, 300, 3_000, 300
"""How much of an observation is looked at for its shape, and which lengths count as short."""

_WORD = re.compile(r"[^\W\d_]{3,}|\d{2,}")
# Words of every task: to find one again says nothing about where it came from.
_EVERYWHERE = """
    about after again all also and any are because been before being both but can could did does
    done each file files find first for from get had has have here how into its just let like line
    list make may more most name need new next not now one only other our out output over result
    results run same see set should show some step such sure task test text than that the their
    them then there these they this those time to true try use used user using value was way were
    what when where which while will with would write you your
"""
_PLAIN = frozenset(_EVERYWHERE.split())
_CODE = re.compile(
    r"[{};]\s*$|^\s*(?:def|class|import|from|return|if|for|while|public|private|func|var|let|const"
    r"|\#include)\b|^\s*\d+[:|\t]|</?\w+|\":"
)
_TABLE = re.compile(r"\||\t|,\S[^,]*,\S")
_LISTED = re.compile(r"\s*(?:[-*•]|\d+[.)]|\[\d+\])\s")
_POINT = re.compile(r"^(?:[-*]|\d+\.)", re.MULTILINE)
_REFUSED = re.compile(
    # `"isError": false` says the opposite.
    r"\b\w*errors?\b(?!\\?[\"']?\s*[:=]\s*(?:null|none|false|0|\[\]|\{\}|\"\"))|"
    r"\b(?:not found|no such|fail(?:ed|ure)?|invalid|denied|cannot|could not|unable|no matches|"
    r"no results|timed? ?out|not exist|refused|unknown|undefined|missing|forbidden|usage:)\b",
    re.IGNORECASE,
)
_EMPTY = frozenset({"", "[]", "{}", "null", "none", "0"})
_SETTLED = re.compile(
    r"\b(?:success\w*|complet\w+|done|confirm\w*|verif\w+|works?|worked|perfect|great|found|"
    r"i (?:have|can see|know|understand)|as expected|passed|correct(?:ly)?|resolved)\b",
    re.IGNORECASE,
)
_TROUBLE = re.compile(
    r"\b(?:fail\w*|error|unfortunately|however|didn't|doesn't|not work\w*|wrong|incorrect|instead|"
    r"try|another|different|apolog\w+|issue|problem|mistake)\b",
    re.IGNORECASE,
)
_PLANS = re.compile(
    r"\b(?:next|then|remaining|to-?do|need to|will|plan|let's|let me|now i)\b", re.IGNORECASE
)
_MOST_PHRASES = 6
LOOK_BYTES, WORD_BYTES = 1_500, 100
"""What a look takes beside its words, and a word in it."""


@dataclass(frozen=True, slots=True)
class SegmentLook:
    """What one reading of an interaction yields; `values` are in the order of LOOK_NAMES."""

    values: tuple[float, ...]
    kind: str
    nothing: bool
    tools: frozenset[str]
    request: tuple[object, ...]
    action_chars: int
    prose_chars: int
    observed_chars: int
    settled: int
    trouble: int
    plans: int
    own: frozenset[str]
    told: frozenset[str]
    action_words: frozenset[str]
    own_words: frozenset[str]
    told_words: frozenset[str]

    def weight(self) -> int:
        atoms = (self.own, self.told, self.action_words, self.own_words, self.told_words)
        return LOOK_BYTES + sum(map(_weight, atoms))

    @property
    def chars(self) -> int:
        return self.action_chars + self.prose_chars + self.observed_chars


class Looks:
    """Remembers the last `size` interactions and other texts it has read."""

    def __init__(self, size: int) -> None:
        self._looks: Weighed[tuple[str, int], SegmentLook] = Weighed(size, SegmentLook.weight)
        self._words: Weighed[tuple[str, int], frozenset[str]] = Weighed(size, _weight)

    def of(self, interaction: Interaction) -> SegmentLook:
        # The hash guards against two histories that give one id to different texts.
        said = (interaction.reasoning, interaction.said, interaction.calls)
        key = (interaction.id, hash((*said, interaction.observations)))
        return self._looks.get(key) or self._looks.put(key, _look(interaction))

    def words_of(self, segment: Segment) -> frozenset[str]:
        key = (segment.id, hash(segment.text))
        found = self._words.get(key)
        return self._words.put(key, words(segment.text)) if found is None else found


def _weight(atoms: frozenset[str]) -> int:
    return WORD_BYTES * (1 + len(atoms))


def words(text: str) -> frozenset[str]:
    """The distinct words and numbers of a text, without those of every text."""
    return frozenset(found(_WORD, text.lower())) - _PLAIN


def _look(interaction: Interaction) -> SegmentLook:
    action, prose = _voices(interaction)
    observed = interaction.observed.replace("\\n", "\n").replace('\\"', '"')
    facts = facts_of(interaction)
    kind, nothing = kind_of(interaction), _came_to_nothing(interaction)
    action_words, plans = words(action), len(_PLANS.findall(prose))
    calls = tuple((call.name, call.arguments) for call in interaction.calls)
    return SegmentLook(
        values=(
            *_sizes(action, prose, observed),
            *(float(kind == name) for name in KINDS),
            float(nothing),
            float(len(observed) < BRIEF),
            *_sorts(facts.observed),
            math.log1p(len(_POINT.findall(prose))),
            math.log1p(plans),
        ),
        kind=kind,
        nothing=nothing,
        tools=frozenset(call.name for call in interaction.calls) or frozenset((kind,)),
        request=calls or (interaction.said,),
        action_chars=len(action),
        prose_chars=len(prose),
        observed_chars=len(observed),
        settled=min(_MOST_PHRASES, len(_SETTLED.findall(prose))),
        trouble=min(_MOST_PHRASES, len(_TROUBLE.findall(prose))),
        plans=plans,
        own=facts.own,
        told=facts.observed,
        action_words=action_words,
        own_words=action_words | words(prose),
        told_words=words(observed),
    )


def _voices(interaction: Interaction) -> tuple[str, str]:
    """What the agent did, and what it thought or said beside it.

    Without calls the action stands in what is said, so there is no telling the two apart.
    """
    if not interaction.calls:
        return interaction.said, interaction.reasoning or interaction.said
    calls = (f"{call.name}\n{argument_text(call.arguments)}" for call in interaction.calls)
    return "\n".join(calls), f"{interaction.reasoning}\n{interaction.said}".strip()


def _sizes(action: str, prose: str, observed: str) -> tuple[float, ...]:
    lines = [line for line in observed.split("\n") if line.strip()]
    shown, head = lines[:LINES], observed[:HEAD]
    return (
        math.log1p(len(observed)),
        math.log1p(len(action)),
        math.log1p(len(prose)),
        math.log1p(len(lines)),
        math.log1p(len(observed) / max(1, len(lines))),
        # A line of a blob can be megabytes long, and what it is shows at its start.
        sum(bool(_CODE.search(line[:HEAD])) for line in shown) / max(1, len(shown)),
        sum(bool(_TABLE.search(line[:HEAD])) for line in shown) / max(1, len(shown)),
        sum(bool(_LISTED.match(line)) for line in shown) / max(1, len(shown)),
        sum(map(str.isdigit, head)) / max(1, len(head)),
    )


def _sorts(atoms: frozenset[str]) -> tuple[float, float, float]:
    """How many paths, addresses and numbers, told by their looks."""
    urls = sum("://" in atom for atom in atoms)
    paths = sum("/" in atom for atom in atoms) - urls
    numbers = sum(atom[0].isdigit() for atom in atoms)
    return math.log1p(paths), math.log1p(urls), math.log1p(numbers)


def _came_to_nothing(interaction: Interaction) -> bool:
    """An error, a refusal, or an answer with nothing in it; a long text merely mentions errors."""
    if not interaction.observations:
        return False
    text = interaction.observed
    if failed(interaction) or text.strip().lower() in _EMPTY:
        return True
    return len(text) < SHORT and bool(_REFUSED.search(f"{text[:ENDS]}\n{text[-ENDS:]}"))
