"""SWE-Pruner: a fresh observation loses the lines its reader did not ask about.

The agent may add a question to any call of its own tools (argument `focus`).  If it does, and the
output has more than 500 characters, each line is scored against the question before the output
enters the history: lines at or above the threshold stay, a single dropped line between two kept
ones stays, blank lines go, and a longer gap becomes a marker.  Without a question the output is
raw.  The older history is never touched, and the agent can read the file again.

In a recording nobody asks: with `focus=argument`, the published rule, replay shows the raw
history.  `focus=said` takes the agent's own visible words before a call as the question (inferred;
for recordings only).  Either way an interaction is pruned when it is first seen and then stays.

The published scorer is a trained 0.6B reranker (`scorer=qwen-reranker`, loaded from a folder, see
`swe_pruner_model`); the default here scores lines by the words of the question (`scorer=lexical`),
for code, logs and documents alike.  Where no word occurs it gives no answer: the text stays raw.

A scripted agent adds `focus` to a call that reads for values it can name; documents with rules it
reads whole, and where a value is not in the answer it reads again without a question.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any, Literal

from statecomp.baselines.lines import LEXICAL, LineScorer
from statecomp.baselines.rewriting import changed, edited, sound
from statecomp.baselines.swe_pruner_model import open_reranker
from statecomp.baselines.tools import Use
from statecomp.errors import BadInput, ScoringFailed
from statecomp.history.given import argument_object
from statecomp.history.history import History
from statecomp.history.interaction import Call, Interaction, JsonObject
from statecomp.options import Options, Settings
from statecomp.recent import LruCache
from statecomp.strategy import Card, Strategy, StrategyFactory, View
from statecomp.tokens import ESTIMATE, TokenCounter
from statecomp.wire.protocol import Wire

CARD = Card(
    name="swe-pruner",
    title="SWE-Pruner",
    trigger="the agent asks a focus question with a call, and the output has over 500 characters",
    unit="line of one fresh observation",
    calls="none; a local scorer: lexical by default, the published 0.6B reranker if given",
    tools=(),
    source="arXiv 2601.16746 and its code",
    inferred="lexical scorer; focus=said asks in the agent's words where a recording asks nothing",
)
THRESHOLD = 0.5
LEAST_CHARACTERS = 500
REMEMBERED = 8_192
ARGUMENT = "focus"
NOTE = "[focus] "
SHORTEST_MARKER = len("(filtered 0 lines)")

FOCUS: JsonObject = {
    "type": "string",
    "description": (
        "Optional. A complete question that the output should answer; lines that have nothing to "
        "do with it are left out. No file names or line numbers."
    ),
}
GUIDANCE = (
    "Tools that read or run something take an optional argument `focus`: a complete, "
    "self-contained question, without file names or line numbers. With it you get only the lines "
    "that have to do with the question. Read whole files, with line numbers, with a question "
    "first; then read the exact range you need without one. Leave it out where every line matters."
)
POLICY = (Use("", "reading", {ARGUMENT: "$need"}),)


def with_focus(tool: JsonObject) -> JsonObject:
    """A tool definition that takes the question too; the one given stays as it is."""
    function: Mapping[str, Any] = tool.get("function", {})
    parameters: Mapping[str, Any] = function.get("parameters", {"type": "object"})
    properties = {**parameters.get("properties", {}), ARGUMENT: FOCUS}
    return {
        **tool,
        "function": {**function, "parameters": {**parameters, "properties": properties}},
    }


def question_in(call: Call) -> str:
    asked = argument_object(call.arguments).get(ARGUMENT)
    return asked.strip() if isinstance(asked, str) else ""


@dataclass(frozen=True)
class SwePruner(Strategy):
    wire: Wire
    scorer: LineScorer = LEXICAL
    threshold: float = THRESHOLD
    focus: Literal["argument", "said"] = "argument"
    count: TokenCounter = ESTIMATE
    policy: Sequence[Use] = POLICY
    _pruned: LruCache[str, Interaction] = field(
        default_factory=lambda: LruCache(REMEMBERED), repr=False, compare=False
    )

    def __post_init__(self) -> None:
        if not 0.0 < self.threshold <= 1.0:
            raise BadInput(f"must lie in (0, 1], not {self.threshold}", field="threshold")

    def on_observation(self, call: Call, text: str) -> str:
        return self._answered(question_in(call), text)

    def extra_system_text(self) -> str:
        return GUIDANCE

    def adapt_tool(self, tool: JsonObject) -> JsonObject:
        return with_focus(tool)

    def before_request(self, history: History) -> View:
        """Only for doors that do not pass observations one by one, such as a recording."""
        view = changed(history, self._seen)
        same = all(a is b for a, b in zip(view.segments, history.segments, strict=True))
        return View(history if same else sound(view, history, self.wire))

    def _seen(self, member: Interaction) -> Interaction:
        return self._pruned.get(member.id) or self._pruned.put(member.id, self._read(member))

    def _read(self, interaction: Interaction) -> Interaction:
        asked = {call.id: question_in(call) for call in interaction.calls}
        spoken = interaction.said if self.focus == "said" else ""
        answers = {
            seen.text: self._answered(asked.get(seen.call_id) or spoken, seen.text)
            for seen in interaction.observations
        }
        if all(before == after for before, after in answers.items()):
            return interaction
        mark = f"pruned {self.scorer.name} {self.threshold}"
        return edited(
            interaction, lambda text: answers.get(text, text), self.wire, self.count, mark
        )

    def _answered(self, question: str, text: str) -> str:
        """The text with what the question has to do with, and a note of what became of it."""
        if not question or len(text) <= LEAST_CHARACTERS or text.startswith(NOTE):
            return text
        lines = text.splitlines()
        try:
            scores = self.scorer.score(question, lines)
        except ScoringFailed as error:
            return f"{NOTE}Nothing could be left out ({error}); this is the full output.\n{text}"
        kept = list(pruned(lines, scores, self.threshold))
        body = "\n".join(kept)
        if kept == [line for line in lines if line.strip()] or len(body) >= len(text):
            return f"{NOTE}All of it has to do with the question.\n{text}"
        return f"{NOTE}Lines that have nothing to do with the question are left out.\n{body}"


def pruned(lines: Sequence[str], scores: Sequence[float], threshold: float) -> Iterator[str]:
    """The lines worth keeping, and a marker for each gap that is longer than its marker."""
    kept = [score >= threshold for score in scores]
    for place in range(1, len(kept) - 1):
        # Read from the scores, so that a line kept for its neighbours keeps no further one.
        between = scores[place - 1] >= threshold and scores[place + 1] >= threshold
        kept[place] = kept[place] or between
    told = [(keep and bool(line.strip()), line) for keep, line in zip(kept, lines, strict=True)]
    for keep, run in groupby(told, key=lambda pair: pair[0]):
        together = [line for _, line in run]
        solid = [line for line in together if line.strip()]
        if not keep and sum(map(len, solid)) > SHORTEST_MARKER:
            yield f"(filtered {len(together)} lines)"
        else:
            yield from solid


def build(options: Options, settings: Settings) -> StrategyFactory:
    """`threshold=0.5,focus=argument|said,scorer=lexical|qwen-reranker,model=FOLDER`."""
    threshold = options.real("threshold", THRESHOLD)
    spoken = options.one_of("focus", "argument", "said") == "said"
    named = options.one_of("scorer", "lexical", "qwen-reranker")
    folder = options.text("model", "")
    scorer: LineScorer = LEXICAL
    if named == "qwen-reranker":
        scorer = open_reranker(folder)
    return lambda run, wire: SwePruner(
        wire, scorer, threshold, "said" if spoken else "argument", settings.count
    )
